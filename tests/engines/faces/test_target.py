"""Where a face is cut out, and what its crop knows of the picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import Cancelled
from engines.faces.canonical import EYE_RINGS
from engines.faces.crop import LEAST, LEVEL, MOST, box_of, carried, cut, square, window
from engines.faces.target import follow, prepare_target
from engines.faces.topology import topology
from engines.timing import Run
from engines.types import FaceMesh, FusedCrop, Pose
from engines.vision import blend, geometry
from tests.strategies import picture


def mesh(size: float, roll: float = 0.0, centre: tuple[float, float] = (300, 300)) -> FaceMesh:
    b = np.radians(roll)
    tilt = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])
    return FaceMesh((topology().mean @ tilt.T * size + [*centre, 0]).astype(np.float32), Pose(0, 0, roll))


@given(st.floats(10, 3000), st.floats(-180, 180))
def test_the_face_stands_upright_in_the_middle_of_its_crop(size: float, roll: float) -> None:
    face = mesh(size, roll)
    matrix, side = window(face.points)
    assert LEAST <= side <= MOST
    points = geometry.apply(matrix, face.points[:, :2])
    right, left = points[EYE_RINGS[0]].mean(0), points[EYE_RINGS[1]].mean(0)
    lean = np.arctan2(left[1] - right[1], left[0] - right[0])
    assert abs(lean) <= LEVEL + 1e-6
    low, high = points[:468].min(0), points[:468].max(0)
    np.testing.assert_allclose((low + high) / 2, (side - 1) / 2, atol=0.05 * side)
    assert low.min() > 0
    assert high.max() < side - 1


@pytest.mark.parametrize(("size", "side"), [(30, 288), (120, 352), (200, 288), (400, 576), (900, 1024)])
def test_the_crop_is_no_coarser_than_the_picture_within_its_bounds(size: float, side: int) -> None:
    assert window(mesh(size).points)[1] == side


@given(st.floats(10, 700), st.floats(-11.5, 11.5), st.sampled_from([0, 90, 180, 270]))
def test_a_face_that_hardly_leans_is_cut_by_whole_pixels(size: float, lean: float, turn: int) -> None:
    matrix, _ = window(mesh(size, turn + lean).points)
    scale = geometry.scale_of(matrix)
    assert scale == pytest.approx(round(scale))
    np.testing.assert_array_equal(matrix[:, :2], np.round(matrix[:, :2]))
    offset = (geometry.apply(geometry.invert(matrix), [((scale - 1) / 2, (scale - 1) / 2)]))[0]  # the first block's middle
    np.testing.assert_allclose(offset, np.round(offset), atol=1e-9)


@pytest.mark.parametrize("size", [40, 90, 150, 300])
@pytest.mark.parametrize("roll", [-9, 0, 85])
def test_what_is_cut_and_laid_back_is_the_picture_again(size: float, roll: float) -> None:
    """Bit for bit, noise of single pixels and all; enlarged, nearly."""
    pixels = np.random.default_rng(3).integers(0, 256, (600, 600, 3)).astype(np.uint8)
    matrix, side = window(mesh(size, roll).points)
    times = round(geometry.scale_of(matrix))
    crop = cut(pixels, matrix, side)
    patch = blend.paste(pixels, FusedCrop(crop, np.full((side, side), 255, np.uint8), matrix))
    was = pixels[patch.top : patch.top + patch.mask.shape[0], patch.left : patch.left + patch.mask.shape[1]]
    inner = np.s_[2:-2, 2:-2]
    if times == 1:
        np.testing.assert_array_equal(patch.pixels[inner], was[inner])
    else:  # of noise, the worst there is
        assert np.corrcoef(patch.pixels[inner].ravel(), was[inner].ravel())[0, 1] > 0.97


@given(st.floats(20, 800), st.floats(-180, 180), st.integers(32, 400))
def test_a_wanted_side_is_given(size: float, roll: float, side: int) -> None:
    face = mesh(size, roll)
    matrix, got = square(face.points, side)
    assert got == side
    points = carried(face.points, matrix)
    assert np.ptp(points[:468, :2], axis=0).max() == pytest.approx(side / 1.2, rel=1e-3)
    assert np.ptp(points[:, 2]) == pytest.approx(np.ptp(face.points[:, 2]) * geometry.scale_of(matrix), rel=1e-4)


def test_the_box_of_a_mesh_holds_its_surface() -> None:
    face = mesh(200, 10)
    box = box_of(face.points)
    assert box.centre == pytest.approx(tuple((face.points[:468, :2].min(0) + face.points[:468, :2].max(0)) / 2), abs=1e-3)
    assert box.x == face.points[:468, 0].min()


def test_the_crop_shows_the_picture_through_its_matrix() -> None:
    rows, columns = np.mgrid[:600, :600]
    pixels = np.dstack([columns % 600 * 255 // 600, rows * 255 // 600, rows * 0]).astype(np.uint8)
    for size in (100, 400, 1500):
        spot = prepare_target(pixels, mesh(size, 20), "live")
        inverse = geometry.invert(spot.matrix)
        for point in ((spot.size / 2, spot.size / 2), (spot.size / 3, spot.size / 1.5)):
            x, y = geometry.apply(inverse, point)
            seen = spot.pixels[round(point[1]), round(point[0]), :2]
            np.testing.assert_allclose(seen, (np.clip(x, 0, 599) * 255 / 600, np.clip(y, 0, 599) * 255 / 600), atol=3)


def test_a_round_trip_takes_noise_and_leaves_shapes() -> None:
    spot = prepare_target(picture(600, 600), mesh(250, 17), "live")
    rows, columns = np.mgrid[: spot.size, : spot.size]
    shape = (100 + 50 * np.sin(rows / 30) * np.cos(columns / 25)).astype(np.float32)
    inner = slice(8, -8)
    np.testing.assert_allclose(spot.round_trip(shape)[inner, inner], shape[inner, inner], atol=1)
    noise = np.random.default_rng(0).normal(0, 10, shape.shape).astype(np.float32)
    assert 0.2 < spot.round_trip(noise)[inner, inner].std() / 10 < 0.7


def test_live_looks_for_nothing() -> None:
    spot = prepare_target(picture(600, 600), mesh(250), "live")
    assert not spot.occlusion.alpha.any()
    assert spot.occlusion.clean is spot.pixels
    assert spot.occlusion.found == ()


def test_the_search_can_be_stopped() -> None:
    run = Run()
    run.cancel()
    with pytest.raises(Cancelled):
        prepare_target(picture(600, 600), mesh(250), "best", None, run)


def test_the_next_picture_of_a_stream_keeps_what_a_moment_does_not_change() -> None:
    first = prepare_target(picture(600, 600, "soft", 2), mesh(200), "live")
    moved = picture(600, 600, "soft", 4)
    after = follow(first, moved, mesh(230, 12, (320, 290)))
    anew = prepare_target(moved, mesh(230, 12, (320, 290)), "live")
    np.testing.assert_array_equal(after.pixels, anew.pixels)
    np.testing.assert_array_equal(after.points, anew.points)
    assert after.lit is first.lit
    assert after.fineness is first.fineness
    assert after.beard is first.beard
    assert not after.occlusion.alpha.any()
