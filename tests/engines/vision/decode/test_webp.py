"""WebP by its chunks: against Pillow's reader, which takes another way through the same library."""

import io as streams
import struct
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engines.errors import ImageTooLarge, UnreadableImage
from engines.vision import io
from tests.strategies import FORMATS, picture, pillow_bytes

SHAPE = (73, 57)


def _cut_out() -> Image.Image:
    shape = Image.new("RGBA", SHAPE)
    shape.paste(Image.fromarray(picture(31, 30, channels=4), "RGBA"), (12, 14))
    return shape


@pytest.mark.parametrize(
    ("base", "options"),
    [
        (picture(*SHAPE), {}),
        (picture(*SHAPE), {"lossless": True}),
        (picture(*SHAPE, channels=4), {}),
        (picture(*SHAPE, channels=4), {"lossless": True, "exact": True}),
        (picture(*SHAPE), {"save_all": True, "append_images": [Image.fromarray(picture(*SHAPE, seed=2))]}),
        (
            _cut_out(),
            {"save_all": True, "append_images": [Image.fromarray(picture(*SHAPE))], "lossless": True},
        ),  # a frame smaller than its canvas
    ],
    ids=["lossy", "lossless", "lossy alpha", "lossless alpha", "animation", "small frame"],
)
def test_pixels_and_alpha_are_those_that_pillow_reads(base: Any, options: dict[str, Any]) -> None:
    data = pillow_bytes(base, "WEBP", **options)
    frame = io.decode(data, "x", 1)
    with Image.open(streams.BytesIO(data)) as peer:
        wanted, frames = np.asarray(peer.convert("RGBA")), peer.n_frames
    alpha = np.full(SHAPE[::-1], 255, np.uint8) if frame.alpha is None else frame.alpha
    np.testing.assert_array_equal(alpha, wanted[..., 3])
    np.testing.assert_array_equal(frame.pixels[alpha > 0], wanted[..., :3][alpha > 0])
    assert frame.origin.frames == frames
    assert frame.origin.notes == ((("frames", (("count", 2),)),) if frames == 2 else ())


@pytest.mark.parametrize("layout", ["WebP", "WebP lossless", "WebP alpha", "WebP animated"])
def test_a_cut_file_is_refused(layout: str) -> None:
    data = FORMATS[layout](picture(30, 24))
    for end in range(12, len(data), max(1, len(data) // 80)):
        with pytest.raises(UnreadableImage) as caught:
            io.decode(data[:end], "x", 1)
        assert caught.value.reason == "truncated"


def _lossless(width: int, height: int) -> bytes:
    body = struct.pack("<BI", 0x2F, (width - 1) | (height - 1) << 14) + bytes(12)
    return b"VP8L" + struct.pack("<I", len(body)) + body + bytes(len(body) & 1)


def _riff(*chunks: bytes) -> bytes:
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _canvas(width: int, height: int, flags: int = 0) -> bytes:
    return b"VP8X" + struct.pack("<IB3x", 10, flags) + struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]


def _frame(left: int, top: int, width: int, height: int, still: bytes) -> bytes:
    body = b"".join(struct.pack("<I", value)[:3] for value in (left // 2, top // 2, width - 1, height - 1, 100)) + b"\0" + still
    return b"ANMF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_riff(_canvas(10, 10), _lossless(9, 10)), "damaged"),
        (_riff(_canvas(10, 10, 2), _frame(0, 0, 4, 4, _lossless(16000, 16000))), "damaged"),  # claims 4 x 4, would decode to 256 megapixels
        (_riff(_canvas(10, 10, 2), _frame(8, 0, 4, 4, _lossless(4, 4))), "damaged"),
        (_riff(_canvas(10, 10)), "damaged"),
        (_riff(b"VP8 \x0a\0\0\0" + bytes(10)), "damaged"),
    ],
)
def test_files_that_contradict_themselves(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableImage) as caught:
        io.decode(data, "x", 1)
    assert caught.value.reason == reason


@pytest.mark.parametrize("data", [_riff(_lossless(16000, 16000)), _riff(_canvas(16000, 16000), _lossless(16000, 16000))])
def test_a_bomb_of_thirty_bytes_is_told_by_its_header(data: bytes) -> None:
    with pytest.raises(ImageTooLarge) as caught:
        io.decode(data, "x", 100)
    assert caught.value.facts["megapixels"] == 256
