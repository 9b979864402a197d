"""A face that a network drew in its own crop, laid into the target's square: from there on it is a fusion like any other."""

import cv2
import numpy as np

from engines.faces.canonical import EYE_RINGS, LIPS_OUTER, OVAL
from engines.faces.coverage import EDGE, FOREHEAD, feather
from engines.faces.target import PreparedTarget
from engines.options import FuseOptions
from engines.types import AlignedFace, Floats, FusedCrop, Pixels
from engines.vision.geometry import compose, warp
from engines.vision.mask import depth, grow, polygon, smoothstep, soften, to_bytes

# Networks draw worst at their crop's edge, and the original takes a tenth of it off with a soft rim. From nothing to all, in parts of the
# crop's side: below and beside the face there is little to spare, while the upper edge cuts through the forehead and would show.
RIM, RIM_ABOVE = (0.0, 0.07), (0.03, 0.2)
KEPT = 0.02  # how far beyond an eye or the lips the target's own stay, in face widths


def fuse(target: PreparedTarget, drawn: AlignedFace, options: FuseOptions) -> FusedCrop:
    """Lays a swapper's crop over one face.

    Where it goes is decided as for the mesh fusion: within the face's outline, unless a mask of one's own says how far, and not over what
    lies before the face. Of the options `strength`, `feather`, `keep_eyes` and `keep_mouth` count; shape, colour and beard are the
    network's own affair.

    Args:
        target: of `prepare_target`.
        drawn: the target's face with another identity, in a crop of its own.
    """
    size, strength = target.size, options.strength
    if strength <= 0:
        return FusedCrop(target.pixels, np.zeros((size, size), np.uint8), target.matrix)
    pixels, inside = resampled(target, drawn)
    own = target.pixels
    if strength < 1:
        pixels = np.asarray(cv2.addWeighted(pixels, strength, own, 1 - strength, 0), np.uint8)
    mask = inside * (1 - target.occlusion.alpha)
    if options.mask.standard:
        mask = mask * outline(target, feather(options.feather))
    for kept, rings in ((options.keep_eyes, EYE_RINGS), (options.keep_mouth, (LIPS_OUTER,))):
        for ring in rings if kept else ():
            mask = mask * (1 - _part(target, ring))
    return FusedCrop(pixels, to_bytes(mask * np.float32(min(1.0, strength * 8))), target.matrix)


def resampled(target: PreparedTarget, drawn: AlignedFace) -> tuple[Pixels, Floats]:
    """A crop in the target's square of side S, (S, S, 3) uint8, and (S, S) float32 0..1 where it has something to say."""
    matrix = compose(target.matrix, drawn.inverse)
    side = target.size, target.size
    pixels = np.asarray(warp(drawn.pixels, matrix, side, cubic=True), np.uint8)
    away = (np.arange(drawn.size, dtype=np.float32) + np.float32(0.5)) / np.float32(drawn.size)
    above, low = smoothstep(away, *RIM_ABOVE), smoothstep(away, *RIM)
    rows, columns = np.minimum(above, low[::-1]), np.minimum(low, low[::-1])
    return pixels, np.asarray(warp(np.minimum(rows[:, None], columns[None, :]), matrix, side), np.float32)


def outline(target: PreparedTarget, width: float) -> Floats:
    """(S, S) 0 at the face's outline and beyond, 1 from a few feathers inside it; over the bare forehead it fades out towards the hair."""
    size = target.size
    one = max(width * target.face_width, 0.35)
    return smoothstep(depth(polygon(target.points[OVAL], size, size) > 0.5), EDGE[0] * one, EDGE[1] * one) * below_hair(target)


def below_hair(target: PreparedTarget) -> Floats:
    """(S, S) 1 up to the brows and a little above them, 0 at the mesh's upper end, below the hairline; 1 where a brush asks for it."""
    brow = target.points[[105, 334, 107, 336], :2].mean(0)
    up = target.points[10, :2] - brow
    along = (np.arange(target.size)[:, None] - brow[1]) * up[1] + (np.arange(target.size)[None, :] - brow[0]) * up[0]
    out = np.asarray(1 - smoothstep(np.asarray(along / max(float(up @ up), 1e-6), np.float32), *FOREHEAD), np.float32)
    return out if target.asked is None else np.maximum(out, target.asked)


def _part(target: PreparedTarget, ring: list[int] | tuple[int, ...] | np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Floats:
    """(S, S) one eye or the mouth of the target, a little grown, with a soft edge."""
    margin = KEPT * target.face_width
    return np.clip(soften(grow(polygon(target.points[list(ring)], target.size, target.size), margin), 0.3 * margin), 0, 1)
