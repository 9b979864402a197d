"""Mouth of a fusion: the source's lips in colour and outline, under the target's light; the target's teeth, or its closed lip line.

`fused` and `own` are (S, S, 3) float32 RGB 0..255; `own` is the target moved to the fusion's shape, where the inner lips went as one
piece. All functions change `fused` in place, within the mouth's window.
"""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import LIPS_INNER, LIPS_OUTER, falloff
from engines.faces.geometry_transfer import CLOSED, mouth_opening
from engines.faces.placement import Placement, window
from engines.faces.source import PreparedSource
from engines.faces.topology import topology
from engines.types import Floats
from engines.vision.color import LUMA, low_pass, luma
from engines.vision.mask import disk, grow, polygon, polyline, smoothstep, soften
from engines.vision.raster import rasterise

EDGE = 0.011  # face widths from the lips' outline inwards over which the source's own pixels give way
LENT = 0.5  # share of the target's light that lips take; all of it costs .02 to .07 of identity and looks like paint
SHEEN = 0.25  # of a lip's usual luma: what is lighter than it by more is a highlight, and has the room's colour
RELIEF = 0.7  # exponent of its shading: painted lips are darker than most, and their creases deeper
PALE = 1.0  # lips are no lighter than this share of the skin round them, unless the target's are
WARM = 1.12  # lips on light skin are redder than it by at least this factor of red over green, or by as much as the target's are
LIGHT_SKIN = (70.0, 130.0)  # luma of the skin from which on, and up to which, that is so: on darker skin lips needn't be redder
DRAWN = (1.5, 2.4)  # stretch in one direction over the other, from which and up to which the source's fine structure gives way
FINE = 14.0  # levels: finer structure of the target than this is a stubble's or a mole's, not its skin's
_ROUND = 0.05  # face widths that the window reaches beyond the lips
_SEEN = 0.02  # weights below which nothing of a change is seen
_FEWEST = 12  # pixels below which a lip says nothing


def finish(fused: Floats, own: Floats, place: Placement, source: PreparedSource, keep: bool, quick: bool = False) -> None:
    """Puts the target's light on the lips, and its mouth between them.

    Args:
        keep: lips and teeth stay the target's; they lie where they lay if `place` was told so.
        quick: drawn-out pores round the mouth are left as they are: a third of the time.
    """
    if not (keep or quick):
        _smooth(fused, own, place, source.points)
    mouth = _Mouth.of(place)
    left, top, right, bottom = mouth.window
    part, theirs = fused[top:bottom, left:right], own[top:bottom, left:right]
    if keep:
        _keep(part, theirs, mouth)
        return
    _corners(part, theirs, mouth)
    _light(part, theirs, mouth)
    if mouth.open:
        part += soften(mouth.inside, max(0.6, 0.004 * mouth.unit))[..., None] * (theirs - part)


def _smooth(fused: Floats, own: Floats, place: Placement, source: NDArray[np.float64]) -> None:
    """Where the skin round the mouth is drawn out lengthwise by more than `DRAWN`, pores become rays: they are wiped out crosswise.

    A smile presses the skin above and below the lips together; over a closed mouth it is stretched to 2 to 4 times its height. The
    target's fine structure takes the place of what goes; edges that lie across, like a lip's outline, stay.
    """
    step = max(1.0, place.face_width / 96)
    near = _surroundings()
    triangles = topology().triangles[near]
    left, top, right, bottom = window(place.shape[np.unique(triangles)], 2, place.size)
    height, wide = max(2, round((bottom - top) / step)), max(2, round((right - left) / step))
    share = smoothstep(_drawn(source, place.shape, triangles), *DRAWN)
    if float(share.max()) <= 0:
        return
    grid = (place.shape[:, :2] - [left, top] + 0.5) * [wide / (right - left), height / (bottom - top)] - 0.5
    raster = rasterise(grid, place.target[:, 2], triangles, height, wide)
    field = soften(np.where(raster.covered, share[np.maximum(raster.index, 0)], 0).astype(np.float32), 2.0)
    rows, columns = np.flatnonzero(field.max(1) > _SEEN), np.flatnonzero(field.max(0) > _SEEN)
    if not len(rows):
        return
    weight = np.asarray(cv2.resize(field, (right - left, bottom - top), interpolation=cv2.INTER_LINEAR), np.float32)
    y0, y1 = int(rows[0] * step), min(bottom - top, int((rows[-1] + 1) * step) + 1)
    x0, x1 = int(columns[0] * step), min(right - left, int((columns[-1] + 1) * step) + 1)
    part, theirs = (image[top + y0 : top + y1, left + x0 : left + x1] for image in (fused, own))
    across, fine = max(1.0, 0.012 * place.face_width), max(0.8, 0.003 * place.face_width)
    grain = np.clip(cv2.subtract(theirs, cv2.GaussianBlur(theirs, (0, 0), fine)), -FINE, FINE)
    even = cv2.GaussianBlur(part, (0, 0), sigmaX=across, sigmaY=0.3)
    part += weight[y0:y1, x0:x1, None] * cv2.add(grain, cv2.subtract(even, part))


