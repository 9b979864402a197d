import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.faces.pose import DOWN_READ, UP_READ, YAW_READ, lifted, pose_of, yaw_by_points
from engines.faces.topology import five_points, topology

angles = st.floats(-180, 180)


def turned(yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0, scale: float = 1.0) -> NDArray[np.float64]:
    """The mean face, nodding first, then turning, then leaning; signs as `Pose` has them."""
    y, p, r = np.radians([-yaw, pitch, roll])
    nod = np.array([[1, 0, 0], [0, np.cos(p), -np.sin(p)], [0, np.sin(p), np.cos(p)]])
    turn = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
    lean = np.array([[np.cos(r), -np.sin(r), 0], [np.sin(r), np.cos(r), 0], [0, 0, 1]])
    points: NDArray[np.float64] = topology().mean.astype(np.float64) @ (lean @ turn @ nod).T * scale + [320, 240, 0]
    return points


def test_the_mean_face_looks_straight_ahead() -> None:
    pose = pose_of(turned())
    assert (pose.yaw, pose.pitch, pose.roll) == pytest.approx((0, 0, 0), abs=1e-4)


@given(st.floats(-60, 60), st.floats(-50, 50), angles, st.floats(1, 2000))
def test_each_angle_is_read_apart_from_the_others(yaw: float, pitch: float, roll: float, scale: float) -> None:
    pose = pose_of(turned(yaw, pitch, roll, scale))
    assert pose.yaw == pytest.approx(lifted(yaw, YAW_READ), abs=0.01)
    assert pose.pitch == pytest.approx(lifted(pitch, UP_READ if pitch < 0 else DOWN_READ), abs=0.01)
    assert (pose.roll - roll + 180) % 360 == pytest.approx(180, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "left", "up"),
    [({"yaw": 30.0}, False, None), ({"yaw": -30.0}, True, None), ({"pitch": 25.0}, None, False), ({"pitch": -25.0}, None, True)],
)
def test_the_signs_are_those_of_a_picture(kind: dict[str, float], left: bool | None, up: bool | None) -> None:
    """A nose that moves to the picture's left belongs to a negative yaw; one that moves down to a positive pitch."""
    nose = five_points(turned(**kind))[2] - five_points(turned())[2]
    if left is not None:
        assert (nose[0] < 0) == left
    if up is not None:
        assert (nose[1] < 0) == up


@pytest.mark.parametrize("nodes", [YAW_READ, UP_READ, DOWN_READ])
@given(a=st.floats(-90, 90), b=st.floats(-90, 90))
def test_the_correction_is_odd_increasing_and_never_lowers_much(nodes: tuple[float, ...], a: float, b: float) -> None:
    assert lifted(-a, nodes) == -lifted(a, nodes)
    assert abs(lifted(a, nodes)) >= abs(a)
    if a < b:
        assert lifted(a, nodes) <= lifted(b, nodes)


@pytest.mark.parametrize(("reading", "true"), [(0.0, 0.0), (19.7, 20.0), (-36.8, -40.0), (50.6, 60.0), (54.0, 65.0)])
def test_the_correction_meets_its_table(reading: float, true: float) -> None:
    assert lifted(reading, YAW_READ) == pytest.approx(true, abs=0.01)


FRONT = np.array([(-0.5, 0.0), (0.5, 0.0), (0.0, 0.5), (-0.4, 1.0), (0.4, 1.0)])


@given(st.floats(0, 80), angles, st.floats(0.1, 500))
def test_the_points_tell_the_yaw_whatever_the_roll(yaw: float, roll: float, scale: float) -> None:
    r = np.radians(roll)
    lean = np.array([[np.cos(r), -np.sin(r)], [np.sin(r), np.cos(r)]])
    points = FRONT * [np.cos(np.radians(yaw)), 1] @ lean.T * scale + 100
    assert yaw_by_points(points) == pytest.approx(yaw, abs=0.1)


@pytest.mark.parametrize("points", [np.zeros((5, 2)), np.array([(0, 0), (1, 0), (0, 0), (0, -1), (1, -1)])])
def test_points_of_no_face_give_an_angle_and_no_error(points: NDArray[np.float64]) -> None:
    assert 0 <= yaw_by_points(points.astype(np.float64)) <= 90


def test_a_profile_that_the_mesh_takes_for_a_half_one_is_seen_by_the_points() -> None:
    mesh = turned(yaw=-40)
    profile = FRONT * [np.cos(np.radians(70)), 1]
    assert pose_of(mesh).yaw == pytest.approx(lifted(-40, YAW_READ), abs=0.01)
    assert pose_of(mesh, profile).yaw == pytest.approx(-70, abs=0.1)


def test_the_points_of_a_turned_head_under_45_degrees_change_nothing() -> None:
    assert pose_of(turned(yaw=10), FRONT * [np.cos(np.radians(40)), 1]).yaw == pytest.approx(lifted(10, YAW_READ), abs=0.01)
