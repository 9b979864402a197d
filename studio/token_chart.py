"""Tokens as bars, each model's photo being 100 %: inline SVG, readable in grey, the same on the page, in the report and as a PNG."""

from html import escape

from engines.tokens.savings import Row, Savings
from studio.i18n import say

WIDTH, LEFT, RIGHT, LINE, TOP, FOOT = 900, 250, 130, 30, 44, 26  # in the drawing's own units
MOST = 2.0  # times the photo; a longer bar is cut, its figure isn't
FONTS = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
BARS = (("shrunk", "#9aa7bd", 1), ("crop", "#2f5bd0", 15))  # light and dark: told apart in grey too


def chart(found: Savings, language: str) -> str:
    """The bars of all models that take the photo."""
    rows = [row for row in found.rows if row.photo.tokens]
    height = TOP + LINE * len(rows) + FOOT
    scale = (WIDTH - LEFT - RIGHT) / MOST
    named = say("visual.chart", language, size=found.size)
    parts = [
        f'<svg class="fs-bars" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{named}"'
        f' font-family="{FONTS}" font-size="13">',
        _legend(found, language),
    ]  # fmt: skip
    for share in (0.0, 0.5, 1.0, 1.5, 2.0):
        x = LEFT + share * scale
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{height - FOOT}" stroke="#868d99" stroke-width="{2 if share == 1 else 0.4}"/>'
        )
        parts.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle" fill="currentColor">{share:.0%}</text>')
    for number, row in enumerate(rows):
        parts.append(_bars(row, TOP + LINE * number, scale))
    return "".join([*parts, "</svg>"])


def _legend(found: Savings, language: str) -> str:
    parts, x = [], LEFT
    for name, colour, _ in BARS:
        if name == "shrunk" and not found.shrunk:
            continue
        words = say(f"visual.{name}", language)
        parts.append(
            f'<rect x="{x}" y="8" width="12" height="12" fill="{colour}"/><text x="{x + 18}" y="19" fill="currentColor">{words}</text>'
        )
        x += 130
    return "".join([*parts, f'<text x="{x}" y="19" fill="currentColor">{say("visual.axis", language)}</text>'])


def _bars(row: Row, top: float, scale: float) -> str:
    parts = [f'<text x="{LEFT - 10}" y="{top + 18}" text-anchor="end" fill="currentColor">{escape(row.model.title)}</text>']
    for name, colour, down in BARS:
        count = row.shrunk if name == "shrunk" else row.crop
        if count is None or count.tokens is None or not row.photo.tokens:
            continue
        share = count.tokens / row.photo.tokens
        long = max(min(share, MOST) * scale, 1)
        parts.append(f'<rect x="{LEFT}" y="{top + down}" width="{long:.1f}" height="12" fill="{colour}"/>')
        words = f"{count.tokens:,} · {share:.1%}"
        parts.append(f'<text x="{LEFT + long + 6:.1f}" y="{top + down + 10.5}" font-size="11" fill="currentColor">{words}</text>')
    return "".join(parts)
