"""Super-resolution of a fused face: Real-ESRGAN, in tiles, with only as much of it let in as the face lacks.

Wang et al., "Real-ESRGAN: Training Real-World Blind Super-Resolution with Pure Synthetic Data", ICCVW 2021. The graphs take `input`
(B, 3, H, W) RGB 0..1 and answer `output` (B, 3, 4 H, 4 W).
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import cv2
import numpy as np

from engines.errors import ModelUnknown
from engines.runtime.session import Session
from engines.timing import Run
from engines.types import Floats, FusedCrop, Pixels
from engines.vision.geometry import compose, resizing, scale_of

INPUT, OUTPUT = "input", "output"
FACTOR = 4


class Plan(NamedTuple):
    """How one network is used.

    Attributes:
        least, most: side in pixels of the face that it is shown. Time goes with the square: on two cores the light network takes 130 ms
            at 128 px and 260 ms at 192, the large one 2.5 s and 5.6 s.
        tile: side of what is computed at once. overlap: margin around each tile that is computed and thrown away.
        share: how much of what the network adds is taken, 0..1.
    """

    least: int
    most: int
    tile: int
    overlap: int
    share: float


# The overlap of the light network is its whole reach (18 convolutions of 3 × 3), so that its tiles are equal to one piece, bit for bit up
# to rounding. The large one reaches 350 px in theory; at 16 px a tile differs from one piece by under a level.
PLANS = {
    "realesr_animevideov3": Plan(128, 192, 192, 18, 0.75),
    "realesrgan_x4plus": Plan(128, 160, 128, 16, 0.95),
}

LARGEST = 2.0  # an enhanced crop has at most twice the side
WORTH = 1.1  # a crop that is less than so much coarser than its picture keeps its side

# How strong the network's fine structure must be, as a part of both, to be let in at all, and wholly. Looked at on five fusions: at .5 and
# .75 nothing is gained, at .15 skin turns to plastic.
FROM, WHOLE = 0.3, 0.5
QUIET = 1.0  # levels; a strength below it is noise of the arithmetic


class Enhancer:
    """One super-resolution network.

    Args:
        name: its entry in models.toml, a key of `PLANS`.

    Raises:
        ModelUnknown: there is no plan for the name.
    """

    def __init__(self, session: Session, name: str) -> None:
        if name not in PLANS:
            raise ModelUnknown(name=name, known=", ".join(PLANS))
        self._session, self.plan = session, PLANS[name]

    def upscale(self, pixels: Pixels, run: Run) -> Pixels:
        """(H, W, 3) uint8 RGB → (4 H, 4 W, 3), tile by tile; each tile is a step of the stage "enhance".

        Raises:
            Cancelled: the job was stopped; noticed at once, since a tile of the large network takes seconds.
        """
        rows, columns = pixels.shape[:2]
        result = np.empty((rows * FACTOR, columns * FACTOR, 3), dtype=np.uint8)
        cuts = [(y, x) for y in _cuts(rows, self.plan.tile) for x in _cuts(columns, self.plan.tile)]
        margin = self.plan.overlap
        for done, ((top, bottom), (left, right)) in enumerate(cuts):
            with run.stage("enhance", done, len(cuts)):
                y, x = max(0, top - margin), max(0, left - margin)
                piece = self._piece(pixels[y : bottom + margin, x : right + margin], run)
                inner = piece[(top - y) * FACTOR : (bottom - y) * FACTOR, (left - x) * FACTOR : (right - x) * FACTOR]
                result[top * FACTOR : bottom * FACTOR, left * FACTOR : right * FACTOR] = inner
        return result

    def enhance(self, crop: FusedCrop, run: Run) -> FusedCrop:
        """A sharper crop, of the same side, or of up to twice where it was coarser than its picture.

        The network sees the crop shrunk, which also hides grain and artefacts from it, and draws it anew at four times that size. Its
        picture is let in only above the frequencies that it was shown, and only where it has more to say than the crop: eyes, lashes and
        lips get its edges, while skin keeps its own pores and grain, since the network's skin is smooth.

        Raises:
            Cancelled: the job was stopped.
        """
        side = crop.pixels.shape[0]
        shown = min(side, int(np.clip(side // 2, self.plan.least, self.plan.most)))
        small = np.asarray(cv2.resize(crop.pixels, (shown, shown), interpolation=cv2.INTER_AREA), dtype=np.uint8)
        drawn = self.upscale(small, run)
        run.check()
        coarser = float(np.clip(1 / max(scale_of(crop.matrix), 1e-9), 1.0, LARGEST))
        grown = round(side * coarser) if coarser > WORTH else side
        pixels = merged(resized(crop.pixels, grown), resized(drawn, grown), grown / shown, self.plan.share)
        return FusedCrop(pixels, resized(crop.mask, grown), compose(resizing(grown / side), crop.matrix))

    def _piece(self, pixels: Pixels, run: Run) -> Pixels:
        feed = np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], dtype=np.float32) / np.float32(255)
        answer = self._session.run({INPUT: feed}, run)[OUTPUT][0].transpose(1, 2, 0)
        levels: Pixels = np.clip(np.rint(answer * 255), 0, 255).astype(np.uint8)
        return levels


def merged(own: Pixels, new: Pixels, sigma: float, share: float) -> Pixels:
    """`own` with the fine structure of `new` where that is the stronger one.

    Args:
        own, new: (S, S, 3) uint8 RGB of one face.
        sigma: in pixels; coarser structure is `own`'s.
        share: 0..1.
    """
    ours, theirs = _fine(own, sigma), _fine(new, sigma)
    strength_ours, strength_theirs = _energy(ours, sigma), _energy(theirs, sigma)
    part = strength_theirs / (strength_theirs + strength_ours + QUIET)
    weight = np.clip((part - FROM) / (WHOLE - FROM), 0.0, 1.0)
    weight = (weight * weight * (3 - 2 * weight) * share)[..., None]
    blended = own.astype(np.float32) + weight * (theirs - ours)
    return np.clip(np.rint(blended), 0, 255).astype(np.uint8)


def resized(pixels: Pixels, side: int) -> Pixels:
    """A square picture at another size: averaged when it shrinks, cubic when it grows."""
    if pixels.shape[0] == side:
        return pixels
    method = cv2.INTER_AREA if side < pixels.shape[0] else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (side, side), interpolation=method), dtype=np.uint8)


def _cuts(length: int, tile: int) -> Iterator[tuple[int, int]]:
    """Equal pieces of at most `tile`."""
    count = -(-length // tile)
    edges = [round(i * length / count) for i in range(count + 1)]
    return pairwise(edges)


def _fine(pixels: Pixels, sigma: float) -> Floats:
    values = pixels.astype(np.float32)
    return np.asarray(values - cv2.GaussianBlur(values, (0, 0), sigma), dtype=np.float32)


def _energy(fine: Floats, sigma: float) -> Floats:
    """Local strength in levels: the root of the mean square around each pixel."""
    square = np.asarray((fine**2).mean(axis=2), dtype=np.float32)
    return np.sqrt(np.maximum(cv2.GaussianBlur(square, (0, 0), 2 * sigma), 0), dtype=np.float32)
