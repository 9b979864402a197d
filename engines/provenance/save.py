"""The one way out: a marked picture becomes a file here and nowhere else, and never without its mark.

    MarkedImage → encode → sign → read signature, labels, mark back from those bytes → EncodedImage → temporary file → read back → name

Reading back included, 108 megapixels never need more than 1 GB beside the picture and its marked copy; AVIF takes 28 bytes a pixel, 3 GB.
"""

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from engines.errors import InvalidOption, MarkNotRead, UnreadableImage
from engines.provenance import encoders, watermark
from engines.provenance.credentials import read_credentials
from engines.provenance.encoders import DEFAULT_QUALITY
from engines.provenance.entry import entry_of
from engines.provenance.keys import MarkKey
from engines.provenance.labels import Labels
from engines.provenance.ledger import Ledger
from engines.provenance.mark import Mark, MarkedImage
from engines.provenance.metadata import read_labels
from engines.provenance.output import FORMATS, MEDIA_TYPES, NAMES, Format, check_codec, check_writable, format_of, target_of, write_bytes
from engines.provenance.signer import Signer
from engines.provenance.view import on_white
from engines.timing import Run
from engines.types import Note, Pixels
from engines.vision import io

__all__ = [
    "DEFAULT_QUALITY",
    "FORMATS",
    "MEDIA_TYPES",
    "EncodedImage",
    "Format",
    "Saved",
    "check_writable",
    "encode",
    "save",
    "sign",
    "write_bytes",
    "write_encoded",
]

QUALITIES = (40, 100)
_READ_BACK = 1024  # the mark is looked for in a copy of at least this long side


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """A picture file in memory. `mark` and `labels` are what was read back from `data`.

    Attributes:
        notes: keys under `notes.` of the locale files: "flattened" (format), "labels_only".
        signed: whether it carries Content Credentials of ours.
    """

    data: bytes
    format: Format
    width: int
    height: int
    mark: Mark
    labels: Labels
    notes: tuple[Note, ...] = ()
    signed: bool = False

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[self.format]

    @property
    def written(self) -> tuple[str, ...]:
        """What it says about itself, by name, for the ledger."""
        return (*(("watermark",) if self.mark.kind == "watermark" else ()), *self.labels.names(), *(("c2pa",) if self.signed else ()))


@dataclass(frozen=True, slots=True)
class Saved:
    """A picture file on the disk. `bytes`: its size."""

    path: Path
    width: int
    height: int
    bytes: int
    format: Format
    mark: Mark
    labels: Labels
    notes: tuple[Note, ...] = ()


def encode(
    image: MarkedImage,
    format: str,
    quality: int | None,
    key: MarkKey,
    run: Run | None = None,
    ledger: Ledger | None = None,
    signer: Signer | None = None,
) -> EncodedImage:
    """Encodes a marked picture, reads everything back, and keeps its line.

    Args:
        format: "png", "jpg" ("jpeg"), "webp", "avif" or "tiff" ("tif"), in any case, with or without a dot.
        quality: 40 … 100 of JPEG, WebP and AVIF; None takes 92, 90 and 85. PNG and TIFF are lossless and take none. From JPEG 75, WebP 80
            and AVIF 50 up the mark of a picture of 450 pixels or more was always read back; below that, or from JPEG 80, WebP 90 and
            AVIF 60 down for small crops, some pictures end in `MarkNotRead`.
        signer: adds Content Credentials, except to previews.
        ledger: takes the line of what comes out. A preview has none: it is on the screen of the person who gave the picture.

    Raises:
        OutputUnwritable: format, codec, size (more than 65,500 pixels a side in JPEG, 16,383 in WebP, 32,768 in AVIF).
        InvalidOption: a quality out of range.
        MarkNotRead: a label, the mark or the signature isn't in the bytes; nothing comes out then.
        CredentialsUnusable, LedgerUnusable: nothing comes out either.
    """
    encoded = _encoded(image, format, quality, key, run, signer)
    _record(image, encoded, ledger)
    return encoded


def sign(
    encoded: EncodedImage, image: MarkedImage, key: MarkKey, signer: Signer, run: Run | None = None, ledger: Ledger | None = None
) -> EncodedImage:
    """Adds Content Credentials to what `encode` made of `image` without a signer, and reads everything back.

    For a page that shows each turn of a slider and signs what is taken away.

    Raises:
        MarkNotRead, CredentialsUnusable, LedgerUnusable.
    """
    signed = _signed(encoded, image, key, signer, run or Run())
    _record(image, signed, ledger)
    return signed


def _record(image: MarkedImage, encoded: EncodedImage, ledger: Ledger | None) -> None:
    if ledger is not None and image.kind != "preview":
        ledger.record(entry_of(image, encoded.data, encoded.format, encoded.written))


