"""Two faces that go together, and two that don't."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import FaceNotUsable
from engines.faces.pairing import (
    COARSE,
    FAR_COARSE,
    FAR_PITCH,
    FAR_YAW,
    PITCH_GAP,
    YAW_GAP,
    Side,
    detail_of,
    pairing,
    same_place,
    side_of,
    side_of_points,
    spot_of,
)
from engines.text import LANGUAGES, localised, text
from engines.types import Face, FaceMesh, Pixels, Pose

GOOD = Side(300, 300, Pose(0, 0, 0))


def turned(yaw: float, pitch: float = 0, detail: float = 300) -> Side:
    return Side(detail, detail, Pose(yaw, pitch, 0))


@pytest.mark.parametrize(
    ("source", "target", "reason", "notes"),
    [
        (GOOD, GOOD, "", []),
        (turned(-29), turned(-29), "", []),
        (turned(-32), turned(30), "apart", []),
        (turned(30), turned(-29.9), "", ["far_apart"]),
        (turned(0, 23), turned(0, -23), "apart_pitch", []),
        (turned(0, 22), turned(0, -22), "", ["far_apart"]),
        (turned(FAR_YAW + 1), turned(10), "", ["far_turned"]),
        (turned(10), turned(0, -FAR_PITCH - 1), "", ["far_tilted"]),
        (turned(0, 0, 44), GOOD, "coarse", []),
        (turned(0, 0, 46), GOOD, "", ["coarse"]),
        (turned(0, 0, 136), GOOD, "", []),
        (turned(0, 0, 900), turned(0, 0, 40), "", []),
    ],
)
def test_the_word_on_a_pair(source: Side, target: Side, reason: str, notes: list[str]) -> None:
    told = pairing(source, target)
    assert told.verdict.reason == reason
    assert [key for key, _ in told.notes] == notes


sides = st.builds(
    lambda yaw, pitch, size, share: Side(size, size * share, Pose(yaw, pitch, 0)),
    st.floats(-40, 40),
    st.floats(-34, 34),
    st.floats(36, 2000),
    st.floats(0.1, 1),
)


@given(sides, sides)
def test_whatever_is_said_can_be_read(source: Side, target: Side) -> None:
    told = pairing(source, target)
    assert pairing(source, source).verdict.usable
    for language in LANGUAGES:
        for key, facts in told.notes:
            assert "{" not in text(f"notes.{key}", language, **localised(dict(facts), language))
        if not told.verdict.usable:
            facts = dict(told.verdict.facts)
            error = FaceNotUsable(role="source", index=0, verdict=told.verdict.reason, **facts)
            assert error.message(language)
            assert error.hint(language) != FaceNotUsable(role="source", index=0, verdict="usable").hint(language)
    if told.verdict.usable:
        assert abs(source.pose.yaw - target.pose.yaw) <= YAW_GAP
        assert abs(source.pose.pitch - target.pose.pitch) <= PITCH_GAP
        assert source.detail >= COARSE * target.detail
        assert (source.detail < FAR_COARSE * target.detail) == any(key == "coarse" for key, _ in told.notes)
    else:
        assert told.notes == ()


HALF = np.array([0.5, 0.5, 0])


def test_a_sharp_face_shows_detail_up_to_its_size(officer: Pixels, officer_face: Face, astronaut: Pixels, astronaut_face: Face) -> None:
    for pixels, face in ((officer, officer_face), (astronaut, astronaut_face)):
        assert detail_of(pixels, face.mesh.points.astype(np.float64)) == pytest.approx(face.mesh.size, rel=1e-3)


@pytest.mark.parametrize("factor", [4, 8, 14])
def test_enlarging_adds_no_detail(factor: int, astronaut: Pixels, astronaut_face: Face) -> None:
    part = astronaut[20:220, 120:330]
    points = astronaut_face.mesh.points.astype(np.float64) - [120, 20, 0]
    large = np.asarray(cv2.resize(part, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC), np.uint8)
    found = detail_of(large, (points + HALF) * factor - HALF)
    assert found < 2.6 * astronaut_face.mesh.size


def test_the_more_a_face_is_blurred_the_less_detail_it_shows(officer: Pixels, officer_face: Face) -> None:
    points = officer_face.mesh.points.astype(np.float64)
    found = [detail_of(np.asarray(cv2.GaussianBlur(officer, (0, 0), s), np.uint8), points) for s in (0.5, 2.0, 4.0, 8.0)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.6 * officer_face.mesh.size


@pytest.mark.parametrize("shape", [(40, 40), (600, 30), (1, 1)])
def test_a_face_beyond_the_picture_or_without_any_contrast(shape: tuple[int, int], officer_face: Face) -> None:
    found = detail_of(np.full((*shape, 3), 90, np.uint8), officer_face.mesh.points.astype(np.float64))
    assert 0 < found < 1.001 * officer_face.mesh.size


def test_a_side_of_a_picture_and_of_a_mesh_alone(officer: Pixels, officer_face: Face) -> None:
    side, bare = side_of(officer, officer_face.mesh), side_of_points(officer_face.mesh.points.astype(np.float64))
    assert side.size == bare.size == bare.detail == pytest.approx(officer_face.mesh.size, rel=1e-5)
    assert side.pose == officer_face.mesh.pose
    assert bare.pose.yaw == pytest.approx(side.pose.yaw, abs=0.1)


def moved(face: Face, by: float) -> Face:
    points = face.mesh.points.copy()
    points[:, 0] += by * face.mesh.size
    return Face(9, face.detection, FaceMesh(points, face.mesh.pose), face.sharpness, face.verdict)


def test_one_face_twice_is_known_by_its_place_not_by_its_number(officer_face: Face) -> None:
    near, far = moved(officer_face, 0.02), moved(officer_face, 0.3)
    assert same_place(officer_face, near)
    assert not same_place(officer_face, far)
    assert len({spot_of(officer_face), spot_of(near), spot_of(far)}) == 3
    assert spot_of(officer_face) == spot_of(moved(officer_face, 0.0))
    assert len(spot_of(far)) == 16
