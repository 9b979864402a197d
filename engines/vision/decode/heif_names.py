"""Whether libheif's Python binding survives the items of a HEIC file (ISO/IEC 14496-12, 8.11.6).

pi_heif 1.4.0 makes text of each metadata item's kind and content type without looking whether it is any: one byte that isn't UTF-8 there
ends the process with a segmentation fault. So such a file is never given to it.
"""

import struct
from collections.abc import Iterator


def names_are_text(data: bytes) -> bool:
    """Whether the kinds and content types of all items are UTF-8. True for a file without items."""
    try:
        for name in (name for meta in _metas(data) for name in _names(meta)):
            name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _metas(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if size == 1 and at + 16 <= len(data):
            (size,) = struct.unpack_from(">Q", data, at + 8)
        if kind == b"meta":
            yield data[at : at + size] if size else data[at:]
        if size < 8:  # to the end of the file, or a lie
            return
        at += size


def _names(meta: bytes) -> Iterator[bytes]:
    """Of each entry, found by its name: what stands around it may lie. Version 3 has longer numbers; before 2 there are no kinds."""
    at = meta.find(b"infe")
    while at >= 0:
        (size,) = struct.unpack_from(">I", meta, at - 4) if at >= 4 else (0,)
        body = meta[at + 4 : at - 4 + size] if size >= 8 else meta[at + 4 :]
        version = body[0] if body else 0
        start = {2: 8, 3: 10}.get(version)
        if start is None:
            yield from body[8:].split(b"\0")
        else:
            yield body[start : start + 4]
            yield from body[start + 4 :].split(b"\0")[1:2]
        at = meta.find(b"infe", at + 4)
