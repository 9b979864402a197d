"""Triangle meshes turned into maps over pixels, without a loop over triangles or pixels.

A pixel's centre is at whole coordinates, as everywhere in this project. Every candidate pixel of every triangle's bounding box
is tested in one go; a 902-triangle face on a 256 x 256 grid takes 2-4 ms.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Floats, Pixels

_EDGE = 1e-5  # barycentric slack, so that no pixel on a shared edge falls between two triangles


@dataclass(frozen=True, slots=True)
class RasterMap:
    """Which triangle covers each pixel, and where in it the pixel lies.

    Attributes:
        triangles: (n, 3) int32, the mesh's vertex numbers.
        index: (h, w) int32, row of `triangles`; -1 where nothing is.
        weights: (h, w, 3) float32, barycentric; they sum to 1 where covered and are 0 elsewhere.
    """

    triangles: NDArray[np.int32]
    index: NDArray[np.int32]
    weights: Floats

    @property
    def covered(self) -> NDArray[np.bool_]:
        return np.asarray(self.index >= 0)

    def interpolate(self, values: NDArray[np.floating]) -> Floats:
        """Per-vertex values (v, k) → (h, w, k) float32, linear within each triangle, 0 where nothing is."""
        corners = values.astype(np.float32)[self.triangles]  # (n, 3, k)
        out = np.zeros((*self.index.shape, values.shape[1]), np.float32)
        inside = self.index >= 0
        weights, corner = self.weights[inside], corners[self.index[inside]]
        out[inside] = sum(weights[:, k, None] * corner[:, k] for k in range(3))
        return out


def rasterise(
    points: NDArray[np.floating], depth: NDArray[np.floating], triangles: NDArray[np.int32], height: int, width: int
) -> RasterMap:
    """Draws a mesh on a grid; the nearest triangle wins, triangles that face away are left out.

    Args:
        points: (v, 2) x, y in pixels of the grid; may lie outside it.
        depth: (v,) smaller is nearer.
        triangles: (n, 3) vertex numbers, positive area in image coordinates when they face the viewer.
    """
    corner = points.astype(np.float64)[triangles]  # (n, 3, 2)
    edge1, edge2 = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    area = edge1[:, 0] * edge2[:, 1] - edge1[:, 1] * edge2[:, 0]
    limit = np.array([width, height])
    low = np.clip(np.ceil(corner.min(1) - _EDGE), 0, limit).astype(np.int32)
    high = np.clip(np.floor(corner.max(1) + _EDGE) + 1, 0, limit).astype(np.int32)
    extent = np.maximum(high - low, 0)
    order = np.argsort(-depth[triangles].mean(1), kind="stable")  # far first: the last write at a pixel stays
    order = order[(area[order] > 1e-9) & (extent[order].prod(1) > 0)]

    count = extent[order].prod(1)
    owner = np.repeat(order, count)
    position = np.arange(owner.size) - np.repeat(np.cumsum(count) - count, count)
    row, column = np.divmod(position, extent[owner, 0])
    x, y = column + low[owner, 0], row + low[owner, 1]

    # second and third barycentric coordinate as planes a·x + b·y + c, the first is what remains
    inverse = 1 / np.where(np.abs(area) > 1e-9, area, 1)
    plane = np.empty((len(triangles), 2, 3))
    plane[:, 0, :2] = np.column_stack([edge2[:, 1], -edge2[:, 0]]) * inverse[:, None]
    plane[:, 1, :2] = np.column_stack([-edge1[:, 1], edge1[:, 0]]) * inverse[:, None]
    plane[:, :, 2] = -np.einsum("nki,ni->nk", plane[:, :, :2], corner[:, 0])
    second = plane[owner, 0, 0] * x + plane[owner, 0, 1] * y + plane[owner, 0, 2]
    third = plane[owner, 1, 0] * x + plane[owner, 1, 1] * y + plane[owner, 1, 2]
    hit = (second >= -_EDGE) & (third >= -_EDGE) & (second + third <= 1 + _EDGE)

    index = np.full((height, width), -1, np.int32)
    weights = np.zeros((height, width, 3), np.float32)
    y, x, second, third = y[hit], x[hit], second[hit], third[hit]
    index[y, x] = owner[hit]
    weights[y, x] = np.stack([1 - second - third, second, third], 1)
    return RasterMap(triangles, index, weights)


def extend(field: Floats, known: Floats) -> Floats:
    """Push-pull: a field carried smoothly from where it is known into the rest.

    Args:
        field: (h, w, k) float32.
        known: (h, w) float32, 0..1, how much each pixel's value counts.

    Returns:
        (h, w, k) float32; equal to `field` where `known` is 1.
    """
    channels = field.shape[2]
    levels: list[tuple[Floats, Floats]] = [(field * known[..., None], known)]
    while min(levels[-1][1].shape) > 2:
        value, weight = levels[-1]
        down = np.asarray(cv2.pyrDown(value), np.float32)
        levels.append((down.reshape(*down.shape[:2], channels), np.asarray(cv2.pyrDown(weight), np.float32)))
    result = levels[-1][0] / np.maximum(levels[-1][1], 1e-5)[..., None]
    for value, weight in levels[-2::-1]:
        height, width = weight.shape
        coarse = cv2.pyrUp(result, dstsize=(width, height)).reshape(height, width, channels)
        trust = np.minimum(weight * 1.25, 1)[..., None]
        result = value / np.maximum(weight, 1e-5)[..., None] * trust + coarse * (1 - trust)
    return np.asarray(result, np.float32)


def look_up(image: Pixels, at: Floats) -> Pixels:
    """Values of an image (H, W[, k]) uint8 at positions (h, w, 2) in its pixels, bilinear; the edge is carried on beyond it."""
    x, y = cv2.split(at)
    return np.asarray(cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def enlarge(field: Floats, size: int) -> Floats:
    """(h, w[, k]) float32 → (size, size[, k]), bilinear, pixel centres kept in place."""
    return np.asarray(cv2.resize(field, (size, size), interpolation=cv2.INTER_LINEAR), np.float32)


def on_grid(points: NDArray[np.floating], size: int, grid: int) -> NDArray[np.float64]:
    """Points (v, 2) of a picture of side `size` in pixels of the same picture at side `grid`."""
    return (points.astype(np.float64) + 0.5) * (grid / size) - 0.5
