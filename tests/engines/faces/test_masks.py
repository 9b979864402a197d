"""A mask's map on a real face: areas, what is left out, grow, brush; and that it only ever limits."""

from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.face_mask import REGIONS, FaceMask, Paint
from engines.faces.canonical import EYE_RINGS, LIPS_INNER, LIPS_OUTER, NOSE, OVAL
from engines.faces.masks import applied, area_map, limited, previewed, regions
from engines.faces.target import PreparedTarget, prepare_target
from engines.options import FuseOptions
from engines.types import Face, FusedCrop, Pixels
from engines.vision.geometry import apply
from engines.vision.mask import polygon
from tests.strategies import face_masks


@pytest.fixture(scope="module")
def target(officer: Pixels, officer_face: Face) -> PreparedTarget:
    return prepare_target(officer, officer_face.mesh)


def inside(target: PreparedTarget, ring: np.ndarray) -> np.ndarray:
    return polygon(target.points[ring], target.size, target.size) > 0.99


def test_the_standard_asks_for_nothing(target: PreparedTarget) -> None:
    options = FuseOptions(feather=0.9)
    spot, asked, shown = applied(target, options, (512, 600))
    assert spot is target
    assert asked is options
    assert shown is None
    crop = FusedCrop(target.pixels, np.full((target.size, target.size), 9, np.uint8), target.matrix)
    assert limited(crop, None) is crop


def test_regions_do_not_overlap_and_cover_their_features(target: PreparedTarget) -> None:
    parts = regions(target.points[:, :2], target.size, target.face_width)
    assert set(parts) == set(REGIONS) - {"skin"}
    assert sum(part.astype(int) for part in parts.values()).max() == 1
    for name, ring in (("eyes", EYE_RINGS[0]), ("eyes", EYE_RINGS[1]), ("mouth", LIPS_INNER), ("nose", NOSE)):
        assert parts[name][inside(target, ring)].all()
    assert (parts["lips"] | parts["mouth"])[inside(target, LIPS_OUTER)].all()


@pytest.mark.parametrize(
    ("area", "at", "away"),
    [
        *(("eyes", 468, 4), ("nose", 4, 468), ("lips", 0, 4), ("brows", 105, 4)),
        *(("skin", 50, 4), ("box", 4, None), ("oval", 4, None), ("mouth", 4, 10)),
    ],
)
def test_an_area_is_where_its_name_says(area: str, at: int, away: int | None, target: PreparedTarget) -> None:
    shown = area_map(target, FaceMask((area,)), 0.5)

    def value(vertex: int) -> float:
        x, y = np.round(target.points[vertex, :2]).astype(int)
        return float(shown[y, x])

    assert value(at) > 0.5 if area != "mouth" else shown.max() > 0
    assert away is None or value(away) < 0.05


