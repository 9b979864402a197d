"""A frame's paths as areas of the scene: its lines, what its rims enclose, and what hangs together with it."""

from collections.abc import Sequence

import cv2
import numpy as np

from engines.faces.occlusion.glasses import Path
from engines.faces.occlusion.scene import SIDE, Bools, ball, grown
from engines.types import Floats
from engines.vision.mask import polygon

_TOUCH = 3  # px from a line within which a part of a frame begins


def drawn(frame: Sequence[Path]) -> Bools:
    """(SIDE, SIDE) the paths, a pixel wide."""
    out = np.zeros((SIDE, SIDE), np.uint8)
    for path, closed in frame:
        cv2.polylines(out, [np.round(path * 16).astype(np.int32)], closed, 255, 1, cv2.LINE_8, 4)
    return np.asarray(out > 0)


def lenses(frame: Sequence[Path]) -> Floats:
    """(SIDE, SIDE) what the rims enclose."""
    out = np.zeros((SIDE, SIDE), np.float32)
    for path, closed in frame:
        if closed:
            out = np.maximum(out, polygon(path, SIDE, SIDE))
    return out


def inner(frame: Sequence[Path]) -> Bools:
    """Where the lenses show the face: lumps there are eyes and reflections."""
    return grown(lenses(frame) > 0.5, -2)


def hanging(able: Bools, line: Bools, smallest: int) -> Bools:
    """(SIDE, SIDE) the pieces of what may be frame, of `smallest` px and more, that begin at its line; single pixels bind nothing."""
    out = np.zeros_like(able)
    solid, touching = cv2.morphologyEx(able.astype(np.uint8), cv2.MORPH_OPEN, ball(1)), grown(line, _TOUCH)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=4)
    for number in range(1, count):
        me = labels == number
        if stats[number, cv2.CC_STAT_AREA] >= smallest and (me & touching).any():
            out |= me
    return out
