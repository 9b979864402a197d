"""Where a target's face is cut out, and where each pixel of the cut takes its values from."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, LIPS_OUTER, chart
from engines.faces.geometry_transfer import CLOSED, Points, facing, mixed, mouth_opening, sewn, width, without_teeth
from engines.types import FaceMesh, Floats, Matrix, Pixels
from engines.vision.geometry import apply, compose, invert, scale_of
from engines.vision.mask import soften
from engines.vision.raster import enlarge, extend, look_up, on_grid, rasterise

CROP = 1.2  # side of the crop in face widths
STEP, LEAST, MOST = 64, 256, 1024  # the crop's side is a multiple of STEP within these bounds, no coarser than the picture


@dataclass(frozen=True, slots=True)
class Placement:
    """One target's face in its crop. Meshes are in pixels of the crop, coarse maps (g, g[, k]) float32.

    Attributes:
        matrix: picture → crop. size: the crop's side S. grid: the side g of the coarse maps.
        pixels: (S, S, 3) uint8 RGB, the target.
        target: (478, 3), its mesh.
        shape: (478, 3), the mesh that the fusion gives it.
        sealed: the target's mouth is shut and the source's isn't: lips are painted, no mouth.
        uv: chart positions 0..1 for each coarse pixel. origin: where the target's own pixel lay before its shape was changed.
        covered: 1 on the mesh. facing: z of the target's normal. doubt: see `Chart.doubt`.
    """

    matrix: Matrix
    size: int
    grid: int
    pixels: Pixels
    target: Points
    shape: Points
    sealed: bool
    chart_points: Points
    uv: Floats
    origin: Floats
    covered: Floats
    facing: Floats
    doubt: Floats

    @property
    def face_width(self) -> float:
        """Of the target, in pixels of the crop."""
        return width(self.target)

    @property
    def coarse_width(self) -> float:
        """Of the target, in pixels of the coarse grid."""
        return width(self.target) * self.grid / self.size

    def coarse(self, mesh: Points) -> Points:
        """Points of the crop in pixels of the coarse grid: (478, 2)."""
        return on_grid(mesh[:, :2], self.size, self.grid)

    def fine_uv(self) -> Floats:
        """(S, S, 2) chart positions at full size.

        Enlarging the coarse map blends across sewn lips, and with them in the teeth: there the mesh is drawn at full size.
        """
        out = enlarge(self.uv, self.size)
        if self.sealed:
            left, top, right, bottom = window(self.shape[LIPS_OUTER], 3, self.size)
            local = self.shape[:, :2] - [left, top]
            drawn = rasterise(local, self.target[:, 2], chart().raster.triangles, bottom - top, right - left)
            exact = drawn.interpolate(self.chart_points)
            part = out[top:bottom, left:right]
            part[drawn.covered] = exact[drawn.covered]
        return out

    def own(self) -> Floats:
        """(S, S, 3) float32: the target's pixels moved to the fusion's shape."""
        return np.asarray(look_up(self.pixels, enlarge(self.origin, self.size)), np.float32)

    def round_trip(self, image: Floats) -> Floats:
        """(S, S) float32 carried to the picture's pixels and back: what bilinear sampling takes away, and leaves."""
        corners = apply(invert(self.matrix), [(0, 0), (self.size, 0), (0, self.size), (self.size, self.size)])
        start, stop = np.floor(corners.min(0)), np.ceil(corners.max(0))
        matrix = compose(self.matrix, np.array([[1.0, 0.0, start[0]], [0.0, 1.0, start[1]]]))
        wide, high = (int(n) for n in stop - start)
        there = cv2.warpAffine(image, matrix, (wide, high), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE)
        back = cv2.warpAffine(there, matrix, (self.size, self.size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(back, np.float32)


def place(pixels: Pixels, mesh: FaceMesh, source: Points, strength: float) -> Placement:
    """Cuts a face out and lays the mesh for it.

    Args:
        pixels: (H, W, 3) uint8 RGB, the target's whole picture.
        mesh: the face in it.
        source: (478, 3), the source's mesh, in its own picture's pixels.
        strength: 0..1, how far the shape moves to the source's.
    """
    matrix, size = crop_matrix(mesh)
    points = mesh.points.astype(np.float64)
    target = np.column_stack([apply(matrix, points[:, :2]), points[:, 2] * scale_of(matrix)])
    sealed = mouth_opening(target) <= CLOSED < mouth_opening(source)
    shape, uv, table = mixed(source, target, strength), chart().uv, chart()
    if sealed:
        shape, uv = sewn(shape), without_teeth(uv)

    grid = int(np.clip(size * 3 // 8 // 32 * 32, 128, 192))  # maps are piecewise affine: a finer grid changes under 0.2 px
    drawn = rasterise(on_grid(shape[:, :2], size, grid), target[:, 2], table.raster.triangles, grid, grid)
    covered = drawn.covered.astype(np.float32)
    values = np.column_stack([uv, (target - shape)[:, :2], facing(target), table.doubt])
    field = extend(drawn.interpolate(values), covered)
    axis = ((np.arange(grid, dtype=np.float32) + 0.5) * (size / grid) - 0.5).astype(np.float32)
    origin = field[..., 2:4] * soften(covered, grid / 48)[..., None] + np.dstack(np.meshgrid(axis, axis))
    return Placement(
        matrix,
        size,
        grid,
        _cut(pixels, matrix, size),
        target,
        shape,
        sealed,
        uv,
        np.ascontiguousarray(field[..., :2]),
        np.asarray(origin, np.float32),
        covered,
        field[..., 4],
        np.clip(field[..., 5], 0, 1),
    )


def crop_matrix(mesh: FaceMesh) -> tuple[Matrix, int]:
    """Picture → crop with the eyes level and the face in the middle, and the crop's side."""
    points = mesh.points[:468, :2].astype(np.float64)
    right, left = points[EYE_RINGS[0]].mean(0), points[EYE_RINGS[1]].mean(0)
    angle = np.arctan2(left[1] - right[1], left[0] - right[0])
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    upright = points @ turn.T
    low, high = upright.min(0), upright.max(0)
    side = CROP * float((high - low).max())
    size = int(np.clip(np.ceil(0.97 * side / STEP) * STEP, LEAST, MOST))
    return np.column_stack([turn * (size / side), (size - 1) / 2 - (low + high) / 2 * (size / side)]), size


def window(points: NDArray[np.floating], rim: float, size: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of the points' bounds, `rim` px wider, within a crop of side `size` (at least one pixel)."""
    low = np.clip(np.floor(points[:, :2].min(0) - rim), 0, size - 1).astype(int)
    high = np.clip(np.ceil(points[:, :2].max(0) + rim) + 1, low + 1, size).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _cut(pixels: Pixels, matrix: Matrix, size: int) -> Pixels:
    """The crop; the picture's edge is carried on beyond it."""
    placed = apply(invert(matrix), [(-2, -2), (size + 2, -2), (-2, size + 2), (size + 2, size + 2)])
    limit = np.array([pixels.shape[1], pixels.shape[0]])
    start = np.clip(np.floor(placed.min(0)).astype(int), 0, limit - 1)
    stop = np.clip(np.ceil(placed.max(0)).astype(int) + 1, start + 1, limit)
    part = pixels[start[1] : stop[1], start[0] : stop[0]]
    moved = matrix.copy()
    moved[:, 2] += matrix[:, :2] @ start
    scale = scale_of(matrix)
    if scale < 0.8:  # a face larger than the largest crop: averaged first, or the warp would skip pixels
        sides = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
        fx, fy = sides[0] / part.shape[1], sides[1] / part.shape[0]
        part = np.asarray(cv2.resize(part, sides, interpolation=cv2.INTER_AREA), np.uint8)
        moved[:, 2] += moved[:, :2] @ [0.5 / fx - 0.5, 0.5 / fy - 0.5]
        moved[:, :2] /= [fx, fy]
    # four channels: 8UC4 warps 3 times as fast as 8UC3
    four = cv2.cvtColor(part, cv2.COLOR_RGB2RGBA)
    warped = cv2.warpAffine(four, moved, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.cvtColor(warped, cv2.COLOR_RGBA2RGB), np.uint8)
