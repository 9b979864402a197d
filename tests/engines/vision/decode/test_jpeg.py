"""JPEG: cut, unended, in inks, with further pictures behind it, and with everything that cameras put in front."""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engines.errors import FusionError, ImageTooLarge, UnreadableImage
from engines.types import Frame, Pixels
from engines.vision import io
from tests.strategies import FORMATS, picture, pillow_bytes

Attempt = Callable[..., Frame | FusionError]
KINDS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "progressive": {"progressive": True},
    "4:2:0": {"subsampling": 2},
    "restarts": {"restart_marker_blocks": 2},
    "best": {"quality": 100, "subsampling": 0},
}


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def frame_header(kind: int = 0xC0, precision: int = 8, height: int = 8, width: int = 8, components: int = 1) -> bytes:
    body = struct.pack(">BHHB", precision, height, width, components)
    return segment(kind, body + b"".join(bytes([n + 1, 0x11, 0]) for n in range(components)))


def scan_header() -> bytes:
    return segment(0xDA, bytes([1, 1, 0, 0, 63, 0]))


def pillow_pixels(data: bytes) -> Pixels:
    from io import BytesIO

    with Image.open(BytesIO(data)) as peer:
        return np.asarray(peer.convert("RGB"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("size", [(1, 1), (8, 8), (61, 43)])
def test_pixels_are_those_that_pillow_reads(kind: str, mode: str, size: tuple[int, int]) -> None:
    data = pillow_bytes(Image.fromarray(picture(*size)).convert(mode), "JPEG", **KINDS[kind])
    frame = io.decode(data, "x", 1)
    np.testing.assert_array_equal(frame.pixels, pillow_pixels(data))
    assert (frame.origin.format, frame.origin.mode, frame.origin.notes) == ("JPEG", mode, ())


def test_a_jpeg_that_stores_red_green_blue() -> None:
    data = pillow_bytes(picture(40, 30), "JPEG", keep_rgb=True, quality=95)
    np.testing.assert_array_equal(io.decode(data, "x", 1).pixels, pillow_pixels(data))


def test_plain_inks_are_no_negative_and_are_told() -> None:
    pixels = picture(60, 40)
    for black in (False, True):
        inks = np.asarray(Image.fromarray(pixels).convert("CMYK")).copy()
        if black:  # the same colours with their common part in black
            inks[..., 3] = inks[..., :3].min(-1)
            with np.errstate(invalid="ignore", divide="ignore"):
                rest = (inks[..., :3] - inks[..., 3:].astype(float)) / (255 - inks[..., 3:].astype(float)) * 255
            inks[..., :3] = np.nan_to_num(rest).round()
        frame = io.decode(pillow_bytes(Image.frombytes("CMYK", (60, 40), inks.tobytes()), "JPEG", quality=98), "x", 1)
        assert np.abs(frame.pixels.astype(int) - pixels).mean() < 4
        assert frame.origin.mode == "CMYK"
        assert frame.origin.notes == (("no_profile", ()),)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_cut_file_is_never_filled_with_gray(kind: str, mode: str, attempt: Attempt) -> None:
    data = pillow_bytes(Image.fromarray(picture(96, 80, "noise")).convert(mode), "JPEG", **KINDS[kind])
    for end in [*range(3, len(data), max(1, len(data) // 60)), *range(len(data) * 98 // 100, len(data), 7), len(data) - 2, len(data) - 1]:
        result = attempt(data[:end])
        assert isinstance(result, UnreadableImage), f"{end} of {len(data)}"
        assert result.reason == "truncated"
        reserved = attempt(data[:end] + bytes(len(data) - end + 600))  # room for the whole file, never filled
        assert isinstance(reserved, UnreadableImage), f"{end} of {len(data)}"
        assert reserved.reason == "truncated"


@pytest.mark.parametrize("tail", [b"\0" * 500, b"motion photo" * 50, b"\xff\xd8\xff\xe0" + b"\xff\xda" * 9, b"\n"])
def test_what_stands_behind_the_end_is_left_alone(tail: bytes) -> None:
    data = FORMATS["JPEG"](picture(40, 30))
    np.testing.assert_array_equal(io.decode(data + tail, "x", 1).pixels, io.decode(data, "x", 1).pixels)


def test_the_first_of_several_pictures_is_the_picture() -> None:
    first, second = picture(40, 30, seed=1), picture(40, 30, seed=2)
    data = pillow_bytes(first, "MPO", quality=95, save_all=True, append_images=[Image.fromarray(second)])
    frame = io.decode(data, "x", 1)
    assert np.abs(frame.pixels.astype(int) - first).mean() < 6
    assert (frame.origin.format, frame.origin.frames, frame.origin.notes) == ("JPEG", 1, ())


def test_a_preview_in_front_is_not_taken_for_the_picture() -> None:
    preview = pillow_bytes(picture(16, 12, seed=2), "JPEG")
    data = FORMATS["JPEG"](picture(40, 30))
    exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x08\0\0\0\0\0\0\0" + preview
    whole = data[:2] + segment(0xE1, exif) + segment(0xFE, b"\xff\xd9 a comment") + b"\xff\xff" + data[2:]
    frame = io.decode(whole, "x", 1)
    assert (frame.width, frame.height, frame.origin.orientation) == (30, 40, 8)
    np.testing.assert_array_equal(np.rot90(frame.pixels, -1), io.decode(data, "x", 1).pixels)


def test_a_broken_exif_block_stops_nothing() -> None:
    data = FORMATS["JPEG"](picture(40, 30))
    for exif in (b"", b"II*\0\xff\xff\xff\xff", b"II*\0\x08\0\0\0\xff\xff" + b"\xee" * 40):
        assert io.decode(data[:2] + segment(0xE1, b"Exif\0\0" + exif) + data[2:], "x", 1).origin.orientation == 1


@pytest.mark.parametrize(
    ("head", "reason", "format"),
    [
        (frame_header(kind=0xC3) + scan_header(), "codec", "lossless JPEG"),
        (frame_header(precision=12, kind=0xC1) + scan_header(), "codec", "12-bit JPEG"),
        (frame_header(height=0) + scan_header(), "codec", "JPEG with a late height"),
        (frame_header(components=2) + scan_header(), "damaged", "JPEG"),
        (frame_header(width=0) + scan_header(), "damaged", "JPEG"),
        (scan_header() + frame_header(), "damaged", "JPEG"),
        (b"\xff\xd9", "truncated", None),
        (frame_header(), "truncated", None),
    ],
)
def test_headers_that_are_not_read(head: bytes, reason: str, format: str | None) -> None:
    with pytest.raises(UnreadableImage) as caught:
        io.decode(b"\xff\xd8" + segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0") + head, "x", 1)
    assert caught.value.reason == reason
    if format:
        assert caught.value.facts["format"] == format


def test_a_bomb_is_told_by_its_header() -> None:
    with pytest.raises(ImageTooLarge) as caught:
        io.decode(b"\xff\xd8" + frame_header(height=65000, width=65000) + scan_header() + b"\xff\xd9", "x", 1000)
    assert caught.value.facts["megapixels"] == 4225


def test_the_pieces_of_a_profile_are_put_in_order_and_a_missing_one_is_told() -> None:
    from PIL import ImageCms

    icc = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = FORMATS["JPEG"](picture(40, 30))
    pieces = [segment(0xE2, b"ICC_PROFILE\0" + bytes([n + 1, 3]) + icc[n * 200 : (n + 1) * 200 if n < 2 else None]) for n in range(3)]
    whole = io.decode(data[:2] + pieces[2] + pieces[0] + pieces[1] + data[2:], "x", 1)
    assert whole.origin.profile is not None
    assert whole.origin.notes == ()
    assert io.decode(data[:2] + pieces[0] + pieces[2] + data[2:], "x", 1).origin.notes == (("profile_unreadable", ()),)
