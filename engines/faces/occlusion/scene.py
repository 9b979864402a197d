"""One face at a working size, with the maps that the search for things over it needs."""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import BROWS, EYE_RINGS, LIPS_OUTER, OVAL
from engines.faces.crop import CROP, carried, cut, square
from engines.faces.topology import topology
from engines.types import Floats, Matrix, Pixels
from engines.vision.mask import grow, polygon
from engines.vision.raster import rasterise

Bools = NDArray[np.bool_]
Points = NDArray[np.float64]

FACE = 200.0  # px of the face at the working size: all lengths of this package that aren't shares of something are pixels of it
SIDE = round(FACE * CROP)
_NOSTRILS = np.array([98, 97, 2, 326, 327, 294, 278, 274, 4, 44, 48, 64])


@dataclass(frozen=True, slots=True)
class Scene:
    """A face, upright, in a square of SIDE px; maps are (SIDE, SIDE[, k]).

    Attributes:
        matrix: (2, 3) the crop that was given → this square, a similarity.
        pixels: uint8 RGB.
        points: (478, 3) float64, the mesh.
        covered: bool, under the mesh. depth: float32, px to the outline of mesh and oval together; 0 outside.
        features: float32 0..1, eyes, brows, lips and nostrils, a little grown.
        mirror: (…, 2) float32, where the other half of the face has the same place.
        lower: float32, 1 below the nose: beards, masks, hands.
        trusted: float32, how surely a pixel is bare skin by its place alone.
        values: float32, log light and the chroma ratios a / (L + 16), b / (L + 16) of CIE Lab. Lab is nearly a cube root of the light,
            so a change of light alone scales L + 16, a and b alike and moves only the first.
    """

    matrix: Matrix
    pixels: Pixels
    points: Points
    covered: Bools
    depth: Floats
    features: Floats
    mirror: Floats
    lower: Floats
    trusted: Floats
    values: Floats

    def mirrored(self, field: Floats) -> Floats:
        """A map's values at the mirrored places; 0 off the face."""
        seen = cv2.remap(field, self.mirror[..., 0], self.mirror[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(seen * self.covered, np.float32)

    def area(self, ring: NDArray[np.integer], reach: float = 0.0) -> Floats:
        """A ring of vertices filled, and grown by `reach` px."""
        return grow(polygon(self.points[ring], SIDE, SIDE), reach)


def read(crop: Pixels, points: Points) -> Scene:
    """Brings a face to the working size. `crop` is (h, w, 3) uint8 RGB, `points` (478, 3) in its pixels."""
    matrix, _ = square(points, SIDE)
    pixels, local = cut(crop, matrix, SIDE), carried(points, matrix)
    mesh = topology()
    drawn = rasterise(local[:, :2], local[:, 2], mesh.triangles, SIDE, SIDE)
    covered = drawn.covered
    field = drawn.interpolate(np.column_stack([local[mesh.mirror, :2], mesh.mean[:, :2]]))
    x, y = field[..., 2], field[..., 3]
    inside = (polygon(local[OVAL], SIDE, SIDE) > 0.5) | covered
    depth = np.asarray(cv2.distanceTransform(np.pad(inside.astype(np.uint8), 1), cv2.DIST_L2, 5)[1:-1, 1:-1], np.float32)
    features = np.zeros((SIDE, SIDE), np.float32)
    for ring, reach in ((EYE_RINGS[0], 8), (EYE_RINGS[1], 8), (BROWS[0], 6), (BROWS[1], 6), (LIPS_OUTER, 5), (_NOSTRILS, 3)):
        features = np.maximum(features, grow(polygon(local[ring], SIDE, SIDE), reach))
    mean = mesh.mean
    lower = np.clip((y - mean[2, 1]) / 0.03, 0, 1) * covered
    side = 1 - 0.6 * np.clip((np.abs(x) - 0.32) / 0.08, 0, 1)
    top = 1 - 0.6 * np.clip((mean[9, 1] - 0.12 - y) / 0.05, 0, 1)
    core = covered * (1 - features) * (depth > 5)
    trusted = core * (1 - 0.7 * lower) * side * top
    values = chroma_values(blurred(pixels.astype(np.float32), 1.0))
    maps = (np.ascontiguousarray(field[..., :2]), lower.astype(np.float32), trusted.astype(np.float32))
    return Scene(matrix, pixels, local, covered, depth, features, *maps, values)


def chroma_values(rgb: Floats) -> Floats:
    """RGB 0..255 (h, w, 3) → `Scene.values`."""
    lab = cv2.cvtColor(rgb * np.float32(1 / 255), cv2.COLOR_RGB2Lab)
    light, a, b = cv2.split(lab)
    light += 16
    return np.asarray(cv2.merge([cv2.log(light * np.float32(1 / 116)), cv2.divide(a, light), cv2.divide(b, light)]), np.float32)


def rgb_of(values: Floats) -> Floats:
    """The inverse of `chroma_values`, clipped to 0..255."""
    light = np.exp(values[..., 0]) * np.float32(116)
    lab = np.dstack([light - 16, values[..., 1] * light, values[..., 2] * light]).astype(np.float32)
    return np.asarray(np.clip(cv2.cvtColor(lab, cv2.COLOR_Lab2RGB) * 255, 0, 255), np.float32)


@cache
def ball(radius: int) -> Pixels:
    """A round structuring element."""
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1)), np.uint8)


def blurred(field: Floats, sigma: float) -> Floats:
    return np.asarray(cv2.GaussianBlur(field, (0, 0), sigma), np.float32)


def grown(mask: Bools, radius: int) -> Bools:
    """Dilation of a yes-or-no mask by a round element; `radius` < 0 erodes."""
    change = cv2.dilate if radius >= 0 else cv2.erode
    return np.asarray(change(mask.astype(np.uint8), ball(abs(radius))) > 0)
