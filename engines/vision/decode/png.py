"""PNG: chunks by our own walk, pixels by Pillow up to 8 bits and by OpenCV for 16 (Pillow has no 16-bit colour).

The decoders get the chunks that carry pixels and nothing else: text, times and EXIF don't travel, and neither a bad text
chunk nor a large one (Pillow refuses more than 1 MB) stops a good picture. An APNG is read by its default image.
Source: PNG, third edition (W3C 2025).
"""

import struct
import zlib
from dataclasses import dataclass
from functools import partial
from io import BytesIO

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL.PngImagePlugin import PngImageFile

from engines.errors import UnreadableImage
from engines.types import Pixels
from engines.vision.decode import ifd
from engines.vision.decode.encoded import Encoded, Samples, samples_of, to_eight

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"\0\0\0\0IEND\xaeB`\x82"
_PIXELS = {b"IHDR", b"PLTE", b"IDAT"}
_PROFILE_BYTES = 16 << 20  # unpacked; the largest press profiles have 3 MB
_METRES = 0.0254  # an inch
_LAYOUTS = {0: "L", 2: "RGB", 3: "P", 4: "LA", 6: "RGBA"}


@dataclass(frozen=True, slots=True)
class _Chunks:
    pixels: list[tuple[bytes, memoryview]]  # name, and the whole chunk with length and checksum
    key: bytes  # tRNS
    frames: int
    exif: bytes
    icc: bytes | None
    dpi: tuple[float, float] | None


def open_png(data: bytes) -> Encoded:
    """Reads the header and the chunks' checksums (1 GB/s).

    Raises:
        UnreadableImage: truncated, or codec for Apple's private variant.
        ValueError: a wrong checksum, or values that PNG doesn't have.
    """
    chunks = _walk(data)
    headers = [kind == b"IHDR" for kind, _ in chunks.pixels]
    if not any(headers) or not headers[0] or sum(headers) > 1 or len(chunks.pixels[0][1]) != 25:
        raise ValueError("not one header chunk, first")  # a second one would change the size behind the limit's back
    width, height, depth, colour = struct.unpack_from(">IIBB", chunks.pixels[0][1], 8)
    layout = _LAYOUTS.get(colour)
    if layout is None or not width or not height or depth not in (1, 2, 4, 8, 16):
        raise ValueError(f"colour type {colour}, {depth} bits, {width} x {height}")
    mode = {("L", 1): "1", ("L", 16): "I;16"}.get((layout, depth), f"{layout};16" if depth == 16 else layout)
    return Encoded(
        "PNG",
        width,
        height,
        mode,
        partial(_load_sixteen, chunks, layout) if depth == 16 else partial(_load, chunks, layout, depth),
        bit_depth=depth,
        orientation=ifd.orientation(chunks.exif) if chunks.exif else 1,
        frames=chunks.frames,
        icc=chunks.icc,
        dpi=chunks.dpi or ifd.resolution(chunks.exif),
    )


def _walk(data: bytes) -> _Chunks:
    view, at = memoryview(data), len(SIGNATURE)
    pixels: list[tuple[bytes, memoryview]] = []
    key, frames, exif, icc = b"", 1, b"", None
    dpi: tuple[float, float] | None = None
    ended = False
    while at + 12 <= len(data) and not ended:
        size, kind = struct.unpack_from(">I4s", data, at)
        if at + 12 + size > len(data):
            break
        body = view[at + 8 : at + 8 + size]
        if kind == b"CgBI":
            raise UnreadableImage("codec", format="Apple CgBI PNG", name="")
        if kind in _PIXELS:
            if zlib.crc32(view[at + 4 : at + 8 + size]) != struct.unpack_from(">I", data, at + 8 + size)[0]:
                raise ValueError(f"checksum of {kind!r}")
            pixels.append((kind, view[at : at + 12 + size]))
        elif kind == b"tRNS":
            key = bytes(body)
        elif kind == b"acTL" and size == 8:
            frames = max(1, struct.unpack_from(">I", body)[0])
        elif kind == b"eXIf":
            exif = bytes(body)
        elif kind == b"pHYs" and size == 9 and body[8] == 1:  # per metre
            across, down = struct.unpack_from(">II", body)
            dpi = ifd.per_inch(across * _METRES, down * _METRES)
        elif kind == b"iCCP":
            icc = _profile(bytes(body))
        ended = kind == b"IEND"
        at += 12 + size
    # Without its end the file is cut, unless it was cut between the chunk that completes the pixels and the end chunk:
    # then `at` stands behind a whole IDAT, and the decoder says whether rows are missing.
    if not ended and not (pixels and pixels[-1][0] == b"IDAT" and len(data) - at < len(_END)):
        raise UnreadableImage("truncated", name="")
    return _Chunks(pixels, key, frames, exif, icc, dpi)


def _profile(body: bytes) -> bytes:
    packed = body.partition(b"\0")[2][1:]
    unpack = zlib.decompressobj()
    try:
        icc = unpack.decompress(packed, _PROFILE_BYTES)
    except zlib.error:
        return b""
    return icc if unpack.eof else b""


def _stream(chunks: _Chunks, *extra: bytes) -> bytes:
    """A whole PNG of the pixels alone. `extra` chunks stand before the first IDAT, behind the palette."""
    before = [chunk for kind, chunk in chunks.pixels if kind != b"IDAT"]
    return b"".join((SIGNATURE, *before, *extra, *(chunk for kind, chunk in chunks.pixels if kind == b"IDAT"), _END))


def _load(chunks: _Chunks, layout: str, depth: int) -> Samples:
    key = chunks.key
    if layout == "L" and depth in (2, 4) and len(key) == 2:
        # Pillow spreads 2- and 4-bit gray to 0..255, and then looks for the transparent value as it was before.
        key = struct.pack(">H", min(255, struct.unpack(">H", key)[0] * (255 // ((1 << depth) - 1))))
    extra = []
    if len(key) == {"L": 2, "RGB": 6}.get(layout) or (layout == "P" and 0 < len(key) <= 256):
        body = b"tRNS" + key
        extra = [struct.pack(">I", len(key)) + body + struct.pack(">I", zlib.crc32(body))]
    return samples_of(PngImageFile(BytesIO(_stream(chunks, *extra))))


def _load_sixteen(chunks: _Chunks, layout: str) -> Samples:
    decoded = cv2.imdecode(np.frombuffer(_stream(chunks), np.uint8), cv2.IMREAD_UNCHANGED)
    if decoded is None or decoded.dtype != np.uint16:
        raise ValueError("libpng gave up")
    values: NDArray[np.uint16] = np.asarray(decoded, np.uint16)
    alpha: Pixels | None = None
    if layout in ("LA", "RGBA"):
        alpha = to_eight(values[..., 3])
    elif len(chunks.key) == 2 * len(layout):
        # A colour that stands for "transparent": compared at 16 bits, as the standard has it, before anything is rounded.
        key = np.frombuffer(chunks.key, ">u2")[::-1].astype(np.uint16)
        hit = values == key[0] if values.ndim == 2 else np.all(values == key, axis=-1)
        alpha = np.where(hit, 0, 255).astype(np.uint8)
    if layout in ("L", "LA"):
        return Samples(to_eight(values if values.ndim == 2 else values[..., 0]), "L", alpha)
    return Samples(np.asarray(cv2.cvtColor(to_eight(values[..., :3]), cv2.COLOR_BGR2RGB), np.uint8), "RGB", alpha)
