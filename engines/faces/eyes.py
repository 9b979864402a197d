"""Eyes of a fusion: the source's, turned to the target's gaze, under the target's light and with its catch-lights.

Where the two are open too differently for that, the target's picture stands inside the lids, with the source's iris colour.
`fused` and `own` are (S, S, 3) float32 RGB 0..255; `own` is the target moved to the fusion's shape, where each eye went as one piece.
All functions change `fused` in place, within the eyes' windows.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import BROWS, EYE_RINGS, IRISES, SOCKETS, chart
from engines.faces.geometry_transfer import eye_opening
from engines.faces.placement import Placement, window
from engines.faces.source import PreparedSource
from engines.types import Floats
from engines.vision.color import LUMA, low_pass, luma
from engines.vision.mask import convex, disk, grow, polygon, smoothstep, soften

RIM = 0.0045  # softness of the lid's rim, in face widths
HUE = 0.8  # share of the source's iris colour
OPEN = 0.16  # an eye opened less shows too little of its iris to read a colour, or to take one
GAZE = (0.16, 0.26)  # difference of gaze in widths of the eye: below the first the source's own eyes are turned, from the second none
OPENING = (1.5, 2.0)  # and of the lids' opening, as a factor
FURTHEST = 0.45  # an iris is moved no further than this share of half the eye's width
SHUT = (0.55, 0.75)  # target's opening over the source's: below the first the target's whole lids come along, from the second none
WING = 0.35  # how far lashes and liner go beyond the eye's outer corner, in eye widths
REACH = 0.035  # how far lashes, liner and shadows go beyond the skin round the eye, in face widths
_FEWEST, _LEAST = 12, 4.0  # pixels, and pixels of radius, below which a white or an iris says nothing
_CHART = 256  # side of the chart that an iris is read from: its radius is about 6 px there
_DARK = 16.0  # levels added before colours are compared: a nearly black iris has noise for a hue


@dataclass(frozen=True, slots=True)
class Iris:
    """Mean colours (3,) RGB 0..255 of an iris without pupil and catch-light, and of the white round it (None: too little seen).

    `radius`: of the iris in px.
    """

    radius: float
    colour: Floats
    white: Floats | None


def finish(fused: Floats, own: Floats, place: Placement, source: PreparedSource, keep: bool) -> None:
    """Puts the target's gaze and light in: the source's own eyes where they look the same way, else the target's with its irises.

    Args:
        keep: the target's eyes, with lids and lashes, and in their own colour; they lie where they lay if `place` was told so.
    """
    alike = 0.0 if keep else _alike(place, source)
    for eye in (0, 1):
        if keep:
            _carry(fused, own, place, eye, 1.0)
            _look(fused, own, place, eye, None)
            continue
        ring = EYE_RINGS[eye]
        mine, theirs = eye_opening(place.target, ring), eye_opening(source.points, ring)
        lowered = 1 - float(smoothstep(np.array(mine / max(theirs, 1e-6), np.float32), *SHUT))
        if lowered > 0:
            _carry(fused, own, place, eye, lowered)
        _turn(fused, place, source, eye)
        _match(fused, own, place, eye)
        if alike < 1:
            _look(fused, own, place, eye, _tint(own, place, source, eye) if min(mine, theirs) > OPEN else None, 1 - alike)


def _alike(place: Placement, source: PreparedSource) -> float:
    """0..1: how far the source's eyes look where the target's do, and are as open; of both eyes the less alike counts."""
    worst = 1.0
    for ring, iris in zip(EYE_RINGS, IRISES, strict=True):
        apart = float(np.linalg.norm(_gaze(place.target, ring, iris) - _gaze(source.points, ring, iris)))
        ratio = eye_opening(place.target, ring) / max(eye_opening(source.points, ring), 1e-6)
        opened = float(np.exp(abs(np.log(max(ratio, 1e-3)))))
        for value, limits in ((apart, GAZE), (opened, OPENING)):
            worst = min(worst, 1 - float(smoothstep(np.array(value, np.float32), *limits)))
    return worst


def _gaze(points: NDArray[np.float64], ring: NDArray[np.integer], iris: NDArray[np.integer]) -> NDArray[np.float64]:
    """(2,) where the iris lies between the corners of its eye, along and across it, in widths of the eye."""
    along = points[ring[8], :2] - points[ring[0], :2]
    off = points[iris[0], :2] - (points[ring[0], :2] + points[ring[8], :2]) / 2
    square = max(float(along @ along), 1e-9)
    return np.array([off @ along, along[0] * off[1] - along[1] * off[0]]) / square


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


def _turn(fused: Floats, place: Placement, source: PreparedSource, eye: int) -> None:
    """Moves the iris of a painted eye to where the target looks: what lies beside it is drawn out or pressed together to the corners.

    Warping the eye alone to turn a gaze: Ganin et al., "DeepWarp", ECCV 2016, with the way given by both meshes instead of a network.
    """
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    left, top, right, bottom = window(place.shape[ring], 0.02 * place.face_width, place.size)
    points = place.shape[:, :2] - [left, top]
    base = np.column_stack([source.points[ring, :2], np.ones(len(ring))])
    painted = np.append(source.points[iris[0], :2], 1) @ np.linalg.lstsq(base, points[ring], rcond=None)[0]
    along = points[ring[8]] - points[ring[0]]
    half, wanted = float(np.linalg.norm(along)) / 2, points[iris[0]]
    along = along / max(2 * half, 1e-6)
    shift = painted - wanted
    shift *= min(1.0, FURTHEST * half / max(float(np.linalg.norm(shift)), 1e-6))
    y, x = np.mgrid[: bottom - top, : right - left].astype(np.float32)
    off = (x - wanted[0]) * along[0] + (y - wanted[1]) * along[1]
    radius = _radius(points, iris)
    ends = sorted(float((points[ring[k]] - wanted) @ along) for k in (0, 8))
    room = np.where(off < 0, max(-ends[0], 1.2 * radius), max(ends[1], 1.2 * radius))
    weight = np.clip((room - np.abs(off)) / np.maximum(room - 0.8 * radius, 1e-3), 0, 1).astype(np.float32)
    part = fused[top:bottom, left:right]
    turned = cv2.remap(
        part,
        x + np.float32(shift[0]) * weight,
        y + np.float32(shift[1]) * weight,
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    inside = soften(polygon(points[ring], bottom - top, right - left), max(0.6, RIM * place.face_width))
    part += inside[..., None] * (turned - part)


def _match(fused: Floats, own: Floats, place: Placement, eye: int) -> None:
    """The source's eye as it is painted: its white in the colour of the target's, its iris with the target's catch-lights for its own."""
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    left, top, right, bottom = window(place.shape[ring], 0.02 * place.face_width, place.size)
    height, wide = bottom - top, right - left
    mine, theirs = fused[top:bottom, left:right], own[top:bottom, left:right]
    points = place.shape[:, :2] - [left, top]
    inside, radius, middle = polygon(points[ring], height, wide), _radius(points, iris), points[iris[0]]
    fine = max(0.6, 0.004 * place.face_width)
    whole = soften(grow(inside, 0.003 * place.face_width), fine)  # up to the lid's rim
    white = inside * (1 - disk(middle, 1.12 * radius, height, wide)) > 0.5
    light, wanted = luma(mine), luma(theirs)
    if int(white.sum()) >= _FEWEST:
        dark, bright = _ranked(light[white], 0.2), _ranked(light[white], 0.65)
        colour = mine[white & (light >= bright)].mean(0)
        colour_theirs = theirs[white & (wanted >= _ranked(wanted[white], 0.65))].mean(0)
        level = float(np.clip(LUMA @ colour_theirs / max(float(LUMA @ colour), 1.0), 0.35, 2.2))
        tint = np.sqrt(np.clip(colour_theirs / np.maximum(colour * level, 1), 0.5, 2))  # half of the tint: a white has its own
        share = whole * soften(1 - disk(middle, radius, height, wide), fine)
        share = share * soften(smoothstep(light, dark * 0.6, max(bright, dark + 4)), fine)
        mine += mine * (level * tint - 1).astype(np.float32) * share[..., None]
    core = (inside * disk(middle, 0.85 * radius, height, wide)) > 0.5
    if int(core.sum()) >= _FEWEST:
        round_ = soften(disk(middle, 0.8 * radius, height, wide), fine) * whole
        _cap(mine, round_, _ranked(light[core], 0.8) + 8, 0.15)
        high = _ranked(wanted[core], 0.85) + 10
        mine += (smoothstep(wanted, high, high + 30) * round_)[..., None] * (theirs - mine)
    if (inside > 0.5).any():
        _cap(mine, whole, _ranked(wanted[inside > 0.5], 0.98), 0.1)


