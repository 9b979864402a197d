"""The chart: one flat, frontal, mirror-symmetric map that every face's texture is stored in, whatever its pose.

The mean mesh is unrolled from a wide cylinder, so that cheeks and temples get the room that a turned target shows of them.
Mirroring a face is a horizontal flip of its chart.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engines.faces import topology as names
from engines.faces.topology import topology
from engines.types import Floats
from engines.vision.mask import convex, grow, polygon, signed_distance, smoothstep
from engines.vision.raster import RasterMap, enlarge, extend, on_grid, rasterise

GRID = 256  # side of the coarse grid on which maps and masks are computed
_MARGIN = 0.03  # free rim of the chart, in its side
_CYLINDER = 2.0  # radius in face widths; smaller unrolls the sides further

OVAL, LIPS_INNER, LIPS_OUTER = np.array(names.OVAL), np.array(names.LIPS_INNER), np.array(names.LIPS_OUTER)
NOSE = np.array(names.NOSE)
EYE_RINGS = (np.array(names.EYE_LEFT), np.array(names.EYE_RIGHT))
IRISES = (np.array([468, 469, 470, 471, 472]), np.array([473, 474, 475, 476, 477]))  # centre first
# Skin round each eye, from the brow bone to the cheek, in the order of the eye rings.
SOCKETS = (
    np.array([130, 247, 30, 29, 27, 28, 56, 190, 243, 112, 26, 22, 23, 24, 110, 25]),
    np.array([359, 467, 260, 259, 257, 258, 286, 414, 463, 341, 256, 252, 253, 254, 339, 255]),
)
BROWS = (
    np.array([70, 63, 105, 66, 107, 55, 65, 52, 53, 46]),
    np.array([300, 293, 334, 296, 336, 285, 295, 282, 283, 276]),
)
# The middle of the face, where skin is what the camera sees: cheeks and brow line, without the outer ring.
SKIN_CORE = np.array([151, 337, 299, 333, 345, 352, 411, 427, 164, 207, 187, 123, 116, 104, 69, 108])


@dataclass(frozen=True, slots=True)
class Chart:
    """Read-only tables of the chart.

    Attributes:
        uv: (478, 2) float64, vertex positions in the chart, 0..1 from its left and top edge.
        raster: the mesh drawn on a `GRID`-sided chart.
        covered: (GRID, GRID) float32, 1 inside the mesh.
        doubt: (478,) float32, how far a vertex may be something other than skin (outer ring above the mouth, forehead).
        rim: (478,) float32, 1 at the outline, where the mesh may lie beside the face.
        features: (GRID, GRID) float32, eyes, brows and lips, a little grown.
        scale: width of the face's front in the chart, in the chart's side; relates pixels of a photo to pixels of the chart.
    """

    uv: NDArray[np.float64]
    raster: RasterMap
    covered: Floats
    doubt: Floats
    rim: Floats
    features: Floats
    scale: float

    def spread(self, values: NDArray[np.floating], size: int = GRID) -> Floats:
        """Per-vertex values (478, k) → (size, size, k) over the chart, carried smoothly beyond the mesh."""
        # a plane is taken out first, so that beyond the mesh the field goes on as it was going, instead of flattening
        base = np.column_stack([self.uv, np.ones(len(self.uv))])
        plane = np.linalg.lstsq(base, values.astype(np.float64), rcond=None)[0]
        raster = self.raster if size >= GRID else _drawn(size)
        side = len(raster.index)
        centres = (np.arange(side) + 0.5) / side
        trend = (centres[None, :, None] * plane[0] + centres[:, None, None] * plane[1] + plane[2]).astype(np.float32)
        field = extend(raster.interpolate(values - base @ plane), raster.covered.astype(np.float32)) + trend
        return field if side == size else enlarge(field, size).reshape(size, size, -1)

    def pixels(self, size: int) -> NDArray[np.float64]:
        """`uv` in pixels of a chart of side `size`."""
        return self.uv * size - 0.5


@cache
def chart() -> Chart:
    """The one chart, built on first use (about 30 ms)."""
    mesh = topology()
    mean = mesh.mean.astype(np.float64)
    axis = mean[:, 2].min() + _CYLINDER
    unrolled = np.column_stack([np.arctan2(mean[:, 0], axis - mean[:, 2]) * _CYLINDER, mean[:, 1]])
    low, high = unrolled.min(0), unrolled.max(0)
    side = (high - low).max()
    uv = (unrolled - (low + high) / 2) / side * (1 - 2 * _MARGIN) + 0.5
    raster = rasterise(on_grid(uv * GRID - 0.5, GRID, GRID), mean[:, 2], mesh.triangles, GRID, GRID)
    inside = signed_distance(mean, mean[OVAL])
    ring = np.clip((0.20 - np.maximum(inside, 0)) / 0.08, 0, 1) * np.clip((mean[61, 1] - mean[:, 1]) / 0.08, 0, 1)
    forehead = np.clip((mean[107, 1] - 0.05 - mean[:, 1]) / 0.05, 0, 1)
    doubt = np.maximum(ring, forehead).astype(np.float32)
    rim = np.clip((0.04 - inside) / 0.02, 0, 1).astype(np.float32)
    pixels = uv * GRID - 0.5
    features = np.zeros((GRID, GRID), np.float32)
    for part in (*EYE_RINGS, *BROWS, LIPS_OUTER):
        features = np.maximum(features, polygon(convex(pixels[part]), GRID, GRID))
    features = grow(features, 0.03 * GRID)
    for table in (uv, doubt, rim, features):
        table.setflags(write=False)
    # near the axis one face width (1.0 of the mean mesh) unrolls to `radius / (radius - depth)` of it; the front lies at depth 0.
    return Chart(uv, raster, raster.covered.astype(np.float32), doubt, rim, features, float((1 - 2 * _MARGIN) / side))


@cache
def _drawn(size: int) -> RasterMap:
    """The mesh on a chart smaller than `GRID`: a quarter of the pixels takes a quarter of the time."""
    mesh = topology()
    return rasterise(chart().pixels(size), mesh.mean[:, 2], mesh.triangles, size, size)


@cache
def falloff(ring: tuple[int, ...], reach: float) -> Floats:
    """(478,) 1 on and inside a ring of the mean mesh, smoothly 0 at distance `reach` (face widths) outside it."""
    mean = topology().mean.astype(np.float64)
    weight = smoothstep((1 + signed_distance(mean, mean[list(ring)]) / reach).astype(np.float32), 0, 1)
    weight.setflags(write=False)
    return weight
