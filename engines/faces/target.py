"""The target's half of a fusion: one face cut out upright, with what lies over it, prepared once for any number of sources."""

from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.canonical import EYE_RINGS
from engines.faces.geometry_transfer import Points, width
from engines.types import FaceMesh, Floats, Matrix, Mode, Occlusion, Pixels
from engines.vision.geometry import apply, compose, invert, scale_of

CROP = 1.2  # side of the crop in face widths
STEP, LEAST, MOST = 64, 256, 1024  # the crop's side is a multiple of STEP within these bounds, no coarser than the picture


@dataclass(frozen=True, slots=True)
class PreparedTarget:
    """One target's face in its crop of side S, independent of any source.

    Attributes:
        matrix: (2, 3) picture → crop, a similarity.
        pixels: (S, S, 3) uint8 RGB, the crop.
        points: (478, 3) float64, the mesh in pixels of the crop.
        occlusion: what lies over the face. In the mode "live" nothing is looked for: `alpha` is 0 everywhere.
        mode: see `FuseOptions.mode`.
    """

    matrix: Matrix
    pixels: Pixels
    points: Points
    occlusion: Occlusion
    mode: Mode

    @property
    def size(self) -> int:
        """The crop's side S."""
        return int(self.pixels.shape[0])

    @property
    def face_width(self) -> float:
        """In pixels of the crop."""
        return width(self.points)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes: what a cache counts."""
        occlusion = self.occlusion
        held = (self.pixels, self.points, occlusion.alpha, occlusion.clean, occlusion.solid)
        return sum(array.nbytes for array in held)

    def round_trip(self, image: Floats) -> Floats:
        """(S, S) float32 carried to the picture's pixels and back: what bilinear sampling takes away, and leaves."""
        corners = apply(invert(self.matrix), [(0, 0), (self.size, 0), (0, self.size), (self.size, self.size)])
        start, stop = np.floor(corners.min(0)), np.ceil(corners.max(0))
        matrix = compose(self.matrix, np.array([[1.0, 0.0, start[0]], [0.0, 1.0, start[1]]]))
        wide, high = (int(n) for n in stop - start)
        there = cv2.warpAffine(image, matrix, (wide, high), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE)
        back = cv2.warpAffine(there, matrix, (self.size, self.size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(back, np.float32)


def prepare_target(pixels: Pixels, mesh: FaceMesh, mode: Mode = "best") -> PreparedTarget:
    """Cuts a face out and, for "best", finds what lies over it.

    Args:
        pixels: (H, W, 3) uint8 RGB, the target's whole picture; not changed.
        mesh: the face in it.
    """
    matrix, size = crop_matrix(mesh)
    points = mesh.points.astype(np.float64)
    local = np.column_stack([apply(matrix, points[:, :2]), points[:, 2] * scale_of(matrix)])
    crop = cut(pixels, matrix, size)
    nothing = np.zeros((size, size), np.float32)
    return PreparedTarget(matrix, crop, local, Occlusion(nothing, crop, nothing), mode)


def crop_matrix(mesh: FaceMesh) -> tuple[Matrix, int]:
    """Picture → crop with the eyes level and the face in the middle, and the crop's side."""
    points = mesh.points[:468, :2].astype(np.float64)
    right, left = points[EYE_RINGS[0]].mean(0), points[EYE_RINGS[1]].mean(0)
    angle = np.arctan2(left[1] - right[1], left[0] - right[0])
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    upright = points @ turn.T
    low, high = upright.min(0), upright.max(0)
    side = CROP * float((high - low).max())
    size = int(np.clip(np.ceil(0.97 * side / STEP) * STEP, LEAST, MOST))
    return np.column_stack([turn * (size / side), (size - 1) / 2 - (low + high) / 2 * (size / side)]), size


def cut(pixels: Pixels, matrix: Matrix, size: int) -> Pixels:
    """The crop; the picture's edge is carried on beyond it."""
    placed = apply(invert(matrix), [(-2, -2), (size + 2, -2), (-2, size + 2), (size + 2, size + 2)])
    limit = np.array([pixels.shape[1], pixels.shape[0]])
    start = np.clip(np.floor(placed.min(0)).astype(int), 0, limit - 1)
    stop = np.clip(np.ceil(placed.max(0)).astype(int) + 1, start + 1, limit)
    part = pixels[start[1] : stop[1], start[0] : stop[0]]
    moved = matrix.copy()
    moved[:, 2] += matrix[:, :2] @ start
    scale = scale_of(matrix)
    if scale < 0.8:  # a face larger than the largest crop: averaged first, or the warp would skip pixels
        sides = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
        fx, fy = sides[0] / part.shape[1], sides[1] / part.shape[0]
        part = np.asarray(cv2.resize(part, sides, interpolation=cv2.INTER_AREA), np.uint8)
        moved[:, 2] += moved[:, :2] @ [0.5 / fx - 0.5, 0.5 / fy - 0.5]
        moved[:, :2] /= [fx, fy]
    # four channels: 8UC4 warps 3 times as fast as 8UC3
    four = cv2.cvtColor(part, cv2.COLOR_RGB2RGBA)
    warped = cv2.warpAffine(four, moved, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.cvtColor(warped, cv2.COLOR_RGBA2RGB), np.uint8)
