"""Laid on white, and made smaller."""

import numpy as np
import pytest

from engines.provenance.view import on_white, shrunk


def test_on_white_for_every_value_and_alpha() -> None:
    values, alphas = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    laid = on_white(np.repeat(values[..., None], 3, axis=2), alphas)
    exact = values.astype(float) * alphas / 255 + 255 - alphas
    assert np.abs(laid - exact[..., None]).max() <= 0.5
    assert laid.dtype == np.uint8


def test_without_alpha_nothing_is_copied(astronaut: np.ndarray) -> None:
    assert on_white(astronaut, None) is astronaut
    assert shrunk(astronaut, None, 512)[0] is astronaut


@pytest.mark.parametrize(("size", "small"), [((1000, 500), (100, 50)), ((3, 4000), (1, 100)), ((100, 100), (100, 100))])
def test_the_longer_side_is_limited(size: tuple[int, int], small: tuple[int, int]) -> None:
    width, height = size
    pixels, alpha = shrunk(np.full((height, width, 3), 7, np.uint8), np.full((height, width), 9, np.uint8), 100)
    assert alpha is not None
    assert pixels.shape[1::-1] == alpha.shape[::-1] == small
    assert np.unique(pixels).tolist() == [7]
    assert np.unique(alpha).tolist() == [9]
