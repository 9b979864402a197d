"""PNG, every layout of it written bit by bit and read back; and what stands around the pixels."""

import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from engines.errors import FusionError, ImageTooLarge, UnreadableImage
from engines.types import Frame
from engines.vision import io
from tests.strategies import FORMATS, picture, pillow_bytes

Attempt = Callable[..., Frame | FusionError]
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
LAYOUTS = [
    (colour, depth)
    for colour, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}.items()
    for depth in depths
]
SHAPE = (5, 7)


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def header(width: int, height: int, depth: int, colour: int) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))


def rows(values: NDArray[np.int64], depth: int) -> bytes:
    """(H, W, C) values as PNG's unfiltered scan lines."""
    out = b""
    for row in values.reshape(len(values), -1):
        bits = "".join(f"{value:0{depth}b}" for value in row)
        bits += "0" * (-len(bits) % 8)
        out += b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big")
    return out


def png(head: bytes, data: bytes, *extra: bytes) -> bytes:
    return b"".join((SIGNATURE, head, *extra, chunk(b"IDAT", zlib.compress(data)), chunk(b"IEND", b"")))


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], len(SIGNATURE)
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        found.append((kind, data[at + 8 : at + 8 + size]))
        at += 12 + size
    return found


def with_chunks(data: bytes, *extra: bytes) -> bytes:
    """Puts chunks right behind the header chunk."""
    return data[:33] + b"".join(extra) + data[33:]


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(("colour", "depth"), LAYOUTS)
def test_every_layout_is_read_value_by_value(colour: int, depth: int, keyed: bool) -> None:
    random = np.random.default_rng(depth + colour)
    height, width = SHAPE
    values = random.integers(0, 1 << depth, (height, width, CHANNELS[colour]))
    peak = (1 << depth) - 1
    extra: list[bytes] = []
    alpha: NDArray[Any] = np.full((height, width), 255)
    if colour == 3:
        palette = random.integers(0, 256, (1 << depth, 3))
        opacity = np.full(1 << depth, 255)
        if keyed:
            opacity[: 1 << (depth - 1)] = random.integers(0, 256, 1 << (depth - 1))
            opacity[0] = 0
        extra = [chunk(b"PLTE", palette.astype(np.uint8).tobytes())]
        extra += [chunk(b"tRNS", opacity[: 1 << (depth - 1)].astype(np.uint8).tobytes())] if keyed else []
        wanted, alpha = palette[values[..., 0]], opacity[values[..., 0]]
    else:
        transparent = colour in (4, 6)
        colours = values[..., :-1] if transparent else values
        wanted = np.broadcast_to(np.rint(colours * 255 / peak), (height, width, 3))
        if transparent:
            alpha = np.rint(values[..., -1] * 255 / peak)
        elif keyed:
            extra = [chunk(b"tRNS", values[2, 3].astype(">u2").tobytes())]
            alpha = np.where((values == values[2, 3]).all(-1), 0, 255)
    frame = io.decode(png(header(width, height, depth, colour), rows(values, depth), *extra), "x", 1)
    np.testing.assert_array_equal(np.full_like(alpha, 255) if frame.alpha is None else frame.alpha, alpha)
    np.testing.assert_array_equal(frame.pixels[alpha > 0], wanted[alpha > 0])
    assert (frame.pixels[alpha == 0] == 255).all()
    assert frame.origin.bit_depth == depth
    assert frame.origin.notes == ((("depth", (("bits", 16),)),) if depth == 16 else ())


def test_what_a_picture_says_about_itself_neither_travels_nor_stops_it() -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "secret " * 200_000)  # unpacked it is over the megabyte that Pillow allows
    info.add_text("workflow", "secret " * 200_000, zip=True)
    data = pillow_bytes(picture(20, 16), "PNG", pnginfo=info)
    broken = with_chunks(data, b"\0\0\0\x04tEXtabcd\0\0\0\0")  # a wrong checksum where nothing depends on it
    for given_ in (data, broken):
        frame = io.decode(given_, "x", 1)
        np.testing.assert_array_equal(frame.pixels, picture(20, 16))
        assert "secret" not in repr(frame.origin)


