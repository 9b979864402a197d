"""Hands before a face: their bones drawn thick, then grown or cut to the picture's nearest edge."""

from collections.abc import Sequence

import cv2
import numpy as np

from engines.faces.occlusion.lumps import cut_out
from engines.faces.occlusion.scene import SIDE, Bools, Points, Scene, grown
from engines.vision.mask import polygon, polyline

BONES = (
    *((0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 6), (6, 7), (7, 8), (5, 9), (9, 10), (10, 11)),
    *((11, 12), (9, 13), (13, 14), (14, 15), (15, 16), (13, 17), (0, 17), (17, 18), (18, 19), (19, 20)),
)
PALM = np.array([0, 1, 5, 9, 13, 17])
_FINGER = 0.28  # a finger's width over the palm's


def hand_mask(scene: Scene, hands: Sequence[Points]) -> Bools:
    """(SIDE, SIDE) where hands are. `hands`: (21, 2) each, in pixels of the scene."""
    out = np.zeros((SIDE, SIDE), bool)
    for points in hands:
        width = _FINGER * float(np.linalg.norm(points[5] - points[17]))
        sure = polygon(points[PALM], SIDE, SIDE) > 0.5
        for bone in BONES:
            sure |= polyline(points[list(bone)], width * 0.8, SIDE, SIDE) > 0.5
        if sure.sum() <= 50:
            continue
        may = grown(sure, int(max(2, width * 0.45)))
        state = np.where(sure, cv2.GC_FGD, np.where(may, cv2.GC_PR_FGD, cv2.GC_BGD)).astype(np.uint8)
        out |= cut_out(scene, state, may)
    return out
