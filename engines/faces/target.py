"""The target's half of a fusion: one face cut out upright, with what lies over it, prepared once for any number of sources."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from engines.faces import light, texture
from engines.faces.albedo import Lit
from engines.faces.beard import Beard, no_beard, of_crop
from engines.faces.crop import box_of, carried, cut, window
from engines.faces.geometry_transfer import Points, width
from engines.faces.hands import HandFinder
from engines.faces.occlusion.occluders import find_occluders
from engines.faces.outline import Hold, hold
from engines.faces.texture import Fineness
from engines.options import Mode
from engines.timing import Run
from engines.types import FaceMesh, Floats, Matrix, Occlusion, Pixels
from engines.vision.geometry import apply, compose, invert, scale_of

if TYPE_CHECKING:
    from engines.faces.learned_masks import Occluder


@dataclass(frozen=True, slots=True)
class PreparedTarget:
    """One target's face in its crop of side S, independent of any source.

    Attributes:
        matrix: (2, 3) picture → crop, a similarity.
        pixels: (S, S, 3) uint8 RGB, the crop.
        points: (478, 3) float64, the mesh in pixels of the crop.
        occlusion: what lies over the face. In the mode "live" nothing is looked for: `alpha` is 0 everywhere.
        mode: see `FuseOptions.mode`.
        beard: whether and where the face wears one.
        hold: what keeps its outline in place. None: everything; so it is in the mode "live".
        asked: (S, S) float32 0..1, where a brush asks for the fusion, also where it would fade out by itself; None = nowhere.
    """

    matrix: Matrix
    pixels: Pixels
    points: Points
    occlusion: Occlusion
    mode: Mode
    beard: Beard = field(default_factory=no_beard)
    hold: Hold | None = None
    asked: Floats | None = None
    _lit: list[Lit] = field(default_factory=list, init=False, compare=False, repr=False)
    _fineness: list[Fineness] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def size(self) -> int:
        """The crop's side S."""
        return int(self.pixels.shape[0])

    @property
    def face_width(self) -> float:
        """In pixels of the crop."""
        return width(self.points)

    @property
    def lit(self) -> Lit:
        """Its light; measured on first use and kept."""
        if not self._lit:
            occlusion = self.occlusion
            found = light.measure_target(occlusion.clean, self.points, occlusion.alpha, self.beard.map, self.mode == "live")
            self._lit.append(found)
        return self._lit[0]

    @property
    def fineness(self) -> Fineness:
        """Its fine structure; measured on first use and kept."""
        if not self._fineness:
            luma = np.asarray(cv2.cvtColor(self.occlusion.clean, cv2.COLOR_RGB2GRAY), np.float32)
            skin, features = texture.zones(self.points, self.size)
            skin = skin * (1 - self.occlusion.alpha)
            scale, most = scale_of(self.matrix), 2 if self.mode == "live" else 4
            self._fineness.append(texture.measure_target(luma, self.round_trip, skin, features, self.face_width, scale, most))
        return self._fineness[0]

    def changed(self, **fields: Any) -> "PreparedTarget":
        """The same with some fields changed; its light and fine structure are those that were measured."""
        other = replace(self, **fields)
        other._lit.append(self.lit)
        other._fineness.append(self.fineness)
        return other

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes: what a cache counts."""
        occlusion = self.occlusion
        held = (self.pixels, self.points, occlusion.alpha, occlusion.clean, occlusion.solid, self.beard.map)
        still = 0 if self.hold is None else self.hold.still.nbytes
        return sum(array.nbytes for array in held) + still + self.lit.nbytes + self.fineness.nbytes

    def round_trip(self, image: Floats) -> Floats:
        """(S, S) float32 carried to the picture's pixels and back: what bilinear sampling takes away, and leaves."""
        corners = apply(invert(self.matrix), [(0, 0), (self.size, 0), (0, self.size), (self.size, self.size)])
        start, stop = np.floor(corners.min(0)), np.ceil(corners.max(0))
        matrix = compose(self.matrix, np.array([[1.0, 0.0, start[0]], [0.0, 1.0, start[1]]]))
        wide, high = (int(n) for n in stop - start)
        there = cv2.warpAffine(image, matrix, (wide, high), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE)
        back = cv2.warpAffine(there, matrix, (self.size, self.size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(back, np.float32)


def prepare_target(
    pixels: Pixels,
    mesh: FaceMesh,
    mode: Mode = "best",
    hands: HandFinder | None = None,
    run: Run | None = None,
    occluder: "Occluder | None" = None,
) -> PreparedTarget:
    """Cuts a face out and, for "best", finds what lies over it.

    Args:
        pixels: (H, W, 3) uint8 RGB, the target's whole picture; not changed.
        mesh: the face in it.
        hands: finds hands; without it they are told by their colour alone.
        run: asked between the steps whether the job was stopped.
        occluder: tells what else lies over the face, in place of the search for it.

    Raises:
        Cancelled: the job was stopped.
    """
    matrix, size = window(mesh.points)
    crop, points = cut(pixels, matrix, size), carried(mesh.points, matrix)
    if mode == "live":
        nothing = np.zeros((size, size), np.float32)
        occlusion = Occlusion(nothing, crop, nothing)
        return PreparedTarget(matrix, crop, points, occlusion, mode, of_crop(crop, points, occlusion))
    found = [] if hands is None else hands.find(pixels, box_of(mesh.points))
    covered = None if occluder is None else occluder.covered(crop, points)
    occlusion = find_occluders(crop, points, [apply(matrix, hand) for hand in found], run, covered)
    worn = of_crop(crop, points, occlusion)
    return PreparedTarget(matrix, crop, points, occlusion, mode, worn, hold(crop, points, occlusion))


def follow(last: PreparedTarget, pixels: Pixels, mesh: FaceMesh) -> PreparedTarget:
    """The same face in the next picture of a stream: cut out anew, its light, fine structure and beard as they were a moment ago.

    They are maps of the chart and numbers, whatever the pose, and take two thirds of the time; a stream measures them anew, with
    `prepare_target`, a few times a second.

    Args:
        last: of the mode "live".
        pixels: (H, W, 3) uint8 RGB. mesh: the face in it.
    """
    matrix, size = window(mesh.points)
    crop = cut(pixels, matrix, size)
    nothing = np.zeros((size, size), np.float32)
    next_one = PreparedTarget(matrix, crop, carried(mesh.points, matrix), Occlusion(nothing, crop, nothing), "live", last.beard)
    next_one._lit.append(last.lit)
    next_one._fineness.append(last.fineness)
    return next_one
