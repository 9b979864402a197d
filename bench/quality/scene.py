"""The part of the pictures that the measures look at: one face with some ground, before and after."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.topology import EYE_LEFT, EYE_RIGHT, LIPS_OUTER, OVAL
from engines.types import Floats, Pixels
from engines.vision.mask import convex, disk, grow, polygon, shrink

GROUND = 0.45  # of the face's size, on every side
BROWS = ((70, 63, 105, 66, 107, 55, 65, 52, 53, 46), (300, 293, 334, 296, 336, 285, 295, 282, 283, 276))
NOSTRILS = ((98, 97), (327, 326))
EYES = (EYE_LEFT, EYE_RIGHT)

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scene:
    """A window of the target and of the result.

    Attributes:
        target, result: (h, w, 3) uint8 RGB.
        mask: (h, w) uint8, what the fusion says it painted: 0 nothing, 255 all.
        points, fused: (478, 3) float64, the meshes of target and result in the window's pixels.
        window: the rows and columns of the whole picture.
    """

    target: Pixels
    result: Pixels
    mask: Pixels
    points: Doubles
    fused: Doubles
    window: tuple[slice, slice]

    @property
    def width(self) -> float:
        """Of the target's face, in pixels: the longer side of the box round the mesh. Every length of a measure is a share of it."""
        return max(float(np.ptp(self.points[:468, :2], axis=0).max()), 1.0)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.target.shape[0]), int(self.target.shape[1])


def cut(target: Pixels, result: Pixels, mask: Pixels, points: Doubles, fused: Doubles) -> Scene:
    """The scene round a face of whole pictures (H, W, 3) with a mask (H, W)."""
    low, high = points[:468, :2].min(0), points[:468, :2].max(0)
    ground = GROUND * float((high - low).max())
    left, top = np.maximum(np.floor(low - ground), 0).astype(int)
    right, bottom = np.minimum(np.ceil(high + ground).astype(int) + 1, [target.shape[1], target.shape[0]])
    window = slice(int(top), int(bottom)), slice(int(left), int(right))
    moved = np.array([left, top, 0.0])
    return Scene(target[window], result[window], mask[window], points - moved, fused - moved, window)


def features(points: Doubles, width: float, shape: tuple[int, int], reach: float = 0.025) -> Floats:
    """(h, w) 0..1: eyes, brows, lips and nostrils, grown by `reach` face widths."""
    out = np.zeros(shape, np.float32)
    for ring in (*EYES, LIPS_OUTER):
        out = np.maximum(out, grow(polygon(points[list(ring)], *shape), reach * width))
    for ring in BROWS:
        out = np.maximum(out, grow(polygon(convex(points[list(ring)]), *shape), 0.8 * reach * width))
    for a, b in NOSTRILS:
        out = np.maximum(out, disk((points[a, :2] + points[b, :2]) / 2, 1.2 * reach * width, *shape))
    return out


def own_features(scene: Scene) -> NDArray[np.bool_]:
    """(h, w) true on the target's eyes, brows and lips: their edges are its own, whatever runs over them."""
    out = np.zeros(scene.shape, np.float32)
    for ring in (*EYES, LIPS_OUTER):
        out = np.maximum(out, grow(polygon(scene.points[list(ring)], *scene.shape), 0.01 * scene.width))
    for ring in BROWS:
        out = np.maximum(out, polygon(convex(scene.points[list(ring)]), *scene.shape))
    return out > 0.5


def oval(points: Doubles, shape: tuple[int, int]) -> Floats:
    """(h, w) 0..1: the face's outline on the mesh, from the hairline to the chin."""
    return polygon(points[list(OVAL)], *shape)


def skin(scene: Scene) -> Floats:
    """(h, w) 0 or 1: what was painted in full, within the face, away from its edge and off both faces' features."""
    inside = shrink(oval(scene.points, scene.shape), 0.03 * scene.width)
    off = np.maximum(*(features(points, scene.width, scene.shape) for points in (scene.points, scene.fused)))
    return ((inside > 0.5) & (scene.mask > 200) & (off < 0.5)).astype(np.float32)


def painted(scene: Scene) -> NDArray[np.uint8]:
    """(h, w) 0 or 1: the mask's outer shape, with the holes that it leaves for what lies over the face filled."""
    rounds, _ = cv2.findContours((scene.mask > 127).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    out = np.zeros(scene.shape, np.uint8)
    if rounds:
        cv2.drawContours(out, [max(rounds, key=cv2.contourArea)], -1, 1, cv2.FILLED)
    return out


def eye(points: Doubles, ring: tuple[int, ...], shape: tuple[int, int]) -> Floats:
    """(h, w) 0..1: between the lids."""
    return polygon(points[list(ring)], *shape)


def mouth(points: Doubles, shape: tuple[int, int]) -> Floats:
    """(h, w) 0..1: lips and what lies between them."""
    return polygon(points[list(LIPS_OUTER)], *shape)
