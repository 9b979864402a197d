"""Eyes of a fusion: the source's, turned to the target's gaze, under the target's light and with its catch-lights.

Where the target's are all but shut, or look elsewhere, its picture stands inside the lids, with the source's iris colour.
`fused` and `own` are (S, S, 3) float32 RGB 0..255; `own` is the target moved to the fusion's shape, where each eye went as one piece.
All functions change `fused` in place, within the eyes' windows.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces import gaze, lids
from engines.faces.canonical import BROWS, EYE_RINGS, IRISES, SOCKETS, chart
from engines.faces.gaze import FEWEST, RIM, SMALLEST, WINDOW, Iris, iris_radius, measure, ranked
from engines.faces.geometry_transfer import eye_opening
from engines.faces.placement import Placement, window
from engines.faces.source import PreparedSource
from engines.types import Floats
from engines.vision.color import LUMA, low_pass, luma
from engines.vision.mask import convex, disk, grow, polygon, smoothstep, soften

HUE = 0.8  # share of the source's iris colour
OPEN = 0.16  # an eye opened less shows too little of its iris to read a colour, or to take one
WING = 0.35  # how far lashes and liner go beyond the eye's outer corner, in eye widths
LEVEL = (0.35, 2.2)  # a white of the source is made darker or brighter by this factor at most; beyond it the target's stands
TINT = 0.75  # share of the target's white's hue that the source's takes: it has one of its own
# Power of the skin's red over green that a white has at most. On 40 eyes whose white is clearly seen it has .1 to .4 of the skin's
# logarithm; from .7 on it is lids, veins or blur that was read as white, and an eye painted in that hue is a bleeding one.
RED = 0.5
REACH = 0.035  # how far lashes, liner and shadows go beyond the skin round the eye, in face widths
_CHART = 256  # side of the chart that an iris is read from: its radius is about 6 px there
_DARK = 16.0  # levels added before colours are compared: a nearly black iris has noise for a hue


def finish(fused: Floats, own: Floats, place: Placement, source: PreparedSource, keep: bool) -> None:
    """Puts the target's gaze and light in: the source's own eyes where they look the same way, else the target's with its irises.

    Args:
        keep: the target's eyes, with lids and lashes, and in their own colour; they lie where they lay if `place` was told so.
    """
    alike = 0.0 if keep else lids.alike(place.target, source.points)
    for eye in (0, 1):
        if keep:
            _carry(fused, own, place, eye, 1.0)
            _look(fused, own, place, eye, None)
            continue
        ring = EYE_RINGS[eye]
        mine, theirs = eye_opening(place.target, ring), eye_opening(source.points, ring)
        lowered = lids.lowered(place.target, source.points, eye)
        unseen = gaze.turn(fused, place, source, eye)
        _match(fused, own, place, eye, unseen)
        if lowered > 0:
            _carry(fused, own, place, eye, lowered)
        share = max(1 - alike, lowered)
        if share > 0:
            _look(fused, own, place, eye, _tint(own, place, source, eye) if min(mine, theirs) > OPEN else None, share)


def ground(place: Placement) -> Floats:
    """(g, g) 0..1: where the target's lids, lashes and brows lie, and liner or a deep shadow beside them.

    There the fusion is painted whole, or not at all: a lash of one face beside the other's lid is seen at once.
    """
    points, unit = place.coarse(place.target), place.coarse_width
    out = np.zeros((place.grid, place.grid), np.float32)
    for ring, brow in zip(SOCKETS, BROWS, strict=True):
        for part in (ring, brow):
            cv2.fillConvexPoly(out, np.round(convex(points[part]) * 16).astype(np.int32), 1.0, cv2.LINE_8, 4)
    return soften(grow(out, REACH * unit), 0.5 * REACH * unit)


def _match(fused: Floats, own: Floats, place: Placement, eye: int, unseen: Floats) -> None:
    """The source's eye as it is painted, under the target's light: white and iris by what their whites show, and its catch-lights.

    Args:
        unseen: (h, w) of `gaze.turn`: there the target's white stands for one that the source doesn't show.
    """
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    left, top, right, bottom = window(place.shape[ring], WINDOW * place.face_width, place.size)
    height, wide = bottom - top, right - left
    mine, theirs = fused[top:bottom, left:right], own[top:bottom, left:right]
    points = place.shape[:, :2] - [left, top]
    inside, radius, middle = polygon(points[ring], height, wide), iris_radius(points, iris), points[iris[0]]
    fine = max(0.6, 0.004 * place.face_width)
    whole = soften(grow(inside, 0.003 * place.face_width), fine)  # up to the lid's rim
    y, x = np.ogrid[:height, :wide]
    apart = np.hypot(x - middle[0], y - middle[1]).astype(np.float32)
    beside = soften(np.clip(apart - 1.04 * radius + 0.5, 0, 1), fine)
    light, wanted = luma(mine), luma(theirs)
    white = (inside > 0.5) & (apart > 1.12 * radius)
    limit = ranked(wanted[inside > 0.5], 0.98) if (inside > 0.5).any() else 255.0
    if int(white.sum()) >= FEWEST:
        dark, bright = ranked(light[white], 0.2), ranked(light[white], 0.65)
        around = inside < 0.01
        colour = _white(mine, light, white, 0.6, 0.92)
        other = _unred(_white(theirs, wanted, white, 0.75, 0.96), theirs[around])
        plain = _unred(colour, mine[around])  # what is red is made white, but no iris blue for it
        asked = float(LUMA @ other) / max(float(LUMA @ colour), 1.0)
        level = float(np.clip(asked, *LEVEL))
        tint, on_iris = (np.clip(other / np.maximum(c * asked, 1), 0.5, 2) ** np.float32(TINT) for c in (colour, plain))
        # made brighter, lashes stay dark; made darker, all goes along, or a white would be as flat as the shade beside it
        share = soften(smoothstep(light, dark * 0.6, max(bright, dark + 4)), fine) if level > 1 else np.float32(1)
        gain = (level * tint - 1).astype(np.float32)
        dimmed = (min(max(level, 0.7), 1.1) * on_iris - 1).astype(np.float32)  # an iris keeps its contrast to the white
        mine += mine * whole[..., None] * (dimmed + (beside * share)[..., None] * (gain - dimmed))
        limit = max(limit, 1.1 * level * float(LUMA @ colour))
        unseen = np.maximum(unseen, np.float32(min(1.0, 10 * abs(np.log(max(asked, 1e-3) / level)))))
        mine += (unseen * beside * whole)[..., None] * (theirs - mine)
        light = luma(mine)
    core = (inside > 0.5) & (apart < 0.85 * radius)
    if int(core.sum()) >= FEWEST:
        round_ = soften(np.clip(0.9 * radius - apart + 0.5, 0, 1), fine) * whole
        plain = np.median(mine[core], axis=0)
        _cap(mine, round_, 1.25 * float(LUMA @ plain) + 6, 0.1, plain)
    _cap(mine, whole, limit, 0.2)
    if int(core.sum()) >= FEWEST:
        high = ranked(wanted[core], 0.85) + 10
        round_ = soften(np.clip(0.8 * radius - apart + 0.5, 0, 1), fine) * whole
        mine += (smoothstep(wanted, high, high + 30) * round_)[..., None] * (theirs - mine)


def _white(pixels: Floats, light: Floats, white: NDArray[np.bool_], low: float, high: float) -> Floats:
    """(3,) mean of a white's brighter part, between two shares of its pixels: below it lies the lids' shade, above it what is wet."""
    low, high = ranked(light[white], low), ranked(light[white], high)
    return np.asarray(pixels[white & (light >= low) & (light <= high)].mean(0), np.float32)


def _unred(white: Floats, skin: Floats) -> Floats:
    """(3,) a white at its own luma, not redder than the skin round it, (n, 3), lets it be."""
    if not len(skin):
        return white
    light = skin @ LUMA
    red, green, _ = skin[light >= ranked(light, 0.5)].mean(0) + 1
    most = max(1.0, float(red / green)) ** RED
    if white[0] + 1 <= most * (white[1] + 1):
        return white
    out = np.array([most * (white[1] + 1) - 1, white[1], white[2]], np.float32)
    return np.asarray(out * (float(LUMA @ white) / max(float(LUMA @ out), 1.0)), np.float32)


def _cap(image: Floats, weight: Floats, limit: float, slope: float, colour: Floats | None = None) -> None:
    """Above `limit` of luma, light rises by `slope` only; its hue stays, or fades to `colour`'s."""
    light = luma(image)
    over = np.maximum(light - limit, 0)
    if not over.any():
        return
    down = image * (1 - over * np.float32(1 - slope) / np.maximum(light, 1))[..., None]
    if colour is not None:
        fade = (over / (over + 10))[..., None]
        down += fade * (luma(down)[..., None] * colour / np.float32(max(float(LUMA @ colour), 1.0)) - down)
    image += weight[..., None] * (down - image)


