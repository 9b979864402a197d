"""Colour and light of a picture, and the bands of its fine structure: how strong each is, and where.

Pictures are (h, w, 3) float32 RGB on the scale 0..255 unless said; weights are (h, w) float32 0..1; Lab is CIE 1976 L*a*b* (D65),
L 0..100.
"""

import itertools
from dataclasses import dataclass

import cv2
import numpy as np

from engines.types import Floats

LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R BT.601, the weights of every 8-bit codec met here
LUMINANCE = np.array([0.2126, 0.7152, 0.0722], np.float32)  # ITU-R BT.709, of linear light in sRGB's primaries
# sRGB's curve above its toe is ((v + .055) / 1.055) ** 2.4 (IEC 61966-2-1): a factor on linear light is one on `level + _OFFSET`, so that
# light is multiplied at full size without a power per pixel. Under 10 levels the true curve is straight; there this one is used as well.
_OFFSET, _EXPONENT = 255 * 0.055, 2.4


def to_lab(rgb: Floats) -> Floats:
    """RGB 0..255 → Lab; values outside the range are clipped first."""
    return np.asarray(cv2.cvtColor(np.clip(rgb, 0, 255) * np.float32(1 / 255), cv2.COLOR_RGB2Lab), np.float32)


def to_rgb(lab: Floats) -> Floats:
    """Lab → RGB 0..255, within range."""
    return np.asarray(cv2.cvtColor(lab, cv2.COLOR_Lab2RGB), np.float32) * np.float32(255)


def log_light(rgb: Floats) -> Floats:
    """RGB 0..255 → natural logarithm of linear light, white 0, black -7.1."""
    encoded = (np.clip(rgb, 0, 255) + np.float32(_OFFSET)) * np.float32(1 / (255 + _OFFSET))
    return np.asarray(_EXPONENT * cv2.log(encoded), np.float32)


def relit(rgb: Floats, log_gain: Floats) -> Floats:
    """RGB 0..255 with its linear light multiplied by `exp(log_gain)` (h, w, 3); may leave the range."""
    factor = np.asarray(cv2.exp(log_gain * np.float32(1 / _EXPONENT)), np.float32)
    offset = (_OFFSET,) * 3  # a scalar to OpenCV, of which its stubs know nothing
    out = cv2.multiply(cv2.add(rgb, offset), factor)  # type: ignore[call-overload]
    return np.asarray(cv2.subtract(out, offset, dst=out), np.float32)  # type: ignore[call-overload]


