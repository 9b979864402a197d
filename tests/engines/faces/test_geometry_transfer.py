"""Shape moves, expression stays: checked on the mean face, posed, opened and shut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.faces import geometry_transfer as geometry
from engines.faces.canonical import EYE_RINGS, IRISES, LIPS_INNER, LIPS_OUTER, OVAL
from engines.faces.topology import topology
from engines.vision.mask import convex, signed_distance

Points = NDArray[np.float64]


def face(size: float = 200.0, yaw: float = 0.0, roll: float = 0.0) -> Points:
    """The mean face, `size` px wide, turned, in the middle of a picture."""
    a, b = np.radians([yaw, roll])
    turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    tilt = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])
    return topology().mean.astype(np.float64) @ turn.T @ tilt.T * size + [300, 300, 0]


def other(seed: int = 0, size: float = 200.0, amount: float = 0.01) -> Points:
    """Somebody else: the mean face with smooth and symmetric changes of `amount` face widths."""
    random = np.random.default_rng(seed)
    mean = topology().mean.astype(np.float64)
    waves = sum(np.cos(mean @ random.normal(0, 4, 3) + random.uniform(0, 6))[:, None] * random.normal(0, 1, 3) for _ in range(4))
    waves = (waves + waves[topology().mirror] * [-1, 1, 1]) / 2
    return (mean + amount * waves) * size + [300, 300, 0]


@given(st.floats(-40, 40), st.floats(-170, 170), st.floats(20, 900), st.integers(0, 99))
def test_posing_undoes_turn_scale_and_place(yaw: float, roll: float, size: float, seed: int) -> None:
    source, target = face(150), face(size, yaw, roll)
    np.testing.assert_allclose(geometry.posed(source, target), target, atol=1e-6 * size)


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_a_face_onto_itself_stays(strength: float) -> None:
    target = face(300, 20, 10)
    np.testing.assert_allclose(geometry.mixed(target * 0.5, target, strength), target, atol=1e-6)


def test_no_strength_moves_nothing_and_more_moves_in_proportion() -> None:
    source, target = other(1), face()
    np.testing.assert_array_equal(geometry.mixed(source, target, 0), target)
    half, full = (geometry.mixed(source, target, s) - target for s in (0.5, 1.0))
    np.testing.assert_allclose(2 * half, full, atol=1e-9)
    assert np.abs(full).max() > 0.2


def test_the_outline_stays_the_targets_and_depth_is_left_alone() -> None:
    source, target = other(2, amount=0.03), face()
    out = geometry.mixed(source, target, 1)
    np.testing.assert_allclose(out[OVAL], target[OVAL], atol=1e-6)
    np.testing.assert_array_equal(out[:, 2], target[:, 2])


def test_lids_irises_and_mouth_opening_stay_the_targets() -> None:
    source, target = other(3, amount=0.02), face()
    source[LIPS_INNER[11:], 1] += 12  # an open mouth
    out = geometry.mixed(source, target, 1)
    for ring, iris in zip(EYE_RINGS, IRISES, strict=True):
        parts = np.concatenate([ring, iris])
        moved = (out - target)[parts, :2]
        np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-6)
        assert geometry.eye_opening(out, ring) == pytest.approx(geometry.eye_opening(target, ring), abs=1e-6)
    assert geometry.mouth_opening(out) == pytest.approx(geometry.mouth_opening(target), abs=0.01)


def test_no_vertex_moves_further_than_a_close_up_may() -> None:
    out = geometry.mixed(other(4, amount=0.5), face(), 1)
    assert np.linalg.norm((out - face())[:, :2], axis=1).max() <= geometry.FURTHEST * geometry.width(face()) + 1e-6


@pytest.mark.parametrize("yaw", [-38, -30, 30, 38])
def test_the_edge_that_a_turned_face_shows_stays(yaw: float) -> None:
    """It is the far cheek, not the mesh's rim: a vertex in the middle of the chart can lie on it."""
    target = face(200, yaw)
    moved = np.linalg.norm((geometry.mixed(other(5, amount=0.03), target, 1) - target)[:, :2], axis=1)
    edge = np.abs(signed_distance(target, convex(target[:468])))[:468] < 0.2
    assert edge.sum() > 15
    assert moved[:468][edge].max() < 0.005 * 200
    assert moved.max() > 0.02 * 200


@pytest.mark.parametrize("yaw", [0.0, 34.0])
def test_all_of_the_shape_arrives(yaw: float) -> None:
    nose = [1, 4, 5, 195]
    source, target = other(6, amount=0.004), face(200, yaw)
    wanted = (geometry.posed(source, target) - target)[nose, :2]
    got = (geometry.mixed(source, target, 1) - target)[nose, :2]
    assert float((got * wanted).sum() / (wanted**2).sum()) == pytest.approx(1, abs=0.06)


LOWER = np.concatenate([LIPS_INNER[11:], LIPS_OUTER[11:], [17, 18, 200, 199, 175, 152]])  # down to the chin


def opened(mesh: Points, gap: float) -> Points:
    out = mesh.copy()
    out[LOWER, 1] += gap
    return out


