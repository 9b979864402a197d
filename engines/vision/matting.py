"""How much of a pixel belongs to what lies in front, and what the ground behind it looks like.

Pictures are (h, w[, k]) float32, weights and alphas (h, w) float32 0..1.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Floats

# Pairs of channels of a symmetric 3 x 3 matrix, row by row of its upper half.
_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def guided_coefficients(guide: Floats, values: Floats, radius: int, epsilon: float) -> Floats:
    """The colour guided filter (He, Sun and Tang, 2013): `values` as a locally linear function of the guide's colours.

    The function may be evaluated on a finer picture of the same scene: enlarge the coefficients, then `guided_values`.

    Args:
        guide: (h, w, 3), scale 0..1.
        values: (h, w).
        radius: of the square windows, in pixels.
        epsilon: variance of the guide under which nothing is followed.

    Returns:
        (h, w, 4) float32: three slopes and a constant.
    """
    channels = cv2.split(guide)
    planes = [*channels, values, *(cv2.multiply(c, values) for c in channels)]
    planes += [cv2.multiply(channels[i], channels[j]) for i, j in _PAIRS]
    mean = [_box(np.asarray(plane, np.float32), radius) for plane in planes]
    colour, value, crossed, squared = mean[:3], mean[3], mean[4:7], mean[7:]
    covariance = [c - value * m for c, m in zip(crossed, colour, strict=True)]
    a, b, c, d, e, f = (s - colour[i] * colour[j] + (epsilon if i == j else 0) for s, (i, j) in zip(squared, _PAIRS, strict=True))
    # the inverse of a symmetric 3 x 3 matrix by its cofactors: `np.linalg.solve` on a stack takes 30 times as long
    minors = d * f - e * e, c * e - b * f, b * e - c * d, a * f - c * c, b * c - a * e, a * d - b * b
    scale = 1 / np.maximum(a * minors[0] + b * minors[1] + c * minors[2], 1e-18)
    x, y, z = covariance
    rows = (minors[0], minors[1], minors[2]), (minors[1], minors[3], minors[4]), (minors[2], minors[4], minors[5])
    slopes = [(row[0] * x + row[1] * y + row[2] * z) * scale for row in rows]
    constant = value - sum(s * m for s, m in zip(slopes, colour, strict=True))
    return np.asarray(cv2.merge([_box(np.asarray(p, np.float32), radius) for p in (*slopes, constant)]), np.float32)


def guided_values(guide: Floats, coefficients: Floats) -> Floats:
    """(h, w): the function of `guided_coefficients` (h, w, 4) at a guide (h, w, 3), scale 0..1."""
    out = coefficients[..., 3].copy()
    for k in range(3):
        out += coefficients[..., k] * guide[..., k]
    return out


def harmonic(image: Floats, hole: NDArray[np.bool_], steps: int = 8) -> Floats:
    """Fills a hole by the smoothest surface that meets its rim (Laplace's equation), so that no outline of the hole remains.

    Coarse to fine with a few Jacobi steps at each size: within a level or two of the solution, in a hundredth of its time.

    Args:
        image: (h, w, 3).
        hole: (h, w); nothing is read under it.

    Returns:
        A new (h, w, 3) float32, equal to `image` outside the hole.
    """
    if not hole.any():
        return image.copy()
    rows, columns = np.flatnonzero(hole.any(1)), np.flatnonzero(hole.any(0))
    rim = 24  # what the coarser levels read round the hole
    top, bottom = max(0, rows[0] - rim), rows[-1] + rim + 1
    left, right = max(0, columns[0] - rim), columns[-1] + rim + 1
    out = image.copy()
    out[top:bottom, left:right] = _relaxed(image[top:bottom, left:right], hole[top:bottom, left:right], steps)
    return out


def nearby(image: Floats, weight: Floats, sigma: float) -> tuple[Floats, Floats]:
    """Normalised convolution: the Gaussian mean of (h, w, k) over what is weighted, and how much weight lay within reach (0..1)."""
    height, width = weight.shape
    step = max(1, min(int(sigma / 4), height // 2, width // 2))
    stack = cv2.merge([*(cv2.multiply(c, weight) for c in cv2.split(image)), weight])
    if step > 1:
        stack = cv2.resize(stack, (max(1, width // step), max(1, height // step)), interpolation=cv2.INTER_AREA)
    *sums, total = cv2.split(cv2.GaussianBlur(stack, (0, 0), sigma / step))
    floor = np.maximum(total, np.float32(1e-4))
    mean = cv2.merge([cv2.divide(s, floor) for s in sums])
    if step > 1:
        mean, total = (cv2.resize(x, (width, height), interpolation=cv2.INTER_LINEAR) for x in (mean, total))
    return np.asarray(mean, np.float32).reshape(*weight.shape, -1), np.asarray(total, np.float32)


def _box(plane: Floats, radius: int) -> Floats:
    side = 2 * radius + 1
    return np.asarray(cv2.boxFilter(plane, -1, (side, side), borderType=cv2.BORDER_REFLECT), np.float32)


def _relaxed(image: Floats, hole: NDArray[np.bool_], steps: int) -> Floats:
    height, width = hole.shape
    if min(height, width) < 12:
        level = image[~hole].mean(0) if not hole.all() else image.mean((0, 1))
        return np.where(hole[..., None], level, image).astype(np.float32)
    known = np.asarray(~hole, np.float32)
    half = (width // 2, height // 2)
    weight = np.asarray(cv2.resize(known, half, interpolation=cv2.INTER_AREA), np.float32)
    small = cv2.resize(image * known[..., None], half, interpolation=cv2.INTER_AREA) / np.maximum(weight, 1e-3)[..., None]
    coarse = _relaxed(np.asarray(small, np.float32), weight < 0.02, steps)
    mask = hole.astype(np.uint8)
    out = image.copy()
    cv2.copyTo(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR), mask, out)
    for _ in range(steps):
        cv2.copyTo(cv2.blur(out, (3, 3)), mask, out)
    return out