def _drawn(source: NDArray[np.float64], shape: NDArray[np.float64], triangles: NDArray[np.int32]) -> Floats:
    """How much more each triangle is stretched along the face than across it, from the source's picture to the fusion: (n,)."""
    level = source[263, :2] - source[33, :2]  # the crop's eyes are level; the source's are turned until they are
    level = level / max(float(np.linalg.norm(level)), 1e-9)
    upright = source[:, :2] @ np.array([[level[0], -level[1]], [level[1], level[0]]])
    before, after = _edges(upright[triangles]), _edges(shape[triangles, :2])
    x, y = before[:, 0], before[:, 1]
    area = x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]
    # columns of the map times `area`, which their ratio doesn't feel
    across = after[:, :, 0] * y[:, 1, None] - after[:, :, 1] * y[:, 0, None]
    along = after[:, :, 1] * x[:, 0, None] - after[:, :, 0] * x[:, 1, None]
    ratio = np.linalg.norm(along, axis=1) / np.maximum(np.linalg.norm(across, axis=1), 1e-9)
    return np.where(np.abs(area) > 1e-9, np.minimum(ratio, 100), 1).astype(np.float32)


def _edges(corner: NDArray[np.float64]) -> NDArray[np.float64]:
    """Triangles (n, 3, 2) → (n, 2, 2), two edges as columns."""
    return np.stack([corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]], -1)


@cache
def _surroundings() -> NDArray[np.intp]:
    """Rows of the topology's triangles that lie round the mouth, between nose and chin."""
    close = falloff(tuple(LIPS_OUTER.tolist()), 0.17) > 0
    within = np.isin(topology().triangles, LIPS_INNER).all(1)
    return np.flatnonzero(close[topology().triangles].any(1) & ~within)


@dataclass(frozen=True, slots=True)
class _Mouth:
    """Where a mouth lies in its window: masks (h, w), points in its pixels, `unit` = the face's width in pixels.

    `depth`: px inwards from the lips' outline, `beyond`: px outwards from it; each 0 on the other side.
    """

    window: tuple[int, int, int, int]
    points: NDArray[np.float64]
    unit: float
    open: bool
    whole: Floats
    inside: Floats
    lips: tuple[Floats, Floats]
    depth: Floats
    beyond: Floats

    @classmethod
    def of(cls, place: Placement) -> "_Mouth":
        unit = place.face_width
        left, top, right, bottom = bounds = window(place.shape[LIPS_OUTER], _ROUND * unit, place.size)
        points = place.shape[:, :2] - [left, top]
        size = bottom - top, right - left
        is_open = mouth_opening(place.target) > CLOSED
        outer, inner = points[LIPS_OUTER], points[LIPS_INNER].copy()
        if not is_open:  # one line between the lips
            inner[1:10] = inner[:10:-1] = (inner[1:10] + inner[:10:-1]) / 2
        parts = (np.arange(11), np.append(np.arange(10, 20), 0))
        upper, lower = (polygon(np.vstack([outer[k], inner[k][::-1]]), *size) for k in parts)
        inside = polygon(inner, *size) if is_open else np.zeros(size, np.float32)
        whole = polygon(outer, *size)
        chosen = np.asarray(whole > 0.5, np.uint8)
        depth, beyond = (cv2.distanceTransform(m, cv2.DIST_L2, cv2.DIST_MASK_3) for m in (chosen, 1 - chosen))
        return cls(bounds, points, unit, is_open, whole, inside, (upper, lower), np.asarray(depth), np.asarray(beyond))