def _cap(image: Floats, weight: Floats, limit: float, slope: float) -> None:
    """Above `limit` of luma, light rises by `slope` only; the colour stays."""
    light = luma(image)
    image *= (1 - weight * np.maximum(light - limit, 0) * np.float32(1 - slope) / np.maximum(light, 1))[..., None]


def _look(fused: Floats, own: Floats, place: Placement, eye: int, tint: Floats | None, share: float = 1.0) -> None:
    """The target's pixels inside one eye's lids, the iris multiplied by `tint`; `share` of them."""
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    left, top, right, bottom = window(place.shape[ring], 0.03 * place.face_width, place.size)
    height, wide = bottom - top, right - left
    points = place.shape[:, :2] - [left, top]
    inside = polygon(points[ring], height, wide)
    theirs = own[top:bottom, left:right]
    if tint is not None:
        radius = _radius(points, iris)
        within = disk(points[iris[0]], 0.97 * radius, height, wide) * inside
        light = luma(theirs)
        high = _ranked(light[within > 0.5], 0.92) if (within > 0.5).any() else 255.0
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
    share = HUE * smoothstep(np.array(min(mine.radius, theirs.radius), np.float32), _LEAST, 2 * _LEAST)
    return np.asarray(1 + share * (np.clip(tint, 0.7, 1.4) - 1), np.float32)


