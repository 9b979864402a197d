"""Lids drawn as far apart as the target's are, and how far two pairs of eyes look alike, on the mean face."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces import lids
from engines.faces.canonical import EYE_RINGS, IRISES
from engines.faces.geometry_transfer import eye_opening

SHIFTS = [(0.0, 0.0), (0.08, 0.0), (-0.16, 0.0), (0.1, 0.04), (0.0, 0.05)]


def looking(points: NDArray[np.float64], along: float, across: float) -> NDArray[np.float64]:
    """The mesh with both irises moved in the picture, in widths of the eye."""
    out = points.copy()
    for ring, iris in zip(EYE_RINGS, IRISES, strict=True):
        wide = np.linalg.norm(points[ring[8], :2] - points[ring[0], :2])
        out[iris, :2] += [along * wide, across * wide]
    return out


@pytest.mark.parametrize(("along", "across"), SHIFTS)
def test_a_gaze_is_where_the_iris_lies(drawn: Any, along: float, across: float) -> None:
    for eye, (ring, iris) in enumerate(zip(EYE_RINGS, IRISES, strict=True)):
        apart = lids.gaze(looking(drawn.mean, along, across), ring, iris) - lids.gaze(drawn.mean, ring, iris)
        assert np.linalg.norm(apart) == pytest.approx(np.hypot(along, across), abs=1e-6)
        if along:
            assert np.sign(apart[0]) == np.sign(along) * (1 if eye == 0 else -1)  # towards the nose in one, away from it in the other


def test_a_gaze_turns_and_grows_with_the_face(drawn: Any) -> None:
    turned = drawn.mean.copy()
    turned[:, :2] = 37 * turned[:, :2] @ np.array([[0.8, 0.6], [-0.6, 0.8]]) + 11
    for ring, iris in zip(EYE_RINGS, IRISES, strict=True):
        np.testing.assert_allclose(lids.gaze(turned, ring, iris), lids.gaze(drawn.mean, ring, iris), atol=1e-9)


@pytest.mark.parametrize(("along", "low", "high"), [(0.0, 1, 1), (0.15, 1, 1), (0.21, 0.4, 0.6), (0.27, 0, 0)])
def test_eyes_that_look_elsewhere_are_unlike(drawn: Any, along: float, low: float, high: float) -> None:
    assert low <= lids.alike(drawn.mean, looking(drawn.mean, along, 0)) <= high


@pytest.mark.parametrize(
    ("lid", "lower", "wider"), [(0.0, 1, 1), (0.3, 1, 1), (0.42, 1, 0.5), (0.48, 1, 0), (0.58, 0.5, 0), (0.7, 0, 0), (1.0, 0, 0)]
)
def test_eyes_open_otherwise_are_unlike(drawn: Any, lid: float, lower: float, wider: float) -> None:
    """One eye is enough. A lid can be drawn far down over the source's eye, but not as far up: a covered iris would be an egg."""
    one, other = drawn.lidded(lid, (1,)), drawn.mean
    for target, source, wanted in ((one, other, lower), (other, one, wider)):
        assert lids.alike(target, source) == pytest.approx(wanted, abs=0.45 if wanted == 0.5 else 0.1)


OPENINGS = [-0.3, -0.15, 0.15, 0.25]


@pytest.mark.parametrize("lid", OPENINGS)
def test_lids_go_further_than_they_were_read(drawn: Any, lid: float) -> None:
    """By a power of how much further the target's are open; strength and the largest factor hold."""
    source = drawn.lidded(lid)
    for strength in (0.0, 0.5, 1.0):
        made = lids.drawn(drawn.mean, drawn.mean, source, strength)
        for ring in EYE_RINGS:
            ratio = eye_opening(drawn.mean, ring) / eye_opening(source, ring)
            wanted = float(np.clip(ratio ** (lids.FURTHER * strength), 1 / lids.MOST, lids.MOST))
            flat, was = (np.column_stack([mesh[:, :2], np.zeros(len(mesh))]) for mesh in (made, drawn.mean))
            assert eye_opening(flat, ring) / eye_opening(was, ring) == pytest.approx(wanted, abs=0.015)


