"""The box `moov` of a video, written anew: what it takes to play pictures and sound, and nothing of whose and where it was.

What isn't known to be needed is left out: place, maker, names, comments, private boxes, tracks that are neither picture nor sound
(telephones and action cameras write where they are into those), compressors' and handlers' names, dates. ISO/IEC 14496-12; QuickTime
File Format Specification (Apple 2016).
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from engines.provenance.boxes import Box, child, inside, made
from engines.provenance.samples import Offsets, offsets, sizes, tables_of

HANDLERS = {b"vide": b"VideoHandler", b"soun": b"SoundHandler"}  # the tracks that stay
Moved = Callable[[Offsets], Offsets]
_Rule = Callable[[bytes, Box], bytes]
_ENCRYPTED = {b"encv", b"enca", b"drmi", b"drms"}
_PRIVATE = {b"uuid", b"udta", b"meta", b"free", b"skip"}
_VENDOR, _COMPRESSOR, _PARTS = slice(20, 24), slice(50, 82), 86  # of an entry of `stsd`: from its beginning, and of a picture's
_SELF_CONTAINED = 1  # flag of an entry of `dref`: the samples lie in this file


@dataclass(frozen=True, slots=True)
class Track:
    """A track. `handler`: b"vide", b"soun" or another. `box`: its `trak`, `tables`: see `samples.tables_of`."""

    number: int
    handler: bytes
    box: Box
    tables: Mapping[bytes, Box]

    @property
    def stays(self) -> bool:
        return self.handler in HANDLERS

    def chunks(self, data: bytes) -> Offsets:
        """(N,) where its chunks begin. Raises `ValueError`."""
        table = self.tables.get(b"co64") or self.tables.get(b"stco")
        if table is None:
            raise ValueError("a track without chunks")
        return offsets(data, table)

    def sizes(self, data: bytes, chunks: int) -> Offsets:
        """(N,) their sizes in bytes. Raises `ValueError`."""
        if b"stsc" not in self.tables:
            raise ValueError("a track without chunks")
        return sizes(data, dict(self.tables), chunks)


def tracks_of(moov: bytes) -> list[Track]:
    """The tracks of a `moov`, which begins with its own header.

    Raises:
        ValueError: one without a number, a handler or tables.
    """
    found = []
    whole = child(moov, b"moov")
    for trak in inside(moov, whole) if whole else ():
        if trak.kind == b"trak":
            header, handler, stbl = (child(moov, path, trak) for path in (b"tkhd", b"mdia/hdlr", b"mdia/minf/stbl"))
            header = _there(header)
            number = struct.unpack(">I", _part(moov, header, 20 if moov[header.body] == 1 else 12, 4))[0]
            found.append(Track(number, _part(moov, _there(handler), 8, 4), trak, tables_of(moov, _there(stbl))))
    return found


def header_of(moov: bytes, tracks: list[Track], user_data: bytes, moved: Moved, wide: bool) -> bytes:
    """The new `moov`. Its size hangs on `wide` and not on `moved`.

    Args:
        tracks: of this `moov`, all of them. user_data: the box `udta`, or b"".
        moved: from places in the old file to those in the new one. wide: with 64 bits to a place, for files over 4 GiB.

    Raises:
        ValueError: it is damaged, encrypted, packed, or its samples lie in other files.
    """
    numbers = {track.number for track in tracks if track.stays}
    starts = {track.box.start for track in tracks if track.stays}
    rules: dict[bytes, _Rule] = {
        b"mvhd": _timeless,
        b"trak": lambda data, box: _track(data, box, moved, wide) if box.start in starts else b"",
        b"mvex": lambda data, box: _extended(data, box, numbers),
    }
    whole = child(moov, b"moov")
    if whole is None or not numbers:
        raise ValueError("no pictures")
    return made(b"moov", *_kept(moov, whole, rules), user_data)


def _kept(data: bytes, box: Box, rules: Mapping[bytes, _Rule]) -> list[bytes]:
    return [rules[part.kind](data, part) for part in inside(data, box) if part.kind in rules]


def _there(box: Box | None) -> Box:
    if box is None or box.body == box.end:
        raise ValueError("a track without its header")
    return box


def _part(data: bytes, box: Box, at: int, size: int) -> bytes:
    if box.body + at + size > box.end:
        raise ValueError("a box cut off")
    return data[box.body + at : box.body + at + size]


def _same(data: bytes, box: Box) -> bytes:
    return data[box.start : box.end]


def _rest(kind: bytes, rules: Mapping[bytes, _Rule]) -> _Rule:
    return lambda data, box: made(kind, *_kept(data, box, rules))


def _track(data: bytes, box: Box, moved: Moved, wide: bool) -> bytes:
    kind = _part(data, _there(child(data, b"mdia/hdlr", box)), 8, 4)
    plain = (b"stts", b"stss", b"ctts", b"cslg", b"stsc", b"stsz", b"stz2", b"sdtp", b"sbgp", b"sgpd", b"stps", b"stsh", b"subs")
    places = partial(_places, moved=moved, wide=wide)
    tables = dict.fromkeys(plain, _same) | {b"stsd": partial(_described, kind=kind), b"stco": places, b"co64": places}
    media: dict[bytes, _Rule] = {b"vmhd": _same, b"smhd": _same, b"hdlr": _handled, b"dinf": _here, b"stbl": _rest(b"stbl", tables)}
    inner: dict[bytes, _Rule] = {b"mdhd": _timeless, b"hdlr": _handled, b"minf": _rest(b"minf", media)}
    outer: dict[bytes, _Rule] = {b"tkhd": _timeless, b"edts": _rest(b"edts", {b"elst": _same}), b"mdia": _rest(b"mdia", inner)}
    return made(b"trak", *_kept(data, box, outer))


def _timeless(data: bytes, box: Box) -> bytes:
    """A header without its dates. The labels tell when the output was made."""
    dates = 16 if data[box.body] == 1 else 8
    _part(data, box, 4, dates)
    return made(box.kind, data[box.body : box.body + 4], bytes(dates), data[box.body + 4 + dates : box.end])


def _handled(data: bytes, box: Box) -> bytes:
    """`hdlr` without the name that a program gave it: zero-terminated in ISO's files, with its length before it in QuickTime's."""
    component, kind = _part(data, box, 4, 4), _part(data, box, 8, 4)
    name = HANDLERS.get(kind, b"DataHandler")
    return made(b"hdlr", bytes(4), component, kind, bytes(12), bytes([len(name)]) + name if component.strip(b"\0") else name + b"\0")


def _extended(data: bytes, box: Box, numbers: set[int]) -> bytes:
    """`mvex` without the defaults of tracks that go."""
    parts = [part for part in inside(data, box) if part.kind in (b"mehd", b"trex")]
    staying = (part for part in parts if part.kind == b"mehd" or struct.unpack(">I", _part(data, part, 4, 4))[0] in numbers)
    return made(b"mvex", *(_same(data, part) for part in staying))


def _here(data: bytes, box: Box) -> bytes:
    """`dinf`: QuickTime's has the name of the file and its folder."""
    table = child(data, b"dref", box)
    count = 0
    for entry in inside(data, Box(b"", table.start, table.body + 8, table.end)) if table else ():
        if not _part(data, entry, 3, 1)[0] & _SELF_CONTAINED:
            raise ValueError("samples in another file")
        count += 1
    entries = [made(b"url ", struct.pack(">I", _SELF_CONTAINED))] * count
    return made(b"dinf", made(b"dref", struct.pack(">II", 0, count), *entries))


