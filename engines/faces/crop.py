"""The upright square that a face is worked on in."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.topology import EYE_LEFT, EYE_RIGHT, SURFACE
from engines.types import Box, Matrix, Pixels
from engines.vision.geometry import apply, invert, scale_of

CROP = 1.2  # side of the crop in face widths
STEP, LEAST, MOST = 64, 256, 1024  # the crop's side is a multiple of STEP within these bounds, no coarser than the picture


def square(points: NDArray[np.floating], size: int | None = None) -> tuple[Matrix, int]:
    """Picture → crop with the eyes level and the face in the middle, and the crop's side.

    Args:
        points: (478, 2 or 3), the mesh in the picture.
        size: the side wanted; else about as fine as the picture, within the bounds above.
    """
    surface = points[:SURFACE, :2].astype(np.float64)
    right, left = surface[list(EYE_LEFT)].mean(0), surface[list(EYE_RIGHT)].mean(0)
    angle = np.arctan2(left[1] - right[1], left[0] - right[0])
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    upright = surface @ turn.T
    low, high = upright.min(0), upright.max(0)
    side = max(CROP * float((high - low).max()), 1e-3)
    if size is None:
        size = int(np.clip(np.ceil(0.97 * side / STEP) * STEP, LEAST, MOST))
    return np.column_stack([turn * (size / side), (size - 1) / 2 - (low + high) / 2 * (size / side)]), size


def cut(pixels: Pixels, matrix: Matrix, size: int) -> Pixels:
    """The crop; the picture's edge is carried on beyond it."""
    placed = apply(invert(matrix), [(-2, -2), (size + 2, -2), (-2, size + 2), (size + 2, size + 2)])
    limit = np.array([pixels.shape[1], pixels.shape[0]])
    start = np.clip(np.floor(placed.min(0)).astype(int), 0, limit - 1)
    stop = np.clip(np.ceil(placed.max(0)).astype(int) + 1, start + 1, limit)
    part = pixels[start[1] : stop[1], start[0] : stop[0]]
    moved = matrix.copy()
    moved[:, 2] += matrix[:, :2] @ start
    scale = scale_of(matrix)
    if scale < 0.8:  # a face larger than the crop: averaged first, or the warp would skip pixels
        sides = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
        fx, fy = sides[0] / part.shape[1], sides[1] / part.shape[0]
        part = np.asarray(cv2.resize(part, sides, interpolation=cv2.INTER_AREA), np.uint8)
        moved[:, 2] += moved[:, :2] @ [0.5 / fx - 0.5, 0.5 / fy - 0.5]
        moved[:, :2] /= [fx, fy]
    # four channels: 8UC4 warps 3 times as fast as 8UC3
    four = cv2.cvtColor(part, cv2.COLOR_RGB2RGBA)
    warped = cv2.warpAffine(four, moved, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.cvtColor(warped, cv2.COLOR_RGBA2RGB), np.uint8)


def carried(points: NDArray[np.floating], matrix: Matrix) -> NDArray[np.float64]:
    """A mesh (478, 3) through a similarity; its depth is scaled along."""
    return np.column_stack([apply(matrix, points[:, :2].astype(np.float64)), points[:, 2] * scale_of(matrix)])


def box_of(points: NDArray[np.floating]) -> Box:
    """The bounds of a mesh's surface points."""
    low, high = points[:SURFACE, :2].min(0), points[:SURFACE, :2].max(0)
    return Box(float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1]))
