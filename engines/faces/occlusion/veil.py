"""The blue reflection of a lens's coating over an eye: it adds to what lies under it, so it is subtracted, and the eye under it stays."""

import cv2
import numpy as np

from engines.faces.canonical import EYE_RINGS, IRISES
from engines.faces.occlusion.scene import Bools, Scene, grown
from engines.faces.occlusion.sheet import Sheet
from engines.types import Floats
from engines.vision.mask import soften
from engines.vision.matting import harmonic

# Levels by which blue is over both other channels: brown eyes -15 to 10, an eye's white up to 15, blue irises 10 to 45, such a reflection
# 19 to 57. From the first on it is one, if it is bluer than most of both irises by the second.
_BLUE, _OVER = 12, 20
_LEAST = 6  # px of the scene
_REACH = 4  # px of the scene round an eye's opening: lashes and lids
_MOST = 1.2  # how much red and green a reflection has at most for each level of its blue over them


def unveiled(image: Floats, scene: Scene, sheet: Sheet, glass: Bools) -> Floats:
    """(h, w, 3) the picture without it.

    Args:
        image: (h, w, 3) 0..255.
        glass: (SIDE, SIDE), what the lenses show, without their rims.
    """
    eyes = np.maximum(scene.area(EYE_RINGS[0], _REACH), scene.area(EYE_RINGS[1], _REACH)) > 0.5
    where = eyes & grown(glass, -2)
    small = _blue(scene.pixels.astype(np.float32))
    irises = np.maximum(*(scene.area(ring[1:]) for ring in IRISES)) > 0.5
    own = float(np.percentile(small[irises], 75)) if irises.any() else 0.0
    least = max(_BLUE, own + _OVER)
    spot = (small > least) & where
    if spot.sum() < _LEAST:
        return image
    near = sheet.enlarge(soften((grown(spot, 2) & where).astype(np.float32), 1), cv2.BORDER_CONSTANT)
    ground = harmonic(image, np.asarray(near > 0.1))
    # not under the irises' own: a catch-light would take the colour of the lid round it
    excess = np.maximum(_blue(image) - np.maximum(_blue(ground), np.float32(own)), 0) * np.clip(near * 2, 0, 1)
    above = image - ground
    share = np.clip((above[..., :2] * excess[..., None]).sum((0, 1)) / max(float((excess**2).sum()), 1e-6), 0, _MOST)
    colour = np.array([share[0], share[1], 1 + share.max()], np.float32)
    return np.asarray(np.maximum(image - excess[..., None] * colour, 0), np.float32)


def _blue(image: Floats) -> Floats:
    return np.asarray(image[..., 2] - np.maximum(image[..., 0], image[..., 1]), np.float32)
