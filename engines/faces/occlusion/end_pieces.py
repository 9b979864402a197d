"""The thick parts of a frame: end pieces, where its front meets the temples, and wings, which a line of one width doesn't hold.

Both halves of a face have them, so the search for solid things takes them for the face's own.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS
from engines.faces.occlusion.alpha import lenses
from engines.faces.occlusion.glasses import Path
from engines.faces.occlusion.lumps import Evidence
from engines.faces.occlusion.scene import SIDE, Bools, Scene, ball, grown

DARK = -0.45  # log light under the skin's from which a place beside a rim is frame: its shadow on bright skin has -.1 to -.3
_REACH, _TOUCH = 16, 3  # px of the scene: how far from the frame's line a part of it goes, and how near it begins
_SMALLEST = 25  # px


def end_pieces(scene: Scene, evidence: Evidence, frame: Sequence[Path]) -> Bools:
    """(SIDE, SIDE) what hangs together with a frame and is as dark as no skin is, off lenses, eyes and brows.

    Args:
        frame: the paths of `glasses`; without any there are no end pieces.
    """
    out = np.zeros((SIDE, SIDE), bool)
    if not frame:
        return out
    line = np.zeros((SIDE, SIDE), np.uint8)
    for path, closed in frame:
        cv2.polylines(line, [np.round(path * 16).astype(np.int32)], closed, 255, 1, cv2.LINE_8, 4)
    own = np.maximum.reduce([scene.area(ring, 3) for ring in (*BROWS, *EYE_RINGS)]) > 0.5
    touching = grown(line > 0, _TOUCH)
    able = (evidence.light < DARK) & grown(line > 0, _REACH) & ~own & ~grown(lenses(frame) > 0.5, -2)
    able = np.asarray(cv2.morphologyEx(able.astype(np.uint8), cv2.MORPH_OPEN, ball(1)) > 0)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(able.astype(np.uint8), connectivity=4)
    for number in range(1, count):
        me = labels == number
        if stats[number, cv2.CC_STAT_AREA] >= _SMALLEST and (me & touching).any():
            out |= me
    return out