def _look(fused: Floats, own: Floats, place: Placement, eye: int, tint: Floats | None, share: float = 1.0) -> None:
    """The target's pixels inside one eye's lids, the iris multiplied by `tint`; `share` of them."""
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    left, top, right, bottom = window(place.shape[ring], 0.03 * place.face_width, place.size)
    height, wide = bottom - top, right - left
    points = place.shape[:, :2] - [left, top]
    inside = polygon(points[ring], height, wide)
    theirs = own[top:bottom, left:right]
    if tint is not None:
        radius = iris_radius(points, iris)
        within = disk(points[iris[0]], 0.97 * radius, height, wide) * inside
        light = luma(theirs)
        high = ranked(light[within > 0.5], 0.92) if (within > 0.5).any() else 255.0
        coloured = soften(within, 0.06 * radius) * (1 - smoothstep(light, high, high + 25))  # a catch-light is the room's
        theirs = theirs * (1 + coloured[..., None] * (tint - 1))
    part = fused[top:bottom, left:right]
    part += np.float32(share) * soften(inside, max(0.6, RIM * place.face_width))[..., None] * (theirs - part)


def _carry(fused: Floats, own: Floats, place: Placement, eye: int, share: float) -> None:
    """The target's lids and lashes: its pixels on the skin round an eye and out to where a lash or a liner ends, in the fusion's light."""
    unit, (outer, inner) = place.face_width, place.shape[EYE_RINGS[eye][[0, 8]], :2]
    points = np.vstack([place.shape[SOCKETS[eye], :2], outer + WING * (outer - inner)])
    left, top, right, bottom = window(points, 0.07 * unit, place.size)
    inside = polygon(convex(points - [left, top]), bottom - top, right - left)
    part, theirs = fused[top:bottom, left:right], own[top:bottom, left:right]
    # on a reduction of 1 % of the face's width: the difference of the two lights just outside, carried inwards
    step = max(1.0, 0.01 * unit)
    size = max(1, round((right - left) / step)), max(1, round((bottom - top) / step))
    small, ours, other = (np.asarray(cv2.resize(x, size, interpolation=cv2.INTER_AREA), np.float32) for x in (inside, part, theirs))
    around = np.clip(2 * soften(small, 2.5), 0, 1) * (1 - grow(small, 1.0)) + np.float32(1e-4)
    light = low_pass(ours - other, np.asarray(around, np.float32), 4.0)
    light = np.asarray(cv2.resize(light, (right - left, bottom - top), interpolation=cv2.INTER_LINEAR), np.float32)
    weight = soften(inside, max(0.8, 0.01 * unit)) * np.float32(share)
    inside = polygon(place.shape[EYE_RINGS[eye], :2] - [left, top], bottom - top, right - left)
    light *= (1 - soften(inside, RIM * unit))[..., None]  # an eye has the room's light, not the skin's: else its iris is pale
    part += weight[..., None] * (theirs + light - part)


