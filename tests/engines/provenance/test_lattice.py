"""The lattice of a repeating pattern is found whatever its turn, scale and proportions, and nowhere else."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.provenance import lattice
from engines.provenance.carrier import TILE, carrier
from engines.provenance.keys import MarkKey
from engines.provenance.payload import encode
from engines.types import Floats

KEY = MarkKey(bytes(range(32)))


def seen(matrix: Floats, strength: float, height: int = 420, width: int = 560) -> Floats:
    """A marked canvas through `matrix` (canvas pixels per picture pixel), under noise of deviation 1."""
    tile = carrier(KEY).tile(encode("7F3-A91-C04", KEY))
    whole = np.tile(tile, (9, 9))
    at = np.column_stack((matrix, (300.0, 280.0)))
    picture = cv2.warpAffine(whole, at, (width, height), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_WRAP)
    return np.asarray(picture * strength + np.random.default_rng(4).normal(0, 1, (height, width)), np.float32)


def turn(degrees: float, scale: float = 1.0) -> Floats:
    angle = np.deg2rad(degrees)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * scale


def apart(one: Floats, other: Floats) -> float:
    """Largest difference, whatever quarter turn lies between."""
    return min(float(np.abs(turn(90 * quarter) @ one - other).max()) for quarter in range(4))


@given(st.floats(-44, 44), st.floats(0.5, 1.3), st.sampled_from([0.95, 0.98, 1.0, 1.02, 1.05]))
@settings(max_examples=12, deadline=None)
def test_turn_scale_and_proportions_are_found(degrees: float, scale: float, stretch: float) -> None:
    matrix = turn(degrees, scale) @ np.diag((stretch**0.5, stretch**-0.5))
    best = lattice.locate(seen(matrix, 0.5))[0]
    assert best.matrix[0, 0] > abs(best.matrix[1, 0]) * 0.99
    assert apart(best.matrix, matrix) < 0.004  # a pixel at the end of a canvas of 256 from the middle


@pytest.mark.parametrize("seed", range(3))
def test_noise_has_none(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(0, 1, (400, 500)).astype(np.float32)
    assert [place.score for place in lattice.locate(noise) if place.score > 5] == []


@given(st.integers(16, lattice.LONG), st.integers(16, lattice.LONG))
@settings(max_examples=6, deadline=None)
def test_any_size_is_searched(height: int, width: int) -> None:
    for place in lattice.locate(np.zeros((height, width), np.float32), stretches=(1.0,)):
        assert np.isfinite(place.matrix).all()


def test_a_crossing_of_the_spectrum_is_a_repetition() -> None:
    assert np.allclose(lattice._crossings() * TILE, np.rint(lattice._crossings() * TILE))


@pytest.mark.parametrize("side", [8, 36, 640])
def test_the_packed_spectrum_is_unpacked(side: int) -> None:
    """Half of the plane of a square whose lower half is empty, frequency 0 at the left in the middle."""
    values = np.random.default_rng(side).normal(size=(side, side)).astype(np.float32)
    values[side // 2 :] = 0
    reach = round(lattice._OUTERMOST * side) - 1
    wanted = np.fft.fftshift(np.abs(np.fft.rfft2(values)) ** 2, axes=0)[side // 2 - reach : side // 2 + reach + 1, : reach + 1]
    assert np.allclose(lattice._powers(values, side // 2, reach), wanted, rtol=1e-3, atol=1e-3 * wanted.mean())


def test_no_place_is_told_twice() -> None:
    places = lattice.locate(seen(turn(3, 0.9), 0.5))
    assert places
    for index, place in enumerate(places):
        assert all(np.abs(place.matrix - other.matrix).max() > lattice._APART for other in places[:index])