def test_the_orientation_chunk_counts_and_a_profile_that_cannot_be_unpacked_is_told() -> None:
    data = pillow_bytes(picture(20, 16), "PNG")
    turned = io.decode(with_chunks(data, chunk(b"eXIf", b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0")), "x", 1)
    assert (turned.width, turned.height, turned.origin.orientation) == (16, 20, 6)
    for body in (b"name\0\0not deflated", b"name\0\0" + zlib.compress(b"abc")[:-2], b"name\0\0" + zlib.compress(b"abc")):
        frame = io.decode(with_chunks(data, chunk(b"iCCP", body)), "x", 1)
        assert frame.origin.notes == (("profile_unreadable", ()),)


@pytest.mark.parametrize("layout", ["PNG", "PNG palette", "PNG 16", "PNG alpha"])
def test_a_cut_file_is_refused_or_whole(layout: str, attempt: Attempt) -> None:
    data = FORMATS[layout](picture(30, 24))
    whole = io.decode(data, "x", 1)
    for end in [*range(8, len(data), 37), *range(len(data) - 40, len(data))]:
        result = attempt(data[:end])
        if end < len(data) - 12:
            assert isinstance(result, UnreadableImage)
            assert result.reason == "truncated"
        else:  # the end chunk alone is missing
            assert isinstance(result, Frame)
            np.testing.assert_array_equal(result.pixels, whole.pixels)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (SIGNATURE + header(4, 4, 8, 0) + header(9000, 9000, 8, 0), "truncated"),
        (png(header(4, 4, 8, 0), bytes(20), header(9000, 9000, 8, 0)), "damaged"),  # a second size behind the limit's back
        (png(header(4, 4, 8, 5), bytes(20)), "damaged"),
        (png(header(4, 4, 3, 0), bytes(20)), "damaged"),
        (png(header(0, 4, 8, 0), bytes(20)), "damaged"),
        (png(chunk(b"gAMA", bytes(4)), bytes(20)), "damaged"),
        (png(header(4, 4, 8, 0)[:-1] + b"\0", bytes(20)), "damaged"),
        (with_chunks(png(header(4, 4, 8, 0), bytes(20)), chunk(b"CgBI", bytes(4))), "codec"),
    ],
)
def test_files_that_contradict_themselves(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableImage) as caught:
        io.decode(data, "x", 1)
    assert caught.value.reason == reason


def test_a_bomb_is_told_by_its_header() -> None:
    with pytest.raises(ImageTooLarge) as caught:
        io.decode(png(header(30000, 30000, 1, 0), bytes(1000)), "bomb.png", 256)
    assert caught.value.facts == {"megapixels": 900.0, "width": 30000, "height": 30000, "limit": 256, "needed": 900, "name": "bomb.png"}


@settings(deadline=None, max_examples=60)
@given(data=st.data(), layout=st.sampled_from(["PNG", "PNG palette", "PNG alpha", "PNG 16", "PNG animated"]))
def test_damage_behind_right_checksums_never_surfaces_raw(data: st.DataObject, layout: str, attempt: Attempt) -> None:
    parts = chunks(FORMATS[layout](picture(16, 12)))
    which = data.draw(st.integers(0, len(parts) - 1))
    kind, body = parts[which]
    changed = bytearray(body or b"\0")
    for place, value in data.draw(st.lists(st.tuples(st.integers(0, len(changed) - 1), st.integers(0, 255)), max_size=4)):
        changed[place] = value
    parts[which] = (kind, bytes(changed))
    result = attempt(SIGNATURE + b"".join(chunk(*part) for part in parts), 0.1)
    assert isinstance(result, FusionError) or result.pixels.shape == (result.height, result.width, 3)


def test_the_first_picture_of_an_animation_is_its_default_one() -> None:
    first, second = picture(16, 12, seed=1), picture(16, 12, seed=2)
    others = [Image.fromarray(pixels) for pixels in (second, first, second)]
    data = pillow_bytes(first, "PNG", save_all=True, default_image=True, append_images=others)
    frame = io.decode(data, "x", 1)
    np.testing.assert_array_equal(frame.pixels, first)
    assert frame.origin.notes == (("frames", (("count", 3),)),)
