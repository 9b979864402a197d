"""TIFF's directories: the few tags that count, in both byte orders and sizes, sound and broken."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from engines.vision.decode import ifd


def block(order: str, orientation: int = 6, kind: int = 3, subfile: int | None = None, following: int = 0) -> bytes:
    """A TIFF header with one directory at 8."""
    entries = [(ifd.ORIENTATION, kind, orientation)] + ([(ifd.SUBFILE, 4, subfile)] if subfile is not None else [])
    body = b""
    for tag, form, value in sorted(entries):
        body += struct.pack(order + "HHI", tag, form, 1) + struct.pack(order + ("H2x" if form == 3 else "I"), value)
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 8)
    return head + struct.pack(order + "H", len(entries)) + body + struct.pack(order + "I", following)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("value", range(10))
def test_orientation_is_one_of_eight_or_upright(order: str, value: int) -> None:
    wanted = value if 1 <= value <= 8 else 1
    assert ifd.orientation(block(order, value)) == wanted
    assert ifd.orientation(b"Exif\0\0" + block(order, value)) == wanted
    assert ifd.orientation(block(order, value, kind=4)) == wanted  # a long where a short belongs: some cameras do


def test_orientation_of_what_pillow_writes() -> None:
    exif = Image.Exif()
    exif[0x010E], exif[0x0112], exif[0x8825] = "a description longer than four bytes", 8, {1: "N"}
    assert ifd.orientation(exif.tobytes()) == 8


@pytest.mark.parametrize("exif", [b"", b"Exif\0\0", b"II*\0", b"MM\0*\xff\xff\xff\xff", b"II*\0\x08\0\0\0", b"garbage" * 9])
def test_a_broken_block_is_upright(exif: bytes) -> None:
    assert ifd.orientation(exif) == 1


def test_pages_are_counted_without_previews_and_masks_and_a_ring_ends() -> None:
    # 8 + 2 + 24 + 4 = 38 bytes a page of two entries
    pages = [0, 0, 1, 4, 0]
    data = block("<", subfile=pages[0], following=38)
    for number, flags in enumerate(pages[1:], 1):
        last = number == len(pages) - 1
        data += block("<", subfile=flags, following=38 if last else 38 + 30 * number)[8:]
    found = ifd.directories(data)
    assert [page.tags[ifd.SUBFILE] for page in found] == [0, 0, 0]


def test_a_chain_of_empty_directories_ends() -> None:
    data = b"II*\0\x08\0\0\0" + b"".join(struct.pack("<HI", 0, 8 + 6 * n) for n in range(1, 50_000))
    assert len(ifd.directories(data)) == ifd.MAX_PAGES


def test_big_tiff() -> None:
    entry = struct.pack("<HHQQ", ifd.ORIENTATION, 3, 1, 5)
    data = b"II+\0" + struct.pack("<HHQ", 8, 0, 16) + struct.pack("<Q", 1) + entry + struct.pack("<Q", 0)
    assert ifd.directories(data) == [ifd.Directory({ifd.ORIENTATION: 5}, 0)]


HEADS = [b"", b"II*\0\x08\0\0\0", b"MM\0*\0\0\0\x08", b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0"]


@settings(deadline=None, max_examples=200)
@given(
    head=st.sampled_from([b"II*\0\x08\0\0\0", b"MM\0*\0\0\0\x08", b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0", b""]), tail=st.binary(max_size=120)
)
def test_any_bytes_give_directories_or_a_value_error(head: bytes, tail: bytes) -> None:
    assert 1 <= ifd.orientation(head + tail) <= 8
    try:
        found = ifd.directories(head + tail)
    except ValueError:
        return
    assert found


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("across", "down", "unit", "wanted"),
    [
        ((600, 2), (150, 1), 2, (300.0, 150.0)),
        ((100, 1), (100, 1), 3, (254.0, 254.0)),
        ((300, 1), (300, 1), None, (300.0, 300.0)),  # inches where no unit is told
        ((300, 1), (300, 1), 1, None),  # proportions alone
        ((300, 0), (300, 1), 2, None),
        ((1, 3), (300, 1), 2, None),
        ((300, 1), None, 2, None),
    ],
)
def test_pixels_per_inch(
    order: str, across: tuple[int, int], down: tuple[int, int] | None, unit: int | None, wanted: tuple[float, float] | None
) -> None:
    entries, values = [], b""
    start = 10 + 12 * 3 + 4
    for tag, ratio in ((282, across), (283, down)):
        if ratio is not None:
            entries.append(struct.pack(order + "HHII", tag, 5, 1, start + len(values)))
            values += struct.pack(order + "II", *ratio)
    if unit is not None:
        entries.append(struct.pack(order + "HHIHxx", 296, 3, 1, unit))
    table = b"".join(entries).ljust(36, b"\0") + bytes(4)
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HIH", 42, 8, len(entries))
    assert ifd.resolution(b"Exif\0\0" + head + table + values) == (None if wanted is None else pytest.approx(wanted))
    assert ifd.resolution(head + table) is None  # the values lie beyond the end
