"""Eyes: the target's inside its lids, in drawn faces where every value is known, and with lids shut on a portrait."""

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces import eyes
from engines.faces.canonical import EYE_RINGS, IRISES, SOCKETS, chart
from engines.faces.facemesh import FaceMeshNet
from engines.faces.geometry_transfer import eye_opening, width
from engines.faces.mesh_swapper import fuse, prepare, prepare_target
from engines.faces.topology import five_points, topology
from engines.timing import Run
from engines.types import Face, FaceMesh, FuseOptions, Pixels
from engines.vision import blend
from engines.vision.color import luma
from engines.vision.mask import disk, polygon
from engines.vision.raster import rasterise


def iris_at(where: Any, eye: int) -> tuple[NDArray[np.float64], float]:
    centre, rim = where.shape[IRISES[eye][0], :2], where.shape[IRISES[eye][1:], :2]
    return centre, float(np.linalg.norm(rim - centre, axis=1).mean())


def coloured(drawn: Any, iris: tuple[int, int, int], white: tuple[int, int, int] = (200, 200, 200), side: int = 512) -> Pixels:
    """A source's chart with irises of one colour."""
    out, at = np.full((side, side, 3), 120, np.float32), chart().pixels(side)
    for ring, ids in zip(EYE_RINGS, IRISES, strict=True):
        base = np.column_stack([drawn.mean[ring, :2], np.ones(len(ring))])
        moved = np.column_stack([drawn.mean[ids, :2], np.ones(5)]) @ np.linalg.lstsq(base, at[ring], rcond=None)[0]
        radius = float(np.linalg.norm(moved[1:] - moved[0], axis=1).mean())
        inside = polygon(at[ring], side, side)[..., None]
        out += inside * (np.array(white, np.float32) - out)
        out += inside * disk(moved[0], radius, side, side)[..., None] * (np.array(iris, np.float32) - out)
    return np.dstack([out.astype(np.uint8), np.full((side, side), 255, np.uint8)])


@pytest.mark.parametrize("theirs", [25.0, 90.0, 220.0])
@pytest.mark.parametrize("mine", [10.0, 160.0, 250.0])
def test_whites_are_the_targets(drawn: Any, mine: float, theirs: float) -> None:
    """Neither brighter than in the target, nor black."""
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, mine, 30), drawn.face(where, theirs, 30)
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye, ring in enumerate(EYE_RINGS):
        centre, radius = iris_at(where, eye)
        core = cv2.erode(polygon(where.shape[ring], where.size, where.size), np.ones((11, 11), np.uint8)) > 0.99
        white = core & (disk(centre, 1.3 * radius, where.size, where.size) < 0.01)
        assert white.sum() > 20
        np.testing.assert_allclose(luma(fused)[white], theirs, atol=3)


def test_the_targets_catch_light_stays_and_the_sources_goes(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where), drawn.face(where)
    for eye in (0, 1):
        (x, y), _ = iris_at(where, eye)
        fused += (disk(np.array([x + 5, y]), 2.5, where.size, where.size) * 200)[..., None]
        own += (disk(np.array([x - 5, y]), 2.5, where.size, where.size) * 200)[..., None]
    eyes.finish(fused, own, where, drawn.source(drawn.mean, coloured(drawn, (60, 90, 130))), False)
    for eye in (0, 1):
        x, y = np.round(iris_at(where, eye)[0]).astype(int)
        assert luma(fused)[y, x + 5] < 60
        np.testing.assert_allclose(fused[y, x - 5], own[y, x - 5], atol=12)  # and white: it is the room's


@pytest.mark.parametrize(("iris", "channel"), [((50, 80, 130), 2), ((110, 70, 40), 0), ((60, 100, 60), 1)])
def test_an_iris_takes_the_sources_hue_at_the_targets_light(drawn: Any, iris: tuple[int, int, int], channel: int) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where), drawn.face(where, 200, 80)
    eyes.finish(fused, own, where, drawn.source(drawn.mean, coloured(drawn, iris)), False)
    for eye in (0, 1):
        centre, radius = iris_at(where, eye)
        core = drawn.inside(where, EYE_RINGS[eye]) & (disk(centre, 0.7 * radius, where.size, where.size) > 0.99)
        found = np.median(fused[core], axis=0)
        assert int(found.argmax()) == channel
        assert found.max() - found.min() > 15
        assert float(np.median(luma(fused)[core])) == pytest.approx(80, rel=0.06)
        beyond = drawn.inside(where, EYE_RINGS[eye]) & (disk(centre, 1.4 * radius, where.size, where.size) < 0.01)
        assert np.ptp(np.median(fused[beyond], axis=0)) < 1


def test_a_warm_rooms_white_is_no_hue_of_the_iris(drawn: Any) -> None:
    """A grey iris under a lamp is nearer to grey than the same iris colour under white light."""
    where = drawn.spot(drawn.mean, drawn.mean)
    casts = []
    for white in ((200, 200, 200), (220, 200, 170)):
        fused, own = drawn.face(where), drawn.face(where, 200, 80)
        eyes.finish(fused, own, where, drawn.source(drawn.mean, coloured(drawn, (99, 90, 76), white)), False)
        x, y = np.round(iris_at(where, 0)[0]).astype(int)
        casts.append(float(fused[y, x, 0] - fused[y, x, 2]))
    assert casts[1] < 0.6 * casts[0]


