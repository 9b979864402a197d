"""The bench's own look at a face, so that an error of the product's detection can't praise itself.

The product proposes faces on the whole picture at sides of 320, 640 and 960 and refines its mesh until it is still, three times at
most. Here the detector sees a window round the face at another side, and the mesh is refined six times, still or not.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.faces.centerface import CenterFace
from engines.faces.embedder import Embedder, distance
from engines.faces.facemesh import FaceMeshNet, region_of_mesh, region_of_points
from engines.faces.pose import pose_of
from engines.types import Box, FaceMesh, Identity, Pixels
from engines.vision.geometry import warp

SIDE, WINDOW = 448, 2.6  # the window in face sizes is shown to the detector at this side: the face is about 170 px
REFINEMENTS = 6
LEAST_SCORE = 0.3

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Seen:
    """A face as the bench sees it: mesh and identity. `detected`: the detector found it; else the mesh began where the product's lay."""

    mesh: FaceMesh
    identity: Identity
    detected: bool

    def away(self, other: "Seen") -> float:
        """Distance of the identities."""
        return distance(self.identity, other.identity)


class Witness:
    """Looks at one face of a picture."""

    def __init__(self, detector: CenterFace, mesh: FaceMeshNet, embedder: Embedder) -> None:
        self._detector, self._mesh, self._embedder = detector, mesh, embedder

    def look(self, pixels: Pixels, box: Box) -> Seen:
        """The face nearest to the middle of a box, (H, W, 3) uint8 RGB."""
        side = max(1.0, WINDOW * float(np.sqrt(box.width * box.height)))
        corner = np.array(box.centre) - side / 2
        scale = SIDE / side
        matrix = np.array([[scale, 0.0, -corner[0] * scale], [0.0, scale, -corner[1] * scale]])
        window = warp(pixels, matrix, (SIDE, SIDE))
        found = self._detector.detect(window, SIDE, LEAST_SCORE)
        near = [one for one in found if float(np.abs(np.array(one.box.centre) - SIDE / 2).max()) < SIDE / WINDOW / 2]
        if near:
            region = region_of_points(max(near, key=lambda one: one.score).points.astype(np.float64) / scale + corner)
        else:
            five = np.array([(0.33, 0.4), (0.67, 0.4), (0.5, 0.58), (0.37, 0.77), (0.63, 0.77)])
            region = region_of_points(five * [box.width, box.height] + [box.x, box.y])
        (points,) = self._mesh.read(pixels, [region])
        for _ in range(REFINEMENTS):
            (points,) = self._mesh.read(pixels, [region_of_mesh(points)])
        mesh = FaceMesh(points.astype(np.float32), pose_of(points))
        return Seen(mesh, self._embedder.embed(pixels, mesh), bool(near))


def rigid(points: Doubles, onto: Doubles, vertices: tuple[int, ...]) -> Doubles:
    """(N, 3) points moved, turned and scaled so that the given vertices lie best on those of `onto` (Umeyama 1991, in space)."""
    a, b = points[list(vertices)], onto[list(vertices)]
    middle_a, middle_b = a.mean(0), b.mean(0)
    u, singular, vt = np.linalg.svd((b - middle_b).T @ (a - middle_a))
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    scale = (singular * signs).sum() / max(float(((a - middle_a) ** 2).sum()), 1e-9)
    return np.asarray(scale * (points - middle_a) @ ((u * signs) @ vt).T + middle_b, np.float64)
