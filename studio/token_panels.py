"""The HTML of the Tokens tab's picture half: one row a model, both savings, each with its formula."""

from html import escape
from typing import TYPE_CHECKING

from engines.text import text
from engines.tokens.savings import Count, Row, Savings
from studio.i18n import say
from studio.media import Item
from studio.token_chart import chart

if TYPE_CHECKING:
    from engines.vision.complexity import Complexity

COLUMNS = ("photo", "crop", "vs_photo", "shrunk", "vs_shrunk", "use_photo", "use_crop", "price_photo", "price_crop")


def savings_panel(found: Savings, chosen: str, files: "dict[str, Item] | None", language: str, seen: "Complexity | None" = None) -> str:
    """The table, the chart and the downloads.

    Args:
        chosen: the name of the model whose grid is drawn. files: by what they are: report, csv. seen: how complex the photo is.
    """
    steps = ""
    if seen is not None:
        sentence = say("visual.steps", language, complexity=seen.value, steps=seen.steps)
        steps = f'<p class="fs-hint" title="{say("visual.steps_tip", language)}">{sentence}</p>'
    return (
        f'<div class="fs-visual-answer">{summary(found, language)}{steps}{savings_table(found, language, chosen)}'
        f'<p class="fs-hint">{say("visual.formula", language)}</p>'
        f'<figure class="fs-chart"><figcaption class="fs-key">{say("visual.chart", language, size=found.size)}</figcaption>'
        f"{chart(found, language)}</figure>{_downloads(files, language) if files else ''}</div>"
    )


def summary(found: Savings, language: str) -> str:
    """What is compared, what is lost, and for how many models nothing is saved."""
    lines = [text("page.visual.picture", language, width=found.width, height=found.height, size=found.size)]
    if found.shrunk:
        wide, high = found.shrunk
        lines.append(text("page.visual.shrunk_size", language, width=wide, height=high))
        lines.append(text("page.visual.lost", language, background=found.background, faces=found.lost_faces))
        lines += [text("page.visual.enlarged", language, size=found.size)] if found.enlarged else []
    else:
        lines.append(text("page.visual.faceless", language))
    known = [row.saving_vs_photo for row in found.rows if row.saving_vs_photo is not None]
    nothing, worse = sum(value == 0 for value in known), sum(value < 0 for value in known)
    fixed = sum(row.model.one_size for row in found.rows)
    lines.append(text("page.visual.balance", language, count=len(known), nothing=nothing, fixed=fixed, worse=worse))
    return f'<ul class="fs-notes fs-visual-notes">{"".join(f"<li>{escape(line)}</li>" for line in lines)}</ul>'


def savings_table(found: Savings, language: str, chosen: str = "", folded: bool = True) -> str:
    """One row a model. `folded`: each with a fold that holds its formula and its source; else that stands in a column of its own."""
    heads = "".join(f'<th scope="col" title="{_tip(name, language)}">{say(f"visual.{name}", language)}</th>' for name in COLUMNS)
    last = "" if folded else f'<th scope="col">{say("visual.source", language)}</th>'
    best = max((row.saving_vs_shrunk or row.saving_vs_photo or 0 for row in found.rows), default=0)
    rows = "".join(_row(row, best, row.model.name == chosen, folded, language) for row in found.rows)
    first = f'<th scope="col">{say("visual.model", language)}</th>'
    return (
        '<div class="fs-scroll" tabindex="0"><table class="fs-grid-table fs-visual-table">'
        f"<thead><tr>{first}{heads}{last}</tr></thead><tbody>{rows}</tbody></table></div>"
    )  # fmt: skip


def crop_figure(row: Row, picture: Item, drawn: str, language: str) -> str:
    """The crop with the chosen model's grid, and this model's formula in full."""
    alt = say("visual.alt_crop", language, size=row.size)
    named = say("visual.crop_caption", language, size=row.size, tokens=row.crop.tokens or 0, title=row.model.title)
    return (
        f'<div class="fs-face"><figure class="fs-counted"><div class="fs-crop"><img src="{picture.address}" alt="{alt}">{drawn}</div>'
        f'<figcaption class="fs-key">{named}</figcaption></figure>{_facts(row, language)}</div>'
    )


def percent(value: float | None, language: str) -> str:
    """A saving: "95.9 %" fewer, "+30.8 %" more, "0 %"."""
    if value is None:
        return "–"
    if round(value, 3) == 0:
        return say("visual.zero", language)
    return say("visual.saved" if value > 0 else "visual.more", language, value=abs(value))


