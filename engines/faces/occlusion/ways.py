"""Cheapest ways through tables of costs: how a rim is followed."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.occlusion.ridges import along
from engines.types import Floats

FULL, LINE = 0.12, 0.05  # ridge strength (log light) that counts in full, and that counts as a line
_BEND = 0.12  # cost of a step sideways
_FAR = 1e6
_BESIDE, _FINE = 4.0, 0.5  # px to both sides, and of a step, over which a path is centred
_UPPER = 0.4  # of a rim's height over its middle: from there on it is centred in full


def cost_of(value: NDArray[np.floating]) -> NDArray[np.floating]:
    """What a place costs by the strength of the line there."""
    return np.asarray(1 - np.clip(value / FULL, -0.2, 1))


def cheapest(cost: NDArray[np.floating], closed: bool) -> NDArray[np.intp]:
    """Cheapest paths (k, n) through the rows of costs (k, n, m), sideways by at most one at a step; closed ones by going round thrice."""
    if closed:
        cost = np.concatenate([cost] * 3, 1)
    paths, rows, columns = cost.shape
    total = cost[:, 0].copy()
    back = np.zeros((rows, paths, columns), np.intp)
    every = np.arange(columns)
    three = np.full((3, paths, columns), _FAR)
    for i in range(1, rows):
        three[0, :, 1:], three[1], three[2, :, :-1] = total[:, :-1] + _BEND, total, total[:, 1:] + _BEND
        step = three.argmin(0)
        back[i] = every + step - 1
        total = three.min(0) + cost[:, i]
    out = np.empty((paths, rows), np.intp)
    out[:, -1] = total.argmin(1)
    for i in range(rows - 1, 0, -1):
        out[:, i - 1] = back[i, np.arange(paths), out[:, i]]
    return out[:, rows // 3 : 2 * rows // 3] if closed else out


def centred(field: Floats, path: NDArray[np.float64], down: NDArray[np.float64]) -> NDArray[np.float64]:
    """A rim (n, 2), closed, whose upper part is moved along its normals to the middle of the line that it lies on.

    What counts in full saturates, so on a thick upper rim the cheapest way cuts corners; here each place is compared with the best beside
    it. Lower rims stay: beside a clear one its shadow is the stronger line.

    Args:
        field: (TURNS, SIDE, SIDE), strength of the lines that it followed. down: (2,) of length 1.
    """
    ahead = np.roll(path, -1, 0) - np.roll(path, 1, 0)
    angle = np.arctan2(ahead[:, 1], ahead[:, 0])
    offset = np.arange(-_BESIDE, _BESIDE + _FINE / 2, _FINE)
    normal = np.stack([-np.sin(angle), np.cos(angle)], 1)
    at = path[:, None] + offset[None, :, None] * normal[:, None]
    turn = np.broadcast_to(angle[:, None], at.shape[:2])
    value = along(field, at, turn)
    for tilt in (0.4, -0.4):
        value = np.maximum(value, 0.9 * along(field, at, turn + tilt))
    best = cheapest((1 - value / np.maximum(value.max(1, keepdims=True), 1e-3))[None], True)[0]
    moved = np.asarray(cv2.blur(np.tile(offset[best], 3)[None], (5, 1)), np.float64)[0, len(path) : 2 * len(path)]
    high = -(path - path.mean(0)) @ down
    return np.asarray(path + (moved * np.clip(high / (_UPPER * high.max()), 0, 1))[:, None] * normal)
