"""Where an eye looks and what colours it has; and a painted eye redrawn so that its iris is round and its lids lie where they are.

An eye's own frame has its left corner at (0, 0) and its right one at (1, 0), y downwards, so that its unit is the eye's width.
`fused` is (S, S, 3) float32 RGB 0..255 and is changed in place, within the eye's window.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, GRID, IRISES, chart
from engines.faces.placement import Placement, window
from engines.faces.source import PreparedSource
from engines.types import Floats
from engines.vision.color import LUMA
from engines.vision.mask import polygon, smoothstep, soften
from engines.vision.raster import RasterMap

RIM = 0.0045  # softness of the lid's rim, in face widths
WINDOW = 0.02  # how far an eye's window reaches beyond its lids, in face widths
FEWEST, SMALLEST = 12, 4.0  # pixels, and pixels of radius, below which a white or an iris says nothing
_WHOLE = 1.1  # an iris is moved as one piece up to this many radii: its edge is as soft as that
_LEAST = 0.02  # of the eye's width, that is left between an iris and a corner
_STEPS, _PACE = 5, 0.9  # of finding where a place of the source is painted; further ones change under .1 px
_DRAWN_OUT = (0.3, 0.6)  # share of its width that a drawn out white still has: at the first the source shows nothing of it


@dataclass(frozen=True, slots=True)
class _Eye:
    """One mesh's eye in its own frame. `corner`, `axes` (2, 2) lead out of it; lids (9, 2) from left to right; `iris`: centre, radius."""

    corner: NDArray[np.float64]
    axes: NDArray[np.float64]
    upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    iris: NDArray[np.float64]
    radius: float

    def lids(self, u: Floats) -> tuple[Floats, Floats]:
        """For places along the eye: where the upper lid lies, and how far below it the lower one, at least a little."""
        top, bottom = (np.interp(u, np.maximum.accumulate(lid[:, 0]), lid[:, 1]) for lid in (self.upper, self.lower))
        return top.astype(np.float32), np.maximum(bottom - top, 0.02).astype(np.float32)

    @property
    def height(self) -> float:
        """Of the iris between the lids: 0 at the upper one, 1 at the lower one."""
        top, height = self.lids(np.array(self.iris[0], np.float32))
        return float(np.clip((self.iris[1] - top) / height, 0.15, 0.85))


def _eye(points: NDArray[np.float64], eye: int) -> _Eye:
    ring, ids = EYE_RINGS[eye], IRISES[eye]
    upper, lower = ring[:9], np.append(ring[0], ring[:7:-1])
    if eye == 1:  # rings begin at the outer corner
        upper, lower = upper[::-1], lower[::-1]
    corner, along = points[upper[0], :2], points[upper[8], :2] - points[upper[0], :2]
    along = along if float(along @ along) > 1e-6 else np.array([1e-3, 0.0])
    axes = np.stack([along, [-along[1], along[0]]])

    def local(of: NDArray[np.integer]) -> NDArray[np.float64]:
        return np.asarray((points[of, :2] - corner) @ axes.T / float(along @ along))

    return _Eye(corner, axes, local(upper), local(lower), local(ids[:1])[0], max(iris_radius(local(ids), np.arange(5)), 1e-3))


@dataclass(frozen=True, slots=True)
class Iris:
    """Mean colours (3,) RGB 0..255 of an iris without pupil and catch-light, and of the white round it (None: too little seen).

    `radius`: of the iris in px.
    """

    radius: float
    colour: Floats
    white: Floats | None


def iris_radius(points: NDArray[np.float64], iris: NDArray[np.integer]) -> float:
    """Of an iris (5,), its centre first, in the unit of the points (n, 2)."""
    return float(np.linalg.norm(points[iris[1:]] - points[iris[0]], axis=1).mean())


def measure(pixels: Floats, ring: NDArray[np.float64], iris: NDArray[np.float64]) -> Iris | None:
    """Colours of an eye: its lids' ring (16, 2) and its iris (5, 2), centre first, in pixels of `pixels`."""
    height, wide = pixels.shape[:2]
    radius = float(np.linalg.norm(iris[1:] - iris[0], axis=1).mean())
    if radius < SMALLEST:
        return None
    within = cv2.erode(polygon(ring, height, wide), np.ones((3, 3), np.uint8)) > 0.9
    y, x = np.ogrid[:height, :wide]
    apart = ((x - iris[0, 0]) ** 2 + (y - iris[0, 1]) ** 2) / radius**2
    coloured, white = pixels[within & (apart < 0.92**2) & (apart > 0.45**2)], pixels[within & (apart > 1.15**2)]
    if len(coloured) < FEWEST:
        return None
    light = coloured @ LUMA
    colour = np.median(coloured[light <= ranked(light, 0.8)], axis=0).astype(np.float32)
    if len(white) < FEWEST:
        return Iris(radius, colour, None)
    light = white @ LUMA
    return Iris(radius, colour, np.median(white[light >= ranked(light, 0.5)], axis=0).astype(np.float32))


def ranked(values: Floats, share: float) -> float:
    """The value that a share of all lies below: a percentile at a tenth of the time, for the few pixels of an eye."""
    at = min(int(share * values.size), values.size - 1)
    return float(np.partition(values.ravel(), at)[at])