@pytest.mark.parametrize(("side", "lid"), [(64, 0.0), (512, 0.7)])
def test_an_iris_of_few_pixels_or_under_a_lid_says_nothing(drawn: Any, side: int, lid: float) -> None:
    where = drawn.spot(drawn.lidded(lid), drawn.mean)
    fused, own = drawn.face(where), drawn.face(where, 200, 80)
    eyes.finish(fused, own, where, drawn.source(drawn.mean, coloured(drawn, (50, 80, 200), side=side)), False)
    assert float(np.ptp(fused, axis=2).max()) < 1e-3


@pytest.mark.parametrize("shut", [(0, 1), (0,), (1,)])
def test_a_shut_eyes_lids_come_along(drawn: Any, shut: tuple[int, ...]) -> None:
    """Their structure does, in the fusion's light; an open eye beside it keeps the source's lids."""
    where = drawn.spot(drawn.lidded(0.95, shut), drawn.mean)
    size = where.size
    lines = (30 * np.sin(np.arange(size) / 2.0)).astype(np.float32)[:, None, None]
    fused, own = np.full((size, size, 3), 150, np.float32), np.full((size, size, 3), 110, np.float32) + lines
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        lid = cv2.erode(polygon(where.shape[SOCKETS[eye]], size, size), np.ones((13, 13), np.uint8)) > 0.99
        lid &= cv2.dilate(polygon(where.shape[EYE_RINGS[eye]], size, size), np.ones((9, 9), np.uint8)) < 0.01
        found = luma(fused)[lid]
        if eye in shut:
            assert float(found.std()) == pytest.approx(float(luma(own)[lid].std()), rel=0.15)
            assert float(found.mean()) == pytest.approx(150, abs=10)
        else:
            np.testing.assert_allclose(found, 150, atol=1)


def test_a_blinking_source_opens_no_hole(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.lidded(1.0))
    fused, own = drawn.face(where, 60, 60), drawn.face(where, 200, 20)
    eyes.finish(fused, own, where, drawn.source(drawn.lidded(1.0)), False)
    for ring in EYE_RINGS:
        assert np.median(np.abs(fused - own)[drawn.inside(where, ring)]) < 2


def test_nothing_but_the_eyes_is_touched(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, 60, 60, 250, 250), drawn.face(where, 200, 20, 80, 80, 90)
    before = fused.copy()
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    changed = np.abs(fused - before).max(2) > 0.5
    for vertex in (4, 50, 280, 151, 9, 105, 334, 14, 152):
        x, y = np.round(where.shape[vertex, :2]).astype(int)
        assert not changed[y - 3 : y + 4, x - 3 : x + 4].any()
    around = np.zeros_like(changed)
    for ring in EYE_RINGS:
        around |= cv2.dilate(polygon(where.shape[ring], where.size, where.size), np.ones((13, 13), np.uint8)) > 0
    assert not changed[~around].any()


def test_kept_eyes_are_the_targets_own_where_they_lay(drawn: Any) -> None:
    somebody = drawn.mean.copy()
    somebody[:, 0] *= 1.08
    where = drawn.spot(drawn.mean, somebody, keep=(True, False))
    np.testing.assert_allclose(
        where.shape[np.concatenate([*SOCKETS, *EYE_RINGS, *IRISES])], where.target[np.concatenate([*SOCKETS, *EYE_RINGS, *IRISES])]
    )
    own = drawn.face(where, 210, 25)
    fused = drawn.face(where, 120, 90)
    eyes.finish(fused, own, where, drawn.source(somebody, coloured(drawn, (50, 80, 200))), True)
    for ring in EYE_RINGS:
        core = cv2.erode(polygon(where.shape[ring], where.size, where.size), np.ones((7, 7), np.uint8)) > 0.99
        np.testing.assert_allclose(fused[core], own[core], atol=1)


