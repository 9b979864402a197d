"""The upright square that a face is worked on in."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.topology import EYE_LEFT, EYE_RIGHT, SURFACE
from engines.types import Box, Matrix, Pixels
from engines.vision.geometry import apply, invert, scale_of

CROP = 1.2  # side of the crop in face widths, at least
STEP, LEAST, MOST = 32, 256, 1024  # bounds of the crop's side
LEVEL = np.radians(12.0)  # up to here a head is upright enough to be worked on as it is


def square(points: NDArray[np.floating], size: int) -> tuple[Matrix, int]:
    """Picture → crop with the eyes level and the face in the middle, its side `CROP` face widths.

    Args:
        points: (478, 2 or 3), the mesh in the picture.
        size: the crop's side in pixels, which is given back.
    """
    turn, middle, side = _measured(points)
    return np.column_stack([turn * (size / side), (size - 1) / 2 - turn @ middle * (size / side)]), size


def window(points: NDArray[np.floating]) -> tuple[Matrix, int]:
    """Picture → crop to work on, and the crop's side: whole pixels of the picture wherever that can be.

    A crop by whole pixels is neither sampled when it is cut nor when it is laid back: bilinear sampling between pixels takes half of
    a grain of one pixel each time, which nothing can give back (grain kept on three near-frontal portraits: .78, .71, .61 with it,
    .90, .86, .80 without). A face under `LEAST` is enlarged by a whole number, so that laying it back averages whole pixels. A head
    that leans by more than `LEVEL` is set upright, one over `MOST` reduced.
    """
    turn, middle, side = _measured(points)
    angle = float(np.arctan2(turn[0, 1], turn[0, 0]))
    quarters = round(angle / (np.pi / 2))  # turned by those it is made of whole pixels still
    even = int(np.ceil(side / (STEP // 4)) * (STEP // 4))  # in the picture's pixels
    times = -(-LEAST // even)
    size = times * even if times > 1 else int(np.ceil(side / STEP) * STEP)
    if size > MOST or abs(angle - quarters * np.pi / 2) > LEVEL:
        return square(points, int(np.clip(np.ceil(0.97 * side / STEP) * STEP, LEAST, MOST)))
    upright = np.round(_rotation(quarters * np.pi / 2))
    start = np.round(upright @ middle - (size / times - 1) / 2)
    return np.column_stack([times * upright, (times - 1) / 2 - times * start]), size


def _measured(points: NDArray[np.floating]) -> tuple[Matrix, NDArray[np.float64], float]:
    """The rotation (2, 2) that sets a face upright, its middle in the picture, and the side of its crop in the picture's pixels."""
    surface = points[:SURFACE, :2].astype(np.float64)
    right, left = surface[list(EYE_LEFT)].mean(0), surface[list(EYE_RIGHT)].mean(0)
    turn = _rotation(float(np.arctan2(left[1] - right[1], left[0] - right[0])))
    upright = surface @ turn.T
    low, high = upright.min(0), upright.max(0)
    return turn, turn.T @ (low + high) / 2, max(CROP * float((high - low).max()), 1e-3)


def _rotation(angle: float) -> Matrix:
    """(2, 2), radians."""
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


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
    method = cv2.INTER_CUBIC if scale > 1.3 else cv2.INTER_LINEAR  # enlarged and laid back, a pixel keeps more of itself
    warped = cv2.warpAffine(four, moved, (size, size), flags=method, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.cvtColor(warped, cv2.COLOR_RGBA2RGB), np.uint8)


def carried(points: NDArray[np.floating], matrix: Matrix) -> NDArray[np.float64]:
    """A mesh (478, 3) through a similarity; its depth is scaled along."""
    return np.column_stack([apply(matrix, points[:, :2].astype(np.float64)), points[:, 2] * scale_of(matrix)])


def box_of(points: NDArray[np.floating]) -> Box:
    """The bounds of a mesh's surface points."""
    low, high = points[:SURFACE, :2].min(0), points[:SURFACE, :2].max(0)
    return Box(float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1]))
