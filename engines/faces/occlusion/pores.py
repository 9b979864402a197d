"""The fine structure of a face's own skin, for what was filled in: a fill without it stays wax, whatever grain is laid over it later."""

import cv2
import numpy as np

from engines.faces.texture import patch
from engines.types import Floats
from engines.vision import color

_COARSEST = 0.012  # of the face's width: coarser than that is form, which the fill has
_PATCH = 0.16  # side of what is read, in face widths
_PLACE = 0.05  # scale on which a place's strength is measured, in face widths
_LOCAL = (0.7, 1.5)  # a place's strength counts within these factors of the whole: beyond it is stubble or a mole
_TILE, _SEED = 256, 20261203


def pores(image: Floats, skin: Floats, unit: float) -> Floats:
    """(h, w) float32, levels of luma to add: noise with the spectrum of the quietest piece of skin, as strong as the skin nearby.

    Args:
        image: (h, w, 3), the face.
        skin: (h, w) 0..1, how surely a pixel is its own bare skin; nothing else is read.
        unit: the face's width, px.
    """
    height, width = skin.shape
    luma = color.luma(image)
    fine = np.asarray(luma - cv2.GaussianBlur(luma, (0, 0), max(0.8, _COARSEST * unit)), np.float32)
    side = int(np.clip(_PATCH * unit, 16, 96)) // 2 * 2
    read = patch(fine, skin, side) if min(height, width) > side else None
    if read is None:
        return np.zeros_like(skin)
    noise = color.random_phase(read, _TILE, _SEED)
    noise /= max(float(noise.std()), 1e-6)
    strength = color.spread(fine, skin, _PLACE * unit, _LOCAL).local
    whole = np.asarray(cv2.resize(strength, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)
    return np.asarray(color.tiled(noise, max(height, width))[:height, :width] * whole, np.float32)