def _row(row: Row, best: float, chosen: bool, folded: bool, language: str) -> str:
    crop = row.crop
    name = escape(row.model.title)
    if folded:
        name = f"<details><summary><span>{name}{_badge(row, language)}</span></summary>{_facts(row, language)}</details>"
    first = row.saving_vs_shrunk if row.saving_vs_shrunk is not None else row.saving_vs_photo
    figures = [_tokens(row.photo, language), _tokens(crop, language), _saving(row.saving_vs_photo, language)]
    figures += [_tokens(row.shrunk, language), _saving(row.saving_vs_shrunk, language)]
    figures += [_share(count.context_use(), language) for count in (row.photo, crop)]
    figures += [_money(row, count, language) for count in (row.photo, crop)]
    marks = " ".join(mark for mark, on in (("fs-best", best > 0 and first == best), ("fs-chosen", chosen)) if on)
    source = "" if folded else f"<td>{escape(row.model.source)} · {row.model.date}</td>"
    return (
        f'<tr class="{marks}" data-model="{escape(row.model.name, quote=True)}"><th scope="row">{name}</th>{"".join(figures)}{source}</tr>'
    )


def _badge(row: Row, language: str) -> str:
    if row.model.one_size:
        return f"<small>{say('visual.one_size', language)}</small>"
    return f"<small>{say('visual.enlarges', language)}</small>" if (row.saving_vs_photo or 0) < 0 else ""


def _facts(row: Row, language: str) -> str:
    """How each number comes about, what else is known of the model, and where it stands."""
    lines = [
        (say(f"visual.{name}", language), f"{escape(count.layout.sum)} = {count.tokens:,}")
        for name, count in (("photo", row.photo), ("shrunk", row.shrunk), ("crop", row.crop))
        if count is not None and count.layout is not None
    ]
    sizes = " · ".join(f"{side}²: {count.tokens:,}" for side, count in row.crops.items() if count.tokens is not None)
    lines.append((say("visual.sizes", language), sizes))
    if row.crop.layout is not None and row.crop.useful is not None:
        use = f"{row.crop.useful:g} ÷ {row.crop.tokens:,} = {_plain_share(row.crop.context_use(), language)}"
        lines.append((say("visual.use_crop", language), use))
    if row.compression is not None:
        lines.append((say("visual.compression", language), say("visual.times", language, value=row.compression)))
    if row.model.context:
        shares = " → ".join(_plain_share(row.window_share(count), language, "visual.fine_share") for count in (row.photo, row.crop))
        lines.append((say("visual.window", language, window=row.model.context), shares))
    if row.price is not None:
        facts = {"input": row.price.input, "currency": row.price.currency, "product": row.price.product, "date": row.price.date}
        where = say("visual.price_of" if row.price.source else "visual.price_typed", language, **facts)
        lines.append((say("visual.price", language), f"{where}<br>{escape(row.price.source)}" if row.price.source else where))
    lines.append((say("visual.checked", language), say(f"visual.checked_{row.model.checked}", language)))
    lines.append((say("visual.source", language), f"{escape(row.model.source)} · {escape(row.model.date)}"))
    return f'<dl class="fs-visual-facts">{"".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in lines)}</dl>'


def downloads(files: dict[str, Item], language: str) -> str:
    """A button for each file, by what it is."""
    return f'<div class="fs-line fs-downloads">{_links(files, language)}</div>'


def _links(files: dict[str, Item], language: str) -> str:
    return "".join(
        f'<a class="fs-button" href="{item.address}" download="{escape(item.name, quote=True)}" data-download>'
        f"{say(f'visual.{name}', language)}</a>"
        for name, item in files.items()
    )


def _downloads(files: dict[str, Item], language: str) -> str:
    png = f'<button type="button" class="fs-button" data-chart-png>{say("visual.png", language)}</button>'
    return f'<div class="fs-line fs-downloads">{_links(files, language)}{png}</div>'


def _tip(name: str, language: str) -> str:
    return say(f"visual.{name}_tip", language)


def _tokens(count: Count | None, language: str) -> str:
    if count is None or count.layout is None:
        return f'<td title="{say("visual.refused", language)}">–</td>' if count is not None else "<td>–</td>"
    return f'<td title="{escape(count.layout.sum, quote=True)}">{count.tokens:,}</td>'


def _saving(value: float | None, language: str) -> str:
    kind = "" if value is None or round(value, 3) == 0 else ' class="fs-saves"' if value > 0 else ' class="fs-costs"'
    return f"<td{kind}>{percent(value, language)}</td>"


def _share(value: float | None, language: str) -> str:
    return f"<td>{_plain_share(value, language)}</td>"


def _plain_share(value: float | None, language: str, key: str = "visual.share") -> str:
    return "–" if value is None else say(key, language, value=value)


def _money(row: Row, count: Count, language: str) -> str:
    value = row.cost(count)
    if value is None or row.price is None:
        return "<td>–</td>"
    return f"<td>{say('visual.money', language, value=value * 1000, currency=row.price.currency)}</td>"
