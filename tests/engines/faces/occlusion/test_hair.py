"""Locks told by their lines: whole where the sun burnt the lines out of a part of them, and none on bare skin."""

import cv2
import numpy as np

from engines.faces.occlusion.hair import Texture, locks
from engines.faces.occlusion.scene import SIDE, Scene, read
from engines.types import Floats
from tests.engines.faces.occlusion.conftest import Cut


def _texture(hair: Floats) -> Texture:
    """Lines that hang and agree where `hair` is 1."""
    return Texture(0.003 + 0.06 * hair, 0.3 + 0.7 * hair, 0.01 + 0.06 * hair, -hair)


def _curtain(scene: Scene) -> Floats:
    """(SIDE, SIDE) over the outer third of one half of the face."""
    out = np.zeros((SIDE, SIDE), np.float32)
    left, right = scene.points[234, 0], scene.points[454, 0]
    out[:, round(right - (right - left) / 3) :] = 1
    return out


def test_a_burnt_place_in_a_curtain_is_hair(bare: Cut) -> None:
    scene = read(bare.pixels, bare.points)
    curtain = _curtain(scene)
    burnt = np.zeros((SIDE, SIDE), np.uint8)
    middle = round(float(scene.points[454, 0]) - 22), round(float(scene.points[454, 1]) + 10)
    cv2.circle(burnt, middle, 12, 1, cv2.FILLED)
    found = locks(scene, _texture(curtain * (1 - burnt)), np.full((SIDE, SIDE), 4, np.float32))
    within = (burnt > 0) & scene.covered & (scene.depth > 4)
    assert found[within].mean() > 0.95
    bare_half = scene.covered & (curtain < 0.5)
    assert found[bare_half].mean() < 0.02


def test_skin_without_lines_has_no_lock(bare: Cut) -> None:
    scene = read(bare.pixels, bare.points)
    none = np.zeros((SIDE, SIDE), np.float32)
    assert not locks(scene, _texture(none), none).any()
