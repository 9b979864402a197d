"""Five points set by hand: what is refused at once, what the mesh makes of them, and which number the face takes."""

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.errors import Cancelled, InvalidOption
from engines.faces.by_hand import NAMES, OFF, OFF_ONE, checked, disagreement, number_of
from engines.faces.finder import FaceFinder
from engines.faces.topology import five_points
from engines.text import LANGUAGES
from engines.timing import Run
from engines.types import Box, Detection, Face, FaceMesh, Pixels, Pose, Verdict

FRONT = np.array([(-0.22, -0.2), (0.22, -0.2), (0.0, 0.05), (-0.17, 0.26), (0.17, 0.26)])
Points = NDArray[np.float64]


def of(face: Face) -> Points:
    return five_points(face.mesh.points.astype(np.float64))


def apart(a: Face, b: Face) -> float:
    """Mean distance of two meshes over the size of the second."""
    return float(np.linalg.norm(a.mesh.points[:, :2] - b.mesh.points[:, :2], axis=1).mean() / b.mesh.size)


@given(st.floats(-180, 180), st.floats(30, 200), st.floats(0.5, 1.0))
def test_five_points_of_a_face_are_taken_however_it_leans(roll: float, size: float, narrow: float) -> None:
    r = np.radians(roll)
    five = FRONT * [narrow, 1] * size @ np.array([[np.cos(r), np.sin(r)], [-np.sin(r), np.cos(r)]]) + 300
    np.testing.assert_allclose(checked(five.tolist(), 600, 600), five)


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ("12,13", ""),
        ([(1, 2)] * 4, ""),
        ([(1, 2, 3)] * 5, ""),
        ([(1, 2), (3, 4), (5, 6), (7, 8), (9,)], ""),
        ([(float("nan"), 2), *[(3, 4)] * 4], ""),
        (FRONT * 100 + [10, 300], "outside"),
        (FRONT * 100 + [300, 580], "outside"),
        ([(50, 50)] * 5, "together"),
        ([(100, 100), (200, 200), (300, 300), (390, 390), (400, 400)], "together"),
        (FRONT * 4 + 300, "together"),
        ((FRONT * 100 + 300)[[1, 0, 2, 4, 3]], "mirrored"),
        ((FRONT * 100 + 300)[[0, 1, 2, 4, 3]], "mirrored"),
        ((FRONT * 100 + 300)[[3, 4, 2, 0, 1]], "mirrored"),
    ],
)
def test_points_of_no_face_are_refused_with_what_to_do(points: object, reason: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        checked(points, 600, 600, "source_points")
    assert caught.value.reason == reason
    assert "source_points" in caught.value.message()
    for language in LANGUAGES:
        assert caught.value.hint(language)


def test_the_pictures_own_edge_is_inside() -> None:
    five = np.array([(0, 0), (99, 0), (50, 40), (0, 99), (99, 99)])
    np.testing.assert_array_equal(checked(five, 100, 100), five)


@pytest.mark.parametrize("which", range(5))
def test_the_point_that_lies_off_is_named(which: int) -> None:
    found = FRONT * 100
    moved = found.copy()
    moved[which] += [0, 100 * (OFF_ONE + 0.02)]
    verdict = disagreement(moved, found, 100)
    assert verdict == Verdict(NAMES[which], (("away", pytest.approx(100 * (OFF_ONE + 0.02))),))
    moved[which] -= [0, 4]
    assert disagreement(moved, found, 100).usable


def test_all_of_them_off() -> None:
    assert disagreement(FRONT * 100 + [100 * (OFF + 0.01), 0], FRONT * 100, 100).reason == "points_off"
    assert disagreement(FRONT * 100 + [100 * (OFF - 0.01), 0], FRONT * 100, 100).usable


def found(index: int, box: Box) -> Face:
    points = np.zeros((478, 3), np.float32)
    points[:, :2] = box.centre
    return Face(index, Detection(box, 0.9, np.zeros((5, 2), np.float32)), FaceMesh(points, Pose(0, 0, 0)), 10.0, Verdict())


def test_the_number_is_that_of_the_box_round_the_points() -> None:
    faces = [found(0, Box(0, 0, 100, 100)), found(1, Box(80, 0, 100, 100)), found(2, Box(300, 0, 100, 100))]
    assert number_of(FRONT * 50 + 50, faces) == 0
    assert number_of(FRONT * 50 + [95, 50], faces) == 1  # in both boxes; the second one's middle is nearer
    assert number_of(FRONT * 50 + [350, 50], faces) == 2
    assert number_of(FRONT * 50 + [250, 50], faces) == 3  # a number of its own
    assert number_of(FRONT * 50 + 50, []) == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_hand_that_shakes_gives_the_same_mesh(
    seed: int, finder: FaceFinder, astronaut: Pixels, astronaut_face: Face, officer: Pixels, officer_face: Face
) -> None:
    """Each point up to 8 % of the face beside its feature; on a portrait with and one without glasses."""
    random = np.random.default_rng(seed)
    for pixels, face in ((astronaut, astronaut_face), (officer, officer_face)):
        five = of(face) + random.uniform(-0.08, 0.08, (5, 2)) * face.mesh.size
        one = finder.at(pixels, five, Run(), [face])
        assert apart(one, face) < 0.02
        assert one.verdict.usable
        assert one.index == 0
        assert one.detection.points == pytest.approx(five, abs=1e-3)
        assert one.detection.score > 0.75
        assert one.box.x < five[:, 0].min()
        assert one.box.x + one.box.width > five[:, 0].max()


@pytest.mark.parametrize("turn", [0, 40, 90, 180])
def test_a_turned_and_padded_picture(turn: int, finder: FaceFinder, officer: Pixels, officer_face: Face) -> None:
    matrix = cv2.getRotationMatrix2D((264.0, 240.0), -turn, 1.0)  # clockwise
    matrix[:, 2] += [436, 360]
    pixels = np.asarray(cv2.warpAffine(officer, matrix, (1400, 1200), borderValue=(120, 120, 120)), np.uint8)
    five = of(officer_face) @ matrix[:, :2].T + matrix[:, 2]
    face = finder.at(pixels, five, Run())
    assert face.verdict.usable
    away = face.mesh.points[:, :2] - (officer_face.mesh.points[:, :2] @ matrix[:, :2].T + matrix[:, 2])
    assert np.linalg.norm(away, axis=1).mean() < 0.03 * officer_face.mesh.size
    assert (face.mesh.pose.roll - officer_face.mesh.pose.roll - turn + 180) % 360 - 180 == pytest.approx(0, abs=3)


def test_a_face_in_a_large_picture(finder: FaceFinder, officer: Pixels, officer_face: Face) -> None:
    """Its region is halved first; points, box and mesh come back in the whole picture's pixels."""
    large = np.asarray(cv2.resize(officer, None, fx=6, fy=6, interpolation=cv2.INTER_LINEAR), np.uint8)
    face = finder.at(large, (of(officer_face) + 0.5) * 6 - 0.5, Run())
    assert face.verdict.usable
    assert np.linalg.norm((face.mesh.points[:, :2] + 0.5) / 6 - 0.5 - officer_face.mesh.points[:, :2], axis=1).mean() < 1.5
    assert np.array(face.box.as_ints()) / 6 == pytest.approx(np.array(officer_face.box.as_ints()), abs=0.1 * officer_face.mesh.size)


def test_a_face_that_nothing_else_finds(finder: FaceFinder, officer: Pixels, officer_face: Face) -> None:
    """A mask over the mouth: the search refuses it, the hand knows where it lies."""
    x, y = of(officer_face)[2]
    covered = officer.copy()
    covered[int(y) + 4 : int(y) + 120, int(x) - 110 : int(x) + 110] = (90, 120, 170)
    assert finder.find(covered, Run()) == ()
    face = finder.at(covered, of(officer_face), Run())
    assert face.index == 0
    assert apart(face, officer_face) < 0.06
    assert face.verdict.usable
    assert face.detection.score < 0.75


@pytest.mark.parametrize(
    ("offset", "shrink"), [((0.35, 0.1), 1.0), ((-0.35, 0.1), 0.4), ((0.0, -0.45), 1.0), ((0.3, 0.25), 0.4), ((0.0, 0.9), 1.0)]
)
def test_points_on_a_cheek_or_the_collar_are_refused(
    offset: tuple[float, float], shrink: float, finder: FaceFinder, officer: Pixels, officer_face: Face
) -> None:
    five = of(officer_face)
    middle = five.mean(axis=0)
    face = finder.at(officer, (five - middle) * shrink + middle + np.array(offset) * officer_face.mesh.size, Run(), [officer_face])
    assert face.verdict.reason in ("points_off", "unsteady", *NAMES)


def test_one_point_far_off_is_named(finder: FaceFinder, officer: Pixels, officer_face: Face) -> None:
    five = of(officer_face)
    five[2] += [0.2 * officer_face.mesh.size, 0]
    face = finder.at(officer, five, Run())
    assert face.verdict.reason == "nose_off"
    assert dict(face.verdict.facts)["away"] == pytest.approx(20, abs=3)


@pytest.mark.parametrize("pattern", ["flat", "noise", "coins"])
def test_points_on_what_is_no_face(pattern: str, finder: FaceFinder) -> None:
    import skimage.data

    coins = np.dstack([skimage.data.coins()] * 3)
    pixels = {
        "flat": np.full(coins.shape, 128, np.uint8),
        "noise": np.random.default_rng(0).integers(0, 256, coins.shape, dtype=np.uint8),
        "coins": np.ascontiguousarray(coins),
    }[pattern]
    assert not finder.at(pixels, FRONT * 150 + 150, Run()).verdict.usable


def test_a_tiny_face_stays_too_small_and_a_stop_is_heeded(
    finder: FaceFinder, astronaut: Pixels, astronaut_face: Face, find_one: Callable[[Pixels], Face]
) -> None:
    small = np.asarray(cv2.resize(astronaut, (128, 128), interpolation=cv2.INTER_AREA), np.uint8)
    assert finder.at(small, of(astronaut_face) / 4, Run()).verdict.reason == "too_small"
    run = Run()
    run.cancel()
    with pytest.raises(Cancelled):
        finder.at(small, of(astronaut_face) / 4, run)


def test_the_same_points_give_the_same_face(finder: FaceFinder, officer: Pixels, officer_face: Face) -> None:
    one, two = (finder.at(officer, of(officer_face), Run()) for _ in range(2))
    assert np.array_equal(one.mesh.points, two.mesh.points)
    assert replace(one, detection=two.detection, mesh=two.mesh) == two
