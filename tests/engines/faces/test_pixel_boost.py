import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.faces.pixel_boost import FACTORS, explode, implode


@given(st.sampled_from(FACTORS), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_apart_and_together_is_nothing_at_all(factor: int, side: int, seed: int) -> None:
    crop = np.random.default_rng(seed).integers(0, 256, (factor * side, factor * side, 3), np.uint8)
    grids = implode(crop, side)
    assert grids.shape == (factor**2, side, side, 3)
    np.testing.assert_array_equal(explode(grids), crop)
    for number, grid in enumerate(grids):
        np.testing.assert_array_equal(grid, crop[number // factor :: factor, number % factor :: factor])


@pytest.mark.parametrize("shape", [(6, 4, 3), (5, 5, 3)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="a square of a multiple of 2 px"):
        implode(np.zeros(shape, np.uint8), 2)
    with pytest.raises(ValueError, match="3 grids"):
        explode(np.zeros((3, 2, 2, 3), np.uint8))
