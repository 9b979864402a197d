"""The fusion: a source's face, prepared once, laid over a target's dense mesh.

Classical computer vision throughout, no learned generator: the mesh carries shape and texture, statistics carry colour, light
and grain. All per-pixel work runs on a square crop with the face upright, maps and masks on its 256-px reduction.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces import appearance
from engines.faces.canonical import BROWS, EYE_RINGS, LIPS_INNER, LIPS_OUTER, OVAL, chart
from engines.faces.geometry_transfer import (
    CLOSED,
    eye_opening,
    facing,
    mixed,
    mouth_opening,
    sewn,
    width,
    without_teeth,
)
from engines.faces.skin import skin_likeness
from engines.faces.source import PreparedSource as PreparedSource
from engines.faces.source import prepare as prepare
from engines.timing import Run
from engines.types import FaceMesh, Floats, FusedCrop, Matrix, Pixels
from engines.vision import color
from engines.vision.mask import grow, polygon, shrink, soften, to_bytes
from engines.vision.raster import enlarge, extend, on_grid, rasterise

CROP = 1.2  # side of the crop in face widths
STEP, LEAST, MOST = 64, 128, 1024  # the crop's side is a multiple of STEP within these bounds, no coarser than the picture
GRID = 192  # side of the coarse grid
FOREHEAD = 0.8  # the mesh's forehead is painted up to here, brows = 0, hairline = 1
ERODE, FEATHER = 0.04, 0.014  # of the face's width


@dataclass(frozen=True, slots=True)
class _Maps:
    """Where each pixel of the crop's coarse grid takes its values from; (g, g[, k]) float32."""

    uv: Floats  # chart, 0..1
    origin: Floats  # where the target's own pixel lay before the shape was changed, px of the crop
    covered: Floats
    facing: Floats
    doubt: Floats


