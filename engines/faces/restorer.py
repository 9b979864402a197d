"""Restorers: networks that draw a face anew from a crop of 512 px (GFPGAN, CodeFormer and their kind).

Wang et al., "Towards Real-World Blind Face Restoration with Generative Facial Prior", CVPR 2021; Zhou et al., "Towards Robust Blind Face
Restoration with Codebook Lookup Transformer", NeurIPS 2022. One input of 512 px on FFHQ's template, RGB −1..1; the first output likewise.
CodeFormer's second input is a number 0..1 that says how closely it keeps to the crop.
"""

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from engines.errors import SessionContract
from engines.faces.feeds import expect, feed, input_of
from engines.faces.swapped import resampled
from engines.faces.target import PreparedTarget
from engines.model_entry import ModelEntry
from engines.runtime.session import Array, Session
from engines.timing import Run
from engines.types import AlignedFace, FusedCrop, Pixels
from engines.vision.geometry import invert, similarity_transform

SIDE = 512

# Where FFHQ's aligned pictures of 512 px have ArcFace's five points: the figures of facexlib's published code (`FaceRestoreHelper`).
FFHQ_TEMPLATE: NDArray[np.float64] = np.array(
    [(192.98138, 239.94708), (318.90277, 240.1936), (256.63416, 314.01935), (201.26117, 371.41043), (313.08905, 371.15118)], np.float64
)
FFHQ_TEMPLATE.setflags(write=False)
OUTSIDE = (135, 133, 132)  # RGB, facexlib's grey beyond the picture's edge


class Restorer:
    """One restoring network.

    Args:
        entry: of models.toml, contract "gfpgan" or "codeformer".

    Raises:
        SessionContract: not one picture in (and, of CodeFormer's kind, one number), or nothing out.
    """

    def __init__(self, session: Session, entry: ModelEntry) -> None:
        expect(entry, session, 2 if entry.contract == "codeformer" else 1, range(1, 32))  # some exports also give their inner features
        pictures = [spec for spec in session.inputs if len(spec.shape) == 4]
        if len(pictures) != 1:
            raise SessionContract(graph=entry.file, detail=f"one picture is needed, not {len(pictures)}")
        self._session, self._input, self._picture = session, input_of(entry), pictures[0].name
        self._number = next((spec for spec in session.inputs if spec is not pictures[0]), None)

    def restore(self, pixels: Pixels, points5: ArrayLike, fidelity: float = 0.5, run: Run | None = None) -> AlignedFace:
        """One face of a picture drawn anew, in its own crop.

        Args:
            pixels: (H, W, 3) uint8 RGB, the whole picture.
            points5: (5, 2) of the face, as `norm_crop` takes them.
            fidelity: 0..1, of CodeFormer's kind: 0 draws best, 1 keeps closest. Others don't ask.

        Raises:
            ValueError: the points coincide or aren't finite. Cancelled, RunFailed.
        """
        cut = ffhq_crop(pixels, points5)
        with (run or Run()).stage("enhance"):
            return replace(cut, pixels=self.restore_crop(cut.pixels, fidelity, run))

    def restore_crop(self, crop: Pixels, fidelity: float = 0.5, run: Run | None = None) -> Pixels:
        """(512, 512, 3) uint8 RGB → the same."""
        feeds: dict[str, Array] = {self._picture: feed(crop[None], self._input)}
        if self._number is not None:  # of any rank, and float64 in most exports
            shape = [size if isinstance(size, int) else 1 for size in self._number.shape]
            feeds[self._number.name] = np.full(shape, fidelity, np.dtype(self._number.dtype))
        drawn = self._session.run(feeds, run)[self._session.outputs[0].name][0].transpose(1, 2, 0)
        low, high = self._input.range
        return np.asarray(np.rint(np.clip((drawn - low) / (high - low), 0, 1) * 255), np.uint8)


def ffhq_crop(pixels: Pixels, points5: ArrayLike) -> AlignedFace:
    """(512, 512, 3) uint8 RGB on FFHQ's template, which shows the whole head; grey beyond the picture."""
    matrix = similarity_transform(points5, FFHQ_TEMPLATE)
    crop = cv2.warpAffine(pixels, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=OUTSIDE)
    return AlignedFace(np.asarray(crop, np.uint8), matrix, invert(matrix), SIDE, "ffhq")


def lay(target: PreparedTarget, crop: FusedCrop, drawn: AlignedFace, share: float) -> FusedCrop:
    """A fused crop in the target's square, with so much (0..1) of what a restorer made of it."""
    pixels, inside = resampled(target, drawn)
    weight = (share * inside)[..., None]
    mixed = crop.pixels + weight * (pixels.astype(np.float32) - crop.pixels)
    return FusedCrop(np.asarray(np.rint(mixed), np.uint8), crop.mask, crop.matrix)