def _described(data: bytes, box: Box, kind: bytes) -> bytes:
    """`stsd` without vendors, compressors' names and private boxes."""
    entries = []
    for entry in inside(data, Box(b"", box.start, box.body + 8, box.end)):
        if entry.kind in _ENCRYPTED:
            raise ValueError("encrypted")
        if entry.size < 36:
            raise ValueError("a box cut off")
        kept = bytearray(data[entry.start : entry.end])
        kept[_VENDOR] = bytes(4)
        if kind == b"vide" and len(kept) >= _PARTS:
            kept[_COMPRESSOR] = bytes(32)
            parts = list(inside(bytes(kept), Box(b"", 0, _PARTS, len(kept))))
            if parts and len(kept) - parts[-1].end < 8:  # QuickTime may end with four zeros
                body = kept[8:_PARTS] + b"".join(kept[part.start : part.end] for part in parts if part.kind not in _PRIVATE)
                kept = bytearray(made(entry.kind, bytes(body)))
        entries.append(bytes(kept))
    return made(b"stsd", _part(data, box, 0, 4), struct.pack(">I", len(entries)), *entries)


def _places(data: bytes, box: Box, moved: Moved, wide: bool) -> bytes:
    """`stco` or `co64` for the new file. A `co64` stays one."""
    found = moved(offsets(data, box))
    large = wide or box.kind == b"co64"
    table = found.astype(">u8" if large else ">u4").tobytes()
    return made(b"co64" if large else b"stco", struct.pack(">II", 0, len(found)), table)


def needs_width(places: Offsets) -> bool:
    """Whether a place doesn't fit into 32 bits."""
    return bool(len(places)) and int(np.max(places)) >= 1 << 32
