"""From places to alpha and clean plate, at the crop's own size."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS
from engines.faces.occlusion.frame import lenses
from engines.faces.occlusion.glasses import Path
from engines.faces.occlusion.scene import Bools, Points, Scene, ball, blurred, grown
from engines.faces.occlusion.sheet import Sheet, unlike
from engines.faces.occlusion.skin_model import Skin
from engines.faces.occlusion.threads import threads
from engines.faces.occlusion.wisps import wisps
from engines.types import Floats, Pixels
from engines.vision.matting import guided_coefficients, guided_values, harmonic

_FADE = 6.0  # px of the scene over which a thing without an edge fades out
_EDGE = (0.25, 0.5)  # logarithm of a channel's step over 5 px: from shade without an edge to hair's
_SHADE = 30.0  # L* under which a thing may end in shade
# Share of a frame's width that is kept along its line unseen; of clear plastic, which is what lies under it but for its edges, more. For
# all frames the larger one would keep crescents of skin beside the nose, where a line is a pixel or two off.
_SURE = (0.5, 0.75)
_RADIUS, _EPSILON = 4, 2e-4  # of the guided filter, at the working size


@dataclass(frozen=True, slots=True)
class Plate:
    """See `Occlusion`; (h, w[, 3]) float32, `clean` on 0..255."""

    alpha: Floats
    clean: Floats
    solid: Floats


def plate(
    crop: Pixels,
    scene: Scene,
    skin: Skin,
    mass: Bools,
    frame: Sequence[Path],
    hairs: Sequence[Points],
    near: Floats | None = None,
    mixed: bool = False,
) -> Plate:
    """What lies over the face, and the crop without it.

    Args:
        mass: (SIDE, SIDE) solid things. frame: of the glasses, rims first. hairs: paths of strands; all in pixels of the scene.
        near: of `wisps.beside`; None: none are looked for.
        mixed: of `Glasses`.
    """
    image = crop.astype(np.float32)
    sheet = Sheet(scene, crop)
    solid = np.zeros((sheet.height, sheet.width), np.float32)
    clean = image
    ground = sheet.enlarge(skin.ground) if mass.any() or frame else image
    if mass.any():
        solid = _solid(sheet, scene, image, mass)
        soft = np.clip(cv2.dilate(solid, sheet.reach(0.01)) * 1.5, 0, 1)[..., None]
        clean = image + (ground - image) * soft
    alpha = solid
    if near is not None and near.any():
        line, clean = wisps(sheet, clean, near)
        alpha = np.maximum(alpha, line)
    if len(hairs):
        line, clean = threads(sheet, scene, image, clean, hairs, mass)
        alpha = np.maximum(alpha, line)
    if frame:
        paths, brows = sheet.carry(frame), sheet.enlarge(np.maximum(scene.area(BROWS[0], 4), scene.area(BROWS[1], 4)))
        line = _frame(sheet, image, clean, paths, brows, _SURE[mixed])
        clean = _frameless(sheet, clean, line, paths, brows)
        shine = _reflections(sheet, scene, image, ground, frame)
        share = np.clip(cv2.dilate(shine, sheet.reach(0.01)) * 4, 0, 1)[..., None]
        clean = clean + (ground - clean) * share
        alpha = np.maximum(alpha, np.maximum(line, shine))
    return Plate(np.minimum(alpha, np.float32(1)), clean, solid)  # filters overshoot by a last digit


def matte(crop: Pixels, scene: Scene, mass: Bools) -> Floats:
    """(h, w) alpha of a mass of the scene (SIDE, SIDE), with the edges that the crop has there."""
    return _solid(Sheet(scene, crop), scene, crop.astype(np.float32), mass)


def frame_alpha(crop: Pixels, scene: Scene, frame: Sequence[Path]) -> Floats:
    """(h, w) alpha of a frame told by its lines, without what lies on a brow."""
    sheet, image = Sheet(scene, crop), crop.astype(np.float32)
    brows = sheet.enlarge(np.maximum(scene.area(BROWS[0], 4), scene.area(BROWS[1], 4)))
    return np.asarray(_frame(sheet, image, image, sheet.carry(frame), brows) * (1 - brows), np.float32)


def _solid(sheet: Sheet, scene: Scene, image: Floats, mass: Bools) -> Floats:
    mask = mass.astype(np.float32)
    coefficients = guided_coefficients(scene.pixels.astype(np.float32) / np.float32(255), mask, _RADIUS, _EPSILON)
    value = guided_values(image * np.float32(1 / 255), sheet.enlarge(coefficients))
    within = sheet.enlarge(np.asarray(cv2.dilate(mask, ball(3)), np.float32))
    alpha = np.asarray(np.clip((value - 0.2) / 0.6, 0, 1) * np.clip(within * 2 - 0.5, 0, 1), np.float32)
    fading = _fading(scene, mass)
    if not fading.any():
        return alpha
    share = sheet.enlarge(fading)
    return np.asarray(alpha * (1 - share) + sheet.enlarge(blurred(mask, _FADE)) * share, np.float32)


def _fading(scene: Scene, mass: Bools) -> Floats:
    """(SIDE, SIDE) 0..1, where a thing ends in shade without an edge of its own: a line drawn there would be the only one."""
    light = np.log(blurred(scene.pixels.astype(np.float32), 0.8) + 16)
    five = np.ones((5, 5), np.uint8)
    jump = np.asarray(cv2.dilate(light, five) - cv2.erode(light, five), np.float32).max(2)
    dark = np.exp(scene.values[..., 0]) * 116 - 16 < _SHADE
    ring = (mass & ~grown(mass, -1) & (scene.depth > 6) & dark).astype(np.float32)
    weight = blurred(ring, _FADE)
    mean = blurred(jump * ring, _FADE) / np.maximum(weight, np.float32(1e-4))
    return np.asarray(np.clip((_EDGE[1] - mean) / (_EDGE[1] - _EDGE[0]), 0, 1) * np.clip(weight * 20, 0, 1), np.float32)


def _frame(sheet: Sheet, image: Floats, clean: Floats, paths: Sequence[Path], brows: Floats, sure: float = 0.5) -> Floats:
    """(h, w) alpha. A frame has one width: its thin and its glassy places are filled to it, `sure` of it whatever is seen there."""
    unit = sheet.unit
    band = sheet.lines(paths, 0.05 * unit)
    hole = np.asarray(blurred(sheet.lines(paths, 0.045 * unit), 1) > 0.3)
    ground = harmonic(clean, hole)
    off = unlike(blurred(image, 0.7), ground) * band  # a pixel of grain is no gap in a rim
    top = blurred(np.asarray(cv2.dilate(off, sheet.reach(0.015, 2)), np.float32), 0.02 * unit)
    alpha = np.clip(off / np.maximum(top, 8) * 1.6 - 0.45, 0, 1)
    length = sum(float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum()) for path, _ in paths)
    wide = float((alpha > 0.5).sum()) / max(length, 1.0)
    even = _evened(np.asarray(alpha, np.float32), paths, unit, brows)
    alpha = np.maximum(even, np.minimum(alpha, cv2.dilate(even, sheet.reach(0.004))))
    alpha = np.maximum(alpha, sheet.lines(paths, max(0.008 * unit, sure * wide)))
    return np.asarray(cv2.morphologyEx(alpha.astype(np.float32), cv2.MORPH_CLOSE, sheet.reach(0.006)), np.float32)


def _frameless(sheet: Sheet, clean: Floats, alpha: Floats, paths: Sequence[Path], brows: Floats) -> Floats:
    """The picture without a frame: filled with the halo that sharpening drew, but not beyond the rim on a brow, which would be smeared."""
    near = np.asarray(cv2.dilate(np.clip(alpha * 2, 0, 1), sheet.reach(0.01)), np.float32)
    share = np.maximum(near, blurred(sheet.lines(paths, 0.045 * sheet.unit), 1) * (1 - brows))
    ground = harmonic(clean, np.asarray(share > 0.1))
    return np.asarray(clean + (ground - clean) * share[..., None], np.float32)


def _evened(alpha: Floats, paths: Sequence[Path], unit: float, brows: Floats) -> Floats:
    """The alpha of a frame averaged along it: clear plastic and metal are half skin, half shine, and would fray.

    Each pixel near a path has a place along it and a signed distance from it; over those two the average runs. `brows`: (h, w) 0..1.
    """
    half, step = max(3, round(0.028 * unit)), 2.0
    height, width = alpha.shape
    places, normals, marks = [], [], []
    base = 0
    for path, closed in paths:
        line = np.vstack([path, path[:1]]) if closed else path
        along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
        at = np.arange(0, max(along[-1], 1.0) + 0.5, 0.5)
        dense = np.column_stack([np.interp(at, along, line[:, k]) for k in (0, 1)])
        smooth = np.asarray(cv2.blur(np.ascontiguousarray(dense), (1, 9), borderType=cv2.BORDER_REPLICATE))
        tangent = np.gradient(smooth, axis=0)
        normal = np.column_stack([-tangent[:, 1], tangent[:, 0]]) / np.maximum(np.linalg.norm(tangent, axis=1), 1e-9)[:, None]
        places.append(smooth)
        normals.append(normal)
        marks.append(base + at / step)
        base += int(at[-1] / step) + 40  # apart, so that no average runs from one to the next
    place, normal, mark = np.concatenate(places), np.concatenate(normals), np.concatenate(marks)
    column, row = np.round(place[:, 0]).astype(int), np.round(place[:, 1]).astype(int)
    there = (column >= 0) & (row >= 0) & (column < width) & (row < height)
    if not there.any():
        return np.zeros_like(alpha)
    nearest = np.full((height, width), -1, np.int64)
    nearest[row[there], column[there]] = np.flatnonzero(there)
    off = (nearest < 0).astype(np.uint8)
    distance, labels = cv2.distanceTransformWithLabels(off, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    of_label = np.zeros(int(labels.max()) + 1, np.int64)
    of_label[labels[off == 0]] = nearest[off == 0]
    y, x = np.nonzero(distance < half)
    sample = of_label[labels[y, x]]
    across = ((x - place[sample, 0]) * normal[sample, 0] + (y - place[sample, 1]) * normal[sample, 1]) + half
    size = (base + 1, 2 * half + 1)
    cell = np.round(mark[sample]).astype(int) * size[1] + np.clip(np.round(across), 0, 2 * half).astype(int)
    count = np.bincount(cell, minlength=size[0] * size[1]).reshape(size).astype(np.float32)
    total = np.bincount(cell, alpha[y, x], size[0] * size[1]).reshape(size).astype(np.float32)
    sigma = max(1.0, 0.02 * unit / step)
    strip = _down(total, sigma) / np.maximum(_down(count, sigma), 1e-3)
    where = np.zeros((2, height, width), np.float32)  # cv2.remap takes no row of more than 32,767 values
    where[0, y, x], where[1, y, x] = across, mark[sample]
    value = cv2.remap(strip.astype(np.float32), where[0], where[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)[y, x]
    # a brow that the rim touches is no part of it: there the frame is as wide as elsewhere
    wide = float(np.median(strip.sum(1)[count.sum(1) > 0]))
    beyond = np.clip((np.abs(across - half) - 0.75 * wide - 1) / max(1.0, 0.25 * wide), 0, 1) * brows[y, x]
    out = np.zeros_like(alpha)
    out[y, x] = np.clip((value - 0.3) / 0.3, 0, 1) * (1 - beyond)
    return out


def _down(strip: Floats, sigma: float) -> Floats:
    """Blurred along its rows' axis only."""
    size = 2 * round(3 * sigma) + 1
    kernel = np.asarray(cv2.getGaussianKernel(size, sigma), np.float32)
    return np.asarray(cv2.filter2D(strip, cv2.CV_32F, kernel, borderType=cv2.BORDER_REPLICATE), np.float32)


def _reflections(sheet: Sheet, scene: Scene, image: Floats, ground: Floats, frame: Sequence[Path]) -> Floats:
    """On the lenses: brighter than skin in every channel."""
    eyes = np.maximum(scene.area(EYE_RINGS[0]), scene.area(EYE_RINGS[1]))
    glass = np.asarray(cv2.erode(lenses(frame), ball(2)) * (1 - eyes), np.float32)
    over = np.clip(((image - ground).min(-1) - 30) / 110, 0, 0.75)
    return np.asarray(over * sheet.enlarge(glass), np.float32)
