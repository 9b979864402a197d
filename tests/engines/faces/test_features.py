"""Eyes and mouth: bounded by the target's light, in drawn faces where every value is known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces import features
from engines.faces.canonical import EYE_RINGS, IRISES, LIPS_INNER, LIPS_OUTER
from engines.faces.geometry_transfer import sewn
from engines.faces.placement import Placement, place
from engines.faces.target import prepare_target
from engines.faces.topology import topology
from engines.types import FaceMesh, Floats, Pose
from engines.vision.color import luma
from engines.vision.mask import disk, polygon

MEAN = sewn(topology().mean.astype(np.float64))  # the mean mouth is a little open


def opened(points: NDArray[np.float64], by: float) -> NDArray[np.float64]:
    out = points.copy()
    out[LIPS_INNER[11:], 1] += by
    return out


def shut_eyes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    out = points.copy()
    for ring in EYE_RINGS:
        out[ring[1:8], 1] = out[ring[:8:-1], 1] - 0.2
    return out


def spot(points: NDArray[np.float64], source: NDArray[np.float64]) -> Placement:
    mesh = FaceMesh((points * 380 + [300, 300, 0]).astype(np.float32), Pose(0, 0, 0))
    return place(prepare_target(np.full((600, 600, 3), 120, np.uint8), mesh), source, 1.0)


def face(where: Placement, white: float, iris: float, lips: float, mouth: float, skin: float = 120) -> Floats:
    """A grey face drawn on the fusion's shape."""
    size, shape = where.size, where.shape
    out = np.full((size, size), skin, np.float32)
    for ring, ids in zip(EYE_RINGS, IRISES, strict=True):
        inside = polygon(shape[ring], size, size)
        radius = float(np.linalg.norm(shape[ids[1:], :2] - shape[ids[0], :2], axis=1).mean())
        out += inside * (white - out)
        out += inside * disk(shape[ids[0], :2], radius, size, size) * (iris - out)
    for ring, value in ((LIPS_OUTER, lips), (LIPS_INNER, mouth)):
        out += polygon(shape[ring], size, size) * (value - out)
    return np.repeat(out[..., None], 3, 2)


def inside(where: Placement, ring: NDArray[np.integer]) -> NDArray[np.bool_]:
    return np.asarray(polygon(where.shape[ring], where.size, where.size) > 0.99)


@pytest.mark.parametrize("theirs", [90.0, 150.0, 220.0])
@pytest.mark.parametrize("mine", [60.0, 160.0, 250.0])
def test_whites_come_to_the_targets_light(mine: float, theirs: float) -> None:
    where = spot(MEAN, MEAN * 380)
    fused, own = face(where, mine, 30, 100, 100), face(where, theirs, 30, 100, 100)
    features.finish(fused, own, where, MEAN * 380)
    for ring in EYE_RINGS:
        found = np.percentile(luma(fused)[inside(where, ring)], [75, 97])
        assert found[1] <= theirs + 12 + 0.1 * max(0.0, mine - theirs)
        assert found[0] >= 0.6 * min(theirs, 2.2 * mine)


def test_an_iris_loses_the_sources_catch_light_and_takes_the_targets() -> None:
    where = spot(MEAN, MEAN * 380)
    fused, own = face(where, 180, 40, 100, 100), face(where, 180, 40, 100, 100)
    for ids in IRISES:
        x, y = where.shape[ids[0], :2]
        fused += (disk(np.array([x + 5, y]), 2.5, where.size, where.size) * 200)[..., None]
        own += (disk(np.array([x - 5, y]), 2.5, where.size, where.size) * 200)[..., None]
    features.finish(fused, own, where, MEAN * 380)
    for ids in IRISES:
        x, y = np.round(where.shape[ids[0], :2]).astype(int)
        assert luma(fused)[y, x + 5] < 110
        assert luma(fused)[y, x - 5] > 150


def test_a_blinking_source_leaves_the_targets_eyes() -> None:
    where = spot(MEAN, MEAN * 380)
    fused, own = face(where, 60, 60, 100, 100), face(where, 200, 20, 100, 100)
    features.finish(fused, own, where, shut_eyes(MEAN * 380))
    for ring in EYE_RINGS:
        core = inside(where, ring)
        assert np.median(np.abs(fused - own)[core]) < 2


def test_an_open_target_keeps_its_own_mouth() -> None:
    where = spot(opened(MEAN, 0.08), MEAN * 380)
    fused, own = face(where, 180, 40, 100, 240), face(where, 180, 40, 100, 35)
    features.finish(fused, own, where, MEAN * 380)
    assert np.median(luma(fused)[inside(where, LIPS_INNER)]) < 45


def test_a_shut_target_gets_its_lip_line_and_no_mouth() -> None:
    where = spot(MEAN, opened(MEAN, 0.08) * 380)
    assert where.sealed
    fused, own = face(where, 180, 40, 100, 100), face(where, 180, 40, 100, 100)
    middle = where.shape[[13, 14], :2].mean(0)
    rows = np.arange(where.size)[:, None]
    own -= (60 * np.exp(-((rows - middle[1]) ** 2) / 4) * np.ones((1, where.size)))[..., None].astype(np.float32)
    features.finish(fused, own, where, opened(MEAN, 0.08) * 380)
    x, y = np.round(middle).astype(int)
    assert luma(fused)[y, x] < 80
    assert luma(fused)[y - 12, x] == pytest.approx(100, abs=8)


def test_lips_shine_no_brighter_than_the_targets_by_much() -> None:
    where = spot(MEAN, MEAN * 380)
    fused, own = face(where, 180, 40, 110, 110), face(where, 180, 40, 110, 110)
    x, y = where.shape[17, 0], (where.shape[17, 1] + where.shape[14, 1]) / 2
    fused += (disk(np.array([x, y]), 4, where.size, where.size) * 140)[..., None]
    features.finish(fused, own, where, MEAN * 380)
    assert float(luma(fused)[inside(where, LIPS_OUTER)].max()) < 116 + 0.4 * 140 + 2


def test_nothing_but_eyes_and_lips_is_touched() -> None:
    where = spot(MEAN, MEAN * 380)
    fused, own = face(where, 60, 60, 250, 250), face(where, 200, 20, 80, 80)
    before = fused.copy()
    features.finish(fused, own, where, MEAN * 380)
    changed = np.abs(fused - before).max(2) > 0.5
    for vertex in (4, 50, 280, 151, 9, 205, 425, 152):
        x, y = np.round(where.shape[vertex, :2]).astype(int)
        assert not changed[y - 3 : y + 4, x - 3 : x + 4].any()


def test_tiny_faces_say_nothing_and_stay_finite() -> None:
    mesh = FaceMesh((MEAN * 9 + [20, 20, 0]).astype(np.float32), Pose(0, 0, 0))
    where = place(prepare_target(np.full((40, 40, 3), 120, np.uint8), mesh), MEAN * 9, 1.0)
    fused = np.full((where.size, where.size, 3), 130, np.float32)
    features.finish(fused, fused.copy(), where, MEAN * 9)
    assert np.isfinite(fused).all()
