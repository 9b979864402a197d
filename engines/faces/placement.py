"""Where each pixel of a target's crop takes its values from."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces import lids, outline
from engines.faces.canonical import LIPS_OUTER, chart
from engines.faces.geometry_transfer import CLOSED, Points, facing, mixed, mouth_opening, sewn, width, without_teeth
from engines.faces.target import PreparedTarget
from engines.types import Floats, Pixels
from engines.vision.mask import soften
from engines.vision.raster import RasterMap, enlarge, extend, on_grid, rasterise


@dataclass(frozen=True, slots=True)
class Placement:
    """One target's face in its crop. Meshes are in pixels of the crop, coarse maps (g, g[, k]) float32.

    Attributes:
        size: the crop's side S. grid: the side g of the coarse maps.
        pixels: (S, S, 3) uint8 RGB, the target without what lies over it.
        target: (478, 3), its mesh.
        shape: (478, 3), the mesh that the fusion gives it.
        sealed: the target's mouth is shut and the source's isn't: lips are painted, no mouth.
        uv: chart positions 0..1 for each coarse pixel. origin: where the target's own pixel lay before its shape was changed.
        shift: how far that is, in pixels of the crop.
        drawn: the mesh on the coarse grid. covered: 1 on it. facing: z of the target's normal. doubt: see `Chart.doubt`.
    """

    size: int
    grid: int
    pixels: Pixels
    target: Points
    shape: Points
    sealed: bool
    chart_points: Points
    uv: Floats
    origin: Floats
    shift: Floats
    drawn: RasterMap
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

    def of_chart(self, field: Floats) -> Floats:
        """A map of the chart (n, n) float32 on the coarse grid."""
        x, y = cv2.split(self.uv * np.float32(field.shape[0]) - np.float32(0.5))
        return np.asarray(cv2.remap(field, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)

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

    def own(self, quick: bool = False) -> Floats:
        """(S, S, 3) float32: the target's pixels moved to the fusion's shape."""
        x, y = cv2.split(enlarge(self.origin, self.size))
        # cubic: hair and background that are shown moved keep more of their grain; a stream shows none of them moved
        method = cv2.INTER_LINEAR if quick else cv2.INTER_CUBIC
        return np.asarray(cv2.remap(self.pixels, x, y, method, borderMode=cv2.BORDER_REPLICATE), np.float32)


def place(prepared: PreparedTarget, source: Points, share: float, still: tuple[bool, bool] = (False, False)) -> Placement:
    """Lays the mesh over a target's crop.

    Args:
        source: (478, 3), the source's mesh, in its own picture's pixels.
        share: 0..1, how far the shape moves to the source's.
        still: whether the target's eyes, and its mouth, stay where and as they are.
    """
    size, target = prepared.size, prepared.points
    sealed = not still[1] and mouth_opening(target) <= CLOSED < mouth_opening(source)
    shape, uv, table = mixed(source, target, share, still), chart().uv, chart()
    if not still[0]:
        shape = lids.drawn(shape, target, source, min(1.0, share))
    if prepared.hold is not None:
        shape[:, :2] += outline.moved(source, target, prepared.hold, share)
    if sealed:
        shape, uv = sewn(shape), without_teeth(uv)

    # maps are piecewise affine: a finer grid changes under 0.2 px
    grid = 128 if prepared.mode == "live" else int(np.clip(size * 3 // 8 // 32 * 32, 128, 192))
    drawn = rasterise(on_grid(shape[:, :2], size, grid), target[:, 2], table.raster.triangles, grid, grid)
    covered = drawn.covered.astype(np.float32)
    values = np.column_stack([uv, (target - shape)[:, :2], facing(target), table.doubt])
    field = extend(drawn.interpolate(values), covered)
    axis = ((np.arange(grid, dtype=np.float32) + 0.5) * (size / grid) - 0.5).astype(np.float32)
    if prepared.hold is not None:
        shift = outline.outwards(field[..., 2:4], covered, width(target) * grid / size)
    else:  # the rim itself stays
        shift = field[..., 2:4] * soften(covered, grid / 48)[..., None]
    origin = shift + np.dstack(np.meshgrid(axis, axis))
    return Placement(
        size,
        grid,
        prepared.occlusion.clean,
        target,
        shape,
        sealed,
        uv,
        np.ascontiguousarray(field[..., :2]),
        np.asarray(origin, np.float32),
        np.asarray(shift, np.float32),
        drawn,
        covered,
        field[..., 4],
        np.clip(field[..., 5], 0, 1),
    )


def window(points: NDArray[np.floating], rim: float, size: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of the points' bounds, `rim` px wider, within a crop of side `size` (at least one pixel)."""
    low = np.clip(np.floor(points[:, :2].min(0) - rim), 0, size - 1).astype(int)
    high = np.clip(np.ceil(points[:, :2].max(0) + rim) + 1, low + 1, size).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
