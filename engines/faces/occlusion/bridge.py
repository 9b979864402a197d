"""The bridge of a plastic frame as high as it is: a line along its lower edge alone would leave the rest of it to the new face.

It lies in the middle of the face, so the search for solid things, which discounts what both halves have, takes it for the face's own.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS
from engines.faces.occlusion.end_pieces import DARK
from engines.faces.occlusion.frame import drawn, hanging, lenses
from engines.faces.occlusion.glasses import Path
from engines.faces.occlusion.lumps import Evidence
from engines.faces.occlusion.scene import SIDE, Bools, Scene, grown
from engines.faces.occlusion.skin_model import Skin

# How much yellower, or bluer and greyer, than the skin in its spreads: amber plastic 4 to 8, blue-black -8; the shade beside a nose is
# redder, which doesn't count, and 2 at most in this.
OTHER = 2.5
_INSIDE = 5  # px of the scene by which it may reach into what the rims' lines enclose: the corners of a lens, which they round off
_SMALLEST = 30  # px


def bridge(scene: Scene, skin: Skin, evidence: Evidence, frame: Sequence[Path]) -> Bools:
    """(SIDE, SIDE) what hangs together with a bridge's line between the rims and has another colour than skin, off eyes and brows.

    Args:
        frame: the paths of `glasses`: both rims, then the bridge; without any there is no bridge.
    """
    if len(frame) < 3:
        return np.zeros((SIDE, SIDE), bool)
    (left, _), (right, _), (line, _) = frame[:3]
    middle = line.mean(0)
    axis = (line[-1] - line[0]) / max(float(np.linalg.norm(line[-1] - line[0])), 1e-6)
    halves = [rim[np.abs((rim - middle) @ axis) < np.abs((rim.mean(0) - middle) @ axis)] for rim in (left, right)]
    hull = cv2.convexHull(np.concatenate([*halves, line]).astype(np.float32))
    within = np.zeros((SIDE, SIDE), np.uint8)
    cv2.fillConvexPoly(within, np.round(hull).astype(np.int32), 1)
    own = np.maximum.reduce([scene.area(ring, 3) for ring in (*BROWS, *EYE_RINGS)]) > 0.5
    zone = (within > 0) & ~own & ~grown(lenses(frame) > 0.5, -_INSIDE)
    yellow = (scene.values[..., 2] - skin.trend[..., 2]) / skin.spread[2]
    return hanging(((np.abs(yellow) > OTHER) | (evidence.light < DARK)) & zone, drawn(frame[2:3]), _SMALLEST)
