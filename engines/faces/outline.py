"""The face's outline: jaw, chin and cheeks moved to where the source has them, the background drawn along.

The mesh's rim moves, and with it a ring of the target's own picture round it, less and less up to the ring's end, so that a slimmer
face is followed by what was beside it and a broader one pushes it aside. Straight things in the ring would show the bend: near them
the outline stays. So it does where something lies over it, which doesn't move.
"""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import OVAL
from engines.faces.geometry_transfer import Points, bounded, carried, width
from engines.faces.topology import topology
from engines.types import Floats, Occlusion, Pixels
from engines.vision.mask import grow, polygon, signed_distance, smoothstep, soften
from engines.vision.raster import enlarge

RING = 0.09  # how far the background is drawn along, in face widths: the crop leaves .1
FURTHEST = 0.03  # the outline moves no further: a third of the ring, so that the background is never stretched to more than twice
STRAIGHT = 0.002  # a straight edge of the background may bend by this much, in face widths: a pixel on a face of 500 px
SIDE = 256  # the crop's side on which straight edges are looked for
_LONG, _FAR = 0.1, 0.2  # shortest straight edge that counts; how far along the outline one is felt
_NEAR = 0.05  # a thing this near to the outline holds it
_SAMPLES = 9


@dataclass(frozen=True, slots=True)
class Hold:
    """What of a target keeps the outline where it is: found once.

    Attributes:
        lines: (n, 2, 2) straight edges of the background in the ring, both ends x, y in pixels of the crop.
        free: (len(OVAL),) 0..1 per vertex of the outline: 0 where something lies over it or it leaves the crop.
        still: (SIDE, SIDE) float32 0..1 over the crop: where something lies before what is drawn along, or was filled in behind it.
    """

    lines: NDArray[np.float64]
    free: NDArray[np.float64]
    still: Floats


