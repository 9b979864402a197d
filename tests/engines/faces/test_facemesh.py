from collections.abc import Mapping

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.faces.facemesh import CROP, FaceMeshNet, Region, region_of_mesh, region_of_points, size_of, upright
from engines.faces.topology import topology
from engines.runtime.fake import FakeSession
from engines.runtime.session import Array, TensorSpec
from engines.types import Face, Pixels
from engines.vision.geometry import apply, compose, invert

angles = st.floats(-np.pi, np.pi)


def canned(feeds: Mapping[str, Array]) -> dict[str, Array]:
    """The mean face, whatever the crop: its long side two thirds of the crop, its box in the middle, as the region's rule has it."""
    count = len(feeds["input"])
    return {"landmarks": np.repeat(FACE[None], count, axis=0).astype(np.float32), "flag": np.ones((count, 1), np.float32)}


def _placed() -> NDArray[np.float64]:
    mean = topology().mean.astype(np.float64)
    low, high = mean[:468, :2].min(axis=0), mean[:468, :2].max(axis=0)
    points = mean * (CROP / 1.5 / (high - low).max())
    points[:, :2] += CROP / 2 - (points[:468, :2].min(axis=0) + points[:468, :2].max(axis=0)) / 2
    return points


FACE = _placed()


def fake() -> FakeSession:
    outputs = (TensorSpec("landmarks", "float32", ("B", 478, 3)), TensorSpec("flag", "float32", ("B", 1)))
    return FakeSession((TensorSpec("input", "float32", ("B", 3, 192, 192)),), outputs, canned)


@given(st.floats(-500, 500), st.floats(-500, 500), angles, st.floats(0.05, 20))
def test_the_upright_matrix_centres_levels_and_scales(x: float, y: float, angle: float, scale: float) -> None:
    matrix = upright(x, y, angle, scale, 100)
    assert apply(matrix, (x, y)) == pytest.approx((50, 50), abs=1e-6)
    along = apply(matrix, (x + np.cos(angle), y + np.sin(angle))) - 50
    assert along == pytest.approx((scale, 0), abs=1e-6)


@given(st.floats(0, 800), st.floats(0, 600), st.floats(40, 900), angles)
def test_points_come_back_into_the_pictures_pixels(x: float, y: float, side: float, angle: float) -> None:
    """The network's answer is one canned face; where it lands in the picture is the region's geometry alone, depth included."""
    net, region = FaceMeshNet(fake()), Region(x, y, side, angle)
    (points,) = net.read(np.zeros((60, 80, 3), np.uint8), [region])
    scale = side / CROP
    c, s = np.cos(angle), np.sin(angle)
    wanted = (FACE[:, :2] - CROP / 2) * scale @ np.array([[c, s], [-s, c]]) + [x, y]
    assert points[:, :2] == pytest.approx(wanted, abs=1e-3 * max(1, side))
    assert points[:, 2] == pytest.approx(FACE[:, 2] * scale, abs=1e-3 * max(1, side))


@given(angles, st.floats(10, 1000))
def test_the_next_region_follows_the_face(angle: float, width: float) -> None:
    c, s = np.cos(angle), np.sin(angle)
    points = topology().mean.astype(np.float64) * width
    points[:, :2] = points[:, :2] @ np.array([[c, s], [-s, c]]) + [700, 300]
    region = region_of_mesh(points)
    level = topology().mean[:468, :2] * width
    assert region.side == pytest.approx(np.ptp(level, axis=0).max() * 1.5, rel=1e-4)
    assert np.cos(region.angle - angle) == pytest.approx(1, abs=1e-6)
    inside = apply(region.matrix(), points[:468, :2])
    assert inside.min() > CROP / 6 - 1
    assert inside.max() < CROP * 5 / 6 + 1


@given(angles, st.floats(0.1, 300), st.floats(-1000, 1000))
def test_the_first_region_turns_and_grows_with_the_points(angle: float, scale: float, shift: float) -> None:
    points = np.array([(-1, 0), (1, 0), (0, 1), (-0.8, 2), (0.8, 2)], dtype=np.float64)
    c, s = np.cos(angle) * scale, np.sin(angle) * scale
    placed = points @ np.array([[c, s], [-s, c]]) + shift
    region = region_of_points(placed)
    assert np.cos(region.angle - angle) == pytest.approx(1, abs=1e-6)
    assert region.side == pytest.approx(max(1.0, 4.4 * scale * 1.5), rel=1e-6)
    assert (region.x, region.y) == pytest.approx(tuple(placed[[0, 1, 3, 4]].mean(axis=0)), abs=1e-6 * max(1, abs(shift)))


def test_a_narrow_pair_of_eyes_does_not_shrink_the_region() -> None:
    """A head turned aside: the eyes come together, the distance from eyes to mouth stays."""
    front = np.array([(-1, 0), (1, 0), (0, 1), (-0.8, 2), (0.8, 2)], dtype=np.float64) * 50
    assert region_of_points(front * [0.3, 1]).side > 0.8 * region_of_points(front).side


