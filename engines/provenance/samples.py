"""Where a track's samples lie in a file: chunk by chunk, from its tables (ISO/IEC 14496-12, 8.7). Nothing is held for each sample."""

import struct

import numpy as np
from numpy.typing import NDArray

from engines.provenance.boxes import Box, inside

Offsets = NDArray[np.int64]


def offsets(data: bytes, table: Box) -> Offsets:
    """(N,) where each chunk of a `stco` or `co64` begins, in bytes from the file's beginning.

    Raises:
        ValueError: more entries than the box has room for, or an offset that no file has.
    """
    kind = ">u4" if table.kind == b"stco" else ">u8"
    found = _column(data, table, kind, 1)[:, 0]
    if len(found) and int(found.max()) >= 1 << 62:
        raise ValueError("a chunk beyond the end")
    return found.astype(np.int64)


def sizes(data: bytes, tables: dict[bytes, Box], chunks: int) -> Offsets:
    """(N,) bytes of each of the track's chunks.

    Raises:
        ValueError: tables that don't fit to each other.
    """
    runs = _column(data, tables[b"stsc"], ">u4", 3).astype(np.int64)
    if not chunks:
        return np.zeros(0, np.int64)
    first = runs[:, 0] - 1
    if not len(runs) or first[0] != 0 or (np.diff(first) <= 0).any():
        raise ValueError("chunks out of order")
    run = np.searchsorted(first, np.arange(chunks), "right") - 1
    last = np.cumsum(runs[run, 1])
    return _bytes(data, tables, last) - _bytes(data, tables, last - runs[run, 1])


def _bytes(data: bytes, tables: dict[bytes, Box], samples: Offsets) -> Offsets:
    """(N,) bytes of the first so many samples, for each number."""
    if b"stsz" not in tables:
        raise ValueError("no table of sizes")
    table = tables[b"stsz"]
    if table.end - table.body < 12:
        raise ValueError("a table cut off")
    each, count = struct.unpack_from(">II", data, table.body + 4)
    if each * count >= 1 << 62:
        raise ValueError("samples beyond the end")
    if each:
        return np.asarray(np.minimum(samples, count) * each, np.int64)
    if count * 4 > table.end - table.body - 12:
        raise ValueError("a table cut off")
    listed = np.frombuffer(data, ">u4", count, table.body + 12)
    summed = np.concatenate((np.zeros(1, np.int64), np.cumsum(listed, dtype=np.int64)))
    return np.asarray(summed[np.minimum(samples, count)], np.int64)


def _column(data: bytes, table: Box, kind: str, wide: int) -> NDArray[np.uint64]:
    """(N, `wide`): the entries of a table that begins with version, flags and their number."""
    if table.end - table.body < 8:
        raise ValueError("a table cut off")
    (count,) = struct.unpack_from(">I", data, table.body + 4)
    if count * wide * np.dtype(kind).itemsize > table.end - table.body - 8:
        raise ValueError("a table cut off")
    return np.frombuffer(data, kind, count * wide, table.body + 8).reshape(count, wide).astype(np.uint64)


def tables_of(data: bytes, stbl: Box) -> dict[bytes, Box]:
    """The tables of a track, by their kind; of two of a kind the first."""
    found: dict[bytes, Box] = {}
    for box in inside(data, stbl):
        found.setdefault(box.kind, box)
    return found
