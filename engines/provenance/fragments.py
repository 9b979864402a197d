"""The boxes `moof` of a video in fragments: private ones blanked, places told anew, sizes as they were (ISO/IEC 14496-12, 8.8)."""

import struct
from collections.abc import Iterator

import numpy as np

from engines.provenance.boxes import Box, child, inside
from engines.provenance.movie_header import Moved

_RUN_KEPT = {b"tfhd", b"tfdt", b"trun", b"sdtp", b"sbgp", b"sgpd", b"subs"}
_BASE, _DEFAULT_SIZE, _FROM_MOOF = 0x1, 0x10, 0x20000  # flags of `tfhd`
_OFFSET, _FIRST, _DURATION, _SIZE, _FLAGS, _SHIFT = 0x1, 0x4, 0x100, 0x200, 0x400, 0x800  # flags of `trun`


def default_sizes(moov: bytes) -> dict[int, int]:
    """By a track's number, the bytes of a sample that tells none."""
    found = child(moov, b"moov/mvex")
    parts = [part for part in inside(moov, found) if part.kind == b"trex" and part.end - part.body >= 24] if found else []
    return dict(struct.unpack_from(">I8xI", moov, part.body + 4) for part in parts)


def blanked(moof: bytes, numbers: set[int], moved: Moved) -> bytes:
    """A `moof` as large as before, with the tracks `numbers` alone.

    Raises:
        ValueError: damaged.
    """
    made = bytearray(moof)
    for part in inside(moof, _whole(moof)):
        if part.kind == b"traf" and _number(moof, part) in numbers:
            for each in inside(moof, part):
                if each.kind not in _RUN_KEPT:
                    _blank(made, each)
                elif each.kind == b"tfhd" and _flags(moof, each) & _BASE:
                    (base,) = struct.unpack_from(">Q", moof, each.body + 8)
                    if base >= 1 << 62:
                        raise ValueError("samples beyond the end")
                    struct.pack_into(">Q", made, each.body + 8, int(moved(np.array([base]))[0]))
        elif part.kind != b"mfhd":
            _blank(made, part)
    return bytes(made)


def strange(moof: bytes, start: int, numbers: set[int], sizes: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Where the samples of all but the tracks `numbers` lie, in bytes from the file's beginning: (first, behind the last).

    Args:
        start: of the `moof` in the file. sizes: see `default_sizes`.

    Raises:
        ValueError: damaged.
    """
    end = start
    for traf in inside(moof, _whole(moof)):
        if traf.kind != b"traf":
            continue
        header = _header(moof, traf)
        number = _number(moof, traf)
        base, size = _defaults(moof, header, start, end, sizes.get(number, 0))
        at = base
        for run in inside(moof, traf):
            if run.kind == b"trun":
                first, length = _run(moof, run, size)
                at = base + first if first is not None else at
                if number not in numbers and length:
                    yield at, at + length
                at += length
        end = at


def _defaults(moof: bytes, header: Box, start: int, end: int, size: int) -> tuple[int, int]:
    """From where a track's runs are counted, and the bytes of a sample that tells none."""
    flags, at = _flags(moof, header), header.body + 8
    fields = [(bit, wide) for bit, wide in ((_BASE, 8), (0x2, 4), (0x8, 4), (_DEFAULT_SIZE, 4)) if flags & bit]
    base = start if flags & _FROM_MOOF else end
    for bit, wide in fields:
        if at + wide > header.end:
            raise ValueError("a box cut off")
        value = int.from_bytes(moof[at : at + wide], "big")
        base, size = (value if bit == _BASE else base), (value if bit == _DEFAULT_SIZE else size)
        at += wide
    return base, size


def _run(moof: bytes, run: Box, size: int) -> tuple[int | None, int]:
    """Where a run begins, counted from its track's base (None: behind the one before), and its bytes."""
    flags = _flags(moof, run)
    (count,) = struct.unpack_from(">I", moof, run.body + 4)
    at = run.body + 8
    first = struct.unpack_from(">i", moof, at)[0] if flags & _OFFSET and at + 4 <= run.end else None
    at += 4 * bool(flags & _OFFSET) + 4 * bool(flags & _FIRST)
    columns = [bit for bit in (_DURATION, _SIZE, _FLAGS, _SHIFT) if flags & bit]
    if at + 4 * count * len(columns) > run.end:
        raise ValueError("a box cut off")
    if not flags & _SIZE:
        return first, count * size
    table = np.frombuffer(moof, ">u4", count * len(columns), at).reshape(count, len(columns))
    return first, int(table[:, columns.index(_SIZE)].sum(dtype=np.int64))


def _whole(moof: bytes) -> Box:
    found = child(moof, b"moof")
    if found is None:
        raise ValueError("a box cut off")
    return found


def _flags(data: bytes, box: Box) -> int:
    if box.end - box.body < 8 + 8 * (box.kind == b"tfhd" and data[box.body + 3] & _BASE):
        raise ValueError("a box cut off")
    return int(struct.unpack_from(">I", data, box.body)[0]) & 0xFFFFFF


def _number(moof: bytes, traf: Box) -> int:
    return int(struct.unpack_from(">I", moof, _header(moof, traf).body + 4)[0])


def _header(moof: bytes, traf: Box) -> Box:
    header = child(moof, b"tfhd", traf)
    if header is None:
        raise ValueError("a fragment without its header")
    _flags(moof, header)
    return header


def _blank(data: bytearray, box: Box) -> None:
    """Turned into free room."""
    data[box.start + 4 : box.start + 8] = b"free"
    data[box.body - len(box.uuid) : box.end] = bytes(box.end - box.body + len(box.uuid))
