"""The labels of a video, put into its MP4 or MOV: pictures and sound are copied as they are, a piece at a time.

    FrameMarker → frames encoded → MarkedVideo + that file → labelled → read back → signed → its name

The frames' own mark is `video`'s, and is read back by whoever writes the file. Labels stand where `movie_labels` says. Of what the file
said before nothing stays, see `movie_header`; tracks that are neither picture nor sound go with their samples, whose room is left as zeros.
Where `moov` stands before the samples, all places of samples move on; in a file of fragments nothing behind `moov` changes its size.
Twice labelled is as once, to the last bit. Held in memory: `moov` and the fragments' headers, never a sample.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

import numpy as np

from engines.errors import OutputUnwritable
from engines.provenance.boxes import XMP_UUID, Box, boxes_of
from engines.provenance.fragments import blanked, default_sizes, strange
from engines.provenance.labels import Labels
from engines.provenance.movie_header import Track, header_of, needs_width, tracks_of
from engines.provenance.movie_labels import packet_box, user_data
from engines.provenance.samples import Offsets
from engines.provenance.video import MarkedVideo

_KEPT = {b"ftyp", b"styp", b"moov", b"mdat", b"moof", b"sidx", b"ssix"}
_STEP = 1 << 20
_LARGEST = 256 << 20  # bytes of `moov` and of all `moof` together: two days of video have less

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the new file: new bytes, or bytes of the old one (all zeros where `zeros`), in which samples may lie from `samples` on."""

    made: bytes = b""
    copied: Range = (0, 0)
    zeros: bool = False
    samples: int = 0

    @property
    def size(self) -> int:
        return len(self.made) + self.copied[1] - self.copied[0]


def labelled(source: BinaryIO, video: MarkedVideo) -> Iterator[bytes]:
    """The file with the video's labels, in pieces of at most 1 MiB and the headers.

    Args:
        source: an MP4 or MOV that holds the marked frames; read from again as the pieces are taken.

    Raises:
        OutputUnwritable: video (it is damaged, encrypted, without pictures, or in parts in several files). Before the first piece.
    """
    try:
        pieces, blank = _planned(source, video.labels)
    except (ValueError, IndexError) as fault:
        raise OutputUnwritable("video", path="", detail=str(fault)) from fault
    return _streamed(source, pieces, blank)


def _planned(source: BinaryIO, labels: Labels) -> tuple[list[_Piece], list[Range]]:
    """The new file's pieces in their order, and which places of the old file are zeros in it."""
    top = _without_ours(boxes_of(source))
    kinds = [box.kind for box in top]
    if kinds.count(b"moov") != 1:
        raise ValueError("not one header")
    middle = kinds.index(b"moov")
    in_fragments = b"moof" in kinds
    if in_fragments and {b"moof", b"sidx"} & set(kinds[:middle]):
        raise ValueError("fragments before the header")
    heads = [top[middle], *(box for box in top if box.kind == b"moof")]
    if sum(box.size for box in heads) > _LARGEST:
        raise ValueError("too large a header")
    moov, *moofs = (_read(source, box) for box in heads)
    tracks, labelling = tracks_of(moov), (user_data(labels), packet_box(labels))
    stay = [box for box in top if box.kind in _KEPT or (in_fragments and box.start > top[middle].start)]
    wide = False
    while True:
        moved = _Move(stay, len(header_of(moov, tracks, labelling[0], lambda places: places, wide)) + len(labelling[1]))
        if wide or not any(needs_width(moved(track.chunks(moov))) for track in tracks if track.stays):
            break
        wide = True
    numbers = {track.number for track in tracks if track.stays}
    turned = iter(blanked(moof, numbers, moved) for moof in moofs)
    pieces = []
    for box in stay:
        if box.kind == b"moov":
            pieces += [_Piece(header_of(moov, tracks, labelling[0], moved, wide)), _Piece(labelling[1])]
        elif box.kind == b"moof":
            pieces.append(_Piece(next(turned)))
        elif box.kind in _KEPT:
            pieces.append(_Piece(copied=(box.start, box.end), samples=box.body if box.kind == b"mdat" else box.end))
        else:
            pieces += _hole(box)
    blank, sizes = list(_strange(moov, tracks, top)), default_sizes(moov)
    for moof, box in zip(moofs, heads[1:], strict=True):
        blank += strange(moof, box.start, numbers, sizes)
    return pieces, _merged(blank)


