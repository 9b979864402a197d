"""What the ledger tells of a file, in the reader's words."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engines.text import text

if TYPE_CHECKING:
    from engines.provenance.entry import Entry, Match
    from engines.provenance.lookup import Kept

SHOWN = 3  # lines of a layer; a picture that was downloaded ten times has ten
Rows = list[tuple[str, str]]


def ledger_rows(kept: "Kept | None", language: str) -> Rows:
    """The lines of the file itself, or why none is told; [] where the ledger has none, or nobody asked it."""
    if kept is None:
        return []
    if kept.fault:
        return [("", text("provenance.kept.fault", language, why=text(f"provenance.kept.why.{kept.fault}", language)))]
    return _rows(kept.found, language) or [("", text("provenance.kept.none", language))]


def alike_rows(kept: "Kept | None", language: str) -> Rows:
    """The outputs that look like the picture: never more than "possibly"."""
    if kept is None or kept.fault:
        return [("", text("provenance.kept.not_compared", language))] if kept else []
    if kept.plain:
        return [("", text("provenance.kept.plain", language))]
    return [("", text("provenance.kept.possibly", language)), *_rows(kept.alike, language)] if kept.alike else []


def line_of(entry: "Entry", language: str) -> str:
    """ "2026-12-02 19:20 UTC · fusion · PNG · 512 × 512 · 7F3-A91-C04". Its models are for `ledger find`."""
    when = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    kind = text(f"provenance.kept.kind.{entry.kind}", language)
    derived = (text("provenance.derived.line", language, id=entry.derived),) if entry.derived else ()
    return " · ".join((when, kind, entry.format.upper(), f"{entry.width} × {entry.height}", entry.id, *derived))


def _rows(matches: "Sequence[Match]", language: str) -> Rows:
    rows = [(text(f"provenance.kept.how.{match.how}", language), line_of(match.entry, language)) for match in matches[:SHOWN]]
    more = len(matches) - SHOWN
    return [*rows, ("", text("provenance.kept.more", language, count=more))] if more > 0 else rows
