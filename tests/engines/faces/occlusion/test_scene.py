"""The working square: colours that a change of light leaves alone, mirrored places, maps that fit the mesh."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.faces.occlusion.scene import FACE, SIDE, chroma_values, read, rgb_of
from tests.engines.faces.occlusion.conftest import Cut


@given(st.tuples(st.integers(40, 220), st.integers(40, 220), st.integers(40, 220)))
def test_the_values_lead_back_to_the_colour(rgb: tuple[int, int, int]) -> None:
    image = np.full((2, 2, 3), rgb, np.float32)
    np.testing.assert_allclose(rgb_of(chroma_values(image)), image, atol=0.6)


@pytest.mark.parametrize("rgb", [(200, 150, 120), (90, 60, 45), (140, 140, 140)])
def test_a_change_of_light_moves_mostly_the_first_value(rgb: tuple[int, int, int]) -> None:
    """Lab is a cube root of linear light: halved light scales L + 16, a and b alike."""
    linear = (np.array(rgb) / 255) ** 2.2
    half = 255 * (linear / 2) ** (1 / 2.2)
    bright, dark = (chroma_values(np.full((1, 1, 3), c, np.float32))[0, 0] for c in (rgb, half))
    assert bright[0] - dark[0] > 0.15
    np.testing.assert_allclose(bright[1:], dark[1:], atol=0.02)


def test_the_face_fills_the_square(bare: Cut) -> None:
    scene = read(bare.pixels, bare.points)
    assert scene.pixels.shape == (SIDE, SIDE, 3)
    assert np.ptp(scene.points[:468, :2], axis=0).max() == pytest.approx(FACE, abs=0.5)
    assert scene.covered.mean() > 0.3
    assert (scene.trusted[~scene.covered] == 0).all()
    x, y = np.round(scene.points[33, :2]).astype(int)
    there = scene.mirror[y, x]
    np.testing.assert_allclose(there, scene.points[263, :2], atol=3)
