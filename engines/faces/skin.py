"""Which pixels of a face look like that face's own skin."""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, SKIN_CORE
from engines.types import Floats, Pixels
from engines.vision.color import to_lab
from engines.vision.mask import polygon

# Least and largest spread of a skin in Lab, per channel: under it noise would count as an object, over it hair as skin.
_SPREAD = np.array([[9.0, 3.0, 3.5], [20.0, 5.5, 6.5]], np.float32)
_SAMPLES = 1500


def skin_likeness(pixels: Pixels, points: NDArray[np.floating], face_width: float) -> Floats:
    """How much each pixel fits a model of the skin in the middle of the face.

    The model is a robust plane per Lab channel (light falls off across a face) with a spread; fringe, shoulder or hat fall out.

    Args:
        pixels: (h, w, 3) uint8 RGB, the face best 150-250 px wide.
        points: (478, 2 or 3) the mesh in it.
        face_width: in pixels.

    Returns:
        (h, w) float32, 1 = skin; 1 everywhere when there is too little face to tell.
    """
    height, wide = pixels.shape[:2]
    lab = to_lab(cv2.GaussianBlur(pixels, (0, 0), max(0.8, face_width * 0.008)).astype(np.float32))
    core = polygon(points[SKIN_CORE], height, wide)
    for ring in EYE_RINGS:
        core *= 1 - polygon(points[ring], height, wide)
    rows, columns = np.nonzero(core > 0.5)
    if len(rows) < 50:
        return np.ones((height, wide), np.float32)
    step = max(1, len(rows) // _SAMPLES)
    rows, columns = rows[::step], columns[::step]
    sample = lab[rows, columns].astype(np.float64)
    centre = points[:468, :2].mean(0)
    place = np.column_stack([np.ones(len(rows)), (columns - centre[0]) / face_width, (rows - centre[1]) / face_width])
    weight = np.ones(len(rows))
    plane = np.zeros((3, 3))
    for _ in range(3):
        squared = place * (weight * weight)[:, None]
        plane = np.linalg.solve(squared.T @ place + np.eye(3) * 1e-9, squared.T @ sample)
        residual = np.abs(sample - place @ plane)
        weight = 1 / (1 + (residual / (np.median(residual, 0) * 2 + 1)).max(1) ** 2)
    plane[1:] *= 0.8  # the plane is extrapolated to the contour: not trusted in full
    spread = np.clip(np.median(np.abs(sample - place @ plane), 0) * 1.48, _SPREAD[0], _SPREAD[1]).astype(np.float32)

    x = np.clip((np.arange(wide, dtype=np.float32) - centre[0]) / face_width, -0.5, 0.5)[None, :, None]
    y = np.clip((np.arange(height, dtype=np.float32) - centre[1]) / face_width, -0.5, 0.5)[:, None, None]
    trend = (plane[0] + x * plane[1] + y * plane[2]).astype(np.float32)
    z = (lab - trend) * (1 / spread)
    distance = cv2.transform(z * z, np.array([[0.0, 1.0, 1.0]], np.float32))
    light = z[..., 0]
    distance += light * light * np.where(light < 0, np.float32(0.7), np.float32(0.35))  # a highlight is skin sooner than a dark thing
    return np.clip((5 - np.sqrt(distance)) * np.float32(0.5), 0, 1).astype(np.float32)
