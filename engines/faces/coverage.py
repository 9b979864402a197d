"""Where the fusion is painted: the soft mask, and the maps of plain skin and of the features."""

import cv2
import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS, LIPS_OUTER, OVAL
from engines.faces.placement import Placement
from engines.faces.skin import skin_likeness
from engines.types import Floats, Mode, Pixels
from engines.vision.mask import convex, grow, polygon, shrink, soften
from engines.vision.raster import enlarge

FOREHEAD = 0.85  # the mesh's forehead is painted up to here, brows = 0, hairline = 1
ERODE, FEATHER = 0.006, 0.014  # of the face's width; .04 of erosion costs .015 of identity


def masks(confidence: Floats, crop: Pixels, spot: Placement, mode: Mode) -> tuple[Floats, Floats]:
    """How much of each coarse pixel the fusion paints, and where both faces show plain skin.

    Args:
        confidence: (g, g) 0..1, how far the source's texture is known to be its face there.
        crop: (g, g, 3) uint8 RGB, the target without what lies over it.
        mode: in "live" nothing was looked for over the target's face: there a coarse test of its skin stands in for that.

    Returns:
        (g, g) float32 each.
    """
    target, shape, face_width = spot.coarse(spot.target), spot.coarse(spot.shape), spot.coarse_width
    outline = target[OVAL].copy()
    brow = target[[105, 334, 107, 336]].mean(0)
    up = target[10] - brow
    up = up / max(float(np.linalg.norm(up)), 1e-9)
    height = (outline - brow) @ up
    outline -= np.maximum(height, 0)[:, None] * up * (1 - FOREHEAD)
    mask = shrink(polygon(outline, spot.grid, spot.grid) * spot.covered, ERODE * face_width)
    hidden = 1 - confidence
    if mode == "live":
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