def test_the_ground_covers_lids_and_brows_of_the_target_alone(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    found = eyes.ground(where)
    assert found.shape == (where.grid, where.grid)
    at = np.round(where.coarse(where.target)).astype(int)
    assert (found[at[np.concatenate([*EYE_RINGS]), 1], at[np.concatenate([*EYE_RINGS]), 0]] > 0.9).all()
    assert (found[at[[105, 334, 66, 296], 1], at[[105, 334, 66, 296], 0]] > 0.8).all()
    assert (found[at[[4, 50, 280, 14, 152, 10], 1], at[[4, 50, 280, 14, 152, 10], 0]] < 0.01).all()


@pytest.mark.parametrize("size", [6.0, 14.0, 40.0])
def test_tiny_faces_stay_finite(drawn: Any, size: float) -> None:
    where = drawn.spot(drawn.lidded(0.9), drawn.mean, size)
    for keep in (False, True):
        fused = np.full((where.size, where.size, 3), 130, np.float32)
        eyes.finish(fused, fused.copy(), where, drawn.source(drawn.mean), keep)
        assert np.isfinite(fused).all()
        np.testing.assert_allclose(fused, 130, atol=1)


# On a portrait -------------------------------------------------------------------------------------------------------------------

_LIDS = (
    ([246, 161, 160, 159, 158, 157, 173], [7, 163, 144, 145, 153, 154, 155], [247, 30, 29, 27, 28, 56, 190]),
    ([466, 388, 387, 386, 385, 384, 398], [249, 390, 373, 374, 380, 381, 382], [467, 260, 259, 257, 258, 286, 414]),
)


def lowered(pixels: Pixels, mesh: FaceMesh, shut: tuple[int, ...]) -> Pixels:
    """The picture with upper lids drawn down over the eyes, by moving the mesh's upper lid on to its lower one."""
    points = mesh.points.astype(np.float64)
    moved = points.copy()
    for eye in shut:
        upper, lower, fold = _LIDS[eye]
        way = points[lower, :2] - points[upper, :2]
        moved[upper, :2] += 0.97 * way
        moved[fold, :2] += 0.35 * way
    low, high = np.floor(points[:468, :2].min(0)).astype(int) - 4, np.ceil(points[:468, :2].max(0)).astype(int) + 5
    wide, high_ = high - low
    raster = rasterise(moved[:, :2] - low, moved[:, 2], topology().triangles, int(high_), int(wide))
    shift = raster.interpolate((points - moved)[:, :2])
    rows, columns = np.mgrid[0:high_, 0:wide].astype(np.float32)
    part = np.ascontiguousarray(pixels[low[1] : high[1], low[0] : high[0]])
    out = pixels.copy()
    out[low[1] : high[1], low[0] : high[0]] = cv2.remap(part, columns + shift[..., 0], rows + shift[..., 1], cv2.INTER_CUBIC)
    return out


@pytest.fixture(scope="module")
def portrait(astronaut: Pixels, astronaut_face: Face, mesh_net: FaceMeshNet) -> tuple[Pixels, FaceMesh]:
    """The astronaut four times as large, so that a lid's line is no staircase."""
    part = np.ascontiguousarray(astronaut[20:240, 110:330])
    large = np.asarray(cv2.resize(part, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC), np.uint8)
    return large, mesh_net.fit(large, (five_points(astronaut_face.mesh.points) - [110, 20] + 0.5) * 4 - 0.5)


@pytest.mark.parametrize("shut", [(0, 1), (0,), (1,)])
def test_closed_stays_closed(portrait: tuple[Pixels, FaceMesh], mesh_net: FaceMeshNet, shut: tuple[int, ...]) -> None:
    """Refitted on the result: .13-.15 in the target, against .33-.34 with the source's open lids."""
    pixels, mesh = portrait
    source, pixels = prepare(pixels, mesh), lowered(pixels, mesh, shut)
    found = mesh_net.fit(pixels, five_points(mesh.points))
    crop = fuse(prepare_target(pixels, found, "live"), source, FuseOptions(), Run())
    out = blend.apply(pixels, blend.paste(pixels, crop))
    after = mesh_net.fit(out, five_points(found.points))
    for eye, ring in enumerate(EYE_RINGS):
        before = eye_opening(found.points, ring)
        assert abs(eye_opening(after.points, ring) - before) < 0.06
        assert (before < 0.2) == (eye in shut)


@pytest.mark.parametrize("way", ["astronaut", "officer"])
def test_lids_and_gaze_are_the_targets(
    way: str, mesh_net: FaceMeshNet, astronaut: Pixels, officer: Pixels, astronaut_face: Face, officer_face: Face
) -> None:
    both = {"astronaut": (astronaut, astronaut_face.mesh), "officer": (officer, officer_face.mesh)}
    pixels, mesh = both.pop(way)
    (source,) = both.values()
    crop = fuse(prepare_target(pixels, mesh, "live"), prepare(*source), FuseOptions(), Run())
    out = blend.apply(pixels, blend.paste(pixels, crop))
    before, after = (mesh_net.fit(picture, five_points(mesh.points)).points for picture in (pixels, out))
    for ring, iris in zip(EYE_RINGS, IRISES, strict=True):
        assert abs(eye_opening(after, ring) - eye_opening(before, ring)) < 0.05
        eye = np.linalg.norm(before[ring[0], :2] - before[ring[8], :2])
        looks = [points[iris[0], :2] - points[ring[[0, 8]], :2].mean(0) for points in (before, after)]
        assert np.linalg.norm(looks[1] - looks[0]) < 0.1 * eye
    assert width(after) == pytest.approx(width(before), rel=0.03)


def test_the_same_bytes_every_time(drawn: Any) -> None:
    where = drawn.spot(drawn.lidded(0.5), drawn.mean)
    made: list[Callable[[], bytes]] = []
    for _ in range(2):
        fused = drawn.face(where, 100, 60)
        eyes.finish(fused, drawn.face(where, 220, 40), where, drawn.source(drawn.mean, coloured(drawn, (50, 80, 130))), False)
        made.append(fused.tobytes)
    assert made[0]() == made[1]()
