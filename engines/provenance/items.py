"""What an AVIF or HEIC file says about itself: its items of metadata, by the tables of `meta` (ISO/IEC 14496-12, 8.11; 23008-12, annex A).

Numbers of hostile files lie: each is read within its box alone, an item's bytes within the file, and no more than a limit of them.
"""

import struct
from collections.abc import Iterator

from engines.provenance.boxes import C2PA_UUID, XMP_UUID, Box, boxes, child, inside

_XMP = b"application/rdf+xml"
_EXTENTS = 64  # pieces of an item; what is written has one


def read_items(data: bytes, limit: int) -> tuple[bytes, bytes, bytes]:
    """The XMP packet, the TIFF structure of EXIF, and the manifest of C2PA; b"" for each that isn't there. Of several the first.

    Args:
        limit: bytes of each of the first two; longer ones are cut.
    """
    manifest = next((data[box.body : box.end] for box in boxes(data) if box.uuid == C2PA_UUID), b"")
    packet = next((data[box.body : min(box.end, box.body + limit)] for box in boxes(data) if box.uuid == XMP_UUID), b"")
    exif = b""
    meta = child(data, b"meta")
    if meta is None:
        return packet, exif, manifest
    named = {box.kind: box for box in inside(data, meta)}
    places = _Places(data, named.get(b"iloc"), named.get(b"idat"))
    for number, kind, mime in _entries(data, named.get(b"iinf")):
        if kind == b"mime" and mime == _XMP:
            packet = packet or places.content(number, limit)
        elif kind == b"Exif":
            exif = exif or _tiff(places.content(number, limit))
    return packet, exif, manifest


def _tiff(content: bytes) -> bytes:
    """Behind the length of what may stand before it."""
    if len(content) < 4:
        return b""
    return content[4 + struct.unpack_from(">I", content)[0] :].removeprefix(b"Exif\0\0")


def _entries(data: bytes, table: Box | None) -> Iterator[tuple[int, bytes, bytes]]:
    """Number, kind and, of the kind "mime", content type of each item."""
    if table is None or table.body == table.end:
        return
    start = table.body + (6 if data[table.body] == 0 else 8)
    for entry in boxes(data, start, table.end):
        version = data[entry.body] if entry.kind == b"infe" and entry.body < entry.end else 0
        wide = 4 if version == 3 else 2
        fixed = 4 + wide + 2 + 4
        if version in (2, 3) and entry.body + fixed <= entry.end:
            number = int.from_bytes(data[entry.body + 4 : entry.body + 4 + wide], "big")
            kind = data[entry.body + fixed - 4 : entry.body + fixed]
            words = data[entry.body + fixed : min(entry.end, entry.body + fixed + 1024)].split(b"\0")
            yield number, kind, words[1] if len(words) > 1 else b""


class _Places:
    """Where the items' bytes lie: `iloc`."""

    def __init__(self, data: bytes, table: Box | None, inner: Box | None) -> None:
        self._data, self._inner = data, inner
        self._found: dict[int, list[tuple[int, int]]] = {}
        if table is not None:
            self._read(data[table.body : table.end])

    def content(self, number: int, limit: int) -> bytes:
        """An item's bytes, the first `limit` of them; b"" where they lie outside of the file."""
        whole = b""
        for start, end in self._found.get(number, ()):
            whole += self._data[start : min(end, start + limit - len(whole))]
        return whole

    def _read(self, table: bytes) -> None:
        """Stops at the first entry that is cut off."""
        if len(table) < 6:
            return
        version = table[0]
        offset, length, base, index = (nibble for byte in table[4:6] for nibble in (byte >> 4, byte & 15))
        if version > 2 or not {offset, length, base} <= {0, 4, 8}:
            return
        index = index if version else 0
        at = 6 + (4 if version == 2 else 2)
        wide = 4 if version == 2 else 2
        fixed = wide + (2 if version else 0) + 2 + base + 2
        while at + fixed <= len(table):
            number, way = int.from_bytes(table[at : at + wide], "big"), table[at + wide + 1] & 15 if version else 0
            at += fixed
            count = int.from_bytes(table[at - 2 : at], "big")
            start = int.from_bytes(table[at - 2 - base : at - 2], "big")
            step = index + offset + length
            if at + count * step > len(table):
                return
            extents = [table[at + each * step + index : at + (each + 1) * step] for each in range(min(count, _EXTENTS))]
            at += count * step
            if number not in self._found:
                self._found[number] = [self._span(start, each[:offset], each[offset:], way) for each in extents]

    def _span(self, base: int, offset: bytes, length: bytes, way: int) -> tuple[int, int]:
        """Within the file (way 0) or `idat` (1); elsewhere nothing."""
        first, end = (0, len(self._data)) if way == 0 else (self._inner.body, self._inner.end) if way == 1 and self._inner else (0, 0)
        start = first + base + int.from_bytes(offset, "big")
        size = int.from_bytes(length, "big") or end  # a length of 0: to the end
        return min(start, end), min(start + size, end)
