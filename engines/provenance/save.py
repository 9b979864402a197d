"""The one encoder: pixels become bytes and files here and nowhere else, and never without their mark.

    MarkedImage → encode → sign → read signature, labels, mark back from those bytes → EncodedImage → temporary file → read back → name

Decided here, with processor time for 12 megapixels, reading back included:
- PNG: OpenCV's encoder, filter "up", level 1: 0.8 s. Level 6 saves 12 to 16 % and takes five times as long; Pillow longer still.
- JPEG: quality 92, 4:4:4 (subsampled chroma shows on lips and eyes): 0.3 s. WebP: quality 90, method 2: 0.9 s.
- 108 megapixels never need more than 1 GB beside the picture and its marked copy.
- Every file carries sRGB, EXIF (upright, the program's name) and XMP, and nothing of the pictures that it was made from but how many
  pixels the target has to an inch.
"""

import contextlib
import struct
import zlib
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageCms

from engines.errors import InvalidOption, MarkNotRead, OutputUnwritable
from engines.provenance import watermark
from engines.provenance.containers import XMP_KEYWORD, png_with
from engines.provenance.credentials import read_credentials
from engines.provenance.entry import entry_of
from engines.provenance.keys import MarkKey
from engines.provenance.ledger import Ledger
from engines.provenance.mark import Mark, MarkedImage
from engines.provenance.metadata import TOOL, Labels, build_xmp, read_labels
from engines.provenance.output import FORMATS, MEDIA_TYPES, Format, check_writable, format_of, target_of, write_bytes
from engines.provenance.signer import Signer
from engines.provenance.view import on_white
from engines.timing import Run
from engines.types import Note, Pixels

__all__ = [
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
DEFAULT_QUALITY = {"png": None, "jpg": 92, "webp": 90}
_LONGEST = {"png": (1 << 31) - 1, "jpg": 65535, "webp": 16383}  # pixels a side, as the formats define them (65,500 in libjpeg)
_NAMES = {"png": "PNG", "jpg": "JPEG", "webp": "WebP"}
_METRES = 0.0254  # an inch
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
        format: "png", "jpg" ("jpeg") or "webp", in any case, with or without a dot.
        quality: 40 … 100 of JPEG and WebP; None takes 92 and 90. PNG is lossless and takes none. From JPEG 75 and WebP 80 up the mark of
            a picture of 450 pixels or more was always read back; below that, or from JPEG 80 and WebP 90 down for small crops, some
            pictures end in `MarkNotRead`.
        signer: adds Content Credentials, except to previews.
        ledger: takes the line of what comes out. A preview has none: it is on the screen of the person who gave the picture.

    Raises:
        OutputUnwritable: format, size (more than 65,500 pixels a side in JPEG, 16,383 in WebP).
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
    if max(image.width, image.height) > _LONGEST[name]:
        raise OutputUnwritable("size", path="", detail=_NAMES[name])
    chosen = DEFAULT_QUALITY[name] if quality is None else quality
    with run.stage("encode"):
        data = _png(image) if name == "png" else _through_pillow(image, name, int(chosen or 0))
    flattened: tuple[Note, ...] = (("flattened", (("format", _NAMES[name]),)),) if name == "jpg" and image.alpha is not None else ()
    encoded = EncodedImage(data, name, image.width, image.height, image.mark, image.labels, (*flattened, *image.notes))
    if signer is not None and image.kind != "preview":
        return _signed(encoded, image, key, signer, run)
    with run.stage("verify"):
        labels, mark = _read_back(data, image, key)
    return replace(encoded, mark=mark, labels=labels)


def _signed(encoded: EncodedImage, image: MarkedImage, key: MarkKey, signer: Signer, run: Run) -> EncodedImage:
    with run.stage("sign"):
        data = signer.sign(encoded.data, encoded.media_type, image)
    with run.stage("verify"):
        labels, mark = _read_back(data, image, key)
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


def _png(image: MarkedImage) -> bytes:
    how = [cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_DEFAULT]
    how += [cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_UP]
    colours = np.asarray(cv2.cvtColor(image.pixels, cv2.COLOR_RGB2BGR if image.alpha is None else cv2.COLOR_RGB2BGRA))
    if image.alpha is not None:
        colours[..., 3] = image.alpha
    done, data = cv2.imencode(".png", colours, how)
    if not done:
        raise OutputUnwritable("size", path="", detail="PNG")
    packet = XMP_KEYWORD.encode() + b"\0\0\0\0\0" + build_xmp(image.labels)
    profile = b"sRGB\0\0" + zlib.compress(_srgb())
    chunks = [(b"iCCP", profile), (b"eXIf", _exif(image.dpi).removeprefix(b"Exif\0\0")), (b"iTXt", packet)]
    if image.dpi is not None:
        chunks.insert(1, (b"pHYs", struct.pack(">IIB", *(round(each / _METRES) for each in image.dpi), 1)))
    return png_with(data.tobytes(), chunks)


def _through_pillow(image: MarkedImage, name: Format, quality: int) -> bytes:
    out, packet = BytesIO(), build_xmp(image.labels)
    common: dict[str, Any] = {"icc_profile": _srgb(), "exif": _exif(image.dpi), "xmp": packet, "quality": quality}
    try:
        if name == "jpg":
            Image.fromarray(on_white(image.pixels, image.alpha)).save(out, "JPEG", subsampling=0, dpi=image.dpi or (0, 0), **common)
        else:
            layers = image.pixels if image.alpha is None else np.dstack((image.pixels, image.alpha))
            Image.fromarray(layers).save(out, "WEBP", method=2, alpha_quality=100, **common)
    except (OSError, ValueError) as fault:  # libjpeg's own limit is 65,500 pixels; libwebp's is on its partitions
        raise OutputUnwritable("size", path="", detail=_NAMES[name]) from fault
    return out.getvalue()


def _read_back(data: bytes, image: MarkedImage, key: MarkKey) -> tuple[Labels, Mark]:
    labels = read_labels(data).labels
    if labels != image.labels:
        raise MarkNotRead("labels", what="labels")
    if image.mark.kind == "labels_only":
        return labels, image.mark
    reading = watermark.detect(_decoded(data, image), key)
    if reading.id != image.mark.id:
        raise MarkNotRead("watermark", what="watermark")
    return labels, Mark(reading.id, "watermark", reading.score)


def _decoded(data: bytes, image: MarkedImage) -> Pixels:
    """The encoded picture as it is looked at, decoded at half, a quarter or an eighth of its size where that leaves 1024 pixels."""
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


@cache
def _srgb() -> bytes:
    """littleCMS's sRGB profile, without the time at which it was made: the same picture gives the same bytes."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[24:36] = bytes((7, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0))
    return bytes(profile)


@lru_cache(maxsize=16)
def _exif(dpi: tuple[float, float] | None = None) -> bytes:
    exif = Image.Exif()
    exif[0x0112], exif[0x0131] = 1, TOOL  # Orientation, Software
    if dpi is not None:
        exif[0x011A], exif[0x011B], exif[0x0128] = *dpi, 2  # XResolution, YResolution, in inches
    return exif.tobytes()
