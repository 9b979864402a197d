"""The upright crop that InsightFace's networks were trained on, to the bit: `face_align.norm_crop2` of its package.

`engines.vision.geometry.align` cuts out the same square and averages where it shrinks. Here sampling is plain bilinear, as it was when
these networks learned, so that an embedding is the one that everybody else gets.
"""

import cv2
import numpy as np
from numpy.typing import ArrayLike

from engines.types import AlignedFace, Pixels
from engines.vision.geometry import arcface_matrix, invert


def norm_crop(pixels: Pixels, points5: ArrayLike, size: int) -> AlignedFace:
    """(size, size, 3) uint8 RGB on the ArcFace template; black beyond the picture.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        points5: (5, 2) in picture pixels: image-left eye, image-right eye, nose, image-left and image-right corner of the mouth.
        size: a multiple of 112 or of 128.

    Raises:
        ValueError: the points coincide or aren't finite.
    """
    matrix = arcface_matrix(points5, size)
    crop = cv2.warpAffine(pixels, matrix, (size, size), flags=cv2.INTER_LINEAR, borderValue=(0, 0, 0))
    return AlignedFace(np.asarray(crop, np.uint8), matrix, invert(matrix), size, "arcface")
