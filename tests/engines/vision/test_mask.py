"""Soft masks against areas and distances known from school."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.vision import mask

SQUARE = np.array([(10, 10), (30, 10), (30, 30), (10, 30)], float)


@pytest.mark.parametrize(
    ("points", "area"),
    [(SQUARE, 441), (SQUARE + 100, 0), (SQUARE - 20, 121), (np.array([(5.0, 5.0), (45.0, 5.0), (5.0, 45.0)]), 861)],
)
def test_a_polygon_covers_its_pixels(points: np.ndarray, area: float) -> None:
    drawn = mask.polygon(points, 50, 50)
    assert drawn.dtype == np.float32
    assert float(drawn.sum()) == pytest.approx(area, rel=0.05, abs=2)
    assert 0 <= drawn.min() <= drawn.max() <= 1


@pytest.mark.parametrize("radius", [3.0, 7.5, 12.0])
def test_a_disk_has_the_area_of_a_circle(radius: float) -> None:
    assert float(mask.disk(np.array([20.3, 19.6]), radius, 40, 41).sum()) == pytest.approx(np.pi * radius**2, rel=0.02)


def test_a_line_is_as_wide_as_it_is_told() -> None:
    drawn = mask.polyline(np.array([(5.0, 20.0), (45.0, 20.0)]), 5, 40, 50)
    assert float(drawn[:, 25].sum()) == pytest.approx(7, abs=1)  # with its soft sides


@pytest.mark.parametrize(("radius", "grown", "shrunk"), [(0.4, 21, 21), (1, 23, 19), (4, 29, 13)])
def test_growing_and_shrinking_move_the_edge(radius: float, grown: int, shrunk: int) -> None:
    square = (mask.polygon(SQUARE, 50, 50) > 0.5).astype(np.float32)
    assert int(mask.grow(square, radius)[20].sum()) == grown
    assert int(mask.shrink(square, radius)[20].sum()) == shrunk


def test_shrinking_counts_the_outside_as_empty() -> None:
    assert mask.shrink(np.ones((20, 20), np.float32), 3)[0].max() == 0


@given(st.floats(0, 4))
def test_softening_keeps_the_amount(sigma: float) -> None:
    square = mask.polygon(SQUARE, 60, 60)
    assert float(mask.soften(square, sigma).sum()) == pytest.approx(float(square.sum()), rel=1e-3)


@pytest.mark.parametrize(
    ("x", "low", "high", "y"), [(0, 1, 3, 0), (1, 1, 3, 0), (2, 1, 3, 0.5), (3, 1, 3, 1), (9, 1, 3, 1), (1, 3, 1, 1), (3, 3, 1, 0)]
)
def test_smoothstep(x: float, low: float, high: float, y: float) -> None:
    assert mask.smoothstep(np.array([x], np.float32), low, high)[0] == pytest.approx(y)


@pytest.mark.parametrize(("value", "byte"), [(-0.5, 0), (0, 0), (0.4 / 255, 0), (0.6 / 255, 1), (0.5, 128), (1, 255), (2, 255)])
def test_bytes_are_rounded_and_bounded(value: float, byte: int) -> None:
    assert mask.to_bytes(np.array([[value]], np.float32))[0, 0] == byte


@pytest.mark.parametrize(
    ("point", "distance"), [((20, 20), 10), ((12, 20), 2), ((10, 20), 0), ((5, 20), -5), ((33, 34), -5), ((20, 29), 1), ((0, 10), -10)]
)
def test_signed_distance_to_a_square(point: tuple[float, float], distance: float) -> None:
    assert mask.signed_distance(np.array([point], float), SQUARE)[0] == pytest.approx(distance)


def test_signed_distance_of_a_concave_outline() -> None:
    notched = np.array([(0, 0), (20, 0), (20, 20), (10, 5), (0, 20)], float)
    inside = mask.signed_distance(np.array([(10, 3), (10, 8), (2, 10), (18, 10)], float), notched) > 0
    assert inside.tolist() == [True, False, True, True]


def test_the_hull_is_an_outline_round_all_points() -> None:
    points = np.random.default_rng(1).uniform(0, 10, (40, 2))
    assert mask.signed_distance(points, mask.convex(points)).min() > -1e-5


def test_depth_ends_at_an_areas_edge_and_not_at_the_grids_border() -> None:
    inside = np.zeros((9, 9), bool)
    inside[2:, :] = True
    depth = mask.depth(inside)
    assert depth[:, 4] == pytest.approx([-0.5, -0.5, *(row - 1.5 for row in range(2, 9))], abs=0.05)
    assert np.ptp(depth, axis=1).max() < 0.1  # nor to the left and right
