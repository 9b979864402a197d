"""Boxes are found by their lengths, and a length that lies ends the walk."""

import struct
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.provenance.boxes import XMP_UUID, boxes, boxes_of, child, is_movie, made

LARGE = struct.pack(">I4sQ", 1, b"mdat", 20) + b"abcd"
OPEN = struct.pack(">I4s", 0, b"mdat") + b"abcd"


def test_every_kind_of_length() -> None:
    data = made(b"ftyp", b"isom") + LARGE + made(b"uuid", XMP_UUID, b"x") + OPEN
    found = list(boxes(data))
    assert found == boxes_of(BytesIO(data))
    assert [(box.kind, data[box.body : box.end], box.open) for box in found] == [
        (b"ftyp", b"isom", False),
        (b"mdat", b"abcd", False),
        (b"uuid", b"x", False),
        (b"mdat", b"abcd", True),
    ]
    assert found[2].uuid == XMP_UUID
    assert [box.size for box in found] == [12, 20, 25, 12]


@pytest.mark.parametrize(
    "lie",
    [
        b"\0\0\0\7mdat",
        b"\0\0\1\0mdat",
        b"\0\0\0\1mdat\0\0\0\0",
        b"\0\0\0\1mdat" + bytes(7) + b"\4",
        b"\0\0\0\1mdat" + b"\xff" * 8,
        b"\0\0\0\x0cuuidabcd",
        b"abc",
    ],
)
def test_a_length_that_lies_ends_it(lie: bytes) -> None:
    data = made(b"free") + lie
    assert [box.kind for box in boxes(data)] == [b"free"]
    with pytest.raises(ValueError, match="at byte 8"):
        boxes_of(BytesIO(data))


def test_paths_lead_through_both_kinds_of_meta() -> None:
    handler = made(b"hdlr", bytes(20))
    for meta in (made(b"meta", bytes(4), handler), made(b"meta", handler)):
        data = made(b"moov", made(b"free"), made(b"udta", meta))
        found = child(data, b"moov/udta/meta/hdlr")
        assert found is not None
        assert data[found.start : found.end] == handler
        assert child(data, b"moov/udta/ilst") is None


@pytest.mark.parametrize(
    ("data", "movie"),
    [
        (made(b"ftyp", b"isom", bytes(4), b"isomavc1"), True),
        (made(b"ftyp", b"qt  ", bytes(4)), True),
        (made(b"moov", bytes(20)), True),
        (made(b"ftyp", b"mif1", bytes(4), b"mif1heic"), False),
        (made(b"ftyp", b"isom", bytes(4), b"isomavif"), False),
        (made(b"ftyp", b"crx ", bytes(4)), False),
        (b"", False),
        (b"\x89PNG\r\n\x1a\n", False),
    ],
)
def test_movies_are_told_from_pictures(data: bytes, movie: bool) -> None:
    assert is_movie(data) is movie


@given(st.binary(max_size=200))
def test_any_bytes_end(data: bytes) -> None:
    found = list(boxes(data))
    assert all(before.end == after.start for before, after in pairwise(found))
    assert all(box.start < box.body <= box.end <= len(data) for box in found)
