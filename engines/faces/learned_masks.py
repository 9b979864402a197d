"""Networks that say what a face's pixels are: parsers (which region) and occluders (what of the face is to be seen).

Whatever keeps one of the two protocols can stand in for the mesh's regions or the search for solid things over a face. The adapters here
take the shapes in which such networks are published: one picture on FFHQ's template, and either a score for each of the 19 classes of
CelebAMask-HQ (Lee et al., "MaskGAN", CVPR 2020; the order of BiSeNet's face parsing) or the face's visible share, 0..1 (XSeg).
"""

from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.errors import SessionContract
from engines.faces.feeds import expect, feed, input_of
from engines.faces.restorer import SIDE, ffhq_crop
from engines.faces.topology import five_points
from engines.model_entry import ModelEntry
from engines.runtime.session import Array, Session
from engines.types import Floats, Matrix, Pixels
from engines.vision.geometry import compose, resizing

Bools = NDArray[np.bool_]
Points = NDArray[np.float64]

# Classes: background, skin, brows (2), eyes (2), glasses, ears (2), ear-ring, nose, mouth, lips (2), neck, necklace, cloth, hair, hat.
CLASSES = 19
OF_REGION: dict[str, tuple[int, ...]] = {"brows": (2, 3), "eyes": (4, 5), "nose": (10,), "lips": (12, 13), "mouth": (11,)}


class Parser(Protocol):
    """Tells a face's regions apart."""

    def regions(self, crop: Pixels, points: Points) -> dict[str, Bools]:
        """(S, S) each region but the skin, which is what they leave of the face; no two overlap.

        Args:
            crop: (S, S, 3) uint8 RGB, one face. points: (478, 3), its mesh in pixels of the crop.
        """
        ...


class Occluder(Protocol):
    """Tells what lies over a face."""

    def covered(self, crop: Pixels, points: Points) -> Floats:
        """(S, S) float32 0..1, how surely each pixel of the face isn't the face itself; what it says beside the face doesn't count."""
        ...


class _OnTemplate:
    """One picture on FFHQ's template in, one map out. Raises `SessionContract`: another number of inputs or outputs."""

    def __init__(self, session: Session, entry: ModelEntry) -> None:
        expect(entry, session, 1, (1,))
        self._session, self._input, self._file = session, input_of(entry), entry.file
        side = session.inputs[0].shape[2]  # height or width, in either layout
        self._side = side if isinstance(side, int) else SIDE

    def _answer(self, crop: Pixels, points: Points) -> tuple[Array, Matrix]:
        """The map of one picture, and the way from the crop to the template's square of 512 px."""
        cut = ffhq_crop(crop, five_points(points))
        size = self._side, self._side
        picture = cut.pixels if self._side == SIDE else cv2.resize(cut.pixels, size, interpolation=cv2.INTER_AREA)
        given = feed(np.asarray(picture, np.uint8)[None], self._input)
        return self._session.run({self._session.inputs[0].name: given})[self._session.outputs[0].name][0], cut.matrix

    def _wrong(self, found: Array, wanted: str) -> SessionContract:
        return SessionContract(graph=self._file, detail=f"its map has the shape {found.shape}, not {wanted}")


class FaceParser(_OnTemplate):
    """Contract "face_parser": (B, 19, h, w), a score for each class."""

    def regions(self, crop: Pixels, points: Points) -> dict[str, Bools]:
        """See `Parser`. Raises `SessionContract`: another shape."""
        scores, matrix = self._answer(crop, points)
        if scores.ndim != 3 or scores.shape[0] != CLASSES:
            raise self._wrong(scores, f"({CLASSES}, h, w)")
        labels = _back(scores.argmax(axis=0).astype(np.uint8), matrix, crop.shape[0], cv2.INTER_NEAREST)
        return {name: np.isin(labels, classes) for name, classes in OF_REGION.items()}


class FaceOccluder(_OnTemplate):
    """Contract "face_occluder": (B, h, w), with one channel before or behind, 1 where the face is to be seen."""

    def covered(self, crop: Pixels, points: Points) -> Floats:
        """See `Occluder`. Raises `SessionContract`: another shape."""
        answer, matrix = self._answer(crop, points)
        seen = answer.reshape([side for side in answer.shape if side != 1])
        if seen.ndim != 2:
            raise self._wrong(answer, "(h, w)")
        over = 1 - np.clip(seen.astype(np.float32), 0, 1)
        return np.asarray(_back(over, matrix, crop.shape[0], cv2.INTER_LINEAR), np.float32)


def _back(found: Array, matrix: Matrix, size: int, how: int) -> Array:
    """A map (h, w) of the template's square in the crop of side `size`; 0 where the square doesn't reach."""
    there = compose(resizing(found.shape[1] / SIDE), matrix)
    return np.asarray(cv2.warpAffine(found, there, (size, size), flags=how | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_CONSTANT))
