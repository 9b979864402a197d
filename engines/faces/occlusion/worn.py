"""A source's glasses taken off: rims, bridge, reflections and their shadow as one hole, filled; and how much of them is left to see.

A frame over a brow, or a reflection over an eye, hides what nothing in the picture can give back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS
from engines.faces.occlusion.alpha import frame_alpha, matte
from engines.faces.occlusion.frame import drawn, inner, lenses
from engines.faces.occlusion.glasses import Path
from engines.faces.occlusion.lumps import cut_out
from engines.faces.occlusion.pores import pores
from engines.faces.occlusion.scene import FACE, SIDE, Bools, Scene, ball, blurred, grown
from engines.faces.occlusion.sheet import Sheet
from engines.faces.occlusion.veil import unveiled
from engines.types import Floats, Pixels
from engines.vision.matting import harmonic, nearby

_BAND, _HIGH, _SHADOW = 5, 9, 2  # px of the scene: how far from the path a rim, and a bridge, may reach; how much the hole is grown
_LOWER, _CAST = 10, 9  # px under the eyes from which a rim is a lower one; how far under it its shadow ends
_THICK = 14  # px from the path within which most of a hinge lies
_BARE, _READ = 0.2, 30  # trust under which a place isn't read for the fill, and how far from the hole, px: hair and lashes would be smeared
_STEP = 3  # px over which the fill takes up what it meets there: the shade of an eye's corner
_GLINT, _BLAZE = 45, 90  # levels over what lies round it, of a reflection on the skin, and over an eye, which has bright parts of its own
_PALER = 0.12  # smallest over largest channel, over the skin's: folds behind a lens 0 to .1, reflections of a window .15 to .35


@dataclass(frozen=True, slots=True)
class Worn:
    """Glasses on a face.

    Attributes:
        area: (h, w) float32 0..1, frame, reflections and their shadow: what was filled.
        glass: (h, w) float32 0..1, frame and reflections alone, with the picture's own edges: what can be laid over another face.
        clean: (h, w, 3) uint8 RGB, the crop without them.
        left: 0..1, how much is guessed where a face is known by: the share of the brows under the frame, or that of what the lenses
            show under reflections, whichever is larger.
    """

    area: Floats
    glass: Floats
    clean: Pixels
    left: float


def take_off(plate: Pixels, scene: Scene, frame: Sequence[Path], hinges: Bools) -> Worn:
    """Fills what the glasses hide.

    Args:
        plate: (h, w, 3) uint8 RGB, the crop, other things over the face taken off already.
        frame: the paths of `glasses`, in pixels of the scene.
        hinges: of `part_of`.
    """
    lines = frame_alpha(plate, scene, frame)
    rim = _rim(scene, frame) | hinges | (cv2.warpAffine(lines, scene.matrix, (SIDE, SIDE), flags=cv2.INTER_AREA) > 0.5)
    glass = inner(frame) & ~rim
    glints = _glints(scene, glass)
    hole = grown(rim, _SHADOW) | _shadow(scene, frame) | grown(glints, 2)
    eyes = np.maximum(scene.area(EYE_RINGS[0], 2), scene.area(EYE_RINGS[1], 2)) > 0.5
    hole &= ~(eyes & ~glints)
    sheet = Sheet(scene, plate)
    image = unveiled(plate.astype(np.float32), scene, sheet, glass)
    area = np.asarray(np.clip(sheet.enlarge(blurred(hole.astype(np.float32), 1), cv2.BORDER_CONSTANT) * 1.5, 0, 1), np.float32)
    ground = _ground(image, scene, sheet, hole, np.asarray(area > 0.1))
    ground += pores(image, sheet.enlarge(scene.trusted, cv2.BORDER_CONSTANT) * (area == 0), sheet.unit)[..., None]
    clean = np.clip(image + (ground - image) * area[..., None] + 0.5, 0, 255).astype(np.uint8)
    return Worn(area, np.maximum(lines, matte(plate, scene, rim | glints)), clean, _left(scene, frame, rim, hole))


def _ground(image: Floats, scene: Scene, sheet: Sheet, hole: Bools, filled: Bools) -> Floats:
    """(h, w, 3) what goes under the frame: skin as it lies beside it, and hair or lashes only where a brow or an eye is.

    Args:
        hole: (SIDE, SIDE), of the scene. filled: (h, w), of the picture, all that is replaced in part at least.
    """
    own = np.maximum.reduce([*(scene.area(ring) for ring in BROWS), *(scene.area(ring, 3) for ring in EYE_RINGS)])
    other = (scene.trusted < _BARE) & grown(hole, _READ)
    beside, own = (sheet.enlarge(field, cv2.BORDER_CONSTANT) for field in (other.astype(np.float32), blurred(own, 2)))
    skin = harmonic(image, np.asarray(filled | (beside > 0.5)))
    known = np.asarray(~filled, np.float32)
    step, near = nearby(image - skin, known, _STEP * sheet.unit / FACE)
    skin += step * np.clip(2 * near, 0, 1)[..., None]
    return np.asarray(skin + (harmonic(image, filled) - skin) * own[..., None], np.float32)


def part_of(mass: Bools, frame: Sequence[Path]) -> Bools:
    """What of a scene's solid things is frame: thick rims, and hinges, most of which lies close to the frame."""
    if not frame or not mass.any():
        return np.zeros_like(mass)
    line = drawn(frame)
    out, near = mass & grown(line, _BAND + 2), grown(line, _THICK)
    count, labels, _, _ = cv2.connectedComponentsWithStats(mass.astype(np.uint8), connectivity=4)
    for number in range(1, count):
        me = labels == number
        if (me & near).sum() > 0.6 * me.sum():
            out |= me
    return out


