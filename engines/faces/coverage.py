"""Where the fusion is painted: the soft mask, and the maps of plain skin, of the features and of what stays the target's."""

from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces import beard
from engines.faces.beard import Kept
from engines.faces.canonical import BROWS, EYE_RINGS, LIPS_OUTER, OVAL
from engines.faces.placement import Placement
from engines.faces.skin import skin_likeness
from engines.faces.source import PreparedSource
from engines.faces.target import PreparedTarget
from engines.types import Floats, FuseOptions, Pixels
from engines.vision.mask import convex, grow, polygon, smoothstep, soften
from engines.vision.raster import enlarge, on_grid

FOREHEAD = (0.45, 0.97)  # between these heights, brows = 0, hairline = 1, the fusion fades out over bare skin
# The edge lies this many feathers inside the mesh's outline, from nothing to all: at the outline itself a pixel of misfit would show.
EDGE = (0.3, 2.7)
_WIDTHS = (0.002, 0.014, 0.06)  # of the feather, in face widths, at 0, .5 and 1
_CONTACT = 0.03  # round a thing that lies on the forehead its shadow stays, in face widths


def feather(share: float) -> float:
    """Width of the soft edge in face widths for `FuseOptions.feather`: exponential, bent to pass through the three of `_WIDTHS`."""
    low, middle, high = np.log(_WIDTHS)
    bend = 2 * (low - 2 * middle + high)
    return float(np.exp(low + (high - low - bend) * share + bend * share * share))


@dataclass(frozen=True, slots=True)
class Coverage:
    """Whose each pixel of one fusion is; maps 0..1 float32, (g, g) on the coarse grid.

    Attributes:
        inner: how much is painted, the outline's edge apart.
        edge: (S, S) the outline's edge.
        mask: (g, g) both together.
        skin: where both faces show plain skin, without beard: the places that colour and texture are measured on.
        stays: what of the painted face is the target's own pixels, moved to the fusion's shape; None when nothing is.
    """

    inner: Floats
    edge: Floats
    mask: Floats
    skin: Floats
    stays: Kept | None

    def full(self, share: Floats) -> Floats:
        """(S, S) the mask at full size, where (g, g) `share` of it is kept."""
        return np.asarray(cv2.multiply(enlarge(self.inner * share, self.edge.shape[0]), self.edge), np.float32)


def cover(target: PreparedTarget, source: PreparedSource, spot: Placement, crop: Pixels, known: Floats, options: FuseOptions) -> Coverage:
    """Decides for each pixel whose it is.

    Args:
        crop: (g, g, 3) uint8 RGB, the target without what lies over it.
        known: (g, g) 0..1, how far the source's texture is known to be its face there.
    """
    face_width, grid = spot.coarse_width, spot.grid
    edge = _edge(spot, feather(options.feather))
    hidden = 1 - known
    if target.mode == "live":  # nothing was looked for over the face
        hidden = np.maximum(hidden, (1 - skin_likeness(crop, spot.coarse(spot.target), face_width)) * spot.doubt)
    hidden = np.asarray(cv2.morphologyEx(hidden * spot.covered, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), np.float32)
    grazing = np.clip((np.clip(spot.facing, -1, 1) - 0.12) / 0.2, 0, 1)
    inner = (1 - np.clip(soften(hidden, 0.018 * face_width) * 1.4, 0, 1)) * soften(grazing, 0.015 * face_width)
    inner *= _forehead(target, spot)
    mask = inner * np.asarray(cv2.resize(edge, (grid, grid), interpolation=cv2.INTER_AREA), np.float32)

    skin = spot.covered * (mask > 0.5)
    for ring in (*EYE_RINGS, LIPS_OUTER):
        skin = skin * (1 - polygon(spot.coarse(spot.shape)[ring], grid, grid))
    hair = np.maximum(target.beard.map, source.beard.map)
    if hair.any():
        skin = skin * (1 - spot.of_chart(hair))
    keep, stays = beard.kept(target.beard, source.beard, options.beard), None
    if keep is not None:
        off = 1 - soften(polygon(spot.coarse(spot.shape)[LIPS_OUTER], grid, grid), 0.004 * face_width)
        stays = Kept(spot.of_chart(keep.form) * off, spot.of_chart(keep.hair) * off)
    return Coverage(inner.astype(np.float32), edge, mask.astype(np.float32), skin.astype(np.float32), stays)


def _edge(spot: Placement, width: float) -> Floats:
    """(S, S) 0 at the mesh's outline and beyond, 1 from a few feathers inside it."""
    size = spot.size if spot.size <= 512 else spot.size // 2  # a feather is at least .2 % of the face: over half a pixel here
    outline = spot.shape[OVAL, :2] if size == spot.size else on_grid(spot.shape[OVAL, :2], spot.size, size)
    inside = (polygon(outline, size, size) > 0.5).astype(np.uint8)
    inside = cv2.copyMakeBorder(inside, 1, 1, 1, 1, cv2.BORDER_REPLICATE)  # a face that leaves the crop doesn't end at its border
    distance = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1] - np.float32(0.5)
    one = max(width * spot.face_width * size / spot.size, 0.35)
    out = smoothstep(np.asarray(distance, np.float32), EDGE[0] * one, EDGE[1] * one)
    return out if size == spot.size else enlarge(out, spot.size)


def _forehead(target: PreparedTarget, spot: Placement) -> Floats:
    """(g, g) 1 below, fading out towards the hairline, and to the shadow of what lies on the forehead."""
    shape, grid = spot.coarse(spot.shape), spot.grid
    brow = shape[[105, 334, 107, 336]].mean(0)
    up = shape[10] - brow
    across = (np.arange(grid, dtype=np.float32) - np.float32(brow[0])) * np.float32(up[0])
    along = (np.arange(grid, dtype=np.float32) - np.float32(brow[1])) * np.float32(up[1])
    height = (across[None, :] + along[:, None]) / np.float32(max(float(up @ up), 1e-6))
    out = 1 - smoothstep(height, *FOREHEAD)
    if target.occlusion.solid.any():
        solid = np.asarray(cv2.resize(target.occlusion.solid, (grid, grid), interpolation=cv2.INTER_AREA), np.float32)
        near = soften(grow(solid, 0.5 * _CONTACT * spot.coarse_width), 0.5 * _CONTACT * spot.coarse_width)
        out = out * (1 - near * smoothstep(height, 0.2, 0.4))
    return np.asarray(out, np.float32)


def lips(spot: Placement) -> Floats:
    """(S, S) 0..1, those of the fusion."""
    return polygon(spot.shape[LIPS_OUTER], spot.size, spot.size)


def features(spot: Placement) -> Floats:
    """(S, S) 0..1: eyes, brows, lips, a little grown and soft."""
    shape, face_width = spot.coarse(spot.shape), spot.coarse_width
    out = np.zeros((spot.grid, spot.grid), np.float32)
    for ring, reach in ((EYE_RINGS[0], 0.035), (EYE_RINGS[1], 0.035), (LIPS_OUTER, 0.018)):
        out = np.maximum(out, grow(polygon(shape[ring], spot.grid, spot.grid), reach * face_width))
    for ring in BROWS:
        out = np.maximum(out, grow(polygon(convex(shape[ring]), spot.grid, spot.grid), 0.02 * face_width))
    return enlarge(soften(out, 0.006 * face_width), spot.size)