def _keep(part: Floats, theirs: Floats, mouth: _Mouth) -> None:
    part += smoothstep(mouth.beyond, 0.03 * mouth.unit, 0.006 * mouth.unit)[..., None] * (theirs - part)


def _light(part: Floats, theirs: Floats, mouth: _Mouth) -> None:
    """The lips: the fusion's matte colours, shaded and glossed as the target's lips are."""
    light, wanted = luma(part), luma(theirs)
    skin = (mouth.beyond > 0.015 * mouth.unit) & (mouth.beyond < 0.045 * mouth.unit)
    pale = PALE * float(np.median(light[skin])) if skin.any() else 255.0
    step = max(1.0, 0.01 * mouth.unit)
    size = max(1, round(light.shape[1] / step)), max(1, round(light.shape[0] / step))
    small, small_light = (np.asarray(cv2.resize(x, size, interpolation=cv2.INTER_AREA), np.float32) for x in (part, light))
    colour, level, total = np.zeros_like(small), np.zeros_like(small_light), np.full_like(small_light, 1e-3)
    around = [image[skin].mean(0) if skin.any() else np.full(3, 128, np.float32) for image in (part, theirs)]
    for lip in mouth.lips:
        warm = _warmed(part, theirs, lip, around)
        part += lip[..., None] * part * (warm - 1)
        small += cv2.resize(lip, size, interpolation=cv2.INTER_AREA)[..., None] * small * (warm - 1)
        chosen = lip > 0.5
        if int(chosen.sum()) < _FEWEST:
            continue
        usual, middle = float(np.percentile(light[chosen], 40)), float(np.percentile(wanted[chosen], 40))
        weight = np.asarray(cv2.resize(lip, size, interpolation=cv2.INTER_AREA), np.float32)
        # neither shine nor what is left of teeth, nor the dark between the lips
        plain = smoothstep(small_light, usual + 30, usual + 8) * smoothstep(small_light, usual - 45, usual - 20)
        mean = low_pass(small, np.asarray(weight * (plain + np.float32(1e-3)), np.float32), 3.0)
        limit = max(pale, middle)
        mean *= np.minimum(limit / np.maximum(luma(mean), 1), 1)[..., None]
        near = soften(weight, 0.7)
        colour += near[..., None] * mean
        level += near * np.float32(middle)
        total += near
    stack = np.dstack([colour / total[..., None], level / total])
    stack = np.asarray(cv2.resize(stack, light.shape[::-1], interpolation=cv2.INTER_LINEAR), np.float32)
    matte, usual_map = stack[..., :3], np.maximum(stack[..., 3], 1)
    # what is darker is shade, a share of the lip's own light; what is lighter is light that falls on it, so many levels and no more
    shade = cv2.pow(np.clip(wanted / usual_map, 0.1, 1), RELIEF)
    over = np.maximum(wanted - usual_map, 0)
    lit = np.minimum(over, SHEEN * usual_map)
    shone = matte * (shade + lit / np.maximum(luma(matte), 1))[..., None] + (over - lit)[..., None]
    share = smoothstep(mouth.depth, 0.3 * EDGE * mouth.unit, 1.7 * EDGE * mouth.unit)
    # above the target's highlights nothing of the source's stays: a smile's lips are stretched and shine, and its teeth may look out
    chosen = (mouth.whole > 0.5) & (mouth.inside < 0.5)
    limit = float(np.percentile(wanted[chosen], 97)) if int(chosen.sum()) >= _FEWEST else 255.0
    bright = smoothstep(light, max(limit, pale) - 8, max(limit, pale) + 22)
    glare = soften(grow(bright, 0.008 * mouth.unit), 0.004 * mouth.unit)  # with the rim of a tooth, which is darker than its middle
    share = np.maximum(share * np.maximum(LENT, glare), _between(mouth)) * mouth.whole * smoothstep(stack[..., 3], 0.5, 1.5)
    part += share[..., None] * (shone - part)


