"""The mouth: the source's lips under the target's light, in drawn faces where every value is known, and on two portraits."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces import mouth
from engines.faces.canonical import LIPS_INNER, LIPS_OUTER
from engines.faces.facemesh import FaceMeshNet
from engines.faces.geometry_transfer import CLOSED, mouth_opening
from engines.faces.mesh_swapper import fuse, prepare, prepare_target
from engines.faces.topology import five_points
from engines.options import FuseOptions
from engines.timing import Run
from engines.types import Face, Floats, Pixels
from engines.vision import blend
from engines.vision.color import LUMA, luma, to_lab
from engines.vision.mask import disk, polygon


def lip(where: Any, lower: bool = True) -> NDArray[np.float64]:
    """The middle of a lip."""
    return np.asarray((where.shape[17 if lower else 0, :2] + where.shape[14 if lower else 13, :2]) / 2)


def lined(where: Any, own: Floats, depth: float) -> None:
    """A dark line between the lips."""
    middle = where.shape[[13, 14], 1].mean()
    rows = np.arange(where.size)[:, None]
    own -= (depth * np.exp(-((rows - middle) ** 2) / 4) * np.ones((1, where.size)))[..., None].astype(np.float32)


def test_an_open_target_keeps_its_own_mouth(drawn: Any) -> None:
    where = drawn.spot(drawn.opened(0.08), drawn.mean)
    fused, own = drawn.face(where, mouth=240), drawn.face(where, mouth=35)
    mouth.finish(fused, own, where, drawn.source(drawn.mean), False)
    assert np.median(luma(fused)[drawn.inside(where, LIPS_INNER)]) == pytest.approx(35, abs=3)


@pytest.mark.parametrize("teeth", [0.02, 0.05])
def test_no_teeth_in_a_shut_mouth_but_the_targets_line(drawn: Any, teeth: float) -> None:
    """Teeth painted into the lips, as by a mesh that misses them by up to a twentieth of the face: nothing of them is left."""
    where = drawn.spot(drawn.mean, drawn.opened(0.08))
    assert where.sealed
    fused, own = drawn.face(where), drawn.face(where)
    band = np.abs(np.arange(where.size)[:, None] - where.shape[[13, 14], 1].mean()) < teeth / 2 * where.face_width
    inside = drawn.inside(where, LIPS_OUTER) & (polygon(where.shape[LIPS_OUTER], where.size, where.size) > 0.99)
    fused[band & inside] = 235
    lined(where, own, 60)
    mouth.finish(fused, own, where, drawn.source(drawn.opened(0.08)), False)
    core = polygon((where.shape[LIPS_OUTER, :2] - lip(where)) * 0.8 + lip(where), where.size, where.size) > 0.99
    assert float(luma(fused)[core].max()) < 112
    x, y = np.round(where.shape[[13, 14], :2].mean(0)).astype(int)
    assert luma(fused)[y, x] < 70
    assert luma(fused)[y - 8, x] == pytest.approx(100, abs=8)


def test_no_second_row_beside_the_targets_teeth(drawn: Any) -> None:
    """The source's teeth reach beyond the target's inner lips: the lip takes their place."""
    where = drawn.spot(drawn.opened(0.06), drawn.opened(0.1))
    fused, own = drawn.face(where), drawn.face(where, mouth=200)
    inner = where.shape[LIPS_INNER, :2]
    wider = polygon((inner - inner.mean(0)) * [1, 1.35] + inner.mean(0), where.size, where.size)
    fused += wider[..., None] * (235 - fused)
    mouth.finish(fused, own, where, drawn.source(drawn.opened(0.1)), False)
    narrow = polygon((inner - inner.mean(0)) * [1, 1.12] + inner.mean(0), where.size, where.size) < 0.01
    row = narrow & (wider > 0.99) & drawn.inside(where, LIPS_OUTER)
    assert row.sum() > 50
    assert np.median(luma(fused)[row]) < 130


@pytest.mark.parametrize("height", [20.0, 60.0, 120.0])
def test_a_highlight_is_the_targets_at_the_share_that_is_lent(drawn: Any, height: float) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, lips=110), drawn.face(where, lips=90)
    x, y = lip(where)
    fused += (disk(np.array([x - 15, y]), 4, where.size, where.size) * 140)[..., None]
    own += (disk(np.array([x + 15, y]), 4, where.size, where.size) * height)[..., None]
    mouth.finish(fused, own, where, drawn.source(drawn.mean), False)
    assert luma(fused)[round(y), round(x - 15)] == pytest.approx(110, abs=12)
    assert luma(fused)[round(y), round(x + 15)] - luma(fused)[round(y), round(x)] == pytest.approx(
        mouth.LENT * height, abs=0.1 * height + 3
    )


@pytest.mark.parametrize("colour", [(150, 70, 80), (95, 80, 85), (60, 40, 35)])
def test_the_lips_colour_is_the_sources(drawn: Any, colour: tuple[int, int, int]) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where), drawn.face(where)
    whole = polygon(where.shape[LIPS_OUTER], where.size, where.size)[..., None]
    fused += whole * (np.array(colour, np.float32) - fused)
    own += whole * (np.array([120, 40, 40], np.float32) - own)
    mouth.finish(fused, own, where, drawn.source(drawn.mean), False)
    for lower in (True, False):
        x, y = np.round(lip(where, lower)).astype(int)
        found, wanted = (to_lab(np.array(c, np.float32).reshape(1, 1, 3))[0, 0] for c in (fused[y, x], colour))
        assert np.linalg.norm(found - wanted) < 4


def test_lips_are_no_lighter_than_the_skin(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, lips=220), drawn.face(where, lips=90)
    mouth.finish(fused, own, where, drawn.source(drawn.mean), False)
    x, y = np.round(lip(where)).astype(int)
    assert luma(fused)[y, x] <= 125


def test_a_smudged_corner_is_lightened_and_a_clean_one_left(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, lips=118), drawn.face(where, lips=118)
    before = fused.copy()
    fused -= (disk(where.shape[61, :2] - [4, 0], 6, where.size, where.size) * 90)[..., None]
    mouth.finish(fused, own, where, drawn.source(drawn.mean), False)
    x, y = np.round(where.shape[61, :2]).astype(int)
    assert luma(fused)[y, x - 4] > 95
    x, y = np.round(where.shape[291, :2]).astype(int)
    np.testing.assert_allclose(fused[y, x + 4], before[y, x + 4], atol=4)


def test_a_brown_corner_takes_the_skins_hue(drawn: Any) -> None:
    """Lightened alone, it would turn orange."""
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, lips=118), drawn.face(where, lips=118)
    fused -= disk(where.shape[61, :2] - [4, 0], 6, where.size, where.size)[..., None] * np.array([30, 90, 110], np.float32)
    mouth.finish(fused, own, where, drawn.source(drawn.mean), False)
    x, y = np.round(where.shape[61, :2]).astype(int)
    there, skin = fused[y, x - 4], fused[y, x - 30]
    np.testing.assert_allclose(there / (LUMA @ there), skin / (LUMA @ skin), atol=0.12)


@pytest.mark.parametrize(("height", "left"), [(1.0, (0.95, 1.05)), (0.35, (0.0, 0.35))])
def test_drawn_out_pores_leave_no_rays(drawn: Any, height: float, left: tuple[float, float]) -> None:
    """Upright stripes above the lip, where the source's skin is as high as the target's, or was pressed together by a smile."""
    source = drawn.mean.copy()
    nose = source[2, 1]
    lower = source[:, 1] > nose
    source[lower, 1] = nose + (source[lower, 1] - nose) * height
    where = drawn.spot(drawn.mean, drawn.mean)
    stripes = (12 * np.sin(np.arange(where.size) * 1.2)).astype(np.float32)[None, :, None]
    fused, own = np.full((where.size, where.size, 3), 120, np.float32) + stripes, np.full((where.size, where.size, 3), 120, np.float32)
    mouth.finish(fused, own, where, drawn.source(source), False)
    x, y = np.round((where.shape[0, :2] + where.shape[2, :2]) / 2).astype(int)
    here = luma(fused)[y - 3 : y + 4, x - 12 : x + 13]
    assert left[0] <= float(here.std() / (12 / np.sqrt(2))) <= left[1]


@pytest.mark.parametrize("roll", [-35.0, 0.0, 80.0])
def test_how_much_is_drawn_out_is_told_at_any_roll(drawn: Any, roll: float) -> None:
    a = np.radians(roll)
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    source = drawn.mean * 300
    shape = source * [1, 2.5, 1]
    source[:, :2] = source[:, :2] @ turn.T
    found = mouth._drawn(source, shape, mouth.topology().triangles[mouth._surroundings()])
    np.testing.assert_allclose(found, 2.5, rtol=1e-4)


def test_a_kept_mouth_is_the_targets_own_where_it_lay(drawn: Any) -> None:
    somebody = drawn.opened(0.08)
    somebody[:, 0] *= 1.08
    where = drawn.spot(drawn.mean, somebody, keep=(False, True))
    assert not where.sealed
    np.testing.assert_allclose(where.shape[LIPS_OUTER], where.target[LIPS_OUTER])
    own, fused = drawn.face(where, lips=80), drawn.face(where, lips=200, mouth=230)
    lined(where, own, 40)
    mouth.finish(fused, own, where, drawn.source(somebody), True)
    inside = drawn.inside(where, LIPS_OUTER)
    np.testing.assert_allclose(fused[inside], own[inside], atol=1e-3)
    x, y = np.round(where.shape[2, :2]).astype(int)
    assert luma(fused)[y, x] == pytest.approx(120, abs=0.5)


def test_nothing_but_the_mouth_is_touched(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, 60, 60, 250, 250), drawn.face(where, 200, 20, 80, 80, 90)
    before = fused.copy()
    mouth.finish(fused, own, where, drawn.source(drawn.mean), False)
    changed = np.abs(fused - before).max(2) > 0.5
    for vertex in (4, 50, 280, 151, 9, 33, 263, 205, 425, 152):
        x, y = np.round(where.shape[vertex, :2]).astype(int)
        assert not changed[y - 3 : y + 4, x - 3 : x + 4].any()


@pytest.mark.parametrize("size", [6.0, 14.0, 40.0])
@pytest.mark.parametrize("keep", [False, True])
def test_tiny_faces_stay_finite(drawn: Any, size: float, keep: bool) -> None:
    for target, source in ((drawn.mean, drawn.opened(0.08)), (drawn.opened(0.08), drawn.mean)):
        where = drawn.spot(target, source, size)
        fused = np.full((where.size, where.size, 3), 130, np.float32)
        mouth.finish(fused, fused.copy(), where, drawn.source(source), keep)
        assert np.isfinite(fused).all()
        np.testing.assert_allclose(fused, 130, atol=3)


def test_the_same_bytes_every_time(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.opened(0.08))
    made = []
    for _ in range(2):
        fused = drawn.face(where, lips=130, mouth=220)
        mouth.finish(fused, drawn.face(where, lips=80), where, drawn.source(drawn.opened(0.08)), False)
        made.append(fused.tobytes())
    assert made[0] == made[1]


# On the portraits: one smiles with teeth, the other's lips are shut -----------------------------------------------------------------


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("way", ["astronaut", "officer"])
def test_teeth_are_shown_where_the_target_shows_them(
    way: str, keep: bool, mesh_net: FaceMeshNet, astronaut: Pixels, officer: Pixels, astronaut_face: Face, officer_face: Face
) -> None:
    both = {"astronaut": (astronaut, astronaut_face.mesh), "officer": (officer, officer_face.mesh)}
    pixels, mesh = both.pop(way)
    (source,) = both.values()
    crop = fuse(prepare_target(pixels, mesh, "live"), prepare(*source), FuseOptions(keep_mouth=keep), Run())
    out = blend.apply(pixels, blend.paste(pixels, crop))
    before, after = (mesh_net.fit(picture, five_points(mesh.points)).points for picture in (pixels, out))
    assert (mouth_opening(after) > CLOSED) == (mouth_opening(before) > CLOSED) == (way == "astronaut")
    gaps = [np.linalg.norm((points[13] - points[14])[:2]) / np.linalg.norm((points[33] - points[263])[:2]) for points in (before, after)]
    assert abs(gaps[1] - gaps[0]) < 0.05  # of the eyes' distance: the mouth's own width is the source's
    lights = []
    for picture, points in ((pixels, before), (out, after)):
        light = to_lab(picture.astype(np.float32))[..., 0]
        lights.append(np.percentile(light[polygon(points[LIPS_OUTER], *light.shape) > 0.5], 99))
    assert lights[1] <= lights[0] + 6
    if keep:
        core = polygon(mesh.points[LIPS_OUTER], *pixels.shape[:2]) > 0.99
        assert np.abs(out[core].astype(int) - pixels[core]).mean() < 6  # resampled twice, at the crop's scale


def hues(drawn: Any, where: Any, image: Floats) -> float:
    """Red over green of the lips, over the skin's beside them."""
    lips = drawn.inside(where, LIPS_OUTER)
    x, y = np.round(where.shape[152, :2]).astype(int)
    mean, skin = np.median(image[lips], axis=0), image[y - 20, x]
    return float(mean[0] / mean[1] / (skin[0] / skin[1]))