@pytest.mark.parametrize(("read", "moved"), [(0.9, 0.9), (0.8, 0.8), (1.1, 1.1), (1.2, 1.2), (1.5, 1.25), (0.6, 0.8)])
def test_how_much_further_lids_go(drawn: Any, read: float, moved: float) -> None:
    """For the ratio that a mesh reads, target to source: the whole way again, a quarter of an eye's opening at most."""
    (lid,) = [x for x in np.linspace(-0.9, 0.9, 1801) if abs(_ratio(drawn, float(x)) - read) < 2e-3][:1]
    made = lids.drawn(drawn.mean, drawn.mean, drawn.lidded(float(lid)), 1.0)
    ring = EYE_RINGS[0]
    flat, was = (np.column_stack([mesh[:, :2], np.zeros(len(mesh))]) for mesh in (made, drawn.mean))
    assert eye_opening(flat, ring) / eye_opening(was, ring) == pytest.approx(moved, abs=0.02)


def _ratio(drawn: Any, lid: float) -> float:
    return eye_opening(drawn.mean, EYE_RINGS[0]) / eye_opening(drawn.lidded(lid), EYE_RINGS[0])


@pytest.mark.parametrize("lid", OPENINGS)
def test_corners_irises_and_the_rest_of_the_face_stay(drawn: Any, lid: float) -> None:
    made = lids.drawn(drawn.mean, drawn.mean, drawn.lidded(lid), 1.0)
    still = np.concatenate([*IRISES, [33, 133, 362, 263, 4, 14, 152, 105, 334, 50, 280]])
    np.testing.assert_allclose(made[still], drawn.mean[still], atol=1e-9)
    np.testing.assert_array_equal(made[:, 2], drawn.mean[:, 2])


@pytest.mark.parametrize("turn", [0.0, 30.0, -80.0])
def test_a_tilted_face_is_drawn_alike(drawn: Any, turn: float) -> None:
    angle, source = np.radians(turn), drawn.lidded(0.2)
    way = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    tilted = drawn.mean.copy()
    tilted[:, :2] = 50 * drawn.mean[:, :2] @ way
    made, upright = lids.drawn(tilted, drawn.mean, source, 1.0), lids.drawn(drawn.mean, drawn.mean, source, 1.0)
    np.testing.assert_allclose(made[:, :2], 50 * upright[:, :2] @ way, atol=1e-6)


def test_eyes_that_show_the_targets_picture_stay(drawn: Any) -> None:
    """A lowered lid's and those that look elsewhere: there the target's own eye is laid in, as open as it is."""
    for source in (drawn.lidded(-2.2), looking(drawn.lidded(0.2), 0.3, 0)):
        np.testing.assert_allclose(lids.drawn(drawn.mean, drawn.mean, source, 1.0), drawn.mean, atol=1e-12)


def test_only_a_shut_eye_takes_the_targets_lids(drawn: Any) -> None:
    """A squint is drawn from the source's own lids, or two lids show in one eye; a narrow eye beside a narrow one isn't shut."""
    for lid, share in ((0.0, 0), (0.25, 0), (0.6, 1), (0.8, 1), (1.0, 1)):
        for eye, ring in enumerate(EYE_RINGS):
            target = drawn.lidded(lid)
            assert (eye_opening(target, ring) < 0.16) == bool(share)
            assert lids.lowered(target, drawn.mean, eye) == pytest.approx(share, abs=0.01)
    assert lids.lowered(drawn.lidded(0.7), drawn.lidded(0.65), 0) == 0


@pytest.mark.parametrize("lid", [1.0, 0.999])
def test_shut_eyes_stay_finite(drawn: Any, lid: float) -> None:
    for target, source in ((drawn.mean, drawn.lidded(lid)), (drawn.lidded(lid), drawn.mean), (drawn.lidded(lid), drawn.lidded(lid))):
        assert np.isfinite(lids.drawn(target, target, source, 1.0)).all()
