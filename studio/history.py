"""What a visitor fused, as the page's row of earlier results has it: a small picture, a line of words, and when the oldest go.

The row itself is the page's (assets/theme/history.js), and lives as long as the browser's tab. Here are only the files: a group on the
visitor's shelf for each result, which goes with the shelf when the studio ends.
"""

import secrets
from collections.abc import Sequence
from typing import Any

from engines.options import FuseOptions
from engines.results import FusedFace, FusionResult
from engines.text import text
from studio.i18n import both
from studio.media import Item, Shelf
from studio.options import CONTROLS, value_words

GROUP = "result:"
MOST = 24  # results of one visitor
LIMIT = 256 << 20  # bytes of one visitor's results, files and pictures in memory together
THUMB_SIDE = 192  # twice what the page shows, for dense screens


def new_group() -> str:
    """The shelf's group for the next result."""
    return f"{GROUP}{secrets.token_hex(8)}"


def trim(shelf: Shelf, visitor: str) -> None:
    """Deletes the oldest results that are too much; the newest stays in any case."""
    shelf.trim(visitor, GROUP, MOST, LIMIT)


def forget(shelf: Shelf, visitor: str, token: str) -> None:
    """Deletes the result that a file belongs to. Raises `Gone`: there is none."""
    shelf.clear(visitor, shelf.member(visitor, token, GROUP))


def entry_value(done: FusionResult, name: str, thumb: Item) -> dict[str, Any]:
    """A result in the row. `name`: of the target's file."""
    return {"thumb": thumb.address, "words": both(lambda language: _words(done, name, language))}


def batch_value(faces: Sequence[FusedFace], names: Sequence[str], count: int, thumb: Item) -> dict[str, Any]:
    """Several targets as one result in the row.

    Args:
        faces: that were changed; all with the same options. names: of the targets that are done, of `count`.
    """

    def words(language: str) -> str:
        done = text("page.history.batch", language, done=len(names), count=count, name=names[0])
        return f"{done} · {_differing(faces[0].options, language)}"

    return {"thumb": thumb.address, "words": both(words)}


def _words(done: FusionResult, name: str, language: str) -> str:
    """ "group.jpg · face 0: 5 → 57 · Strength: 80"; of the options what isn't the standard, by the first face."""
    scores = [
        text("page.history.face", language, index=face.index, before=face.similarity_before, after=face.similarity_after)
        for face in done.faces
    ]
    return " · ".join([name, *scores, _differing(done.options, language)])


def _differing(used: FuseOptions, language: str) -> str:
    standard = FuseOptions()
    turned = {c.name: getattr(used, c.name) for c in CONTROLS if c.kind not in ("face", "points")}
    differing = value_words({key: value for key, value in turned.items() if value != getattr(standard, key)}, language)
    return differing or text("page.history.standard", language)
