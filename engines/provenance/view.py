"""A picture as it is looked at: without transparency, and no larger than it needs to be."""

import cv2
import numpy as np

from engines.types import Pixels
from engines.vision.geometry import halved

_STRIP_PIXELS = 1 << 20


def on_white(pixels: Pixels, alpha: Pixels | None) -> Pixels:
    """Lays a picture on white.

    Args:
        pixels: (H, W, 3) uint8. alpha: (H, W) uint8, or None for an opaque picture.

    Returns:
        (H, W, 3) uint8, rounded to the nearest; `pixels` itself where there is no alpha.
    """
    if alpha is None:
        return pixels
    out = np.empty_like(pixels)
    rows = max(1, _STRIP_PIXELS // pixels.shape[1])
    for top in range(0, pixels.shape[0], rows):
        part = alpha[top : top + rows, :, None].astype(np.uint32)
        mixed = pixels[top : top + rows] * part + 255 * (255 - part)
        out[top : top + rows] = (mixed * 2 + 255) // 510
    return out


def shrunk(pixels: Pixels, alpha: Pixels | None, long: int) -> tuple[Pixels, Pixels | None]:
    """A picture with at most `long` pixels at its longer side, areas averaged; the same arrays where it is no larger."""
    height, width = pixels.shape[:2]
    factor = long / max(height, width)
    if factor >= 1:
        return pixels, alpha
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    return reduced(pixels, size), None if alpha is None else reduced(alpha, size)


def reduced(image: Pixels, size: tuple[int, int]) -> Pixels:
    """(H, W[, 3]) uint8 averaged to (width, height) pixels: halved as often as that goes, which takes half the time of one step."""
    return np.asarray(cv2.resize(halved(image, max(size))[0], size, interpolation=cv2.INTER_AREA), np.uint8)