def test_points_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        region_of_points(np.full((5, 2), np.nan))


def test_coinciding_points_make_a_small_region_and_no_error() -> None:
    assert FaceMeshNet(fake()).fit(np.zeros((30, 30, 3), np.uint8), np.full((5, 2), 7.0)).points.shape == (478, 3)


def test_what_stands_still_is_not_refined_further() -> None:
    session = fake()
    (fit,) = FaceMeshNet(session).fits(np.zeros((200, 200, 3), np.uint8), [Region(100, 100, 150, 0.0)], passes=9)
    assert fit.moved < 0.004
    assert session.calls == 2


def test_no_regions_need_no_network() -> None:
    session = fake()
    assert FaceMeshNet(session).fits(np.zeros((9, 9, 3), np.uint8), []) == []
    assert session.calls == 0


def similarity(angle: float, scale: float, width: int, height: int) -> NDArray[np.float64]:
    """Round the middle of the picture."""
    c, s = np.cos(angle) * scale, np.sin(angle) * scale
    around = np.array([[c, -s, 0.0], [s, c, 0.0]])
    middle = np.array([width / 2, height / 2])
    around[:, 2] = middle - around[:, :2] @ middle
    return around


# In parts of the face's size. The network itself jitters by about .006.
@pytest.mark.parametrize(
    ("degrees", "scale", "tolerance"),
    [(0, 1.0, 0.01), (20, 1.0, 0.02), (-45, 1.0, 0.02), (90, 1.0, 0.02), (180, 1.0, 0.02), (0, 0.5, 0.025), (10, 1.6, 0.025)],
)
def test_the_mesh_turns_and_grows_with_the_face(
    degrees: float, scale: float, tolerance: float, mesh_net: FaceMeshNet, officer: Pixels, officer_face: Face
) -> None:
    height, width = officer.shape[:2]
    matrix = similarity(np.radians(degrees), scale, width, height)
    moved = cv2.warpAffine(officer, matrix, (width, height), flags=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    mesh = mesh_net.fit(moved, apply(matrix, officer_face.detection.points))
    wanted = apply(matrix, officer_face.mesh.points[:, :2])
    apart = np.linalg.norm(mesh.points[:, :2] - wanted, axis=1) / (officer_face.mesh.size * scale)
    assert apart.mean() < tolerance
    roll = (mesh.pose.roll - officer_face.mesh.pose.roll - degrees + 180) % 360 - 180
    assert abs(roll) < 3
    assert abs(mesh.pose.yaw - officer_face.mesh.pose.yaw) < 4


def test_the_mirrored_face_has_the_mirrored_mesh(mesh_net: FaceMeshNet, astronaut: Pixels, astronaut_face: Face) -> None:
    width = astronaut.shape[1]
    five = astronaut_face.detection.points[[1, 0, 2, 4, 3]] * [-1, 1] + [width - 1, 0]
    mesh = mesh_net.fit(np.ascontiguousarray(astronaut[:, ::-1]), five)
    wanted = astronaut_face.mesh.points[topology().mirror] * [-1, 1, 1] + [width - 1, 0, 0]
    assert np.linalg.norm(mesh.points[:, :2] - wanted[:, :2], axis=1).mean() < 0.025 * astronaut_face.mesh.size


def test_a_start_on_half_a_face_ends_on_the_whole(mesh_net: FaceMeshNet, officer: Pixels, officer_face: Face) -> None:
    """Five points squeezed into the upper half, as a detector gives them for a face that fills its view."""
    five = officer_face.detection.points.astype(np.float64)
    squeezed = five.copy()
    squeezed[:, 1] = five[0, 1] + (five[:, 1] - five[0, 1]) * 0.6
    mesh = mesh_net.fit(officer, squeezed)
    assert np.linalg.norm(mesh.points - officer_face.mesh.points, axis=1)[:468].mean() < 0.03 * officer_face.mesh.size


def test_many_at_once_are_the_same_as_one_by_one(mesh_net: FaceMeshNet, officer: Pixels, officer_face: Face) -> None:
    base = region_of_mesh(officer_face.mesh.points.astype(np.float64))
    regions = [base.moved(0.02 * i, -0.01 * i, 1 + 0.03 * i, 0.05 * i) for i in range(5)]
    together = mesh_net.read(officer, regions)
    for region, points in zip(regions, together, strict=True):
        assert mesh_net.read(officer, [region])[0] == pytest.approx(points, abs=0.05)


def test_the_size_is_that_of_the_shared_type(officer_face: Face) -> None:
    assert size_of(officer_face.mesh.points.astype(np.float64)) == pytest.approx(officer_face.mesh.size, rel=1e-6)


def test_a_region_is_where_its_matrix_looks() -> None:
    region = Region(40.0, 30.0, 96.0, 0.3)
    assert compose(region.matrix(), invert(region.matrix())) == pytest.approx(np.eye(2, 3), abs=1e-9)
    assert region.moved(0.5, 0, 2, 0.1) == Region(88.0, 30.0, 192.0, 0.4)
