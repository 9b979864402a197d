"""Cheapest ways through tables of costs: how a rim is followed."""

import numpy as np
from numpy.typing import NDArray

FULL, LINE = 0.12, 0.05  # ridge strength (log light) that counts in full, and that counts as a line
_BEND = 0.12  # cost of a step sideways
_FAR = 1e6


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
