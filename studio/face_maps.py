"""The Swap tab's face map: the rows that the page sends, as the pipeline's wishes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engines.errors import InvalidOption
from engines.options import FuseOptions
from engines.timing import Run
from studio.media import Item, Shelf
from studio.options import options_of_page
from studio.people import read_sources, source_tokens

if TYPE_CHECKING:
    from engines.pipeline import Studio
    from engines.reading import Source

Value = dict[str, Any]  # {"entries": [row, …]} of assets/theme/map.js
MOST = 96  # rows: as many faces as a picture box shows


@dataclass(frozen=True, slots=True)
class Row:
    """One face and its source: its files (several photos of one person, or one), and the options with the face's number."""

    files: tuple[Item, ...]
    options: FuseOptions


def rows_of(value: Value | None, target: str, shelf: Shelf, visitor: str) -> tuple[Row, ...]:
    """The rows for the target of this token; those of one that was there before are left out. Empty: there is no map.

    Raises:
        Gone: a source's file. InvalidOption: a row that the page can't have made.
    """
    entries = (value or {}).get("entries")
    mine = [entry for entry in entries or () if isinstance(entry, dict) and entry.get("target") == target]
    if len(mine) > MOST:
        raise InvalidOption(name="map", value=len(mine), allowed=f"0 … {MOST}")
    return tuple(_row(entry, shelf, visitor) for entry in mine)


def wishes_of_rows(studio: "Studio", rows: tuple[Row, ...], run: Run) -> "list[tuple[Source, FuseOptions]]":
    """As `Studio.fuse_faces` takes them; a source of several faces is read once. Raises what `read_sources` does."""
    known: dict[tuple[str, ...], Source] = {}
    wishes: list[tuple[Source, FuseOptions]] = []
    for row in rows:
        tokens = tuple(item.token for item in row.files)
        if tokens not in known:
            known[tokens] = read_sources(studio, row.files, run)
        wishes.append((known[tokens], row.options))
    return wishes


def _row(entry: Value, shelf: Shelf, visitor: str) -> Row:
    source, face = entry.get("source"), entry.get("face")
    if not isinstance(source, dict) or not isinstance(face, int) or isinstance(face, bool):
        raise InvalidOption(name="map", value=face, allowed="a face and its source")
    tokens = source_tokens(source) or [""]
    options = options_of_page(entry.get("options"), entry.get("strength"), entry.get("enhance"), source, {"chosen": face})
    return Row(tuple(shelf.get(visitor, token) for token in tokens), options)
