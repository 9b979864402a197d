"""Soft masks: (h, w) float32, 0..1."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Floats, Pixels

TINT = (0, 208, 255)  # RGB: no skin has it, and in greys it is light


def polygon(points: NDArray[np.floating], height: int, width: int) -> Floats:
    """A filled polygon (n, 2), edges antialiased to 1/16 px; parts outside the grid are cut off."""
    canvas = np.zeros((height, width), np.uint8)
    cv2.fillPoly(canvas, [np.round(points[:, :2] * 16).astype(np.int32)], 255, lineType=cv2.LINE_AA, shift=4)
    return np.asarray(canvas, np.float32) / np.float32(255)


def convex(points: NDArray[np.floating]) -> Floats:
    """The convex hull (m, 2) of points (n, 2 or 3), as an outline for `polygon`."""
    return np.asarray(cv2.convexHull(points[:, :2].astype(np.float32))[:, 0], np.float32)


def polyline(points: NDArray[np.floating], thickness: float, height: int, width: int) -> Floats:
    """An open antialiased line through (n, 2) points, `thickness` px wide (at least 1) and about one more soft at each side."""
    canvas = np.zeros((height, width), np.uint8)
    line = [np.round(points[:, :2] * 16).astype(np.int32)]
    cv2.polylines(canvas, line, False, 255, max(1, round(thickness)), cv2.LINE_AA, 4)
    return np.asarray(canvas, np.float32) / np.float32(255)


def disk(centre: NDArray[np.floating], radius: float, height: int, width: int) -> Floats:
    """A filled circle with an edge one pixel soft. `centre` is x, y."""
    y, x = np.ogrid[:height, :width]
    distance = np.hypot(x - float(centre[0]), y - float(centre[1]))
    return np.clip(radius - distance + 0.5, 0, 1).astype(np.float32)


def soften(mask: Floats, sigma: float) -> Floats:
    """Gaussian blur; a sigma under 0.3 px changes nothing that bytes can hold, and is skipped."""
    return mask if sigma < 0.3 else np.asarray(cv2.GaussianBlur(mask, (0, 0), sigma), np.float32)


def grow(mask: Floats, radius: float) -> Floats:
    """Dilation by a round element of `radius` px, rounded; under half a pixel nothing changes."""
    return _morph(mask, radius, cv2.MORPH_DILATE)


def shrink(mask: Floats, radius: float) -> Floats:
    """Erosion by a round element of `radius` px; what lies outside the grid counts as not masked."""
    return _morph(mask, radius, cv2.MORPH_ERODE)


def depth(inside: NDArray[np.bool_] | Pixels) -> Floats:
    """(H, W) distance of each pixel of an area to the area's edge, in pixels; -0.5 outside. At the grid's border an area doesn't end.

    Args:
        inside: (H, W), True or 1 within the area.
    """
    framed = cv2.copyMakeBorder(inside.astype(np.uint8), 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    return np.asarray(cv2.distanceTransform(framed, cv2.DIST_L2, cv2.DIST_MASK_5)[1:-1, 1:-1] - np.float32(0.5), np.float32)


def smoothstep(x: Floats, low: float, high: float) -> Floats:
    """0 up to `low`, 1 from `high`, a cubic without a kink between them (`low` may exceed `high`)."""
    t = np.clip((x - low) / (high - low), 0, 1)
    return np.asarray(t * t * (3 - 2 * t), np.float32)


def to_bytes(mask: Floats) -> Pixels:
    """0..1 → 0..255, rounded."""
    return np.asarray(np.clip(mask * 255 + 0.5, 0, 255), np.uint8)


def overlay(pixels: Pixels, mask: Pixels, colour: tuple[int, int, int] = TINT) -> Pixels:
    """A picture with a mask made visible: tinted by half as far as it goes, and a line at its middle.

    Args:
        pixels: (H, W, 3) uint8 RGB; not changed. mask: (H, W) uint8.
    """
    out = pixels.copy()
    left, top, width, height = cv2.boundingRect(mask)
    part = np.s_[top : top + height, left : left + width]
    if not width:
        return out
    share = (mask[part].astype(np.float32) / np.float32(510))[..., None]
    out[part] = np.rint(pixels[part] + share * (np.array(colour, np.float32) - pixels[part])).astype(np.uint8)
    edges, _ = cv2.findContours((mask >= 128).astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(out, edges, -1, colour, max(1, round(max(pixels.shape[:2]) / 800)), cv2.LINE_AA)
    return out


def signed_distance(points: NDArray[np.floating], outline: NDArray[np.floating]) -> NDArray[np.float64]:
    """Distance of each point (n, 2) to a closed polygon (m, 2): positive inside, negative outside, in the points' unit."""
    p, start = points[:, None, :2].astype(np.float64), outline[None, :, :2].astype(np.float64)
    end = np.roll(start, -1, 1)
    along = end - start
    t = np.clip(((p - start) * along).sum(2) / np.maximum((along**2).sum(2), 1e-12), 0, 1)
    nearest = np.linalg.norm(start + t[..., None] * along - p, axis=2).min(1)
    # even-odd rule: a ray to the right crosses the outline an odd number of times from inside
    straddles = (start[..., 1] > p[..., 1]) != (end[..., 1] > p[..., 1])
    rise = np.where(np.abs(along[..., 1]) > 1e-12, along[..., 1], 1e-12)
    crossing = start[..., 0] + (p[..., 1] - start[..., 1]) / rise * along[..., 0]
    inside = (straddles & (p[..., 0] < crossing)).sum(1) % 2 == 1
    return np.asarray(np.where(inside, nearest, -nearest), np.float64)


def _morph(mask: Floats, radius: float, operation: int) -> Floats:
    r = round(radius)
    if r < 1:
        return mask
    element = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * r + 1, 2 * r + 1))
    return np.asarray(cv2.morphologyEx(mask, operation, element, borderType=cv2.BORDER_CONSTANT, borderValue=0), np.float32)
