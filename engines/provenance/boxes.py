"""The boxes that MP4, MOV, AVIF and HEIC files are made of, found without decoding anything (ISO/IEC 14496-12, 4.2).

Lengths of hostile files lie: a box never reaches past the one around it, and no more than `MOST` are looked at.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

MOST = 1 << 18  # boxes side by side: a day of video in fragments of a second has 170,000
XMP_UUID = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")  # XMP specification part 3, "MPEG-4"
C2PA_UUID = bytes.fromhex("d8fec3d61b0e483c92975828877ec481")  # C2PA 2.2, "Embedding manifests into BMFF-based assets"
_PICTURES = {b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1", b"miaf", b"mif2"}
_RAW = {b"crx "}


@dataclass(frozen=True, slots=True)
class Box:
    """One box.

    Attributes:
        kind: four bytes. uuid: the longer kind of a "uuid" box, 16 bytes; b"" else.
        start, body, end: in bytes from the file's beginning: its header, its content, what follows it.
        open: whether it says that it reaches to the file's end.
    """

    kind: bytes
    start: int
    body: int
    end: int
    uuid: bytes = b""
    open: bool = False

    @property
    def size(self) -> int:
        return self.end - self.start


def boxes(data: bytes, start: int = 0, end: int | None = None) -> Iterator[Box]:
    """The boxes side by side in `data[start:end]`, up to the first that doesn't fit there."""
    end = len(data) if end is None else min(end, len(data))
    for _ in range(MOST):
        found = _box(data[start : start + 32], start, end)
        if found is None:
            return
        yield found
        start = found.end


def boxes_of(file: BinaryIO) -> list[Box]:
    """All boxes of a file, side by side; nothing but their headers is read.

    Raises:
        ValueError: one that doesn't fit, a piece of one at the end, or too many.
    """
    start, end = 0, file.seek(0, 2)
    found: list[Box] = []
    while start < end:
        file.seek(start)
        box = _box(file.read(32), start, end)
        if box is None or len(found) >= MOST:
            raise ValueError(f"a box that doesn't fit, at byte {start}")
        found.append(box)
        start = box.end
    return found


def inside(data: bytes, box: Box) -> Iterator[Box]:
    """The boxes in a box. Of `meta` the version and flags are passed over that it has in ISO's files and QuickTime's hasn't."""
    full = box.kind == b"meta" and data[box.body + 4 : box.body + 8] != b"hdlr"
    return boxes(data, box.body + 4 * full, box.end)


def child(data: bytes, path: bytes, box: Box | None = None) -> Box | None:
    """The first box at a path such as b"moov/udta/meta", from the file's beginning or in a box; None where there is none."""
    for kind in path.split(b"/"):
        box = next((each for each in (boxes(data) if box is None else inside(data, box)) if each.kind == kind), None)
        if box is None:
            return None
    return box


def made(kind: bytes, *parts: bytes) -> bytes:
    """A box. Raises `ValueError` from 4 GiB on."""
    size = 8 + sum(len(part) for part in parts)
    if size >= 1 << 32:
        raise ValueError(f"a box of {size} bytes")
    return b"".join((struct.pack(">I4s", size, kind), *parts))


def is_movie(data: bytes) -> bool:
    """Whether a file's first 256 bytes are those of an MP4 or MOV, and not of AVIF, HEIC or a camera's raw picture."""
    if data[4:8] != b"ftyp":
        return data[4:8] in (b"moov", b"mdat", b"wide") and len(data) >= 16  # QuickTime before 2001 has no `ftyp`
    size = min(max(16, struct.unpack_from(">I", data)[0]), 256)
    brands = {data[8:12], *(data[at : at + 4] for at in range(16, size - 3, 4))}
    return not brands & (_PICTURES | _RAW)


def _box(head: bytes, start: int, end: int) -> Box | None:
    """The box whose first bytes `head` are; None where it doesn't fit before `end`."""
    if start + 8 > end or len(head) < 8:
        return None
    size, kind = struct.unpack_from(">I4s", head)
    body, open_ = 8, size == 0
    if size == 1:
        if len(head) < 16:
            return None
        (size,) = struct.unpack_from(">Q", head, 8)
        body = 16
    uuid = head[body : body + 16] if kind == b"uuid" else b""
    body += len(uuid)
    last = end if open_ else start + size
    if last > end or start + body > last or len(uuid) not in (0, 16):
        return None
    return Box(kind, start, start + body, last, uuid, open_)
