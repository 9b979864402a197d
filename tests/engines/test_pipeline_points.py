"""Faces chosen by hand, and pairs that are refused, through the one path."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.errors import FaceNotUsable, FaceUnchanged, InvalidOption, NoFace
from engines.faces.topology import five_points
from engines.options import FuseOptions
from engines.pipeline import Studio
from engines.types import FivePoints

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def both(astronaut: Pixels, officer: Pixels) -> Pixels:
    """The officer on the left, the astronaut on the right."""
    return np.hstack([officer, cv2.copyMakeBorder(astronaut, 0, 88, 0, 0, cv2.BORDER_CONSTANT, value=(90, 90, 90))])


def points_of(studio: Studio, picture: Pixels, index: int = 0) -> FivePoints:
    five = five_points(studio.faces(picture).faces[index].mesh.points)
    return tuple((float(x), float(y)) for x, y in five)


def test_points_win_over_the_number(studio: Studio, officer: Pixels, both: Pixels) -> None:
    points = points_of(studio, both, 1)
    result = studio.fuse(officer[:, ::-1].copy(), both, FuseOptions(face=0, points=points))
    assert result.faces[0].index == 1
    columns = np.nonzero((np.abs(result.image.pixels.astype(np.int16) - both) > 24).any(axis=(0, 2)))[0]
    assert columns.min() > 512


def test_the_sources_points_do_too(studio: Studio, astronaut: Pixels, both: Pixels) -> None:
    """The astronaut is the target, so the officer has to be the source, whatever the number says."""
    points = points_of(studio, both, 0)
    by_hand = studio.fuse(both, astronaut, FuseOptions(source_face=1, source_points=points)).faces[0]
    by_number = studio.fuse(both, astronaut, FuseOptions(source_face=0)).faces[0]
    assert by_hand.identity_before == pytest.approx(by_number.identity_before, abs=0.02)
    assert by_hand.identity_after < by_hand.identity_before


def test_a_face_that_is_not_found_can_be_fused_by_hand(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    """A sleeve before the mouth: nothing is found, five points are enough."""
    points = points_of(studio, officer)
    x, y = (int(v) for v in points[2])
    covered = officer.copy()
    covered[y + 4 : y + 120, x - 110 : x + 110] = (90, 120, 170)
    with pytest.raises(NoFace):
        studio.fuse(astronaut, covered)
    face = studio.face_at(covered, points)
    assert (face.index, face.verdict.usable) == (0, True)
    result = studio.fuse(astronaut, covered, FuseOptions(points=points))
    assert result.faces[0].index == 0
    assert (result.image.pixels[y - 60 : y, x - 40 : x + 40] != covered[y - 60 : y, x - 40 : x + 40]).any()


def test_caches_tell_points_apart(studio: Studio, officer: Pixels) -> None:
    one = points_of(studio, officer)
    two = tuple((x + 3, y + 2) for x, y in one)
    assert studio.face_at(officer, one) is studio.face_at(officer, one)
    assert studio.face_at(officer, one) is not studio.face_at(officer, two)
    assert studio.face_at(officer, two).detection.points[0] == pytest.approx(two[0], abs=1e-3)


@pytest.mark.parametrize("role", ["source", "target"])
def test_points_beside_the_face_are_refused_with_the_role(studio: Studio, astronaut: Pixels, officer: Pixels, role: str) -> None:
    points = tuple((x + 30, y + 20) for x, y in points_of(studio, astronaut))
    pair = (astronaut, officer) if role == "source" else (officer, astronaut)
    options = FuseOptions(source_points=points) if role == "source" else FuseOptions(points=points)
    with pytest.raises(FaceNotUsable) as caught:
        studio.fuse(*pair, options)
    assert (caught.value.facts["role"], caught.value.facts["verdict"]) == (role, "points_off")
    assert "%" in caught.value.message()
    assert "middle of its feature" in caught.value.hint()


def test_points_in_the_wrong_order_name_their_option(studio: Studio, astronaut: Pixels, officer: Pixels) -> None:
    a, b, c, d, e = points_of(studio, astronaut)
    with pytest.raises(InvalidOption, match="source_points") as caught:
        studio.fuse(astronaut, officer, FuseOptions(source_points=(b, a, c, e, d)))
    assert caught.value.reason == "mirrored"
    with pytest.raises(InvalidOption, match="outside"):
        studio.face_at(astronaut, ((-5.0, 3.0), b, c, d, e))


def test_the_same_face_by_number_and_by_hand_is_one(studio: Studio, officer: Pixels, both: Pixels) -> None:
    with pytest.raises(FaceUnchanged):
        studio.fuse(officer, officer, FuseOptions(points=points_of(studio, officer)))
    result = studio.fuse(both, both, FuseOptions(points=points_of(studio, both, 1), source_points=points_of(studio, both, 0)))
    assert result.faces[0].index == 1


def test_a_source_far_too_coarse_for_its_target_is_refused(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    """A face of 40 px for one of 590: less than a fifth of the detail. Onto itself enlarged it would lose nothing."""
    small = np.asarray(cv2.resize(astronaut, None, fx=0.4, fy=0.4, interpolation=cv2.INTER_AREA), np.uint8)
    grain = np.random.default_rng(0).normal(0, 14, (1800, 1536, 3))
    large = np.asarray(cv2.resize(officer, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC), np.float64)
    with pytest.raises(FaceNotUsable) as caught:
        studio.fuse(small, np.clip(large + grain, 0, 255).astype(np.uint8))
    assert (caught.value.facts["role"], caught.value.facts["verdict"]) == ("source", "coarse")
    assert "sharper" in caught.value.hint()


def test_a_coarse_source_is_told_of(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    small = np.asarray(cv2.resize(astronaut, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA), np.uint8)
    notes = studio.fuse(small, officer).notes
    assert "coarse" in dict(notes)
    assert "coarse" not in dict(studio.fuse(officer, astronaut).notes)


def test_a_persona_has_no_points(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    persona = studio.persona([officer, officer[:, ::-1].copy()], "somebody")
    with pytest.raises(InvalidOption, match="persona"):
        studio.fuse(persona, astronaut, FuseOptions(source_points=points_of(studio, officer)))
    assert studio.fuse(persona, astronaut).faces[0].index == 0