@pytest.mark.parametrize(("source_gap", "target_gap"), [(14, 0), (0, 14), (14, 14)])
def test_a_jaw_that_hangs_in_one_of_them_isnt_carried(source_gap: float, target_gap: float) -> None:
    """Fuller lips arrive as full as they are, whichever of the two mouths is open, and the chin stays with the target's jaw."""
    source, target = face(), face()
    source[LIPS_OUTER[1:10], 1] -= 3
    source[LIPS_OUTER[11:], 1] += 5
    mine, theirs = opened(source, source_gap), opened(target, target_gap)
    out = geometry.mixed(mine, theirs, 1)
    moved = (out - theirs)[:, 1]
    place = moved[LIPS_INNER].mean()  # the pose is fitted to vertices of which the jaw's are some
    assert abs(place) < 2
    np.testing.assert_allclose(moved[LIPS_INNER], place, atol=0.05)
    np.testing.assert_allclose(moved[LIPS_OUTER[1:10]] - place, -3, atol=0.6)
    np.testing.assert_allclose(moved[LIPS_OUTER[11:]] - place, 5, atol=0.6)
    np.testing.assert_allclose(moved[[200, 199]] - place, 0, atol=1)


def broadened(mesh: Points, factor: float) -> Points:
    out, lips = mesh.copy(), np.concatenate([LIPS_INNER, LIPS_OUTER])
    middle = mesh[lips, 0].mean()
    out[lips, 0] = middle + factor * (mesh[lips, 0] - middle)
    return out


@pytest.mark.parametrize(("mine", "theirs", "expected"), [(1.03, 1.0, 1.03), (1.0, 1.03, 1.0), (1.0, 1.3, 1.3), (1.3, 1.0, 1.0)])
@pytest.mark.parametrize("roll", [0.0, 40.0])
def test_a_mouth_is_as_broad_as_the_sources_but_smiles_as_the_target_does(mine: float, theirs: float, expected: float, roll: float) -> None:
    turn = np.radians(roll)
    tilt = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    out = geometry.mixed(broadened(face(), mine), broadened(face(), theirs) @ tilt.T, 1)
    across = [float(np.linalg.norm(mesh[LIPS_INNER[0], :2] - mesh[LIPS_INNER[10], :2])) for mesh in (out, face())]
    assert across[0] / across[1] == pytest.approx(expected, abs=0.01)


@given(st.floats(-40, 40), st.integers(0, 30), st.floats(0.001, 0.5))
def test_no_pose_and_no_source_throws_a_vertex_far(yaw: float, seed: int, amount: float) -> None:
    target = face(200, yaw)
    moved = np.linalg.norm((geometry.mixed(other(seed, amount=amount), target, 1) - target)[:, :2], axis=1)
    assert np.isfinite(moved).all()
    assert moved.max() <= geometry.FURTHEST * geometry.width(target) + 1e-6


@pytest.mark.parametrize(("yaw", "nearer", "farther"), [(40, 454, 234), (-40, 234, 454)])
def test_a_turned_face_shows_one_cheek(yaw: float, nearer: int, farther: int) -> None:
    seen = {v: max(geometry.facing(face(200, sign * yaw))[v] for sign in (1, -1)) for v in (nearer, farther)}
    shown = geometry.facing(face(200, yaw))
    assert shown.shape == (478,)
    assert abs(float(shown[nearer] - shown[farther])) > 0.5
    assert seen[nearer] == pytest.approx(seen[farther], abs=0.1)  # the mesh is symmetric
    assert geometry.facing(face())[4] > 0.5  # the nose looks at the camera


def test_sewing_shuts_the_mouth_and_nothing_else() -> None:
    target = face()
    target[LIPS_INNER[11:], 1] += 9
    out = geometry.sewn(target)
    assert geometry.mouth_opening(out) == pytest.approx(0, abs=1e-9)
    others = np.setdiff1d(np.arange(478), LIPS_INNER)
    np.testing.assert_array_equal(out[others], target[others])


def test_teeth_are_left_out_by_reading_deeper_in_the_lips() -> None:
    uv = topology().mean[:, :2].astype(np.float64)
    out = geometry.without_teeth(uv)
    before, after = (np.linalg.norm(x[LIPS_INNER] - uv[LIPS_OUTER], axis=1) for x in (uv, out))
    np.testing.assert_allclose(after, 0.65 * before, atol=1e-9)


@pytest.mark.parametrize("size", [40.0, 400.0])
def test_openings_dont_depend_on_size_or_roll(size: float) -> None:
    for ring in EYE_RINGS:
        assert geometry.eye_opening(face(size, 0, 30), ring) == pytest.approx(geometry.eye_opening(face(), ring), rel=1e-6)
    assert geometry.mouth_opening(face(size, 0, 30)) == pytest.approx(geometry.mouth_opening(face()), abs=1e-6)


@pytest.mark.parametrize(("broader", "share"), [(0.9, 0.0), (1.0, 0.0), (1.3, 1.0)])
def test_only_a_broader_smile_than_the_targets_is_one(broader: float, share: float) -> None:
    source = face()
    corners, middle = [61, 291], source[[61, 291]].mean(0)
    source[corners] = middle + broader * (source[corners] - middle)
    assert geometry.unsmiling(source, face(90.0)) == share
