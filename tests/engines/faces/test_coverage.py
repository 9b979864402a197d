"""The mask: as wide an edge as was asked for, no step, nothing of it where the face isn't known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.faces.beard import Beard
from engines.faces.canonical import GRID, OVAL
from engines.faces.coverage import Coverage, _silhouette, cover, feather
from engines.faces.placement import Placement, place
from engines.faces.source import PreparedSource
from engines.faces.target import PreparedTarget, prepare_target
from engines.faces.topology import topology
from engines.options import FuseOptions, Mode
from engines.types import FaceMesh, Floats, Pose
from engines.vision.mask import convex, polygon
from tests.strategies import picture


def face(size: float, at: tuple[float, float] = (300, 300)) -> FaceMesh:
    return FaceMesh((topology().mean * size + [*at, 0]).astype(np.float32), Pose(0, 0, 0))


def bearded(dark: float) -> Beard:
    chin = np.zeros((GRID, GRID), np.float32)
    chin[GRID * 3 // 4 :] = 1
    return Beard(0.9, dark, chin)


def covered(
    options: FuseOptions | None = None, size: float = 400, known: float = 1.0, source: Beard | None = None, mode: Mode = "live"
) -> tuple[Coverage, Placement, PreparedTarget]:
    target = prepare_target(np.full((700, 700, 3), 150, np.uint8), face(size), mode)
    points = topology().mean.astype(np.float64) * 200
    prepared = PreparedSource((np.full((64, 64, 4), 200, np.uint8),), points, *([] if source is None else [source]))
    spot = place(target, points, 1.0)
    crop = np.full((spot.grid, spot.grid, 3), 150, np.uint8)
    share = np.full((spot.grid, spot.grid), known, np.float32)
    return cover(target, prepared, spot, crop, share, options or FuseOptions()), spot, target


@pytest.mark.parametrize(("share", "width"), [(0.0, 0.002), (0.5, 0.014), (1.0, 0.06)])
def test_the_feather_passes_through_its_three_widths(share: float, width: float) -> None:
    assert feather(share) == pytest.approx(width)


@given(st.floats(0, 0.99), st.floats(0.001, 0.01))
def test_more_feather_is_a_wider_edge(share: float, more: float) -> None:
    assert feather(share + more) > feather(share)


def profile(mask: Floats, spot: Placement) -> Floats:
    """Along a level line through the cheek, from outside inwards."""
    row = round(float(spot.shape[50, 1]))
    return mask[row, : round(float(spot.shape[4, 0]))]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_edge_is_as_wide_as_asked_and_starts_from_nothing_at_the_outline(share: float) -> None:
    found, spot, _ = covered(FuseOptions(feather=share))
    line = profile(found.edge, spot)
    assert (np.diff(line) > -1e-3).all()
    rise = (line < 0.95).sum() - (line < 0.05).sum()
    wanted = 0.8 * 2.4 * feather(share) * spot.face_width
    assert 0.6 * wanted - 2 < rise < 1.5 * wanted + 3
    outline = round(float(spot.shape[234, 0]))
    assert line[: max(outline - 2, 0)].max(initial=0) < 0.02


def test_the_forehead_fades_without_a_step() -> None:
    found, spot, _ = covered()
    column = round(float(spot.shape[10, 0]))
    brow, top = (round(float(spot.shape[v, 1])) for v in (9, 10))
    line = found.full(np.ones_like(found.inner))[max(top, 0) : brow, column]
    assert line[0] < 0.1
    assert line[-1] > 0.9
    assert np.abs(np.diff(line)).max() < 12 / (brow - top) / 2


def test_what_the_source_does_not_know_stays_the_targets() -> None:
    found, _, _ = covered(known=0.0)
    assert not found.mask.any()
    assert not found.full(np.ones_like(found.inner)).any()


@pytest.mark.parametrize(("choice", "dark", "stays", "carried"), [("target", 0.9, True, False), ("source", 0.9, False, True)])
def test_a_sources_beard_is_left_or_carried(choice: str, dark: float, stays: bool, carried: bool) -> None:
    found, spot, _ = covered(FuseOptions(beard=choice), source=bearded(dark))  # type: ignore[arg-type]
    assert (found.stays is not None) == stays
    assert (found.carried is not None) == carried
    chin = np.round(spot.coarse(spot.shape)[175]).astype(int)
    assert found.skin[chin[1], chin[0]] == 0  # no colour is measured on hair
    bare, _, _ = covered()
    assert bare.skin[chin[1], chin[0]] == 1


def test_a_carried_beard_reaches_the_outline() -> None:
    bare, spot, _ = covered()
    found, _, _ = covered(FuseOptions(beard="source"), source=bearded(0.9))
    x, y = np.round(spot.shape[152, :2]).astype(int)
    below = np.s_[y - 6 : y, x]
    assert found.edge[below].mean() > bare.edge[below].mean() + 0.2
    brow = round(float(spot.shape[9, 1]))
    np.testing.assert_array_equal(found.edge[:brow], bare.edge[:brow])


@pytest.mark.parametrize("size", [60, 200, 900])
def test_every_size_and_faces_beyond_the_frame(size: float) -> None:
    points = topology().mean.astype(np.float64) * 200
    prepared = PreparedSource((np.full((64, 64, 4), 200, np.uint8),), points)
    for at in ((300.0, 300.0), (-50.0, 300.0), (900.0, 900.0)):
        target = prepare_target(picture(600, 600, "soft", 1), face(size, at), "live")
        spot = place(target, points, 1.0)
        small = np.full((spot.grid, spot.grid, 3), 150, np.uint8)
        found = cover(target, prepared, spot, small, np.ones((spot.grid, spot.grid), np.float32), FuseOptions())
        full = found.full(np.ones_like(found.inner))
        assert full.shape == (spot.size, spot.size)
        assert np.isfinite(full).all()
        assert 0 <= full.min() <= full.max() <= 1


def _seen(yaw: float) -> tuple[float, float]:
    """How much larger than the mesh's rim a face turned by `yaw` degrees is drawn, and how much of its front is left out."""
    a = np.radians(yaw)
    turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    points = (topology().mean.astype(np.float64) @ turn.T * 200)[:, :2] + 150
    rim = polygon(points[OVAL], 300, 300) > 0.5
    drawn = _silhouette(points, 300) > 0
    whole = polygon(convex(points[:468]), 300, 300) > 0.5
    return float(drawn.sum() / rim.sum()), float((whole & ~drawn).sum() / whole.sum())


def test_a_turned_face_is_painted_to_its_far_cheek_a_straight_one_to_the_rim() -> None:
    assert _seen(0)[0] == pytest.approx(1, abs=0.01)
    for yaw in (-38, 38):
        larger, left_out = _seen(yaw)
        assert larger > 1.03
        assert left_out < 0.06