def _tint(own: Floats, place: Placement, source: PreparedSource, eye: int) -> Floats | None:
    """(3,) what the target's iris is multiplied by to have the source's colour at its own luma; None where either is too small."""
    mine, theirs = _target_iris(own, place, eye), _source_iris(source, eye)
    if mine is None or theirs is None:
        return None
    wanted = theirs.colour + _DARK
    if mine.white is not None and theirs.white is not None:  # the two rooms' lights, as the whites show them
        cast = (mine.white + _DARK) / (theirs.white + _DARK)
        wanted = wanted * np.clip(cast / float(LUMA @ cast), 0.85, 1.18)
    present = mine.colour + _DARK
    tint = (wanted / float(LUMA @ wanted)) / (present / float(LUMA @ present))
    share = HUE * smoothstep(np.array(min(mine.radius, theirs.radius), np.float32), SMALLEST, 2 * SMALLEST)
    return np.asarray(1 + share * (np.clip(tint, 0.7, 1.4) - 1), np.float32)


def _target_iris(own: Floats, place: Placement, eye: int) -> Iris | None:
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    left, top, right, bottom = window(place.shape[ring], 1, place.size)
    shift = [left, top]
    return measure(own[top:bottom, left:right], place.shape[ring, :2] - shift, place.shape[iris, :2] - shift)


def _source_iris(source: PreparedSource, eye: int) -> Iris | None:
    """Read from the chart: the iris lies there as it lies between the lids of the photo."""
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    level = next((level for level in source.levels[::-1] if level.shape[0] >= _CHART), source.levels[0])
    side = level.shape[0]
    at = chart().pixels(side)[ring]
    base = np.column_stack([source.points[ring, :2], np.ones(len(ring))])
    moved = np.column_stack([source.points[iris, :2], np.ones(len(iris))]) @ np.linalg.lstsq(base, at, rcond=None)[0]
    left, top, right, bottom = window(at, 1, side)
    return measure(level[top:bottom, left:right, :3].astype(np.float32), at - [left, top], moved - [left, top])