def _rim(scene: Scene, frame: Sequence[Path]) -> Bools:
    """(SIDE, SIDE) the frame by its colours: the path is a pixel or two beside it, and a bridge is higher than a line."""
    rims, others = drawn([path for path in frame if path[1]]), drawn([path for path in frame if not path[1]])
    sure = rims | others
    band = grown(rims, _BAND) | grown(others, _HIGH)
    state = np.where(band, cv2.GC_PR_BGD, cv2.GC_BGD).astype(np.uint8)
    state[grown(sure, 1)] = cv2.GC_PR_FGD
    state[sure] = cv2.GC_FGD
    found = cut_out(scene, state, band)
    return np.asarray(cv2.morphologyEx(found.astype(np.uint8), cv2.MORPH_CLOSE, ball(2)) > 0)


def _shadow(scene: Scene, frame: Sequence[Path]) -> Bools:
    """(SIDE, SIDE) what a rim's lower part throws on the cheek under it."""
    eyes = scene.points[[33, 133, 263, 362], 1].mean()
    low = drawn([path for path in frame if path[1]])
    low[: round(eyes) + _LOWER] = False
    out = np.zeros_like(low)
    for down in range(_CAST + 1):
        out |= np.roll(low, down, 0)
    return grown(out, _SHADOW)


def _glints(scene: Scene, glass: Bools) -> Bools:
    """Reflections on the lenses: bright in every channel and paler than the skin, which shows folds as bright behind a lens; what lies
    wholly in an iris is the eye's own light."""
    low, high = scene.pixels.min(2), scene.pixels.max(2)
    pale = low / np.maximum(high, 1).astype(np.float32)
    bare = scene.trusted > 0.5
    paler = pale > (float(np.median(pale[bare])) if bare.any() else 0.0) + _PALER
    own = np.maximum(scene.area(EYE_RINGS[0], 3), scene.area(EYE_RINGS[1], 3)) > 0.5
    bright = (cv2.morphologyEx(low, cv2.MORPH_TOPHAT, ball(7)) > np.where(own, _BLAZE, _GLINT)) & paler & glass
    out = np.zeros((SIDE, SIDE), bool)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(bright.astype(np.uint8), connectivity=8)
    for number in range(1, count):
        me = labels == number
        if stats[number, cv2.CC_STAT_AREA] >= 4 and (me & own).sum() < 0.7 * me.sum():  # the white of an eye is bright, too
            out |= me
    return out


def _left(scene: Scene, frame: Sequence[Path], rim: Bools, hole: Bools) -> float:
    brows = np.maximum(scene.area(BROWS[0]), scene.area(BROWS[1])) > 0.5
    glass = grown(lenses(frame) > 0.5, -7)
    return round(max(_share(rim, brows), _share(hole, glass)), 3)


def _share(of: Bools, area: Bools) -> float:
    return float((of & area).sum() / max(1, int(area.sum())))
