"""The crop's own size, and how to come there from the scene."""

from collections.abc import Sequence

import cv2
import numpy as np

from engines.faces.occlusion.glasses import Path
from engines.faces.occlusion.scene import FACE, Scene, ball
from engines.types import Floats, Pixels
from engines.vision.geometry import apply, invert


class Sheet:
    """A crop (h, w, 3) uint8; `unit` is the face's width in its pixels."""

    def __init__(self, scene: Scene, crop: Pixels) -> None:
        self.height, self.width = crop.shape[:2]
        self._matrix, self._inverse = scene.matrix, invert(scene.matrix)
        self.unit = FACE / float(np.sqrt(abs(np.linalg.det(scene.matrix[:, :2]))))  # the face's width in pixels of the crop

    def enlarge(self, field: Floats, beyond: int = cv2.BORDER_REPLICATE) -> Floats:
        """A map of the scene, (SIDE, SIDE[, k]) with k up to 4. `beyond`: what lies past its edges, one of OpenCV's BORDER_…"""
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        size = (self.width, self.height)
        return np.asarray(cv2.warpAffine(field, self._matrix, size, flags=flags, borderMode=beyond), np.float32)

    def carry(self, paths: Sequence[Path]) -> list[Path]:
        return [(apply(self._inverse, path), closed) for path, closed in paths]

    def lines(self, paths: Sequence[Path], thickness: float) -> Floats:
        canvas = np.zeros((self.height, self.width), np.uint8)
        for path, closed in paths:
            at = np.round(path * 16).astype(np.int32)
            cv2.polylines(canvas, [at], closed, 255, max(1, round(thickness)), cv2.LINE_AA, 4)
        return np.asarray(canvas, np.float32) / np.float32(255)

    def reach(self, share: float, least: int = 1) -> Pixels:
        """A round element of a share of the face's width."""
        return ball(max(least, int(share * self.unit)))


def unlike(image: Floats, ground: Floats) -> Floats:
    """(h, w) distance of colours, 0..255."""
    squared = (image - ground) ** 2
    return np.asarray(cv2.sqrt(cv2.transform(squared, np.array([[0.3, 0.5, 0.2]], np.float32))), np.float32)
