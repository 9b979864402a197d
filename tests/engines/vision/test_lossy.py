from io import BytesIO

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.vision.lossy import jpeg_round_trip


def through_libjpeg(pixels: NDArray[np.uint8], quality: int) -> NDArray[np.uint8]:
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality)
    with Image.open(BytesIO(buffer.getvalue())) as picture:
        return np.asarray(picture.convert("RGB"))


@pytest.mark.parametrize("quality", [10, 50, 75, 95])
def test_it_is_what_libjpeg_does(quality: int, astronaut: NDArray[np.uint8]) -> None:
    """Within a level of the real thing, while the JPEG itself lies further from the picture."""
    pixels = astronaut[:256, 100:356]
    real, ours = (p.astype(np.int16) for p in (through_libjpeg(pixels, quality), jpeg_round_trip(pixels, quality)))
    apart, lost = np.abs(ours - real).mean(), np.abs(real - pixels).mean()
    assert apart < 1.0
    assert apart < 0.5 * lost


def test_a_flat_picture_comes_back() -> None:
    flat = np.full((40, 56, 3), (120, 120, 120), np.uint8)
    assert np.abs(jpeg_round_trip(flat).astype(np.int16) - flat).max() <= 1


@pytest.mark.parametrize("shape", [(1, 1), (7, 9), (16, 16), (17, 33)])
def test_any_size_keeps_its_size(shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    result = jpeg_round_trip(pixels)
    assert result.shape == pixels.shape
    assert result.dtype == np.uint8


def test_less_quality_loses_more(astronaut: NDArray[np.uint8]) -> None:
    pixels = astronaut[:256, :256]
    lost = [np.abs(jpeg_round_trip(pixels, q).astype(np.int16) - pixels).mean() for q in (95, 75, 50, 20, 5)]
    assert lost == sorted(lost)
    assert lost[-1] > 3 * lost[0]


@pytest.mark.parametrize("quality", [0, 101, -3])
def test_a_quality_out_of_range_is_refused(quality: int) -> None:
    with pytest.raises(ValueError, match="quality"):
        jpeg_round_trip(np.zeros((8, 8, 3), np.uint8), quality)
