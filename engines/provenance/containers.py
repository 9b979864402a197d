"""Where picture files keep what they say about themselves: found by walking their parts, without decoding a pixel.

Reads and writes nothing but metadata. Every length is checked against the file; compressed text is unpacked up to a limit.
Sources: PNG 3rd edition (W3C 2025); JPEG ITU-T T.81; WebP container (Google); XMP part 3; C2PA 2.2, "Embedding manifests".
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from engines.provenance.boxes import is_movie
from engines.provenance.items import read_items
from engines.provenance.movie_labels import read_movie
from engines.provenance.tiff_tags import read_tags

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
XMP_KEYWORD = "XML:com.adobe.xmp"
LIMIT = 4 << 20  # bytes of one text, packed or unpacked; more is left unread
_ALL_TEXTS = 16 << 20  # bytes of all texts of a PNG
_JPEG_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_TEXTS = 256  # of a PNG; more are left unread
_LONE_MARKERS = {0x01, *range(0xD0, 0xD9)}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a file carries beside its pixels.

    Attributes:
        xmp: the packet, or b"".
        exif: the TIFF structure, or b""; of a video, which has none, its comments, and of a TIFF, which is one, its words.
        texts: keyword and value of PNG text chunks, and of a video's keys.
        c2pa: the bytes of a C2PA manifest store, or b"".
    """

    xmp: bytes = b""
    exif: bytes = b""
    texts: tuple[tuple[str, str], ...] = ()
    c2pa: bytes = b""


def parts_of(data: bytes) -> Parts:
    """The metadata of a file of any format; damaged files give what can be read. Never raises for what `data` holds."""
    if data.startswith(PNG_SIGNATURE):
        return _png(data)
    if data.startswith(b"\xff\xd8"):
        return _jpeg(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    if is_movie(data[:256]):
        return Parts(*read_movie(data))
    if data[4:8] == b"ftyp":
        xmp, exif, c2pa = read_items(data, LIMIT)
        return Parts(xmp, exif, (), c2pa)
    if data[:4] in _TIFF:
        xmp, exif, c2pa = read_tags(data, LIMIT)
        return Parts(xmp, exif, (), c2pa)
    return _other(data)


def png_with(data: bytes, chunks: list[tuple[bytes, bytes]]) -> bytes:
    """A PNG with more chunks (name, body) right behind its header."""
    head = len(PNG_SIGNATURE) + 25
    made = [struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks]
    return b"".join((data[:head], *made, data[head:]))


def png_chunks(data: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """Name and body of each chunk up to the first that doesn't fit into the file."""
    view, at = memoryview(data), len(PNG_SIGNATURE)
    while at + 12 <= len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        if at + 12 + size > len(data):
            return
        yield name, view[at + 8 : at + 8 + size]
        at += 12 + size


def jpeg_segments(data: bytes) -> Iterator[tuple[int, memoryview]]:
    """Marker and body of each segment before the picture itself."""
    view, at = memoryview(data), 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF or marker in _LONE_MARKERS:
            at += 1 if marker == 0xFF else 2
            continue
        size = struct.unpack_from(">H", data, at + 2)[0]
        if marker in (0xD9, 0xDA) or size < 2 or at + 2 + size > len(data):
            return
        yield marker, view[at + 4 : at + 2 + size]
        at += 2 + size


def webp_chunks(data: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """Name and body of each chunk up to the first that doesn't fit into the file."""
    view, at = memoryview(data), 12
    while at + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        if at + 8 + size > len(data):
            return
        yield name, view[at + 8 : at + 8 + size]
        at += 8 + size + size % 2


def _png(data: bytes) -> Parts:
    xmp, exif, c2pa = b"", b"", b""
    texts: list[tuple[str, str]] = []
    left = _ALL_TEXTS
    for name, body in png_chunks(data):
        if name == b"eXIf":
            exif = bytes(body[:LIMIT])
        elif name == b"caBX":
            c2pa = bytes(body)
        elif name in (b"tEXt", b"zTXt", b"iTXt") and len(texts) < _TEXTS and left > 0:
            keyword, value = _png_text(name, bytes(body[:LIMIT]))
            left -= len(value)
            if keyword == XMP_KEYWORD:
                xmp = xmp or value
            else:
                texts.append((keyword, value.decode("utf-8" if name == b"iTXt" else "latin-1", "replace")))
    return Parts(xmp, exif, tuple(texts), c2pa)


def _png_text(name: bytes, body: bytes) -> tuple[str, bytes]:
    keyword, _, rest = body.partition(b"\0")
    packed = name == b"zTXt"
    if name == b"zTXt":
        rest = rest[1:]
    elif name == b"iTXt":
        packed = rest[:1] == b"\1"
        rest = rest[2:].partition(b"\0")[2].partition(b"\0")[2]
    return keyword.decode("latin-1"), _unpack(rest) if packed else rest


def _unpack(packed: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(packed, LIMIT)
    except zlib.error:
        return b""


def _jpeg(data: bytes) -> Parts:
    xmp, exif = b"", b""
    manifest: list[bytes] = []
    for marker, body in jpeg_segments(data):
        if marker == 0xE1 and bytes(body[: len(_JPEG_XMP)]) == _JPEG_XMP:
            xmp = xmp or bytes(body[len(_JPEG_XMP) :])
        elif marker == 0xE1 and bytes(body[:6]) == b"Exif\0\0":
            exif = exif or bytes(body[6:])
        elif marker == 0xEB and bytes(body[:2]) == b"JP":
            manifest.append(bytes(body[8:]))  # JUMBF: identifier, instance and sequence number, then the box
    whole = b"".join(manifest)
    return Parts(xmp, exif, (), whole if b"c2pa" in whole else b"")


def _webp(data: bytes) -> Parts:
    found = {name: bytes(body) for name, body in webp_chunks(data) if name in (b"XMP ", b"EXIF", b"C2PA")}
    return Parts(found.get(b"XMP ", b"")[:LIMIT], found.get(b"EXIF", b"").removeprefix(b"Exif\0\0"), (), found.get(b"C2PA", b""))


def _other(data: bytes) -> Parts:
    """Formats without a walk of their own (GIF, JPEG 2000, camera raw): their XMP stands in the open, and so does a manifest's name."""
    start = data.find(b"<x:xmpmeta")
    end = data.find(b"</x:xmpmeta>", start)
    xmp = data[start : end + 12] if 0 <= start < end and end - start < LIMIT else b""
    box = data.find(b"jumdc2pa")
    return Parts(xmp, b"", (), data[box : box + LIMIT] if box >= 0 else b"")
