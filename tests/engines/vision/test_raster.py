"""Maps from meshes: exact on every pixel of triangles of any shape, and smooth beyond them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.vision.raster import enlarge, extend, look_up, on_grid, rasterise
from tests.strategies import picture

QUAD = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def lattice(side: int, step: float, shake: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A square lattice of `side` x `side` vertices, shaken, and its triangles."""
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2) * step
    points = grid + np.random.default_rng(seed).uniform(-shake, shake, grid.shape) * step
    i = np.arange(side * side).reshape(side, side)
    a, b, c, d = i[:-1, :-1].ravel(), i[:-1, 1:].ravel(), i[1:, 1:].ravel(), i[1:, :-1].ravel()
    return points, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)


@given(st.integers(2, 7), st.floats(1, 9), st.floats(0, 0.3), st.integers(0, 999), st.floats(-9, 20), st.floats(-9, 20))
def test_every_covered_pixel_maps_to_itself(side: int, step: float, shake: float, seed: int, right: float, down: float) -> None:
    points, triangles = lattice(side, step, shake, seed)
    points = points + np.array([right, down])
    drawn = rasterise(points, np.zeros(len(points)), triangles, 37, 41)
    places = drawn.interpolate(points)
    rows, columns = np.nonzero(drawn.covered)
    np.testing.assert_allclose(places[rows, columns], np.stack([columns, rows], 1), atol=2e-3)
    np.testing.assert_allclose(drawn.weights[rows, columns].sum(1), 1, atol=1e-5)
    assert not places[~drawn.covered].any()


@given(st.integers(2, 9), st.floats(0, 0.3), st.integers(0, 999), st.floats(0, 1), st.floats(0, 1))
def test_no_pixel_falls_between_triangles(side: int, shake: float, seed: int, right: float, down: float) -> None:
    step = 40 / (side - 1)
    (points, triangles), (even, _) = lattice(side, step, shake, seed), lattice(side, step, 0, 0)
    outline = ((even == 0) | (even > 39.9)).any(1)
    points[outline] = even[outline]  # straight, so that the mesh is the whole square
    covered = rasterise(points + np.array([right + 2, down + 2]), np.zeros(len(points)), triangles, 48, 48).covered
    assert covered[4:42, 4:42].all()


def test_a_square_is_filled_whole_and_nothing_else() -> None:
    points = np.array([(2, 3), (9, 3), (9, 8), (2, 8)], float)
    covered = rasterise(points, np.zeros(4), QUAD, 12, 14).covered
    expected = np.zeros((12, 14), bool)
    expected[3:9, 2:10] = True
    np.testing.assert_array_equal(covered, expected)


@pytest.mark.parametrize(("depths", "winner"), [((0, 1), 0), ((1, 0), 1)])
def test_the_nearer_triangle_wins(depths: tuple[float, float], winner: int) -> None:
    points = np.array([(0, 0), (20, 0), (0, 20), (0, 0), (20, 0), (0, 20)], float)
    drawn = rasterise(points, np.repeat(depths, 3), np.arange(6, dtype=np.int32).reshape(2, 3), 16, 16)
    assert set(np.unique(drawn.index)) == {-1, winner}


def test_triangles_that_face_away_or_are_flat_are_left_out() -> None:
    points = np.array([(0, 0), (20, 0), (0, 20), (5, 5), (10, 10)], float)
    drawn = rasterise(points, np.zeros(5), np.array([[0, 2, 1], [0, 3, 4]], np.int32), 16, 16)
    assert not drawn.covered.any()


@pytest.mark.parametrize("shift", [(-100, 0), (100, 0), (0, -100), (0, 100)])
def test_a_mesh_beside_the_grid_leaves_it_empty(shift: tuple[float, float]) -> None:
    drawn = rasterise(np.array([(0, 0), (9, 0), (9, 9), (0, 9)], float) + shift, np.zeros(4), QUAD, 10, 10)
    assert not drawn.covered.any()
    assert not drawn.interpolate(np.ones((4, 1))).any()


def test_extend_keeps_what_is_known_and_bounds_the_rest() -> None:
    random = np.random.default_rng(3)
    field, known = random.uniform(2, 5, (33, 40, 2)).astype(np.float32), np.zeros((33, 40), np.float32)
    known[8:20, 10:30] = 1
    out = extend(field, known)
    np.testing.assert_allclose(out[8:20, 10:30], field[8:20, 10:30], rtol=1e-6)
    assert out.min() > 1.9
    assert out.max() < 5.1


def test_extend_carries_a_constant_everywhere() -> None:
    known = np.zeros((48, 48), np.float32)
    known[20, 30] = 1
    np.testing.assert_allclose(extend(np.full((48, 48, 1), 7, np.float32), known), 7, rtol=1e-4)


@pytest.mark.parametrize(("grid", "size"), [(64, 256), (96, 320), (128, 1024)])
def test_coarse_maps_keep_pixel_centres(grid: int, size: int) -> None:
    """A map of positions drawn on the coarse grid and enlarged says at each pixel where that pixel is."""
    corners = np.array([(-0.5, -0.5), (size - 0.5, -0.5), (size - 0.5, size - 0.5), (-0.5, size - 0.5)])
    drawn = rasterise(on_grid(corners, size, grid), np.zeros(4), QUAD, grid, grid)
    places = enlarge(drawn.interpolate(corners), size)
    step = -(-size // grid)
    inner = slice(step, size - step)
    rows, columns = np.mgrid[inner, inner]
    np.testing.assert_allclose(places[inner, inner], np.dstack([columns, rows]), atol=2e-3)


def test_looking_up_each_pixel_at_its_own_place_changes_nothing() -> None:
    pixels = picture(31, 23, "noise")
    rows, columns = np.mgrid[:23, :31].astype(np.float32)
    np.testing.assert_array_equal(look_up(pixels, np.dstack([columns, rows])), pixels)


def test_looking_up_beyond_the_edge_finds_the_edge() -> None:
    pixels = picture(8, 8, "noise")
    out = look_up(pixels, np.full((2, 2, 2), -50, np.float32))
    np.testing.assert_array_equal(out, np.broadcast_to(pixels[0, 0], (2, 2, 3)))
