"""Wisps: fine dark hair beside a lock or a fringe, too short or too tangled to be followed as strands."""

import cv2
import numpy as np

from engines.faces.occlusion.hair import Texture
from engines.faces.occlusion.scene import FACE, SIDE, Bools, Scene, ball, blurred, grown
from engines.faces.occlusion.sheet import Sheet
from engines.types import Floats
from engines.vision.color import luma
from engines.vision.mask import smoothstep

_SMALLEST = 350  # px of the scene: area of what wisps may hang from
_REACH = 20  # px of the scene: how far from it they are looked for in full, and half as far again
_THICK = 0.032  # face widths: what is wider is a shade
_DARKER = (0.05, 0.3)  # share by which a place is darker than what lies round it: skin's own grain, and hair alone
_NOSE = np.array([48, 64, 98, 97, 2, 326, 327, 294, 278, 279, 4, 49])  # its tip and wings: a dark nostril is no hair
_LYING = 0.8  # `Texture.level` from which lines are furrows
_DARK = 8.0  # levels added: in black nothing is told


def beside(scene: Scene, woven: Texture, mass: Bools) -> Floats:
    """(SIDE, SIDE) 0..1: where wisps are looked for.

    Off features, near what is large enough to be hair and comes from above, and not where the other half of the face has lines as
    well: folds and wrinkles come in pairs.

    Args:
        mass: solid things, without what is part of a frame: beside its end pieces an eye has wrinkles.
    """
    large, eyes = np.zeros((SIDE, SIDE), bool), float(scene.points[[33, 263], 1].mean())
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mass.astype(np.uint8), connectivity=4)
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] >= _SMALLEST and stats[number, cv2.CC_STAT_TOP] < eyes:
            large |= labels == number
    if not large.any():
        return large.astype(np.float32)
    light = luma(scene.pixels.astype(np.float32))
    darker = _darker(light, np.asarray(cv2.morphologyEx(light, cv2.MORPH_CLOSE, ball(round(_THICK * FACE / 2))), np.float32))
    pair = scene.mirrored(np.asarray(cv2.dilate(darker * ~grown(large, 12), ball(4)), np.float32))
    alone = blurred(np.clip(1.5 - 2 * pair / np.maximum(darker, np.float32(_DARKER[0])), 0, 1).astype(np.float32), 1.0)
    off = 1 - np.maximum(scene.features, scene.area(_NOSE, 6))
    near = blurred(np.asarray(cv2.dilate(large.astype(np.float32), ball(_REACH)), np.float32), 0.25 * _REACH)
    lying = blurred(grown(woven.level > _LYING, 1).astype(np.float32), 2)
    return np.asarray(near * off * alone * (1 - lying), np.float32)


def wisps(sheet: Sheet, clean: Floats, near: Floats) -> tuple[Floats, Floats]:
    """What fine hair hides, (h, w) 0..1, and the crop without it.

    Args:
        clean: (h, w, 3) float32 0..255, the crop without solid things. near: (SIDE, SIDE) of `beside`.
    """
    size = max(1, round(_THICK * sheet.unit / 2))
    element = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * size + 1, 2 * size + 1))
    ground = np.asarray(cv2.GaussianBlur(cv2.morphologyEx(clean, cv2.MORPH_CLOSE, element), (0, 0), 0.5 * size), np.float32)
    darker = _darker(luma(clean), luma(ground))
    alpha = np.asarray(smoothstep(darker, *_DARKER) * sheet.enlarge(near), np.float32)
    share = np.clip(2 * cv2.dilate(alpha, np.ones((3, 3), np.uint8)), 0, 1)[..., None]
    return alpha, np.asarray(clean + (ground - clean) * share, np.float32)


def _darker(light: Floats, ground: Floats) -> Floats:
    return np.asarray(1 - (light + np.float32(_DARK)) / (ground + np.float32(_DARK)), np.float32)
