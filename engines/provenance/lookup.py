"""From a file back to the ledger's lines."""

import hashlib

from engines.provenance import watermark
from engines.provenance.entry import Match
from engines.provenance.keys import MarkKey
from engines.provenance.ledger import Ledger
from engines.provenance.metadata import read_labels
from engines.provenance.pdq import WORTH, pdq
from engines.provenance.view import on_white
from engines.timing import Run
from engines.vision import io


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
        look, quality = pdq(frame.pixels, frame.alpha)
        label = read_labels(data).labels.id
    return ledger.match(hashlib.sha256(data).digest(), reading.id or "", label, look if quality >= WORTH else None)
