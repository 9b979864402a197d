"""Eyes and mouth of a fusion: no whiter, no darker and no more open than the target's.

All functions change `fused` in place, within the features' windows. `own` is the target moved to the fusion's shape; both are
(S, S, 3) float32 RGB 0..255.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, IRISES, LIPS_INNER, LIPS_OUTER
from engines.faces.geometry_transfer import CLOSED, eye_opening, mouth_opening
from engines.faces.placement import Placement, window
from engines.types import Floats
from engines.vision.color import LUMA, luma
from engines.vision.mask import disk, grow, polygon, polyline, smoothstep, soften

BLINK = 0.55  # a source's eye opened less than this share of the target's stays the target's
GLOSS = 0.65  # share of a shine above the target's that is taken off the lips
_FEWEST = 12  # pixels below which a white or an iris says nothing


def finish(fused: Floats, own: Floats, place: Placement, source: NDArray[np.float64]) -> None:
    """Eyes, then the mouth. `source`: (478, 3), the source's mesh."""
    for ring, iris in zip(EYE_RINGS, IRISES, strict=True):
        if eye_opening(place.target, ring) > 0.14 and eye_opening(source, ring) < BLINK * eye_opening(place.target, ring):
            _keep(fused, own, place, ring, 0.012)
        else:
            _match_eye(fused, own, place, ring, iris)
    _match_lips(fused, own, place)
    if mouth_opening(place.target) > CLOSED:
        _keep(fused, own, place, LIPS_INNER, 0.0)
    elif place.sealed:
        _draw_lip_line(fused, own, place)


def _keep(fused: Floats, own: Floats, place: Placement, ring: NDArray[np.integer], rim: float) -> None:
    """Inside a ring, and `rim` face widths round it, the target's own pixels stay."""
    left, top, right, bottom = window(place.shape[ring], 0.03 * place.face_width, place.size)
    inside = polygon(place.shape[ring, :2] - [left, top], bottom - top, right - left)
    share = soften(grow(inside, rim * place.face_width), max(0.8, 0.006 * place.face_width))[..., None]
    part = fused[top:bottom, left:right]
    part += share * (own[top:bottom, left:right] - part)


def _match_eye(fused: Floats, own: Floats, place: Placement, ring: NDArray[np.integer], iris: NDArray[np.integer]) -> None:
    """The white takes the colour of the target's white, the iris its catch-lights in place of the source's."""
    left, top, right, bottom = window(place.shape[ring], 0.02 * place.face_width, place.size)
    height, wide = bottom - top, right - left
    mine, theirs = fused[top:bottom, left:right], own[top:bottom, left:right]
    points = place.shape[:, :2] - [left, top]
    inside = polygon(points[ring], height, wide)
    radius = float(np.linalg.norm(points[iris[1:]] - points[iris[0]], axis=1).mean())
    white = inside * (1 - disk(points[iris[0]], 1.12 * radius, height, wide))
    light, wanted = luma(mine), luma(theirs)
    soft = soften(grow(inside, 0.003 * place.face_width), max(0.6, 0.004 * place.face_width))  # whole up to the lid's rim
    chosen = white > 0.5
    fine = max(0.6, 0.004 * place.face_width)
    if int(chosen.sum()) >= _FEWEST:
        dark, bright = np.percentile(light[chosen], [20, 65])
        colour = mine[chosen & (light >= bright)].mean(0)
        colour_theirs = theirs[chosen & (wanted >= np.percentile(wanted[chosen], 65))].mean(0)
        level = float(np.clip(LUMA @ colour_theirs / max(float(LUMA @ colour), 1.0), 0.35, 2.2))
        tint = np.sqrt(np.clip(colour_theirs / np.maximum(colour * level, 1), 0.5, 2))  # half of the tint: a white has its own
        share = soft * soften(1 - disk(points[iris[0]], radius, height, wide), fine)
        share = share * soften(smoothstep(light, float(dark) * 0.6, float(max(bright, dark + 4))), fine)
        mine += mine * (level * tint - 1).astype(np.float32) * share[..., None]
    middle = points[iris[0]]
    core = (inside * disk(middle, 0.85 * radius, height, wide)) > 0.5
    if int(core.sum()) >= _FEWEST:
        round_ = soften(disk(middle, 0.8 * radius, height, wide), fine) * soft
        _cap(mine, round_, float(np.percentile(light[core], 80)) + 8, 0.15)
        high = float(np.percentile(wanted[core], 85)) + 10
        mine += (smoothstep(wanted, high, high + 30) * round_)[..., None] * (theirs - mine)
    if (inside > 0.5).any():
        _cap(mine, soft, float(np.percentile(wanted[inside > 0.5], 98)), 0.1)


def _match_lips(fused: Floats, own: Floats, place: Placement) -> None:
    """No shine on the lips above the target's."""
    left, top, right, bottom = window(place.shape[LIPS_OUTER], 0.02 * place.face_width, place.size)
    points = place.shape[:, :2] - [left, top]
    height, wide = bottom - top, right - left
    lips = polygon(points[LIPS_OUTER], height, wide)
    if not place.sealed:
        lips = lips * (1 - polygon(points[LIPS_INNER], height, wide) * (mouth_opening(place.target) > CLOSED))
    chosen = lips > 0.5
    if int(chosen.sum()) < _FEWEST:
        return
    limit = float(np.percentile(luma(own[top:bottom, left:right])[chosen], 97)) + 6
    part = fused[top:bottom, left:right]
    light = luma(part)
    # shine has no colour of its own: only darkened it turns grey, so the lips' own colour takes its place
    matte = np.median(part[chosen], axis=0)
    matte = matte * min(limit / max(float(LUMA @ matte), 1.0), 1.3)
    share = smoothstep(light, limit - 8, limit + 25) * soften(lips, max(0.8, 0.008 * place.face_width))
    part += (GLOSS * share)[..., None] * (matte.astype(np.float32) - part)


def _draw_lip_line(fused: Floats, own: Floats, place: Placement) -> None:
    """Where the lips were sewn together, the target's own line between them: its fine structure only, not its colour."""
    left, top, right, bottom = window(place.shape[LIPS_OUTER], 0.05 * place.face_width, place.size)
    line = place.shape[LIPS_INNER[:11], :2] - [left, top]
    share = polyline(line, 0.016 * place.face_width, bottom - top, right - left)
    share = soften(share, max(0.8, 0.006 * place.face_width))[..., None]
    part = fused[top:bottom, left:right]
    part += share * (_fine(own[top:bottom, left:right], place) - _fine(part, place))


def _fine(image: Floats, place: Placement) -> Floats:
    return np.asarray(image - cv2.GaussianBlur(image, (0, 0), max(1.0, 0.02 * place.face_width)), np.float32)


def _cap(image: Floats, weight: Floats, limit: float, slope: float) -> None:
    """Above `limit` of luma, light rises by `slope` only; the colour stays."""
    light = luma(image)
    over = np.maximum(light - limit, 0)
    ratio = 1 - weight * over * np.float32(1 - slope) / np.maximum(light, 1)
    image *= ratio[..., None]
