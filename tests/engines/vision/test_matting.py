"""Alpha by the guided filter, and filling that leaves no outline."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.vision.matting import guided_coefficients, guided_values, harmonic, nearby
from tests.strategies import picture


def test_the_filter_is_the_regression_of_each_window() -> None:
    """Against the definition (He, Sun and Tang, 2013, equations 19-21), solved window by window."""
    guide = picture(24, 20, "soft", 3).astype(np.float32) / 255
    values = (guide @ np.array([0.7, -0.4, 0.2], np.float32) + 0.1).astype(np.float32)
    values[8:, 10:] += 0.3
    radius, epsilon = 3, 1e-3
    slopes, constants = np.zeros((20, 24, 3)), np.zeros((20, 24))
    padded, wanted = (np.pad(a, [(radius, radius), (radius, radius), *[(0, 0)] * (a.ndim - 2)], "symmetric") for a in (guide, values))
    side = 2 * radius + 1
    for y in range(20):
        for x in range(24):
            window, target = padded[y : y + side, x : x + side].reshape(-1, 3), wanted[y : y + side, x : x + side].ravel()
            covariance = np.cov(window.T, bias=True) + epsilon * np.eye(3)
            slopes[y, x] = np.linalg.solve(covariance, ((window - window.mean(0)) * (target - target.mean())[:, None]).mean(0))
            constants[y, x] = target.mean() - slopes[y, x] @ window.mean(0)
    both = np.pad(np.dstack([slopes, constants]), [(radius, radius), (radius, radius), (0, 0)], "symmetric")
    expected = np.array([[both[y : y + side, x : x + side].mean((0, 1)) for x in range(24)] for y in range(20)])
    found = guided_coefficients(guide, values, radius, epsilon)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[8:12, 8:16], expected[8:12, 8:16], atol=2e-3)


def test_an_edge_of_the_guide_is_an_edge_of_the_alpha() -> None:
    guide = np.full((40, 40, 3), 0.3, np.float32)
    guide[:, 20:] = (0.7, 0.5, 0.4)
    rough = np.zeros((40, 40), np.float32)
    rough[:, 23:] = 1  # three pixels off
    alpha = guided_values(guide, guided_coefficients(guide, rough, 6, 1e-5))
    assert alpha[20, 19] < 0.15
    assert alpha[20, 20] > 0.4


@given(st.integers(0, 1000), st.integers(13, 60), st.integers(13, 60))
def test_filling_changes_nothing_but_the_hole(seed: int, width: int, height: int) -> None:
    image = picture(width, height, "soft", seed).astype(np.float32)
    random = np.random.default_rng(seed)
    hole = random.random((height, width)) < 0.3
    out = harmonic(image, hole)
    np.testing.assert_array_equal(out[~hole], image[~hole])
    assert out.dtype == np.float32
    if (~hole).any():
        assert out.min() >= image[~hole].min() - 1e-2
        assert out.max() <= image[~hole].max() + 1e-2


@pytest.mark.parametrize("slopes", [(1.0, 0.5), (-0.7, 0.2), (0.0, 0.0)])
def test_a_slope_is_carried_through_a_hole(slopes: tuple[float, float]) -> None:
    """A plane is harmonic: whatever lies in the hole, its rim alone decides."""
    rows, columns = np.mgrid[:80, :90].astype(np.float32)
    plane = np.dstack([100 + slopes[0] * columns + slopes[1] * rows] * 3).astype(np.float32)
    hole = np.zeros((80, 90), bool)
    hole[30:42, 20:70] = True
    spoilt = plane.copy()
    spoilt[hole] = (255, 0, 90)
    assert np.abs(harmonic(spoilt, hole) - plane)[hole].max() < 3


def test_a_picture_that_is_all_hole_stays_finite() -> None:
    out = harmonic(np.full((30, 30, 3), 80, np.float32), np.ones((30, 30), bool))
    assert np.isfinite(out).all()


@pytest.mark.parametrize("sigma", [2.0, 9.0])
def test_nearby_reads_only_what_is_weighted(sigma: float) -> None:
    image = np.full((60, 60, 2), 200, np.float32)
    image[:, 30:] = 40
    weight = np.zeros((60, 60), np.float32)
    weight[:, :25] = 1
    mean, support = nearby(image, weight, sigma)
    np.testing.assert_allclose(mean[:, :28], 200, rtol=1e-3)
    assert support[30, 5] > 0.7
    assert support[30, 55] < 0.2
