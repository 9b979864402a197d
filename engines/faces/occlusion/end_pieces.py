"""The thick parts of a frame: end pieces, where its front meets the temples, and wings, which a line of one width doesn't hold.

Both halves of a face have them, so the search for solid things takes them for the face's own.
"""

from collections.abc import Sequence

import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS
from engines.faces.occlusion.frame import drawn, hanging, inner
from engines.faces.occlusion.glasses import Path
from engines.faces.occlusion.lumps import Evidence
from engines.faces.occlusion.scene import SIDE, Bools, Scene, grown

DARK = -0.45  # log light under the skin's from which a place beside a rim is frame: its shadow on bright skin has -.1 to -.3
_REACH = 16  # px of the scene: how far from the frame's line a part of it goes
_SMALLEST = 25  # px


def end_pieces(scene: Scene, evidence: Evidence, frame: Sequence[Path]) -> Bools:
    """(SIDE, SIDE) what hangs together with a frame and is as dark as no skin is, off lenses, eyes and brows.

    Args:
        frame: the paths of `glasses`; without any there are no end pieces.
    """
    if not frame:
        return np.zeros((SIDE, SIDE), bool)
    line = drawn(frame)
    own = np.maximum.reduce([scene.area(ring, 3) for ring in (*BROWS, *EYE_RINGS)]) > 0.5
    return hanging((evidence.light < DARK) & grown(line, _REACH) & ~own & ~inner(frame), line, _SMALLEST)
