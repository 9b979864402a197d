"""What many pictures come to: a row a model for the page, and the same for a spreadsheet."""

import csv
import io
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from engines.picture_tokens import Folder
from engines.tokens.savings import SIZES
from studio.i18n import say
from studio.media import Item
from studio.token_panels import downloads, percent

SPREAD = ("min", "p25", "median", "p75", "p90", "max")
SHOWN = 20  # of those that couldn't be read


def folder_panel(found: Folder, failed: Sequence[tuple[str, str]], files: dict[str, Item], language: str, wanted: int = 0) -> str:
    """Args: failed: name and why, of each that couldn't be read. wanted: how many there were, where it was stopped before the last."""
    rows = found.as_dict(language)["rows"]
    named = zip(found.tallies, rows, strict=True)
    stopped = f"{say('folder.stopped', language, done=found.pictures + len(failed), count=wanted)} " if wanted else ""
    head = stopped + say("folder.counted", language, pictures=found.pictures, size=found.size)
    table = (
        f"<tbody>{''.join(_row(tally.model.title, row, found.size, language) for tally, row in named)}</tbody>" if found.pictures else ""
    )
    keys = ["total", *SPREAD, "crop", "saved", "price", "price_crop"]
    heads = "".join(f'<th scope="col">{say(f"folder.{key}", language)}</th>' for key in keys)
    first = f'<th scope="col">{say("visual.model", language)}</th>'
    tabled = (
        '<div class="fs-scroll" tabindex="0"><table class="fs-grid-table fs-visual-table">'
        f"<thead><tr>{first}{heads}</tr></thead>{table}</table></div>"
        f'<p class="fs-hint">{say("folder.formula", language, size=found.size)}</p>{downloads(files, language)}'
    )
    told = "".join(_failed(failed, language))
    return f'<div class="fs-visual-answer"><p class="fs-what" role="status">{head}</p>{told}{tabled if table else ""}</div>'


def as_csv(found: Folder) -> str:
    """A row a model, in plain numbers; UTF-8 with a mark, which spreadsheets need to see."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    crops = [f"crop_{side}" for side in SIZES]
    heads = ["model", "title", "pictures", "refused", "photo", *(f"photo_{key}" for key in SPREAD), *crops, "saving_vs_photo"]
    writer.writerow([*heads, "price_photo", "price_crop", "currency", "source", "date"])
    for tally, row in zip(found.tallies, found.as_dict()["rows"], strict=True):
        spread, price = row["photo"] or {}, row["price"] or {}
        told = [row["model"], tally.model.title, found.pictures, row["refused"], spread.get("total"), *(spread.get(key) for key in SPREAD)]
        told += [*row["crop"].values(), row["saving_vs_photo"], *(price.get(key) for key in ("photo", "crop", "currency"))]
        writer.writerow([*told, row["source"], row["date"]])
    return "\ufeff" + stream.getvalue()


def _row(title: str, row: dict[str, Any], size: int, language: str) -> str:
    spread, price = row["photo"] or {}, row["price"]
    cells = [_number(spread.get(key)) for key in ("total", *SPREAD)] + [_number(row["crop"][str(size)])]
    cells.append(percent(row["saving_vs_photo"], language))
    for key in ("photo", "crop"):
        cells.append(say("folder.money", language, value=price[key], currency=price["currency"]) if price else "–")
    refused = f"<small>{say('folder.refused', language, count=row['refused'])}</small>" if row["refused"] else ""
    name = escape(str(row["model"]), quote=True)
    return f'<tr data-model="{name}"><th scope="row">{escape(title)}{refused}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _failed(failed: Sequence[tuple[str, str]], language: str) -> Iterator[str]:
    if not failed:
        return
    lines = "".join(f"<li><b>{escape(name)}</b> {escape(why)}</li>" for name, why in failed[:SHOWN])
    more = f"<li>{say('text.more', language, count=len(failed) - SHOWN)}</li>" if len(failed) > SHOWN else ""
    said = say("folder.failed", language, count=len(failed))
    yield f'<div class="fs-aside" role="status"><p class="fs-what">{said}</p><ul class="fs-notes">{lines}{more}</ul></div>'


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