def fuse(pixels: Pixels, mesh: FaceMesh, source: PreparedSource, strength: float, run: Run) -> FusedCrop:
    """Lays a prepared source over one face.

    Args:
        pixels: (H, W, 3) uint8 RGB, the target's whole picture; not changed.
        mesh: the face in it. The fusion is meant for up to about 35° of yaw and 30° of pitch.
        source: of `prepare`.
        strength: 0..1, how far shape and texture move to the source; 0 gives a mask of zeros.
        run: asked between the steps whether the job was stopped.

    Returns:
        The fused crop and the mask that belongs to it; `engines.vision.blend.paste` lays it into the picture.

    Raises:
        Cancelled: the job was stopped.
    """
    matrix, size = crop_matrix(mesh)
    target = mesh.points.astype(np.float64)
    scale = float(np.hypot(matrix[0, 0], matrix[0, 1]))
    target = np.column_stack([target[:, :2] @ matrix[:, :2].T + matrix[:, 2], target[:, 2] * scale])
    crop = _cut(pixels, matrix, size)
    if strength <= 0:
        return FusedCrop(crop, np.zeros((size, size), np.uint8), matrix)
    run.check()

    open_mouth, sealed = mouth_opening(target) > CLOSED, mouth_opening(target) <= CLOSED < mouth_opening(source.points)
    shape = mixed(source.points, target, strength)
    uv = chart().uv
    if sealed:
        shape, uv = sewn(shape), without_teeth(uv)
    maps = _maps(shape, target, uv, size)
    run.check()

    face_width = width(target)
    small_width = face_width * GRID / size
    warp_small = source.sample(maps.uv, small_width)
    crop_small = np.asarray(cv2.resize(crop, (GRID, GRID), interpolation=cv2.INTER_AREA), np.uint8)
    mask, skin = _masks(warp_small[..., 3].astype(np.float32) / 255, crop_small, shape, target, maps, size)
    tone = appearance.tone(warp_small[..., :3].astype(np.float32), crop_small.astype(np.float32), skin, mask, small_width)
    run.check()

    warp = tone.apply(cv2.cvtColor(source.sample(enlarge(maps.uv, size), face_width), cv2.COLOR_RGBA2RGB).astype(np.float32))
    own = np.asarray(cv2.remap(crop, enlarge(maps.origin, size), None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    keep = _kept(shape, target, source, size, open_mouth)
    if keep is not None:
        warp += keep[..., None] * (own - warp)
    run.check()
    luma, theirs = color.luma(np.clip(warp, 0, 255)), np.asarray(cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY), np.float32)
    gain = appearance.texture_gain(luma, theirs, enlarge(skin, size), _features(shape, size), face_width)
    warp = cv2.add(warp, cv2.merge([gain, gain, gain]), dst=warp)
    if strength < 1:
        warp = cv2.addWeighted(warp, strength, own, 1 - strength, 0)
    fused = np.clip(warp + 0.5, 0, 255).astype(np.uint8)
    return FusedCrop(fused, to_bytes(enlarge(mask, size) * np.float32(min(1.0, strength * 8))), matrix)


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
    linear = turn * (size / side)
    return np.column_stack([linear, (size - 1) / 2 - (low + high) / 2 * (size / side)]), size


def _cut(pixels: Pixels, matrix: Matrix, size: int) -> Pixels:
    """The crop; the picture's edge is carried on beyond it."""
    inverse = cv2.invertAffineTransform(matrix)
    corners = np.array([(-2, -2), (size + 2, -2), (-2, size + 2), (size + 2, size + 2)], np.float64)
    placed = corners @ inverse[:, :2].T + inverse[:, 2]
    limit = np.array([pixels.shape[1], pixels.shape[0]])
    start = np.clip(np.floor(placed.min(0)).astype(int), 0, limit - 1)
    stop = np.clip(np.ceil(placed.max(0)).astype(int) + 1, start + 1, limit)
    part = pixels[start[1] : stop[1], start[0] : stop[0]]
    moved = matrix.copy()
    moved[:, 2] += matrix[:, :2] @ start
    scale = float(np.hypot(matrix[0, 0], matrix[0, 1]))
    if scale < 0.8:  # a face larger than the largest crop: averaged first, or the warp would skip pixels
        part = np.asarray(cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
        moved[:, 2] += moved[:, :2] @ np.array([0.5, 0.5]) * (1 / scale - 1)
        moved[:, :2] /= scale
    # four channels: 8UC4 warps 3 times as fast as 8UC3
    warped = cv2.warpAffine(
        cv2.cvtColor(part, cv2.COLOR_RGB2RGBA), moved, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(cv2.cvtColor(warped, cv2.COLOR_RGBA2RGB), np.uint8)


def _maps(shape: NDArray[np.float64], target: NDArray[np.float64], uv: NDArray[np.float64], size: int) -> _Maps:
    table = chart()
    drawn = rasterise(on_grid(shape[:, :2], size, GRID), target[:, 2], table.raster.triangles, GRID)
    covered = drawn.covered.astype(np.float32)
    move = (target - shape)[:, :2]
    values = np.column_stack([uv, move, facing(target), table.doubt])
    field = extend(drawn.interpolate(values), covered)
    field[..., 2:4] *= soften(covered, 4)[..., None]
    axis = ((np.arange(GRID, dtype=np.float32) + 0.5) * (size / GRID) - 0.5).astype(np.float32)
    origin = field[..., 2:4] + np.dstack(np.meshgrid(axis, axis))
    return _Maps(field[..., :2], origin, covered, field[..., 4], np.clip(field[..., 5], 0, 1))


def _masks(
    confidence: Floats, crop: Pixels, shape: NDArray[np.float64], target: NDArray[np.float64], maps: _Maps, size: int
) -> tuple[Floats, Floats]:
    """(GRID, GRID) how much is painted, and where both show plain skin."""
    t, g = on_grid(target[:, :2], size, GRID), on_grid(shape[:, :2], size, GRID)
    face_width = width(target) * GRID / size
    outline = t[OVAL].copy()
    brow = t[[105, 334, 107, 336]].mean(0)
    up = t[10] - brow
    up = up / max(float(np.linalg.norm(up)), 1e-9)
    height = (outline - brow) @ up
    outline -= np.maximum(height, 0)[:, None] * up * (1 - FOREHEAD)
    mask = shrink(polygon(outline, GRID, GRID) * maps.covered, ERODE * face_width)
    hidden = np.maximum((1 - confidence) * maps.covered, (1 - skin_likeness(crop, t, face_width)) * maps.doubt * maps.covered)
    hidden = cv2.morphologyEx(hidden.astype(np.float32), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    hidden = soften(hidden, 0.018 * face_width)
    grazing = np.clip((np.clip(maps.facing, -1, 1) - 0.12) / 0.2, 0, 1)
    full = soften(mask, max(1.0, FEATHER * face_width)) * maps.covered
    full = full * (1 - np.clip(hidden * 1.4, 0, 1)) * soften(grazing, 0.015 * face_width)
    skin = mask * (full > 0.5)
    for ring in (*EYE_RINGS, LIPS_OUTER):
        skin = skin * (1 - polygon(g[ring], GRID, GRID))
    return full.astype(np.float32), skin.astype(np.float32)


def _features(shape: NDArray[np.float64], size: int) -> Floats:
    """(S, S) 0..1: eyes, brows, lips, a little grown and soft."""
    face_width = width(shape)
    g = on_grid(shape[:, :2], size, GRID)
    small = face_width * GRID / size
    out = np.zeros((GRID, GRID), np.float32)
    for ring, reach in ((EYE_RINGS[0], 0.035), (EYE_RINGS[1], 0.035), (LIPS_OUTER, 0.018)):
        out = np.maximum(out, grow(polygon(g[ring], GRID, GRID), reach * small))
    for ring in BROWS:
        hull = cv2.convexHull(g[ring].astype(np.float32))[:, 0]
        out = np.maximum(out, grow(polygon(hull, GRID, GRID), 0.02 * small))
    return enlarge(soften(out, 0.006 * small), size)


def _kept(shape: NDArray[np.float64], target: NDArray[np.float64], source: PreparedSource, size: int, open_mouth: bool) -> Floats | None:
    """(S, S) 0..1: what stays the target's own; None when nothing does."""
    keep = np.zeros((size, size), np.float32)
    if open_mouth:
        keep = np.maximum(keep, polygon(shape[LIPS_INNER], size, size))
    for ring in EYE_RINGS:
        theirs = eye_opening(target, ring)
        if theirs > 0.14 and eye_opening(source.points, ring) < 0.55 * theirs:
            keep = np.maximum(keep, polygon(shape[ring], size, size))
    if not keep.any():
        return None
    return soften(keep, max(0.8, 0.006 * width(target)))