def hold(pixels: Pixels, points: Points, over: Occlusion) -> Hold:
    """Looks at the ring round a target's face.

    Args:
        pixels: (S, S, 3) uint8 RGB, the crop. points: (478, 3), the mesh in it.
        over: what lies over the face.
    """
    size, face_width = pixels.shape[0], width(points)
    scale = SIDE / size
    small = cv2.cvtColor(np.asarray(cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8), cv2.COLOR_RGB2GRAY)
    inside = polygon((points[OVAL, :2] + 0.5) * scale - 0.5, SIDE, SIDE)
    ring = grow(inside, (RING + 0.03) * face_width * scale) * (1 - grow(inside, 0.025 * face_width * scale))
    edges = cv2.Canny(cv2.GaussianBlur(small, (0, 0), 1.0), 40, 100)
    edges[ring < 0.5] = 0
    found = cv2.HoughLinesP(edges, 1, np.pi / 120, 14, minLineLength=_LONG * face_width * scale, maxLineGap=3)
    lines = np.zeros((0, 2, 2)) if found is None else (np.asarray(found, np.float64).reshape(-1, 2, 2) + 0.5) / scale - 0.5
    outline = points[OVAL, :2]
    changed = np.maximum(cv2.absdiff(pixels, over.clean).max(2) > 4, over.alpha > 0.02).astype(np.float32)
    changed = np.asarray(cv2.resize(changed, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.float32)
    felt = soften(changed, 0.5 * _NEAR * face_width * scale)
    still = soften(grow(changed, 0.012 * face_width * scale), 0.006 * face_width * scale)
    at = np.clip(np.round((outline + 0.5) * scale - 0.5).astype(int), 0, SIDE - 1)
    free = 1 - smoothstep(np.asarray(felt[at[:, 1], at[:, 0]], np.float32), 0.02, 0.12).astype(np.float64)
    margin = np.minimum(outline, size - 1 - outline).min(1) / (RING * face_width)
    return Hold(lines, _along(free * np.clip(margin * 2 - 1, 0, 1)), still)


def moved(source: Points, target: Points, held: Hold, share: float) -> NDArray[np.float64]:
    """(478, 2) what the vertices at and near the outline move by, in pixels of the target's crop.

    Args:
        source, target: (478, 3) meshes. share: of the source's shape, as for `geometry_transfer.mixed`.
    """
    face_width = width(target)
    move = bounded(carried(source, target) * share, FURTHEST * face_width)
    rim, nearest = _weights()
    free = held.free
    if len(held.lines):
        free = free * _straight(target[OVAL, :2], move[OVAL] * (rim[OVAL] * free)[:, None], held.lines, face_width)
    return np.asarray(move * (rim * (nearest @ free))[:, None])


def ring_of(covered: Floats, coarse_width: float) -> Floats:
    """(g, g) 1 on the mesh, falling to 0 at the ring's end and at the crop's border: the share of the outline's move."""
    size = covered.shape[0]
    outside = (covered < 0.5).astype(np.uint8)
    if not outside.any() or outside.all():
        return covered
    distance = np.asarray(cv2.distanceTransform(outside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE), np.float32)
    fall = 1 - smoothstep(distance, 1.0, RING * coarse_width)
    fall = np.asarray(cv2.GaussianBlur(fall, (0, 0), 1.2), np.float32)
    away = np.minimum(np.arange(size), np.arange(size)[::-1]).astype(np.float32)
    border = smoothstep(np.minimum(away[:, None], away[None, :]), 1, 0.03 * size)
    return np.asarray(fall * border, np.float32)


def outwards(shift: Floats, covered: Floats, coarse_width: float) -> Floats:
    """(g, g, 2) a shift known on the mesh carried outwards from the nearest place of its rim, down to nothing at the ring's end."""
    outside = (covered < 0.5).astype(np.uint8)
    if outside.all():
        return np.zeros_like(shift)
    # not push-pull: that mixes in what lies deeper in the face, and the shift would jump at the rim
    _, label = cv2.distanceTransformWithLabels(outside, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    there = outside == 0
    table = np.zeros((int(label.max()) + 1, 2), np.float32)
    table[label[there]] = shift[there]
    beside = cv2.GaussianBlur(table[label], (0, 0), 1.5) * ring_of(covered, coarse_width)[..., None]
    return np.asarray(np.where(there[..., None], shift, beside), np.float32)


def drawn_along(shift: Floats, held: Hold, size: int) -> Floats:
    """(size, size) 0..1 where the target's own picture is shown moved: from half a pixel on, softly.

    Args:
        shift: (g, g, 2) pixels of the crop.
    """
    share = enlarge(smoothstep(np.hypot(shift[..., 0], shift[..., 1]), 0.1, 0.6), size)
    return np.asarray(cv2.multiply(share, 1 - enlarge(held.still, size)), np.float32)


def _straight(
    outline: NDArray[np.float64], move: NDArray[np.float64], lines: NDArray[np.float64], face_width: float
) -> NDArray[np.float64]:
    """(len(OVAL),) 0..1 how much of the move leaves every line straight within `STRAIGHT`."""
    t = np.linspace(0, 1, _SAMPLES)
    points = lines[:, None, 0] * (1 - t)[None, :, None] + lines[:, None, 1] * t[None, :, None]  # (n, samples, 2)
    distance = np.linalg.norm(points[:, :, None] - outline, axis=3)  # (n, samples, vertices)
    weight = np.exp(-((distance - distance.min(2, keepdims=True)) / (0.05 * face_width)))
    weight /= weight.sum(2, keepdims=True)
    beyond = np.clip(distance.min(2) / (RING * face_width), 0, 1)
    shift = (weight @ move) * (1 - beyond * beyond * (3 - 2 * beyond))[..., None]
    along = lines[:, 1] - lines[:, 0]
    normal = np.column_stack([-along[:, 1], along[:, 0]]) / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    aside = (shift * normal[:, None]).sum(2)
    # a line that is shifted or turned as a whole stays straight, but its ends lie outside the ring and don't move: counted in full
    bend = np.abs(aside).max(1)
    allowed = np.minimum(1.0, STRAIGHT * face_width / np.maximum(bend, 1e-9))
    felt = np.clip(1.5 - distance.min(1) / (_FAR * face_width), 0, 1)  # (n, vertices)
    return _along((1 - felt * (1 - allowed)[:, None]).min(0))


def _along(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smoothed along the outline, never raised."""
    out = values
    for _ in range(3):
        out = np.minimum(out, (np.roll(out, 1) + 2 * out + np.roll(out, -1)) / 4)
    return out


@cache
def _weights() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(478,) how far a vertex moves with the outline: the lower half's rim and what is near it; (478, len(OVAL)) by which part of it."""
    mean = topology().mean.astype(np.float64)
    depth = np.clip(np.abs(signed_distance(mean, mean[OVAL])) / 0.22, 0, 1)
    rim = 1 - depth * depth * (3 - 2 * depth)  # what `geometry_transfer` leaves to the target
    eyes, nose = float(mean[[33, 263], 1].mean()), float(mean[2, 1])
    low = np.clip((mean[:, 1] - eyes) / (nose - eyes), 0, 1)  # from ears and temples, where hair and glasses begin, downwards
    distance = np.linalg.norm(mean[:, None, :2] - mean[OVAL, :2], axis=2)
    nearest = np.exp(-(distance - distance.min(1, keepdims=True)) / 0.06)
    nearest /= nearest.sum(1, keepdims=True)
    return rim * low * low * (3 - 2 * low), nearest