def turn(fused: Floats, place: Placement, source: PreparedSource, eye: int) -> Floats:
    """Redraws a painted eye: its iris round and where the target looks, the white beside it drawn out or pressed together to the corners.

    The mesh has the iris's centre and four points of its rim for vertices. So it carries the iris to the target's gaze by itself, but
    with corners, and those of the rim that lie behind a lid draw lashes into the eye. Here the way back is smooth: along the eye, from
    corner to iris, across it and to the other corner; across the eye by the share of the lids' opening. Then it is looked up where
    the mesh has painted that place. Warping the eye alone to turn a gaze: Ganin et al., "DeepWarp", ECCV 2016.

    Returns:
        (h, w) float32 0..1 in the eye's window (`WINDOW` face widths round its lids): where the white is drawn out so far that the
        source shows nothing of it.
    """
    left, top, right, bottom = window(place.shape[EYE_RINGS[eye]], WINDOW * place.face_width, place.size)
    wide, high = right - left, bottom - top
    points = place.shape[:, :2] - [left, top]
    here, there = _eye(points, eye), _eye(source.points, eye)
    width, step = float(np.linalg.norm(here.axes[0])), 2 if min(wide, high) > 24 else 1
    columns, rows = np.arange(0, wide + step, step), np.arange(0, high + step, step)
    start = np.stack(np.broadcast_arrays(columns, rows[:, None]), 2).astype(np.float32)
    local = (start - here.corner.astype(np.float32)) @ (here.axes.T / width**2).astype(np.float32)
    along, kept = _along(here, there, local[..., 0])
    across = _across(here, there, local[..., 0], local[..., 1], along)
    axes, corner = there.axes.astype(np.float32), there.corner.astype(np.float32)
    wanted = along[..., None] * axes[0] + across[..., None] * axes[1] + corner
    painted = _painted(place, source, eye, start + np.array([left, top], np.float32))
    ring = EYE_RINGS[eye]
    fit = np.linalg.lstsq(np.column_stack([source.points[ring, :2], np.ones(16)]), points[ring], rcond=None)[0]
    back, at = (_PACE * fit[:2]).astype(np.float32), start
    low, most = start - np.float32(0.3 * width), start + np.float32(0.3 * width)
    for _ in range(_STEPS):
        found = _looked_up(painted, at * np.float32(1 / step))
        at = np.clip(at + (wanted - found) @ back, low, most)
    # the way is smooth: on every other pixel it is as good, at a quarter of the time
    y, x = np.mgrid[:high, :wide].astype(np.float32) * np.float32(1 / step)
    every = cv2.merge([x, y])
    at, kept = _looked_up(at, every), _looked_up(kept, every)
    part = fused[top:bottom, left:right]
    turned = _looked_up(part, at)
    inside = soften(polygon(points[ring], high, wide), max(0.6, RIM * place.face_width))
    part += inside[..., None] * (turned - part)
    return soften(1 - smoothstep(kept, *_DRAWN_OUT), 0.2 * here.radius * width)


def _along(here: _Eye, there: _Eye, u: Floats) -> tuple[Floats, Floats]:
    """The place along the source's eye for each along the target's, and how many of its pixels a pixel has: 1 on an iris as large."""
    scale, centre, other = there.radius / here.radius, float(here.iris[0]), float(np.clip(there.iris[0], 0.1, 0.9))
    centre = float(np.clip(centre, 0.1, 0.9))
    before = min(_WHOLE * here.radius, centre - _LEAST, (other - _LEAST) / scale)
    after = min(_WHOLE * here.radius, 1 - centre - _LEAST, (1 - other - _LEAST) / scale)
    to = np.array([0, centre - before, centre + after, 1])
    of = np.array([0, other - before * scale, other + after * scale, 1])
    slopes = np.diff(of) / np.diff(to)
    slope = slopes[np.searchsorted(to[1:3], u)]
    out = np.where(u < 0, u, np.where(u > 1, u, np.interp(u, to, of)))
    return out.astype(np.float32), (slope / max(scale, 1e-3)).astype(np.float32)


def _across(here: _Eye, there: _Eye, u: Floats, v: Floats, along: Floats) -> Floats:
    """The place across the source's eye: lids on lids, the iris's height on its height."""
    (upper, height), (from_upper, from_height) = here.lids(u), there.lids(along)
    share, mine, theirs = (v - upper) / height, here.height, there.height
    bent = np.where(share < mine, share * (theirs / mine), 1 - (1 - share) * ((1 - theirs) / (1 - mine)))
    out = from_upper + from_height * bent
    out = np.where(share < 0, from_upper + (v - upper), out)
    return np.where(share > 1, from_upper + from_height + (v - upper - height), out).astype(np.float32)


def _painted(place: Placement, source: PreparedSource, eye: int, at: Floats) -> Floats:
    """(h, w, 2): which place of the source's picture is painted at a place of the crop, through the chart as the fusion goes."""
    uv = _looked_up(place.uv, (at + np.float32(0.5)) * np.float32(place.grid / place.size) - np.float32(0.5))
    left, top, right, bottom = window(chart().pixels(GRID)[EYE_RINGS[eye]], 8, GRID)
    whole = chart().raster
    local = RasterMap(whole.triangles, whole.index[top:bottom, left:right], whole.weights[top:bottom, left:right])
    return _looked_up(local.interpolate(source.points[:, :2]), uv * np.float32(GRID) - np.array([left + 0.5, top + 0.5], np.float32))


def _looked_up(field: Floats, at: Floats) -> Floats:
    """(h, w[, k]) of a field (n, m[, k]) at places (h, w, 2), bilinear."""
    x, y = cv2.split(np.asarray(at, np.float32))
    return np.asarray(cv2.remap(field, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
