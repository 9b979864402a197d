"""What is filled in gets the fine structure of the skin beside it."""

import cv2
import numpy as np
import pytest

from engines.faces.occlusion.pores import pores
from engines.types import Floats

SIDE, UNIT = 256, 200.0


def _skin(strength: float, width: float) -> Floats:
    noise = cv2.GaussianBlur(np.random.default_rng(3).standard_normal((SIDE, SIDE)).astype(np.float32), (0, 0), width)
    return np.repeat((150 + noise * (strength / noise.std()))[..., None], 3, axis=2).astype(np.float32)


@pytest.mark.parametrize("width", [0.6, 1.2])
@pytest.mark.parametrize("strength", [2.0, 8.0])
def test_as_strong_and_as_fine_as_the_skin(strength: float, width: float) -> None:
    image = _skin(strength, width)
    made = pores(image, np.ones((SIDE, SIDE), np.float32), UNIT)

    def fine(field: Floats) -> tuple[float, float]:
        small = field - cv2.GaussianBlur(field, (0, 0), 1)
        return float(field.std()), float(small.std())

    for one, two in zip(fine(made), fine(image[..., 0] - 150), strict=True):
        assert 0.65 < one / two < 1.4
    assert made.tobytes() == pores(image, np.ones((SIDE, SIDE), np.float32), UNIT).tobytes()


def test_only_skin_is_read() -> None:
    """Hair beside it is no pore."""
    image, skin = _skin(2, 0.8), np.ones((SIDE, SIDE), np.float32)
    image[:, 160:] = np.where(np.arange(96) % 6 < 3, 30, 220)[None, :, None]
    skin[:, 155:] = 0
    assert float(pores(image, skin, UNIT).std()) < 4


def test_without_skin_there_are_none() -> None:
    assert not pores(_skin(8, 1), np.zeros((SIDE, SIDE), np.float32), UNIT).any()
    assert not pores(_skin(8, 1)[:20, :20], np.ones((20, 20), np.float32), UNIT).any()