@pytest.mark.parametrize(("skin", "theirs", "low", "high"), [(170, 1.3, 1.05, 1.15), (170, 1.0, 0.97, 1.05), (60, 1.3, 0.7, 0.9)])
def test_lips_on_light_skin_do_not_freeze(drawn: Any, skin: float, theirs: float, low: float, high: float) -> None:
    """A dark face's lips, less red than its skin: on light skin they are redder than it, as far as the target's are; on dark skin not."""
    where = drawn.spot(drawn.mean, drawn.mean)
    area = polygon(where.shape[LIPS_OUTER], where.size, where.size)[..., None]
    warm = np.array([1.2, 0.95, 0.85], np.float32)
    pictures = []
    for red in (0.75, theirs):
        picture = drawn.face(where, lips=0.7 * skin, mouth=0.7 * skin, skin=skin) * warm
        pictures.append(picture * (1 + area * (np.array([red, 1, 1], np.float32) - 1)))
    fused, own = pictures
    before = float(np.median(luma(fused)[drawn.inside(where, LIPS_OUTER)]))
    mouth.finish(fused, own, where, drawn.source(drawn.mean), False)
    assert low < hues(drawn, where, fused) < high
    assert float(np.median(luma(fused)[drawn.inside(where, LIPS_OUTER)])) == pytest.approx(before, rel=0.15)