@pytest.mark.parametrize("feather", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", REGIONS)
def test_what_is_left_out_is_left_alone(name: str, feather: float, target: PreparedTarget) -> None:
    """Not by a single value within the region, whatever is grown beside it."""
    shown = area_map(target, FaceMask(leave_out=(name,), grow=20), feather)
    parts = regions(target.points[:, :2], target.size, target.face_width)
    face = inside(target, OVAL)
    out = parts[name] if name != "skin" else face & ~np.logical_or.reduce(list(parts.values()))
    assert shown[out].max() == 0
    assert shown[face & ~out].max() > 0.9 or name == "skin"


@pytest.mark.parametrize("area", ["outline", "eyes", "skin", "box", "oval"])
@pytest.mark.parametrize("swapper", [False, True])
def test_a_larger_grow_never_shows_less(area: str, swapper: bool, target: PreparedTarget) -> None:
    maps = [area_map(target, FaceMask((area,), grow=grow), 0.5, swapper) for grow in (-10, -4, -1, 0, 1, 4, 10)]
    for smaller, larger in pairwise(maps):
        assert (larger >= smaller - 1e-6).all()
    assert maps[-1].sum() > maps[0].sum()


def test_growing_by_one_percent_moves_the_edge_by_one_percent(target: PreparedTarget) -> None:
    areas = [int((area_map(target, FaceMask(("oval",), grow=grow), 0.0) > 0.5).sum()) for grow in (0, 5)]
    radius = [np.sqrt(area / np.pi) for area in areas]
    assert radius[1] - radius[0] == pytest.approx(0.05 * target.face_width, rel=0.15)


@pytest.mark.parametrize(("side", "axis", "first"), [(0, 0, True), (1, 1, False), (2, 0, False), (3, 1, True)])
def test_padding_leaves_off_that_side_alone(side: int, axis: int, first: bool, target: PreparedTarget) -> None:
    padding = tuple(30.0 if each == side else 0.0 for each in range(4))
    whole, less = (
        np.flatnonzero((area_map(target, FaceMask(("box",), padding=given), 0.0) > 0.5).any(1 - axis))  # type: ignore[arg-type]
        for given in ((0.0,) * 4, padding)
    )
    length = np.ptp(target.points[OVAL, 1 - axis])
    moved = (less[0] - whole[0], whole[-1] - less[-1])
    assert moved[0 if first else 1] == pytest.approx(0.3 * length, abs=2)
    assert moved[1 if first else 0] == 0


@given(face_masks(), face_masks(), st.floats(0, 1))
@settings(max_examples=15)
def test_more_areas_show_more_and_more_left_out_less(target: PreparedTarget, one: FaceMask, two: FaceMask, feather: float) -> None:
    alike = replace(two, grow=one.grow, padding=one.padding)
    first, both = (area_map(target, mask, feather) for mask in (one, replace(one, areas=one.areas + alike.areas)))
    less = area_map(target, replace(one, leave_out=one.leave_out + alike.leave_out), feather)
    assert (both >= first - 1e-6).all()
    assert (less <= first + 1e-6).all()
    assert first.min() >= 0
    assert first.max() <= 1


@given(face_masks(), st.integers(0, 255))
@settings(max_examples=10)
def test_it_only_limits(target: PreparedTarget, mask: FaceMask, level: int) -> None:
    _, _, shown = applied(target, FuseOptions(mask=mask), (512, 600))
    for side in (target.size, 2 * target.size):  # a network may have enlarged the crop meanwhile
        crop = FusedCrop(np.zeros((side, side, 3), np.uint8), np.full((side, side), level, np.uint8), target.matrix)
        assert (limited(crop, shown).mask <= crop.mask).all()


def spot_of(target: PreparedTarget, vertex: int, shape: tuple[int, int], radius: int) -> Pixels:
    """A disc on a picture of that shape, at a vertex of the mesh."""
    x, y = np.linalg.solve(target.matrix[:, :2], target.points[vertex, :2] - target.matrix[:, 2])
    scale = shape[0] / 600
    out = np.zeros(shape, np.uint8)
    cv2.circle(out, (round((x + 0.5) * scale - 0.5), round((y + 0.5) * scale - 0.5)), max(1, round(radius * scale)), 255, -1)
    return out


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_a_brush_lies_where_it_was_painted(scale: float, target: PreparedTarget) -> None:
    """Also on a smaller or larger copy of the picture; what it keeps wins over what it fuses."""
    shape = round(600 * scale), round(512 * scale)
    nothing = np.zeros(shape, np.uint8)
    tip, cheek = spot_of(target, 4, shape, 12), spot_of(target, 50, shape, 12)
    painted = FuseOptions(mask=FaceMask((), paint=Paint(tip | cheek, cheek)))
    _, _, shown = applied(target, painted, (512, 600))
    assert shown is not None
    at = [np.round(target.points[vertex, :2]).astype(int) for vertex in (4, 50)]
    assert shown[at[0][1], at[0][0]] == 1
    assert shown[at[1][1], at[1][0]] == 0
    ys, xs = np.nonzero(shown > 0.5)
    assert [xs.mean(), ys.mean()] == pytest.approx(at[0], abs=2)
    kept = applied(target, FuseOptions(mask=FaceMask(paint=Paint(nothing, tip))), (512, 600))[2]
    assert kept is not None
    assert kept[at[0][1], at[0][0]] == 0
    assert kept[at[1][1], at[1][0]] == 1


def test_a_brush_opens_what_lies_over_the_face_and_the_forehead(target: PreparedTarget) -> None:
    assert target.occlusion.alpha.max() > 0.9  # his glasses
    everything = Paint(np.full((600, 512), 255, np.uint8), np.zeros((600, 512), np.uint8))
    spot, options, shown = applied(target, FuseOptions(mask=FaceMask(paint=everything)), (512, 600))
    assert spot.occlusion.alpha.max() == 0
    np.testing.assert_array_equal(spot.occlusion.clean, target.pixels)
    standard = previewed(*applied(target, FuseOptions(), (512, 600))).mask
    painted = previewed(spot, options, shown).mask
    assert (painted >= standard).all()
    assert painted.sum() > 1.1 * standard.sum()
    assert not painted[~(polygon(target.points[OVAL], target.size, target.size) > 0)].any()  # never beyond the mesh


def test_occlusion_can_be_left_aside(target: PreparedTarget) -> None:
    spot, _, _ = applied(target, FuseOptions(mask=FaceMask(occlusion=False)), (512, 600))
    assert spot.occlusion.alpha.max() == 0
    assert target.occlusion.alpha.max() > 0.9
    assert spot.lit is target.lit  # measured with it, once


@pytest.mark.parametrize(
    ("mask", "eyes", "mouth"),
    [
        (FaceMask(leave_out=("eyes",)), True, False),
        (FaceMask(leave_out=("lips", "mouth")), False, True),
        (FaceMask(("nose",)), True, True),
        (FaceMask(("box",), padding=(60, 0, 0, 0)), True, False),
        (FaceMask(("outline",), grow=-2), False, False),
    ],
)
def test_what_is_wholly_left_alone_stays_where_it_is(mask: FaceMask, eyes: bool, mouth: bool, target: PreparedTarget) -> None:
    _, options, _ = applied(target, FuseOptions(mask=mask), (512, 600))
    assert (options.keep_eyes, options.keep_mouth) == (eyes, mouth)


@pytest.mark.parametrize(("mask", "held"), [(FaceMask(grow=-6), True), (FaceMask(("eyes",)), True), (FaceMask(leave_out=("eyes",)), False)])
def test_the_outline_moves_only_where_the_mask_is_open(mask: FaceMask, held: bool, target: PreparedTarget) -> None:
    spot, _, _ = applied(target, FuseOptions(mask=mask), (512, 600))
    assert target.hold is not None
    assert spot.hold is not None
    if held:
        assert spot.hold.free.max() == 0
    else:
        np.testing.assert_array_equal(spot.hold.free, target.hold.free)


def test_a_swapper_may_show_more_than_the_outline(target: PreparedTarget) -> None:
    face = polygon(target.points[OVAL], target.size, target.size) > 0
    box = area_map(target, FaceMask(("box",), padding=(-10, -10, -10, -10)), 0.5, swapper=True)
    assert box[~face].max() == 1
    assert area_map(target, FaceMask(("outline",), leave_out=("eyes",)), 0.5, swapper=True)[~face].max() == 0


def test_a_preview_s_crop_is_the_target_s(target: PreparedTarget) -> None:
    crop = previewed(*applied(target, FuseOptions(mask=FaceMask(("eyes",))), (512, 600)))
    np.testing.assert_array_equal(crop.matrix, target.matrix)
    corner = apply(target.matrix, [(0.0, 0.0)])
    assert np.isfinite(corner).all()
    assert crop.mask.max() > 0
