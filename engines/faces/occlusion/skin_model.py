"""What this face's skin looks like at each place, fitted so that what lies over the face doesn't take part.

Light is a smooth trend with a fall-off at the outline; chroma is a linear trend and a function of the light, because skin reddens in
the shade. The fit starts at the mode of the chroma: a mask over half of the face doesn't become the skin.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.faces.occlusion.scene import FACE, SIDE, Scene, rgb_of
from engines.types import Floats
from engines.vision.matting import nearby

_SAMPLES = 1800
# Least and largest spread of light and chroma: under it noise would count as an object, over it hair as skin.
_FIT = np.array([[0.07, 0.013, 0.015], [0.2, 0.04, 0.045]])
_USE = np.array([[0.1, 0.018, 0.02], [0.2, 0.04, 0.045]])
_LIGHT_RIDGE = np.array([0, 1, 1, 0.3, 0.3, 4, 4, 4]) * 0.006
_CHROMA_RIDGE = np.array([0, 1, 1, 0.3, 0.3, 0.3, 0.3, 0.3]) * 0.01
_LOCAL = np.array([0.5, 0.03, 0.03], np.float32)  # how far the local refinement may leave the trend


@dataclass(frozen=True, slots=True)
class Skin:
    """Maps (SIDE, SIDE, 3) float32.

    Attributes:
        trend: the values (`Scene.values`) that bare skin has at each place.
        spread: (3,) float32, how far skin scatters about it.
        ground: the trend as RGB 0..255: what a solid thing is filled with.
    """

    trend: Floats
    spread: Floats
    ground: Floats


def fit(scene: Scene) -> Skin:
    """The skin of a face. Never fails: with too little bare skin the trend is its mean."""
    trusted, values = scene.trusted, scene.values
    rows, columns = np.nonzero(trusted > 0.05)
    if len(rows) < 50:
        rows, columns = (v.ravel() for v in np.mgrid[SIDE // 4 : 3 * SIDE // 4 : 3, SIDE // 4 : 3 * SIDE // 4 : 3])
    step = max(1, len(rows) // _SAMPLES)
    rows, columns = rows[::step], columns[::step]
    prior = np.maximum(trusted[rows, columns].astype(np.float64), 1e-3)
    sample = values[rows, columns].astype(np.float64)
    base = _base(scene)
    place = base[rows, columns].astype(np.float64)
    centre = _mode(sample, prior)

    light_fit, chroma_fit = np.zeros(8), np.zeros((8, 2))
    span = (-0.6, 0.35)
    residual, spread = sample - centre, np.array([0.15, 0.03, 0.035])
    for turn in range(6):
        squared = (residual / spread) ** 2
        weight = prior / (1 + squared[:, 0] * 0.2 + (squared[:, 1] + squared[:, 2]) * 0.4) ** 2
        kept = weight > 0.15 * prior
        if turn and kept.sum() > 50:
            low, high = np.quantile(sample[kept, 0] - centre[0], [0.02, 0.98])
            span = (float(low), float(high))
        tinted = np.concatenate([place[:, :5], _of_light(np.clip(sample[:, 0] - centre[0], *span))], 1)
        light_fit = _solve(place, sample[:, 0] - centre[0], weight, _LIGHT_RIDGE)
        chroma_fit = _solve(tinted, sample[:, 1:] - centre[1:], weight, _CHROMA_RIDGE)
        residual = np.column_stack([sample[:, 0] - centre[0] - place @ light_fit, sample[:, 1:] - centre[1:] - tinted @ chroma_fit])
        sure = weight >= np.quantile(weight, 0.3)
        spread = np.clip(np.median(np.abs(residual)[sure], 0) * 1.6, *_FIT)

    def chroma(light: Floats) -> Floats:
        tinted = np.concatenate([base[..., :5], _of_light(np.clip(light - np.float32(centre[0]), *span))], -1)
        return np.asarray(tinted @ chroma_fit.astype(np.float32) + centre[1:].astype(np.float32), np.float32)

    light = base @ light_fit.astype(np.float32) + np.float32(centre[0])
    trend = np.dstack([light, chroma(values[..., 0])]).astype(np.float32)
    final = np.clip(spread, *_USE).astype(np.float32)
    # what fits may refine the trend where it is
    z = (values - trend) / final
    off = z[..., 0] ** 2 * 0.36 + z[..., 1] ** 2 + z[..., 2] ** 2
    near = (trusted > 0).astype(np.float32) / (1 + (off / 4) ** 3)
    local, support = nearby(values - trend, near.astype(np.float32), 22)
    trend += np.clip(local, -_LOCAL, _LOCAL) * np.clip(support / 0.25, 0, 1)[..., None]
    ground = rgb_of(np.dstack([trend[..., 0], chroma(trend[..., 0])]).astype(np.float32))
    return Skin(trend, final, ground)


def _base(scene: Scene) -> Floats:
    """(SIDE, SIDE, 8): 1, x, y, the fall-off at the outline, that times x, and the second degree."""
    centre = scene.points[:468, :2].mean(0)
    x = np.clip((np.arange(SIDE) - centre[0]) / FACE, -0.55, 0.55)[None, :] + np.zeros((SIDE, 1))
    y = np.clip((np.arange(SIDE) - centre[1]) / FACE, -0.6, 0.6)[:, None] + np.zeros((1, SIDE))
    fall = np.clip(1 - scene.depth / 26, 0, 1) ** 2
    return np.dstack([np.ones_like(x), x, y, fall, fall * x * 2, x * x, x * y, y * y]).astype(np.float32)


def _of_light(light: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.stack([light, light * light, np.maximum(light - 0.25, 0)], -1)


def _mode(sample: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """The densest colour: weighted medians, then mean shift with a narrowing kernel."""
    out = np.empty(3)
    for k in range(3):
        order = np.argsort(sample[:, k])
        out[k] = sample[order[np.searchsorted(np.cumsum(prior[order]), prior.sum() / 2)], k]
    for width in (0.12, 0.08, 0.06, 0.06, 0.06):
        square = (sample - out) ** 2
        weight = prior * np.exp(-(square[:, 1] + square[:, 2]) / (2 * width * width) - square[:, 0] / 0.245)
        out = (sample * weight[:, None]).sum(0) / max(float(weight.sum()), 1e-12)
    return out


def _solve(
    base: NDArray[np.float64], wanted: NDArray[np.float64], weight: NDArray[np.float64], ridge: NDArray[np.float64]
) -> NDArray[np.float64]:
    weighted = (base * weight[:, None]).T
    return np.asarray(np.linalg.solve(weighted @ base + np.diag(ridge + 1e-9) * weight.sum(), weighted @ wanted))