def _target_iris(own: Floats, place: Placement, eye: int) -> Iris | None:
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    left, top, right, bottom = window(place.shape[ring], 1, place.size)
    shift = [left, top]
    return _measure(own[top:bottom, left:right], place.shape[ring, :2] - shift, place.shape[iris, :2] - shift)


def _source_iris(source: PreparedSource, eye: int) -> Iris | None:
    """Read from the chart: the iris lies there as it lies between the lids of the photo."""
    ring, iris = EYE_RINGS[eye], IRISES[eye]
    level = next((level for level in source.levels[::-1] if level.shape[0] >= _CHART), source.levels[0])
    side = level.shape[0]
    at = chart().pixels(side)[ring]
    base = np.column_stack([source.points[ring, :2], np.ones(len(ring))])
    moved = np.column_stack([source.points[iris, :2], np.ones(len(iris))]) @ np.linalg.lstsq(base, at, rcond=None)[0]
    left, top, right, bottom = window(at, 1, side)
    return _measure(level[top:bottom, left:right, :3].astype(np.float32), at - [left, top], moved - [left, top])


def _measure(pixels: Floats, ring: NDArray[np.float64], iris: NDArray[np.float64]) -> Iris | None:
    """Colours of an eye: its lids' ring (16, 2) and its iris (5, 2), centre first, in pixels of `pixels`."""
    height, wide = pixels.shape[:2]
    radius = float(np.linalg.norm(iris[1:] - iris[0], axis=1).mean())
    if radius < _LEAST:
        return None
    within = cv2.erode(polygon(ring, height, wide), np.ones((3, 3), np.uint8)) > 0.9
    y, x = np.ogrid[:height, :wide]
    apart = ((x - iris[0, 0]) ** 2 + (y - iris[0, 1]) ** 2) / radius**2
    coloured, white = pixels[within & (apart < 0.92**2) & (apart > 0.45**2)], pixels[within & (apart > 1.15**2)]
    if len(coloured) < _FEWEST:
        return None
    light = coloured @ LUMA
    colour = np.median(coloured[light <= _ranked(light, 0.8)], axis=0).astype(np.float32)
    if len(white) < _FEWEST:
        return Iris(radius, colour, None)
    light = white @ LUMA
    return Iris(radius, colour, np.median(white[light >= _ranked(light, 0.5)], axis=0).astype(np.float32))


def _ranked(values: Floats, share: float) -> float:
    """The value that a share of all lies below: a percentile at a tenth of the time, for the few pixels of an eye."""
    at = min(int(share * values.size), values.size - 1)
    return float(np.partition(values.ravel(), at)[at])


def _radius(points: NDArray[np.float64], iris: NDArray[np.integer]) -> float:
    return float(np.linalg.norm(points[iris[1:]] - points[iris[0]], axis=1).mean())
