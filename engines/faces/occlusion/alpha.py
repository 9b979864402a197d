"""From places to alpha and clean plate, at the crop's own size."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.canonical import EYE_RINGS
from engines.faces.occlusion.glasses import Path
from engines.faces.occlusion.scene import FACE, SIDE, Bools, Points, Scene, ball, blurred, grown
from engines.faces.occlusion.skin_model import Skin
from engines.types import Floats, Pixels
from engines.vision.geometry import apply, invert
from engines.vision.mask import polygon
from engines.vision.matting import guided_coefficients, guided_values, harmonic

_RADIUS, _EPSILON = 4, 2e-4  # of the guided filter, at the working size


@dataclass(frozen=True, slots=True)
class Plate:
    """See `Occlusion`; (h, w[, 3]) float32, `clean` on 0..255."""

    alpha: Floats
    clean: Floats
    solid: Floats


class _Sheet:
    """The crop's own size, and how to come there from the scene."""

    def __init__(self, scene: Scene, crop: Pixels) -> None:
        self.height, self.width = crop.shape[:2]
        self._matrix, self._inverse = scene.matrix, invert(scene.matrix)
        self.unit = FACE / float(np.sqrt(abs(np.linalg.det(scene.matrix[:, :2]))))  # the face's width in pixels of the crop

    def enlarge(self, field: Floats) -> Floats:
        """A map of the scene, (SIDE, SIDE[, k]) with k up to 4."""
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        size = (self.width, self.height)
        return np.asarray(cv2.warpAffine(field, self._matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.float32)

    def carry(self, paths: Sequence[Path]) -> list[Path]:
        return [(apply(self._inverse, path), closed) for path, closed in paths]

    def lines(self, paths: Sequence[Path], thickness: float) -> Floats:
        canvas = np.zeros((self.height, self.width), np.uint8)
        for path, closed in paths:
            at = np.round(path * 16).astype(np.int32)
            cv2.polylines(canvas, [at], closed, 255, max(1, round(thickness)), cv2.LINE_AA, 4)
        return np.asarray(canvas, np.float32) / np.float32(255)

    def reach(self, share: float, least: int = 1) -> Pixels:
        """A round element of a share of the face's width."""
        return ball(max(least, int(share * self.unit)))


def plate(crop: Pixels, scene: Scene, skin: Skin, mass: Bools, frame: Sequence[Path], hairs: Sequence[Points]) -> Plate:
    """What lies over the face, and the crop without it.

    Args:
        mass: (SIDE, SIDE) solid things. frame: of the glasses, rims first. hairs: paths of strands; all in pixels of the scene.
    """
    image = crop.astype(np.float32)
    sheet = _Sheet(scene, crop)
    solid = np.zeros((sheet.height, sheet.width), np.float32)
    clean = image
    ground = sheet.enlarge(skin.ground) if mass.any() or frame else image
    if mass.any():
        solid = _solid(sheet, scene, image, mass)
        soft = np.clip(cv2.dilate(solid, sheet.reach(0.01)) * 1.5, 0, 1)[..., None]
        clean = image + (ground - image) * soft
    alpha = solid
    if len(hairs):
        line, clean = _hairs(sheet, image, clean, sheet.carry([(path, False) for path in hairs]))
        alpha = np.maximum(alpha, line)
    if frame:
        line, clean = _frame(sheet, image, clean, sheet.carry(frame))
        shine = _reflections(sheet, scene, image, ground, frame)
        share = np.clip(cv2.dilate(shine, sheet.reach(0.01)) * 4, 0, 1)[..., None]
        clean = clean + (ground - clean) * share
        alpha = np.maximum(alpha, np.maximum(line, shine))
    return Plate(alpha, clean, solid)


def lenses(frame: Sequence[Path]) -> Floats:
    """(SIDE, SIDE) what the rims enclose."""
    out = np.zeros((SIDE, SIDE), np.float32)
    for path, closed in frame:
        if closed:
            out = np.maximum(out, polygon(path, SIDE, SIDE))
    return out


def _solid(sheet: _Sheet, scene: Scene, image: Floats, mass: Bools) -> Floats:
    mask = mass.astype(np.float32)
    coefficients = guided_coefficients(scene.pixels.astype(np.float32) / np.float32(255), mask, _RADIUS, _EPSILON)
    value = guided_values(image * np.float32(1 / 255), sheet.enlarge(coefficients))
    within = sheet.enlarge(np.asarray(cv2.dilate(mask, ball(3)), np.float32))
    return np.asarray(np.clip((value - 0.2) / 0.6, 0, 1) * np.clip(within * 2 - 0.5, 0, 1), np.float32)


def _unlike(image: Floats, ground: Floats) -> Floats:
    """(h, w) distance of colours, 0..255."""
    squared = (image - ground) ** 2
    return np.asarray(cv2.sqrt(cv2.transform(squared, np.array([[0.3, 0.5, 0.2]], np.float32))), np.float32)


def _hairs(sheet: _Sheet, image: Floats, clean: Floats, paths: Sequence[Path]) -> tuple[Floats, Floats]:
    """A strand's alpha is its distance from the ground over the strand's own greatest (closed-form matting does worse, at .26)."""
    unit = sheet.unit
    band = sheet.lines(paths, 0.022 * unit)
    hole = np.asarray(cv2.dilate(band, sheet.reach(0.004)) > 0.05)
    ground = harmonic(clean, hole)
    off = _unlike(image, ground) * band
    top = blurred(np.asarray(cv2.dilate(off, sheet.reach(0.015, 2)), np.float32), 0.02 * unit)
    alpha = np.clip(off / np.maximum(top, 8) * 1.6 - 0.45, 0, 1)
    share = np.asarray(cv2.dilate(np.clip(alpha * 2, 0, 1), sheet.reach(0.006)))[..., None]
    return np.asarray(alpha, np.float32), np.asarray(clean + (ground - clean) * share, np.float32)


def _frame(sheet: _Sheet, image: Floats, clean: Floats, paths: Sequence[Path]) -> tuple[Floats, Floats]:
    """A frame has one width: its thin and its glassy places are filled to it."""
    unit = sheet.unit
    band = sheet.lines(paths, 0.05 * unit)
    hole = np.asarray(blurred(sheet.lines(paths, 0.045 * unit), 1) > 0.3)
    ground = harmonic(clean, hole)
    off = _unlike(image, ground) * band
    top = blurred(np.asarray(cv2.dilate(off, sheet.reach(0.015, 2)), np.float32), 0.02 * unit)
    alpha = np.clip(off / np.maximum(top, 8) * 1.6 - 0.45, 0, 1)
    length = sum(float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum()) for path, _ in paths)
    wide = float((alpha > 0.5).sum()) / max(length, 1.0)
    alpha = np.maximum(alpha, sheet.lines(paths, max(0.008 * unit, 0.5 * wide)))
    alpha = np.asarray(cv2.morphologyEx(alpha.astype(np.float32), cv2.MORPH_CLOSE, sheet.reach(0.006)), np.float32)
    share = np.asarray(cv2.dilate(np.clip(alpha * 2, 0, 1), sheet.reach(0.006)))
    share = np.maximum(share, blurred(sheet.lines(paths, 0.045 * unit), 1))[..., None]  # with the halo that sharpening drew
    return alpha, np.asarray(clean + (ground - clean) * share, np.float32)


def _reflections(sheet: _Sheet, scene: Scene, image: Floats, ground: Floats, frame: Sequence[Path]) -> Floats:
    """On the lenses: brighter than skin in every channel."""
    eyes = np.maximum(scene.area(EYE_RINGS[0], 3), scene.area(EYE_RINGS[1], 3))
    glass = np.asarray(cv2.erode(lenses(frame), ball(2)) * (1 - eyes), np.float32)
    over = np.clip(((image - ground).min(-1) - 30) / 110, 0, 0.75)
    return np.asarray(over * sheet.enlarge(glass), np.float32)


def inner(frame: Sequence[Path]) -> Bools:
    """Where the lenses show the face: lumps there are eyes and reflections."""
    return grown(lenses(frame) > 0.5, -2)
