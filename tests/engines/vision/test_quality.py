import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.vision.quality import sharpness


def test_a_flat_picture_has_none() -> None:
    assert sharpness(np.full((50, 40, 3), 90, np.uint8)) == 0


def test_the_figure_of_a_checker_is_its_arithmetic() -> None:
    """Each pixel of a ±a checker differs from its four neighbours by 2a, so the Laplacian is ±8a."""
    checker = np.where(np.indices((32, 32)).sum(axis=0) % 2, 110, 90).astype(np.uint8)
    assert sharpness(np.dstack([checker] * 3)) == pytest.approx(80, abs=1e-3)
    assert sharpness(checker) == pytest.approx(80, abs=1e-3)


def test_blur_lowers_it_step_by_step(astronaut: NDArray[np.uint8]) -> None:
    figures = [sharpness(astronaut)] + [sharpness(np.asarray(cv2.GaussianBlur(astronaut, (0, 0), s))) for s in (0.7, 1.5, 3, 6)]
    assert figures == sorted(figures, reverse=True)
    assert figures[-1] < figures[0] / 10


def test_green_counts_most() -> None:
    def checker(channel: int) -> NDArray[np.uint8]:
        picture = np.full((32, 32, 3), 100, np.uint8)
        picture[::2, ::2, channel] = 160
        return picture

    red, green, blue = (sharpness(checker(channel)) for channel in range(3))
    assert green > red > blue


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 40, 3), (40, 1, 3), (1, 1)])
def test_a_picture_without_neighbours_has_none(shape: tuple[int, ...]) -> None:
    assert sharpness(np.zeros(shape, np.uint8)) == 0
