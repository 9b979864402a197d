"""The outline moves with the background beside it; straight things, occluders and the crop's border hold it."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.faces import outline
from engines.faces.canonical import OVAL
from engines.faces.geometry_transfer import width
from engines.faces.placement import place
from engines.faces.target import prepare_target
from engines.faces.topology import topology
from engines.types import FaceMesh, Floats, Occlusion, Pixels, Pose
from engines.vision.mask import polygon

SIZE = 320
LOW = np.flatnonzero(topology().mean[OVAL, 1] > topology().mean[2, 1])  # of the outline: jaw and chin
MEAN = topology().mean.astype(np.float64)


def mesh(size: float = 250.0, broad: float = 1.0, at: float = (SIZE - 1) / 2) -> NDArray[np.float64]:
    """A face in the middle of a crop, its jaw `broad` times as broad."""
    points = MEAN.copy()
    low = np.clip((points[:, 1] - MEAN[4, 1]) / 0.2, 0, 1)
    points[:, 0] *= 1 + (broad - 1) * low
    points *= size
    points[:, :2] += at - (MEAN[:468, :2].min(0) + MEAN[:468, :2].max(0)) / 2 * size
    return points


def scene(stripes: int = 0) -> Pixels:
    """A face on a plain ground, or on one of vertical stripes this wide."""
    columns = np.arange(SIZE)
    ground = np.full(SIZE, 120.0) if stripes == 0 else np.where(columns // stripes % 2, 40.0, 210.0)
    out = np.repeat(np.repeat(ground[None, :, None], SIZE, 0), 3, 2)
    inside = cv2.GaussianBlur(polygon(mesh()[OVAL], SIZE, SIZE), (0, 0), 1.0)[..., None]
    return np.asarray(out * (1 - inside) + np.array([200, 160, 140]) * inside, np.uint8)


def plain(pixels: Pixels, alpha: Floats | None = None) -> Occlusion:
    nothing = np.zeros(pixels.shape[:2], np.float32)
    return Occlusion(nothing if alpha is None else alpha, pixels, nothing)


def moved(broad: float, pixels: Pixels, alpha: Floats | None = None, share: float = 1.0) -> NDArray[np.float64]:
    held = outline.hold(pixels, mesh(), plain(pixels, alpha))
    return outline.moved(mesh(broad=broad), mesh(), held, share)


@pytest.mark.parametrize("broad", [0.94, 1.06])
def test_a_jaw_on_a_plain_ground_follows_the_sources(broad: float) -> None:
    move = moved(broad, scene())[OVAL][LOW]
    wanted = (mesh(broad=broad) - mesh())[OVAL, :2][LOW]
    side = np.abs(wanted[:, 0]) > 4
    assert side.sum() >= 4
    assert (np.sign(move[side, 0]) == np.sign(wanted[side, 0])).all()
    assert np.abs(move[side, 0]).mean() > 0.35 * np.abs(wanted[side, 0]).mean()


@given(st.floats(0.6, 1.5), st.floats(0, 1))
@settings(max_examples=25)
def test_never_further_than_the_bound_and_less_with_less_shape(broad: float, share: float) -> None:
    length = np.linalg.norm(moved(broad, scene(), share=share), axis=1)
    assert length.max() <= outline.FURTHEST * width(mesh()) + 1e-9
    assert length.max() <= np.linalg.norm(moved(broad, scene()), axis=1).max() + 1e-9


def test_eyes_brows_nose_and_forehead_stay() -> None:
    move = np.linalg.norm(moved(1.2, scene()), axis=1)
    assert move[[33, 133, 263, 362, 105, 334, 1, 4, 10, 151]].max() < 0.05 * move.max()


@pytest.mark.parametrize("stripes", [8, 12])
@pytest.mark.parametrize("broad", [0.9, 1.1])
def test_stripes_beside_the_face_stay_straight(stripes: int, broad: float) -> None:
    """What is drawn along moves no straight edge aside by more than the bound, and a little for what lies between the samples."""
    pixels = scene(stripes)
    target = prepare_target(pixels, FaceMesh(mesh().astype(np.float32), Pose(0, 0, 0)))
    assert target.hold is not None
    assert len(target.hold.lines) > 0
    spot = place(target, mesh(broad=broad), 1.0)
    beside = cv2.erode((spot.covered < 0.5).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    aside = np.abs(spot.shift[..., 0][beside])
    free = place(prepare_target(scene(), FaceMesh(mesh().astype(np.float32), Pose(0, 0, 0))), mesh(broad=broad), 1.0)
    assert aside.max() < 3 * outline.STRAIGHT * target.face_width
    assert aside.max() < 0.5 * np.abs(free.shift[..., 0][beside]).max()


def test_an_occluder_at_the_jaw_holds_it_there() -> None:
    alpha = np.zeros((SIZE, SIZE), np.float32)
    alpha[SIZE // 2 :, : SIZE // 2 - 40] = 1
    free, held = moved(1.1, scene()), moved(1.1, scene(), alpha)
    right = OVAL[LOW][mesh()[OVAL[LOW], 0] > SIZE / 2 + 30]
    left = OVAL[LOW][mesh()[OVAL[LOW], 0] < SIZE / 2 - 60]
    assert np.abs(held[left, 0]).max() < 0.15 * np.abs(free[left, 0]).max()
    assert np.abs(held[right, 0]).max() > 0.6 * np.abs(free[right, 0]).max()


def test_the_drawn_ground_ends_within_the_crop_and_moves_without_a_fold() -> None:
    spot = place(prepare_target(scene(), FaceMesh(mesh().astype(np.float32), Pose(0, 0, 0))), mesh(broad=1.3), 1.0)
    for edge in (spot.shift[0], spot.shift[-1], spot.shift[:, 0], spot.shift[:, -1]):
        assert np.abs(edge).max() < 0.3
    across = np.diff(spot.origin[..., 0], axis=1)
    assert across.min() > 0.05 * spot.size / spot.grid
    jump = np.linalg.norm(np.diff(spot.shift, axis=1), axis=2).max()
    assert jump < 0.9 * spot.size / spot.grid


def test_what_is_drawn_along_is_less_where_something_was_filled_in() -> None:
    pixels = scene()
    clean = pixels.copy()
    clean[200:260, 20:80] = 200
    nothing = np.zeros((SIZE, SIZE), np.float32)
    held = outline.hold(pixels, mesh(), Occlusion(nothing, clean, nothing))
    shift = np.full((128, 128, 2), 2.0, np.float32)
    along = outline.drawn_along(shift, held, SIZE)
    assert along[230, 50] < 0.05
    assert along[100, 250] > 0.95
    assert not outline.drawn_along(shift * 0, held, SIZE).any()


@pytest.mark.parametrize("at", [40.0, 300.0, -400.0])
def test_faces_beyond_the_crop_are_left_there(at: float) -> None:
    held = outline.hold(scene(), mesh(at=at), plain(scene()))
    assert np.isfinite(outline.moved(mesh(broad=1.2), mesh(at=at), held, 1.0)).all()
    assert held.free.min() == 0
    again = outline.hold(scene(), mesh(at=at), plain(scene()))
    np.testing.assert_array_equal(held.lines, again.lines)
    np.testing.assert_array_equal(held.free, again.free)
