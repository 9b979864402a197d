"""How much there is to see, and the bits of a JPEG that is never made."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from engines.vision.complexity import Complexity, complexity, jpeg_bits

Pixels = NDArray[np.uint8]


def plain(side: int = 300) -> Pixels:
    return np.full((side, side, 3), (90, 120, 150), np.uint8)


def noise(side: int = 512) -> Pixels:
    return np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)


def test_steps_go_from_a_plain_ground_to_noise(astronaut: Pixels) -> None:
    assert [complexity(picture).steps for picture in (plain(), astronaut, noise())] == [15, 26, 29]


@pytest.mark.parametrize(("shares", "steps"), [((0, 0, 0), 15), ((1, 1, 1), 30), ((1, 0.5, 0), 22), ((0.2, 0.1, 0.0), 16)])
def test_steps_are_fifteen_and_fifteen_times_the_mean(shares: tuple[float, float, float], steps: int) -> None:
    assert Complexity(*shares).steps == steps


def test_a_large_photo_is_looked_at_as_small(astronaut: Pixels) -> None:
    large = np.repeat(np.repeat(astronaut, 2, 0), 2, 1)
    assert complexity(large).value == pytest.approx(complexity(astronaut).value, abs=0.01)


def test_a_small_picture_is_not_enlarged(astronaut: Pixels) -> None:
    small = np.ascontiguousarray(astronaut[100:140, 200:230])
    assert complexity(small).value > 0
    assert complexity(plain(1)).edges == 0


@pytest.mark.parametrize("quality", [30, 75, 95])
@pytest.mark.parametrize("size", [(256, 256), (201, 131), (7, 300)])
def test_the_bits_are_those_of_a_real_jpeg(astronaut: Pixels, quality: int, size: tuple[int, int]) -> None:
    for picture in (astronaut, noise(), plain()):
        gray = Image.fromarray(picture).convert("L").resize(size)
        stream = io.BytesIO()
        gray.save(stream, "JPEG", quality=quality)
        data = stream.getvalue()
        scan = data.index(b"\xff\xda")
        scan += 2 + int.from_bytes(data[scan + 2 : scan + 4])
        real = len(data[scan:-2].replace(b"\xff\x00", b"\xff"))
        assert jpeg_bits(np.asarray(gray), quality) / 8 == pytest.approx(real, rel=0.02, abs=2)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_it_is_always_within_its_range(width: int, height: int, seed: int) -> None:
    found = complexity(np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8))
    assert 0 <= found.value <= 1
    assert 15 <= found.steps <= 30
