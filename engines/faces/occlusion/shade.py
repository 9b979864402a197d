"""A change of the ground before which something is seen, in the light that the ground has there: a frame's shadow, shade under a lock.

Added whole, the difference of two skins would be taken from a pixel that has little to give: what was brown became black.
"""

import cv2
import numpy as np

from engines.types import Floats, Pixels
from engines.vision.matting import nearby

_NEAR = 0.008  # scale on which a thing's own colour is read, in the crop's side
_OPEN = 0.05  # least share of ground in a pixel of which its light can be told
_DARK = np.float32(8)  # levels added to both sides of the ratio: near black a level or two would be a light of its own, and a coloured dot


def shaded(fused: Floats, pixels: Pixels, clean: Pixels, alpha: Floats) -> Floats:
    """The matting equation with a known ground, whose change is as much weaker as the ground's own light is.

    A pixel is `alpha` of a thing and the rest of a ground that may be darker than the plate: pixel = alpha · thing + (1 - alpha) · light ·
    clean, where the thing's colour is the mean of what is surely its nearby. So the new pixel, before the thing is laid over it, is pixel +
    light · (fused - clean). Only what the change darkens needs it, and a brow's hair under a frame, which is no shade, would be kept.

    Args:
        fused: (S, S, 3) float32, the face that takes the clean plate's place; changed.
        pixels, clean: (S, S, 3) uint8, the crop, and without what lies over the face. alpha: (S, S) 0..1.

    Returns:
        (S, S, 3) float32; `fused` where the two pictures are the same.
    """
    if pixels is clean:  # so it is in a stream
        return fused
    red, green, blue = cv2.split(cv2.absdiff(pixels, clean))
    left, top, wide, high = cv2.boundingRect(cv2.max(cv2.max(red, green), blue))
    if not wide:
        return fused
    part = np.s_[top : top + high, left : left + wide]
    seen, ground, over = pixels[part].astype(np.float32), clean[part].astype(np.float32), np.ascontiguousarray(alpha[part])
    thing, _ = nearby(seen, np.square(np.square(over)), max(1.0, _NEAR * pixels.shape[0]))
    weight = over[..., None]
    light = np.clip((seen - weight * thing + _DARK) / ((1 - weight) * ground + _DARK), 0, 1)
    light = 1 + (light - 1) * np.clip((1 - weight) / np.float32(_OPEN), 0, 1)
    change = fused[part] - ground
    fused[part] = seen + np.where(change < 0, change * light, change)
    return fused