def _without_ours(top: list[Box]) -> list[Box]:
    """The packet right behind `moov` is left out even among fragments: there this module put it."""
    behind = {id(box) for before, box in pairwise(top) if before.kind == b"moov" and box.uuid == XMP_UUID}
    return [box for box in top if id(box) not in behind]


def _read(source: BinaryIO, box: Box) -> bytes:
    source.seek(box.start)
    data = source.read(box.size)
    if len(data) != box.size:
        raise ValueError("a file cut off")
    return data


class _Move:
    """From places in the old file to those in the new one."""

    def __init__(self, stay: list[Box], header: int) -> None:
        sizes = [header if box.kind == b"moov" else box.size for box in stay]
        self._starts = np.array([box.start for box in stay], np.int64)
        self._ends = np.array([box.end for box in stay], np.int64)
        self._by = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64) - self._starts

    def __call__(self, places: Offsets) -> Offsets:
        which = np.searchsorted(self._starts, places, "right") - 1
        if (which < 0).any() or (places > self._ends[which]).any():
            raise ValueError("samples outside of the file")
        return np.asarray(places + self._by[which], np.int64)


def _hole(box: Box) -> list[_Piece]:
    """Room of the same size."""
    large = box.size >= 1 << 32
    head = b"\0\0\0\1free" + box.size.to_bytes(8, "big") if large else box.size.to_bytes(4, "big") + b"free"
    return [_Piece(head), _Piece(copied=(box.start + len(head), box.end), zeros=True)]


def _strange(moov: bytes, tracks: list[Track], top: list[Box]) -> Iterator[Range]:
    """Samples of the tracks that go, and what stands in a `mdat` before the first sample: some cameras write their place there.

    A chunk of theirs ends where one that stays begins, whatever the tables say of its size.
    """
    chunks = [(track, track.chunks(moov)) for track in tracks]
    none = np.zeros(0, np.int64)
    ours = np.sort(np.concatenate([none, *(places for track, places in chunks if track.stays)]))
    every = np.sort(np.concatenate([none, *(places for _, places in chunks)]))
    for track, places in chunks:
        if not track.stays and len(places):
            ends = places + track.sizes(moov, len(places))
            following = np.searchsorted(ours, places)
            bound = np.append(ours, np.iinfo(np.int64).max)[following]
            yield from zip(places.tolist(), np.minimum(ends, bound).tolist(), strict=True)
    for box in top:
        if box.kind == b"mdat":
            first = int(np.searchsorted(every, box.body))
            if first < len(every) and every[first] < box.end:
                yield box.body, int(every[first])


def _merged(ranges: list[Range]) -> list[Range]:
    """In their order, those that touch made one."""
    merged: list[Range] = []
    for start, end in sorted(each for each in ranges if each[0] < each[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _streamed(source: BinaryIO, pieces: list[_Piece], blank: list[Range]) -> Iterator[bytes]:
    ends = [end for _, end in blank]
    for piece in pieces:
        if piece.made:
            yield piece.made
        for start in range(piece.copied[0], piece.copied[1], _STEP):
            size = min(_STEP, piece.copied[1] - start)
            if piece.zeros:
                yield bytes(size)
                continue
            source.seek(start)
            data = source.read(size)
            if len(data) != size:
                raise OutputUnwritable("video", path="", detail="a file cut off")
            first = int(np.searchsorted(ends, start, "right"))
            if first < len(blank) and blank[first][0] < start + size:
                part = bytearray(data)
                for low, high in blank[first:]:
                    if low >= start + size:
                        break
                    low, high = max(low, piece.samples, start) - start, min(high - start, size)
                    part[low:high] = bytes(max(0, high - low))
                data = bytes(part)
            yield data
