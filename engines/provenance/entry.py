"""A line of the ledger: what is kept of an output. No picture, no face, no name of a file, nothing of the pictures it was made from."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from engines import __version__
from engines.provenance.mark import MarkedImage
from engines.provenance.pdq import WORTH, pdq

How = Literal["file", "id", "label", "same", "possibly"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One output.

    Attributes:
        id: the watermark's, or that of the labels where a picture carries no watermark. Several files of one picture share it.
        at: seconds since 1970, UTC. version: of the program. kind: see `mark.MarkKind`.
        settings: SHA-256 of what the fusion was told, as its labels have it; "" where nothing was told.
        models: name and licence of each network that had a part.
        sha256: of the file. pdq: 32 bytes, or None where a picture is too plain to be told from others.
        labels: what was written: "watermark", "iptc", "aigc", "c2pa"; "visible" for words that people see.
        link: the share link that it was made through, "" without one.
        derived: id of the earlier output that it was made from, "" where it is the first.
        number: the ledger's own, 0 before it is in it.
    """

    id: str
    at: int
    version: str
    kind: str
    format: str
    width: int
    height: int
    settings: str
    models: tuple[tuple[str, str], ...]
    sha256: bytes
    pdq: bytes | None
    labels: tuple[str, ...]
    link: str = ""
    derived: str = ""
    number: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON: time in ISO 8601, hashes in hexadecimal digits."""
        return {
            "number": self.number,
            "id": self.id,
            "time": datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "version": self.version,
            "kind": self.kind,
            "format": self.format,
            "width": self.width,
            "height": self.height,
            "settings": self.settings,
            "models": [{"name": name, "licence": licence} for name, licence in self.models],
            "sha256": self.sha256.hex(),
            "pdq": None if self.pdq is None else self.pdq.hex(),
            "labels": list(self.labels),
            "link": self.link,
            "derived_from": self.derived,
        }


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that a file leads to.

    Attributes:
        how: "file": the very bytes; "id": its watermark; "label": an id in the open, which anybody can write; "same": the
            look, within 31 bits of PDQ; "possibly": within 70.
        distance: differing bits of PDQ; None where the look wasn't needed.
    """

    entry: Entry
    how: How
    distance: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"how": self.how, "distance": self.distance} | self.entry.as_dict()


def entry_of(image: MarkedImage, data: bytes, format: str, labels: Sequence[str], link: str = "") -> Entry:
    """The line of an encoded picture. `labels`: what was read back from `data`."""
    look, quality = pdq(image.pixels, image.alpha)
    told = image.labels.as_dict().get("settings")
    return Entry(
        id=image.mark.id,
        at=int(datetime.now(UTC).timestamp()),
        version=__version__,
        kind=image.kind,
        format=format,
        width=image.width,
        height=image.height,
        settings=hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest() if told else "",
        models=image.models,
        sha256=hashlib.sha256(data).digest(),
        pdq=look if quality >= WORTH else None,
        labels=(*labels, "visible") if image.visible else tuple(labels),
        link=link,
        derived=image.labels.derived_from,
    )
