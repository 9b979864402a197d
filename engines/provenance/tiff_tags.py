"""What a TIFF says about itself: the values of a few tags of its first page (TIFF 6.0; BigTIFF; XMP part 3; C2PA 2.2)."""

import struct

_XMP, _C2PA = 700, 52545
_EXIF = 34665  # where EXIF's own directory stands
_WORDS = (270, 305, 37510, 40092, 40094)  # ImageDescription, Software; UserComment of EXIF; XPComment, XPKeywords of Windows
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 6: 1, 7: 1, 13: 4, 16: 8, 18: 8}  # bytes of a value, by its type
_MOST = 4096  # entries of a directory
_OFFSETS = {4, 13, 16, 18}  # types of a place


def read_tags(data: bytes, limit: int) -> tuple[bytes, bytes, bytes]:
    """The XMP packet, what programs wrote as words (each on lines of its own), and the manifest of C2PA; b"" for each that isn't there.

    Args:
        limit: bytes of the first two; longer ones are cut.
    """
    order = "<" if data[:2] == b"II" else ">"
    big = data[2:4] in (b"+\0", b"\0+")
    head = "Q" if big else "I"
    at = 8 if big else 4
    if len(data) < at + struct.calcsize(head):
        return b"", b"", b""
    (first,) = struct.unpack_from(order + head, data, at)
    found = _values(data, first, order, big)
    exif = found.get(_EXIF)
    if exif is not None and exif[0] in _OFFSETS:
        place = int.from_bytes(exif[1], "little" if order == "<" else "big")
        found = _values(data, place, order, big) | found
    none = (0, b"")
    words = b"\n".join(found[tag][1] for tag in _WORDS if tag in found)
    return found.get(_XMP, none)[1][:limit], words[:limit], found.get(_C2PA, none)[1]


def _values(data: bytes, at: int, order: str, big: bool) -> dict[int, tuple[int, bytes]]:
    """By tag, type and bytes of each entry that this module asks for; without what lies outside of the file. Of two of a tag the first."""
    found: dict[int, tuple[int, bytes]] = {}
    counting, entry, inline, place = ("Q", 20, 8, "Q") if big else ("H", 12, 4, "I")
    body = at + struct.calcsize(counting)
    if body > len(data):
        return found
    (count,) = struct.unpack_from(order + counting, data, at)
    for start in range(body, min(body + min(count, _MOST) * entry, len(data) - entry + 1), entry):
        tag, kind, number = struct.unpack_from(f"{order}HH{place}", data, start)
        size = _SIZES.get(kind, 0) * number
        if tag not in (_XMP, _C2PA, _EXIF, *_WORDS) or not size:
            continue
        where = start + entry - inline
        if size > inline:
            (where,) = struct.unpack_from(order + place, data, where)
        if where + size <= len(data):
            found.setdefault(tag, (kind, data[where : where + size]))
    return found
