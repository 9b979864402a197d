"""From a file back to the ledger's lines."""

import hashlib
from dataclasses import dataclass
from typing import Any

from engines.provenance import watermark
from engines.provenance.entry import Match
from engines.provenance.keys import MarkKey
from engines.provenance.ledger import Ledger
from engines.provenance.metadata import read_labels
from engines.provenance.pdq import WORTH, pdq
from engines.provenance.view import on_white
from engines.timing import Run
from engines.types import Frame
from engines.vision import io

_PRIVATE = ("number", "settings", "sha256", "pdq", "link")  # of a line: for the owner's `ledger` commands, not for whoever brings a file


@dataclass(frozen=True, slots=True)
class Kept:
    """What the ledger tells of a file.

    Attributes:
        matches: see `entry.Match`. plain: the picture is too plain to be compared by its look (a wall looks like every wall).
        fault: why the ledger couldn't be asked, a reason of `LedgerUnusable`; "" where it was.
    """

    matches: tuple[Match, ...] = ()
    plain: bool = False
    fault: str = ""

    @property
    def found(self) -> tuple[Match, ...]:
        """The lines of this file: by its bytes, its watermark, or a label, which anybody can write."""
        return tuple(match for match in self.matches if match.how in ("file", "id", "label"))

    @property
    def alike(self) -> tuple[Match, ...]:
        """Those that a look alone leads to: a copy, or a picture of the same thing. No proof of anything."""
        return tuple(match for match in self.matches if match.how in ("same", "possibly"))

    @property
    def the_file(self) -> bool:
        """Whether these very bytes left the studio."""
        return any(match.how == "file" for match in self.matches)

    def as_dict(self) -> dict[str, Any]:
        """`{"asked", "fault", "compared", "matches": [{"how", "distance", "id", "time", "kind", …}]}`."""
        told = [{name: value for name, value in match.as_dict().items() if name not in _PRIVATE} for match in self.matches]
        return {"asked": not self.fault, "fault": self.fault, "compared": not (self.fault or self.plain), "matches": told}


def kept(data: bytes, frame: Frame | None, mark_id: str, label: str, ledger: Ledger) -> Kept:
    """What the ledger tells of a file whose mark and label were read already. Raises `LedgerUnusable`.

    Args:
        frame: None of a file that isn't decoded: no looks are compared.
    """
    look, quality = pdq(frame.pixels, frame.alpha) if frame is not None else (None, WORTH)
    plain = quality < WORTH
    return Kept(ledger.match(hashlib.sha256(data).digest(), mark_id, label, None if plain else look), plain)


def lookup(data: bytes, name: str, key: MarkKey, ledger: Ledger, max_megapixels: float, run: Run | None = None) -> tuple[Match, ...]:
    """The lines that a picture file leads to, the surest first; see `entry.Match`. The deep search for the mark is made.

    Raises:
        UnreadableImage, ImageTooLarge: as `engines.vision.io.decode`. LedgerUnusable, Cancelled.
    """
    run = run or Run()
    with run.stage("decode"):
        frame = io.decode(data, name, max_megapixels)
    with run.stage("verify"):
        reading = watermark.detect(on_white(frame.pixels, frame.alpha), key, True, run)
        return kept(data, frame, reading.id or "", read_labels(data).labels.id, ledger).matches
