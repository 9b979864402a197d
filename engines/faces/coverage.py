"""Where the fusion is painted: the soft mask, and the maps of plain skin, of the features and of what stays the target's."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces import beard
from engines.faces.beard import Kept
from engines.faces.canonical import EYE_RINGS, LIPS_OUTER, OVAL
from engines.faces.placement import Placement
from engines.faces.skin import skin_likeness
from engines.faces.source import PreparedSource
from engines.faces.target import PreparedTarget
from engines.faces.topology import topology
from engines.options import FuseOptions
from engines.types import Floats, Pixels
from engines.vision.mask import depth, grow, polygon, smoothstep, soften
from engines.vision.raster import enlarge, on_grid

FOREHEAD = (0.45, 0.97)  # between these heights, brows = 0, hairline = 1, the fusion fades out over bare skin
# The edge lies this many feathers inside the mesh's outline, from nothing to all: at the outline itself a pixel of misfit would show.
EDGE = (0.3, 2.7)
_WIDTHS = (0.002, 0.014, 0.06)  # of the feather, in face widths, at 0, .5 and 1
# Skin seen at a grazing angle is painted from this much of its normal's depth on (81°); what lies at the far side of a turned face
# comes from the source's mirrored half. (From .12 to .32 an old eye and cheek stood beside a new nose at 38° of yaw.)
GRAZING = 0.15
BEYOND = 0.018  # a carried beard reaches this far beyond the mesh, in face widths
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
        carried: where the source's beard comes along, to be kept dark and to reach the outline; None when none does.
    """

    inner: Floats
    edge: Floats
    mask: Floats
    skin: Floats
    stays: Kept | None
    carried: Floats | None

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
    carried = spot.of_chart(source.beard.map) if options.beard == "source" and source.beard.worn else None
    # a beard goes on to the jaw's edge, a little below the mesh, over the target's skin alone
    reach = None if carried is None else carried * skin_likeness(crop, spot.coarse(spot.target), face_width)
    edge = _edge(spot, feather(options.feather), carried, reach)
    hidden = 1 - known
    if target.mode == "live":  # nothing was looked for over the face
        hidden = np.maximum(hidden, (1 - skin_likeness(crop, spot.coarse(spot.target), face_width)) * spot.doubt * spot.covered)
    hidden = np.asarray(cv2.morphologyEx(hidden, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), np.float32)
    grazing = np.clip(np.clip(spot.facing, -1, 1) / GRAZING, 0, 1)
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
    return Coverage(inner.astype(np.float32), edge, mask.astype(np.float32), skin.astype(np.float32), stays, carried)


def _edge(spot: Placement, width: float, carried: Floats | None, reach: Floats | None) -> Floats:
    """(S, S) 0 at the face's outline and beyond, 1 from a few feathers inside it."""
    size = spot.size if spot.size <= 512 else spot.size // 2  # a feather is at least .2 % of the face: over half a pixel here
    inside = _silhouette(spot.shape[:, :2] if size == spot.size else on_grid(spot.shape[:, :2], spot.size, size), size)
    if reach is not None:
        beyond = grow(inside.astype(np.float32), BEYOND * spot.face_width * size / spot.size) * (enlarge(reach, size) > 0.5)
        inside = np.maximum(inside, beyond.astype(np.uint8))
    distance = depth(inside)
    if carried is not None:  # a beard goes on to the outline: bare skin below it would make an island of it
        distance = distance * (1 + 2 * enlarge(carried, size))
    one = max(width * spot.face_width * size / spot.size, 0.35)
    out = smoothstep(np.asarray(distance, np.float32), EDGE[0] * one, EDGE[1] * one)
    return out if size == spot.size else enlarge(out, spot.size)


def _silhouette(points: NDArray[np.float64], size: int) -> Pixels:
    """(size, size) 1 on the face that the camera sees.

    Of a face that looks at the camera that is the mesh's rim. A turned one hides its rim behind the far cheek, and the cheek bulges
    beyond it: there the triangles that face the camera are drawn as well.
    """
    inside = (polygon(points[OVAL], size, size) > 0.5).astype(np.uint8)
    corners = points[topology().triangles]
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    at = np.clip(np.round(points).astype(int), 0, size - 1)
    beyond = (cv2.dilate(inside, np.ones((3, 3), np.uint8))[at[:, 1], at[:, 0]] == 0)[topology().triangles].any(axis=1)
    for triangle in np.round(corners[beyond & (a[:, 0] * b[:, 1] > a[:, 1] * b[:, 0])] * 16).astype(np.int32):
        cv2.fillConvexPoly(inside, triangle, 1, shift=4)
    return inside


def _forehead(target: PreparedTarget, spot: Placement) -> Floats:
    """(g, g) 1 below, fading out towards the hairline, and to the shadow of what lies on the forehead."""
    shape, grid = spot.coarse(spot.shape), spot.grid
    brow = shape[[105, 334, 107, 336]].mean(0)
    up = shape[10] - brow
    across = (np.arange(grid, dtype=np.float32) - np.float32(brow[0])) * np.float32(up[0])
    along = (np.arange(grid, dtype=np.float32) - np.float32(brow[1])) * np.float32(up[1])
    height = np.asarray((across[None, :] + along[:, None]) / max(float(up @ up), 1e-6), np.float32)
    out = np.asarray(1 - smoothstep(height, *FOREHEAD), np.float32)
    if target.asked is not None:
        out = np.maximum(out, np.asarray(cv2.resize(target.asked, (grid, grid), interpolation=cv2.INTER_AREA), np.float32))
    if target.occlusion.solid.any():
        solid = np.asarray(cv2.resize(target.occlusion.solid, (grid, grid), interpolation=cv2.INTER_AREA), np.float32)
        near = soften(grow(solid, 0.5 * _CONTACT * spot.coarse_width), 0.5 * _CONTACT * spot.coarse_width)
        out = np.asarray(out * (1 - near * smoothstep(height, 0.2, 0.4)), np.float32)
    return out


def lips(spot: Placement) -> Floats:
    """(S, S) 0..1, those of the fusion."""
    return polygon(spot.shape[LIPS_OUTER], spot.size, spot.size)
