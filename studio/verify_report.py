"""What files say about themselves, as a page to print or to pass on: in one file, without a folder's name.

Pictures are in it of files that carry the mark alone: small, grey, and coloured by where it answers.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from engines import __version__
from engines.errors import FusionError
from engines.provenance.verify import Verification
from engines.text import text
from studio.presenters import error_lines, verdict_of
from studio.verify_panel import evidence, heat_figure

if TYPE_CHECKING:
    from engines.pipeline import Studio

HEAT_SIDE, HEAT_QUALITY = 480, 80  # pixels, of JPEG: about 20 KB
STYLE = (
    "body{font:14px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif;"
    "max-width:900px;margin:24px auto;padding:0 16px;color:#1a1d23;background:#fff}"
    "h1{font-size:22px}h2{font-size:16px;margin:24px 0 4px;overflow-wrap:anywhere}h3{font-size:13px;margin:12px 0 2px;color:#545b67}"
    "article{break-inside:avoid;border-top:1px solid #dfe1e5}p{margin:2px 0}strong{font-size:15px}"
    "dl{display:grid;grid-template-columns:200px 1fr;gap:2px 12px;margin:4px 0}dl>div{display:contents}dt{color:#545b67}"
    "dd{margin:0;overflow-wrap:anywhere}figure{margin:8px 0}"
    "figure img{max-width:320px;max-height:320px}figcaption{color:#545b67;font-size:12px}"
    "@page{size:A4;margin:14mm}"
)


def report(
    answers: Sequence[tuple[str, Verification | FusionError]], day: str, language: str, heats: Mapping[int, bytes] | None = None
) -> str:
    """HTML.

    Args:
        answers: name of each file, and what was found or why it can't be read.
        heats: by the place of a file among them, a JPEG of where the mark answers.
    """
    drawn = {place: f"data:image/jpeg;base64,{b64encode(data).decode()}" for place, data in (heats or {}).items()}
    title = escape(text("provenance.report.title", language))
    made = escape(text("provenance.report.made", language, count=len(answers), day=day, version=__version__))
    parts = "".join(
        f"<article><h2>{escape(name)}</h2>{_part(answer, drawn.get(place, ''), language)}</article>"
        for place, (name, answer) in enumerate(answers)
    )
    note = escape(text("provenance.note", language))
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1><p>{made}</p>{parts}<p>{note}</p></body></html>"
    )


def has_heat(answer: Verification | FusionError) -> TypeGuard[Verification]:
    return not isinstance(answer, FusionError) and answer.heat is not None


def heat_jpeg(studio: "Studio", picture: Path | bytes, found: Verification) -> bytes:
    """Where the mark answers, small enough to stand in a report."""
    return studio.encode(studio.heat(picture, found, HEAT_SIDE), "jpg", HEAT_QUALITY).data


def _part(answer: Verification | FusionError, heat: str, language: str) -> str:
    if isinstance(answer, FusionError):
        return "".join(f"<p>{escape(line)}</p>" for line in error_lines(answer, language))
    shown = heat_figure(heat, language) if heat else ""
    return f"<p><strong>{escape(verdict_of(answer, language))}</strong></p>{shown}{evidence(answer, language)}"