def _warmed(part: Floats, theirs: Floats, lip: Floats, around: list[Floats]) -> Floats:
    """(3,) what a lip is multiplied by to be redder than the skin round it, at its own luma.

    A dark face's lips are less red than its skin. On lighter skin they would be those of somebody who freezes.

    Args:
        around: the skin round the lips, (3,) each, in the fusion and in the target.
    """
    chosen = lip > 0.5
    if int(chosen.sum()) < _FEWEST:
        return np.ones(3, np.float32)
    mean, other = part[chosen].mean(0), theirs[chosen].mean(0)
    least = float(np.clip(_red(other) / _red(around[1]), 1, WARM)) * _red(around[0])
    share = float(smoothstep(np.array(float(LUMA @ around[0]), np.float32), *LIGHT_SKIN))
    warm = np.array([max(1.0, least / _red(mean)) ** share, 1, 1], np.float32)
    return np.asarray(warm * ((float(LUMA @ mean) + 1) / (float(LUMA @ (warm * mean)) + 1)), np.float32)


def _red(colour: Floats) -> float:
    return float((colour[0] + 4) / (colour[1] + 4))


def _between(mouth: _Mouth) -> Floats:
    """1 where the lips meet, or on the rim of an open mouth: thin as lips may be, nothing of the source's mouth shows there."""
    edge = max(0.6, 0.006 * mouth.unit)
    if mouth.open:
        return soften(grow(mouth.inside, 0.006 * mouth.unit), edge)
    upper, lower = mouth.points[LIPS_INNER[:11]], mouth.points[np.append(LIPS_INNER[0], LIPS_INNER[:9:-1])]
    return soften(polyline((upper + lower) / 2, 0.016 * mouth.unit, *mouth.whole.shape), edge)


def _corners(part: Floats, theirs: Floats, mouth: _Mouth) -> None:
    """Where a corner is much darker than the target's, it is lightened: liner, or an open mouth's depth, smudged."""
    height, wide = mouth.whole.shape
    for vertex in (61, 291):
        left, top, right, bottom = _square(mouth.points[vertex], 0.08 * mouth.unit, wide, height)
        here, other = part[top:bottom, left:right], theirs[top:bottom, left:right]
        near = disk(mouth.points[vertex] - [left, top], 0.045 * mouth.unit, bottom - top, right - left)
        near = soften(near, 0.012 * mouth.unit)
        lighter = soften(luma(other) - luma(here), 0.006 * mouth.unit)
        skin = here[mouth.beyond[top:bottom, left:right] > 0.02 * mouth.unit]
        if not len(skin):
            continue
        tint = skin.mean(0) / max(float(LUMA @ skin.mean(0)), 1.0)
        wanted = np.maximum(luma(here) + lighter, 0)[..., None] * np.asarray(tint, np.float32)  # lighter alone, brown would turn orange
        here += (near * smoothstep(lighter, 6, 22))[..., None] * (wanted - here)


def _square(centre: NDArray[np.float64], half: float, wide: int, high: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a square of side 2 `half` round a point, within (high, wide); at least a pixel."""
    limit = np.array([wide, high])
    start = np.clip(np.floor(centre - half).astype(int), 0, limit - 1)
    stop = np.clip(np.ceil(centre + half).astype(int), start + 1, limit)
    return int(start[0]), int(start[1]), int(stop[0]), int(stop[1])