def _encoded(image: MarkedImage, format: str, quality: int | None, key: MarkKey, run: Run | None, signer: Signer | None) -> EncodedImage:
    name, run = format_of(format), run or Run()
    low, high = QUALITIES
    if quality is not None and not low <= quality <= high:
        raise InvalidOption(name="quality", value=quality, allowed=f"{low} … {high}")
    check_codec(name)
    with run.stage("encode"):
        data = encoders.encoded(image, name, quality)
    flattened: tuple[Note, ...] = (("flattened", (("format", NAMES[name]),)),) if name == "jpg" and image.alpha is not None else ()
    encoded = EncodedImage(data, name, image.width, image.height, image.mark, image.labels, (*flattened, *image.notes))
    if signer is not None and image.kind != "preview":
        return _signed(encoded, image, key, signer, run)
    with run.stage("verify"):
        labels, mark = _read_back(data, image, key, name)
    return replace(encoded, mark=mark, labels=labels)


def _signed(encoded: EncodedImage, image: MarkedImage, key: MarkKey, signer: Signer, run: Run) -> EncodedImage:
    with run.stage("sign"):
        data = signer.sign(encoded.data, encoded.media_type, image)
    with run.stage("verify"):
        labels, mark = _read_back(data, image, key, encoded.format)
        found = read_credentials(data, lambda: signer.identity.trust)
        if found is None or found.state != "ours":
            raise MarkNotRead("credentials", what="credentials")
    return replace(encoded, data=data, mark=mark, labels=labels, signed=True)


def save(
    image: MarkedImage,
    path: Path,
    format: str | None = None,
    quality: int | None = None,
    overwrite: bool = False,
    *,
    key: MarkKey,
    run: Run | None = None,
    ledger: Ledger | None = None,
    signer: Signer | None = None,
) -> Saved:
    """Writes a picture file: complete and verified under its name, or not at all.

    Args:
        format: None takes it from the suffix.
        overwrite: replaces a file of that name, or the one that a symbolic link of that name leads to. The old file stays until the new
            one is complete.

    Raises:
        OutputExists, OutputUnwritable, MarkNotRead, LedgerUnusable, CredentialsUnusable, InvalidOption, Cancelled. No file and no folder
            is left behind then.
    """
    run = run or Run()
    check_writable(path, format, overwrite)
    encoded = _encoded(image, format or path.suffix, quality, key, run, signer)
    with run.stage("save"), contextlib.ExitStack() as stack:
        part = None
        if ledger is not None and image.kind != "preview":
            line = entry_of(image, encoded.data, encoded.format, encoded.written)
            part = stack.enter_context(ledger.writing(line, target_of(path, overwrite)))
        write_bytes(encoded.data, path, overwrite, run, part=part)
    return Saved(path, encoded.width, encoded.height, len(encoded.data), encoded.format, encoded.mark, encoded.labels, encoded.notes)


def write_encoded(encoded: EncodedImage, path: Path, overwrite: bool = False, run: Run | None = None) -> None:
    """Writes an encoded picture; see `save`."""
    run = run or Run()
    with run.stage("save"):
        write_bytes(encoded.data, path, overwrite, run)


def _read_back(data: bytes, image: MarkedImage, key: MarkKey, format: Format) -> tuple[Labels, Mark]:
    labels = read_labels(data).labels
    if labels != image.labels:
        raise MarkNotRead("labels", what="labels")
    if image.mark.kind == "labels_only":
        return labels, image.mark
    reading = watermark.detect(_decoded(data, image, format), key)
    if reading.id != image.mark.id:
        raise MarkNotRead("watermark", what="watermark")
    return labels, Mark(reading.id, "watermark", reading.score)


def _decoded(data: bytes, image: MarkedImage, format: Format) -> Pixels:
    """The encoded picture as it is looked at, decoded at half, a quarter or an eighth of its size where that leaves 1024 pixels.

    AVIF and TIFF by the program's own reader: not every OpenCV has them, and it complains in the log about a TIFF's signature.
    """
    if format in ("avif", "tiff"):
        try:
            frame = io.decode(data, "", image.width * image.height / 1e6 + 1)
        except UnreadableImage as fault:
            raise MarkNotRead("watermark", what="watermark") from fault
        return on_white(frame.pixels, frame.alpha)
    if image.alpha is not None:
        back = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
        if back is None:
            raise MarkNotRead("watermark", what="watermark")
        layers = np.asarray(back, np.uint8)
        return on_white(np.ascontiguousarray(layers[..., 2::-1]), layers[..., 3] if layers.shape[2] == 4 else None)
    long = max(image.width, image.height)
    flags = {8: cv2.IMREAD_REDUCED_COLOR_8, 4: cv2.IMREAD_REDUCED_COLOR_4, 2: cv2.IMREAD_REDUCED_COLOR_2}
    flag = next((flags[by] for by in flags if long // by >= _READ_BACK), cv2.IMREAD_COLOR)
    back = cv2.imdecode(np.frombuffer(data, np.uint8), flag)
    if back is None:
        raise MarkNotRead("watermark", what="watermark")
    return np.asarray(cv2.cvtColor(back, cv2.COLOR_BGR2RGB), np.uint8)
