"""MediaPipe's face mesh (with attention): 478 points on a face that was found already.

Kartynnik et al., "Real-time Facial Surface Geometry from Monocular Video on Mobile GPUs", 2019; Grishchenko et al., "Attention
Mesh", 2020. The graph takes `input` (B, 3, 192, 192) RGB 0..1 and answers `landmarks` (B, 478, 3) in pixels of that crop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engines.faces.batches import run_stack
from engines.faces.pose import pose_of
from engines.faces.topology import EYE_CORNERS, SURFACE
from engines.runtime.session import Session
from engines.types import FaceMesh, Matrix, Pixels
from engines.vision.geometry import apply, halved, invert, resizing, warp

INPUT, LANDMARKS = "input", "landmarks"
CROP = 192
MARGIN = 1.5  # MediaPipe's rule: a square of 1.5 times the long side of the box round the face
PASSES = 3  # refinements on the mesh's own box; one leaves a box of half a face on the nose, three bring it to the face
STILL = 0.004  # of the face's size: a mesh that moved less (RMS) is not refined further; a second fit on a shifted crop moves .006

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Region:
    """A square of the picture that the mesh looks at: centre, side and clockwise angle (radians) of its upper edge."""

    x: float
    y: float
    side: float
    angle: float

    def matrix(self, size: int = CROP) -> Matrix:
        """(2, 3) picture → crop of `size` pixels."""
        return upright(self.x, self.y, self.angle, size / self.side, size)

    def moved(self, right: float, down: float, grow: float, turn: float) -> "Region":
        """Shifted by parts of its side, grown by a factor and turned by radians."""
        return Region(self.x + right * self.side, self.y + down * self.side, self.side * grow, self.angle + turn)


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fit came to.

    Attributes:
        points: (478, 3) float64, x and y in picture pixels, z in the same unit.
        moved: how far the last pass moved it, mean distance over size; .06 and more: it doesn't settle.
    """

    points: Doubles
    moved: float


class FaceMeshNet:
    """The mesh network; many faces of a picture in one batch."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def fit(self, pixels: Pixels, points5: ArrayLike, passes: int = PASSES) -> FaceMesh:
        """The mesh of one face, from a detection's five points (5, 2), refined up to `passes` times. Outside the picture is black.

        Raises:
            ValueError: the points aren't finite.
        """
        five = np.asarray(points5, dtype=np.float64)
        near, scale = reduced(pixels, region_of_points(five).side)
        (fit,) = self.fits(near, [region_of_points(apply(resizing(scale), five))], passes)
        points = in_picture(fit.points, scale)
        return FaceMesh(points.astype(np.float32), pose_of(points, five))

    def fits(self, pixels: Pixels, regions: Sequence[Region], passes: int = PASSES) -> list[Fit]:
        """A fit from each region; each is refined until it is still, at most `passes` times."""
        points = self.read(pixels, regions)
        moved = np.full(len(points), np.inf)
        active = np.arange(len(points))
        for _ in range(passes):
            if not len(active):
                break
            again = self.read(pixels, [region_of_mesh(points[i]) for i in active])
            moved[active] = [_distance(new, points[i]) / size_of(new) for new, i in zip(again, active, strict=True)]
            points[active] = again
            active = active[moved[active] > STILL]
        return [Fit(p, float(m)) for p, m in zip(points, moved, strict=True)]

    def read(self, pixels: Pixels, regions: Sequence[Region]) -> Doubles:
        """One pass on each region: (N, 478, 3), x and y in picture pixels."""
        if not regions:
            return np.zeros((0, 478, 3))
        matrices = [region.matrix() for region in regions]
        crops = np.stack([warp(pixels, matrix, (CROP, CROP)) for matrix in matrices])
        feed = crops.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255)
        points = run_stack(self._session, INPUT, feed)[LANDMARKS].reshape(len(regions), -1, 3).astype(np.float64)
        for one, matrix, region in zip(points, matrices, regions, strict=True):
            one[:, :2] = apply(invert(matrix), one[:, :2])
            one[:, 2] *= region.side / CROP
        return points


def upright(x: float, y: float, angle: float, scale: float, size: int) -> Matrix:
    """(2, 3) picture → crop of `size` pixels: (x, y) comes to the middle, what leans clockwise by `angle` radians stands upright."""
    c, s = np.cos(angle) * scale, np.sin(angle) * scale
    return np.array([[c, s, size / 2 - c * x - s * y], [-s, c, size / 2 + s * x - c * y]], dtype=np.float64)


def reduced(pixels: Pixels, side: float) -> tuple[Pixels, float]:
    """The picture halved as long as a region of `side` px keeps twice the crop's size, and the factor (1, 1/2, …).

    A fit looks at its region ten times. (Measured: on a face of 1,400 px the whole of it takes a third of the time that way.)
    """
    return halved(pixels, round(max(pixels.shape[:2]) * 2 * CROP / max(side, 1.0)) or 1)


def in_picture(points: Doubles, scale: float) -> Doubles:
    """A mesh in the pixels of a picture reduced to `scale`, in those of the whole one."""
    return np.column_stack([apply(resizing(1 / scale), points[:, :2]), points[:, 2] / scale])


def size_of(points: Doubles) -> float:
    """√(width · height) of the surface points in pixels, at least .001."""
    extent = np.ptp(points[:SURFACE, :2], axis=0)
    return max(float(np.sqrt(extent[0] * extent[1])), 1e-3)


def region_of_mesh(points: Doubles) -> Region:
    """MediaPipe's tracking rule: levelled by the outer eye corners, round all points of the surface, its long side times 1.5."""
    across = points[EYE_CORNERS[1], :2] - points[EYE_CORNERS[0], :2]
    angle = float(np.arctan2(across[1], across[0]))
    c, s = np.cos(angle), np.sin(angle)
    level = points[:SURFACE, :2] @ np.array([[c, -s], [s, c]])
    low, high = level.min(axis=0), level.max(axis=0)
    middle = (low + high) / 2
    return Region(
        float(c * middle[0] - s * middle[1]),
        float(s * middle[0] + c * middle[1]),
        max(float((high - low).max()) * MARGIN, 1.0),
        angle,
    )


def region_of_points(points5: Doubles, centre: tuple[float, float] | None = None) -> Region:
    """The first region, from a detector's five points.

    MediaPipe's own detector gives boxes from the brows to the chin, CenterFace from the hairline, so the side comes from the points:
    2.2 eye distances or 2 distances from the eyes to the mouth (which a turned head doesn't shorten), whichever is longer.

    Args:
        centre: of the detector's box, where it can be trusted; then the region is centred between it and the points' middle.

    Raises:
        ValueError: the points aren't finite.
    """
    if not np.isfinite(points5).all():
        raise ValueError("the points must be finite")
    across = points5[1] - points5[0]
    eyes, mouth = (points5[0] + points5[1]) / 2, (points5[3] + points5[4]) / 2
    width = max(float(np.hypot(*across)) * 2.2, float(np.hypot(*(mouth - eyes))) * 2.0)
    middle = (eyes + mouth) / 2
    if centre is not None:
        middle = (middle + np.array(centre)) / 2
    return Region(float(middle[0]), float(middle[1]), max(width * MARGIN, 1.0), float(np.arctan2(across[1], across[0])))


def _distance(a: Doubles, b: Doubles) -> float:
    return float(np.linalg.norm(a - b, axis=1).mean())
