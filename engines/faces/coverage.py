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
from engines.vision.mask import convex, grow, polygon, shrink, soften
from engines.vision.raster import enlarge

FOREHEAD = 0.85  # the mesh's forehead is painted up to here, brows = 0, hairline = 1
ERODE, FEATHER = 0.006, 0.014  # of the face's width; .04 of erosion costs .015 of identity


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coarse maps (g, g) float32 0..1 of one fusion.

    Attributes:
        mask: how much is painted.
        skin: where both faces show plain skin, without beard: the places that colour and texture are measured on.
        stays: what of the painted face is the target's own pixels, moved to the fusion's shape; None when nothing is.
    """

    mask: Floats
    skin: Floats
    stays: Kept | None


def cover(target: PreparedTarget, source: PreparedSource, spot: Placement, crop: Pixels, known: Floats, options: FuseOptions) -> Coverage:
    """Decides for each coarse pixel whose it is.

    Args:
        crop: (g, g, 3) uint8 RGB, the target without what lies over it.
        known: (g, g) 0..1, how far the source's texture is known to be its face there.
    """
    mask, skin = _masks(known, crop, spot, target.mode == "live")
    hair = np.maximum(target.beard.map, source.beard.map)
    keep = beard.kept(target.beard, source.beard, options.beard)
    if hair.any():
        skin = skin * (1 - spot.of_chart(hair))
    stays = None
    if keep is not None:
        off = 1 - soften(polygon(spot.coarse(spot.shape)[LIPS_OUTER], spot.grid, spot.grid), 0.004 * spot.coarse_width)
        stays = Kept(spot.of_chart(keep.form) * off, spot.of_chart(keep.hair) * off)
    return Coverage(mask, np.asarray(skin, np.float32), stays)


def lips(spot: Placement) -> Floats:
    """(S, S) 0..1, those of the fusion."""
    return polygon(spot.shape[LIPS_OUTER], spot.size, spot.size)


def _masks(known: Floats, crop: Pixels, spot: Placement, coarsely: bool) -> tuple[Floats, Floats]:
    """How much is painted, and plain skin of both. `coarsely`: nothing was looked for over the target's face; its skin is told here."""
    target, shape, face_width = spot.coarse(spot.target), spot.coarse(spot.shape), spot.coarse_width
    outline = target[OVAL].copy()
    brow = target[[105, 334, 107, 336]].mean(0)
    up = target[10] - brow
    up = up / max(float(np.linalg.norm(up)), 1e-9)
    height = (outline - brow) @ up
    outline -= np.maximum(height, 0)[:, None] * up * (1 - FOREHEAD)
    mask = shrink(polygon(outline, spot.grid, spot.grid) * spot.covered, ERODE * face_width)
    hidden = 1 - known
    if coarsely:
        hidden = np.maximum(hidden, (1 - skin_likeness(crop, target, face_width)) * spot.doubt)
    hidden = hidden * spot.covered
    hidden = np.asarray(cv2.morphologyEx(hidden, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), np.float32)
    hidden = soften(hidden, 0.018 * face_width)
    grazing = np.clip((np.clip(spot.facing, -1, 1) - 0.12) / 0.2, 0, 1)
    full = soften(mask, max(1.0, FEATHER * face_width)) * spot.covered
    full = full * (1 - np.clip(hidden * 1.4, 0, 1)) * soften(grazing, 0.015 * face_width)
    skin = mask * (full > 0.5)
    for ring in (*EYE_RINGS, LIPS_OUTER):
        skin = skin * (1 - polygon(shape[ring], spot.grid, spot.grid))
    return full.astype(np.float32), skin.astype(np.float32)


def features(spot: Placement) -> Floats:
    """(S, S) 0..1: eyes, brows, lips, a little grown and soft."""
    shape, face_width = spot.coarse(spot.shape), spot.coarse_width
    out = np.zeros((spot.grid, spot.grid), np.float32)
    for ring, reach in ((EYE_RINGS[0], 0.035), (EYE_RINGS[1], 0.035), (LIPS_OUTER, 0.018)):
        out = np.maximum(out, grow(polygon(shape[ring], spot.grid, spot.grid), reach * face_width))
    for ring in BROWS:
        out = np.maximum(out, grow(polygon(convex(shape[ring]), spot.grid, spot.grid), 0.02 * face_width))
    return enlarge(soften(out, 0.006 * face_width), spot.size)