def low_pass(image: Floats, weight: Floats, sigma: float) -> Floats:
    """Gaussian mean of an image (h, w[, k]) over the weighted pixels only; large kernels run on a reduced image."""
    height, width = weight.shape
    channels = [image] if image.ndim == 2 else list(cv2.split(image))
    stack = cv2.merge([*(cv2.multiply(channel, weight) for channel in channels), weight])
    step = _step(sigma / 4, height, width)
    if step > 1:
        stack = cv2.resize(stack, (width // step, height // step), interpolation=cv2.INTER_AREA)
    *sums, total = cv2.split(cv2.GaussianBlur(stack, (0, 0), max(sigma / step, 0.3)))
    total = np.maximum(total, 1e-3)
    mean = cv2.merge([cv2.divide(part, total) for part in sums])
    if step > 1:
        mean = cv2.resize(mean, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(mean, np.float32).reshape(image.shape)


def _step(wanted: float, height: int, width: int) -> int:
    """The largest power of two up to `wanted` that divides both sides: such a reduction by area is many times as fast."""
    step = 1
    while step * 2 <= wanted and height % (step * 2) == 0 and width % (step * 2) == 0:
        step *= 2
    return step


def luma(image: Floats) -> Floats:
    """(h, w, 3) → (h, w)."""
    return np.asarray(cv2.transform(image, LUMA[None]), np.float32)


def bands(image: Floats, count: int) -> tuple[Floats, ...]:
    """Differences of Gaussians of (h, w): band i holds structure about 2^i px wide.

    Bands 0 and 1 come at full size, the others at half size (`size_of_band`), which loses nothing there and costs a quarter.
    """
    levels = [image] + [np.asarray(cv2.GaussianBlur(image, (0, 0), 0.8 * 2**i), np.float32) for i in range(min(count, 2))]
    out = [a - b for a, b in itertools.pairwise(levels)]
    if count > 2:
        height, width = image.shape
        half = cv2.resize(levels[-1], (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA)
        # blurring by 1.6 px is done; the rest to 0.8 * 2^i is added in quadrature, at half size
        lower = [half]
        for i in range(2, count):
            lower.append(cv2.GaussianBlur(half, (0, 0), 0.5 * float(np.sqrt((0.8 * 2**i) ** 2 - 1.6**2))))
        out += [np.asarray(a - b, np.float32) for a, b in itertools.pairwise(lower)]
    return tuple(out)


def quiet_energy(band: Floats, weight: Floats, sigma: float, percentile: float = 40.0) -> float:
    """Root mean square of a band in the quieter places of a weighted region: grain and pores, not edges.

    The local energy is measured at scale `sigma`, and the given percentile over places is taken. 0 where nothing is weighted.
    """
    height, width = band.shape
    step = _step(sigma, height, width)
    squared = cv2.multiply(cv2.multiply(band, band), weight)
    stack = cv2.merge([squared, weight])
    if step > 1:
        stack = cv2.resize(stack, (width // step, height // step), interpolation=cv2.INTER_AREA)
    square, covered = (np.asarray(x) for x in cv2.split(cv2.GaussianBlur(stack, (0, 0), max(sigma / step, 0.3))))
    counted = covered >= max(0.5 * float(covered.max()), 1e-3)
    if not counted.any():
        return 0.0
    return float(np.percentile(np.sqrt(np.maximum(square[counted], 0) / covered[counted]), percentile))


@dataclass(frozen=True, slots=True)
class Spread:
    """How strong a band is over a region.

    Attributes:
        whole: its root mean square in the quieter places, the 25th percentile: grain and pores, not creases.
        local: (h, w) float32 on a coarse grid, the same place by place, held near `whole`; `whole` where nothing is weighted.
    """

    whole: float
    local: Floats


def spread(band: Floats, weight: Floats, sigma: float, limits: tuple[float, float]) -> Spread:
    """Measures a band (h, w) where it is weighted, at scale `sigma` in px; a place counts within `limits` of the whole."""
    height, width = band.shape
    step = _step(sigma, height, width)
    stack = cv2.merge([cv2.multiply(cv2.multiply(band, band), weight), weight])
    if step > 1:
        stack = cv2.resize(stack, (width // step, height // step), interpolation=cv2.INTER_AREA)
    square, covered = (np.asarray(x, np.float32) for x in cv2.split(cv2.GaussianBlur(stack, (0, 0), max(sigma / step, 0.3))))
    level = np.sqrt(np.maximum(square, 0) / np.maximum(covered, 1e-4))
    counted = covered >= max(0.5 * float(covered.max()), 1e-3)
    if not counted.any():
        return Spread(0.0, np.zeros_like(level))
    whole = float(np.percentile(level[counted], 25))
    sure = np.clip(covered * 2, 0, 1)
    local = np.clip(level, limits[0] * whole, limits[1] * whole) * sure + whole * (1 - sure)
    return Spread(whole, np.asarray(local, np.float32))


def random_phase(patch: Floats, side: int, seed: int) -> Floats:
    """(side, side) float32: noise with the amplitude spectrum of a patch (n, n), n <= side, mean 0; it tiles without a seam.

    B. Galerne et al., "Random Phase Textures: Theory and Synthesis" (2011). The same seed gives the same bytes.
    """
    n = patch.shape[0]
    window = np.hanning(n + 2)[1:-1]
    centred = patch - patch.mean()
    strength = np.abs(np.fft.fft2(centred * np.outer(window, window))).astype(np.float32)
    strength = np.asarray(cv2.GaussianBlur(cv2.copyMakeBorder(strength, 2, 3, 2, 3, cv2.BORDER_WRAP), (0, 0), 0.7)[2:-2, 2:-2], np.float32)
    y, x = np.fft.fftfreq(side) * n % n, np.fft.rfftfreq(side) * n % n
    across, down = (axis.astype(np.float32) for axis in np.meshgrid(x, y))
    spectrum = cv2.remap(strength, across, down, cv2.INTER_LINEAR)
    white = np.fft.rfft2(np.random.default_rng(seed).standard_normal((side, side)))
    white[0, 0] = 0
    return np.asarray(np.fft.irfft2(white * spectrum, s=(side, side)), np.float32)


def tiled(tile: Floats, side: int) -> Floats:
    """(side, side) of a tile (n, n) laid side by side."""
    times = -(-side // tile.shape[0])
    return np.tile(tile, (times, times))[:side, :side]


def edge_energy(band: Floats, weight: Floats) -> float:
    """Root mean square of a band over a weighted region: how sharp its edges are."""
    squared = cv2.multiply(cv2.multiply(band, band), weight)
    return float(np.sqrt(cv2.sumElems(squared)[0] / max(cv2.sumElems(weight)[0], 1e-6)))
