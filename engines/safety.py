"""What may not be fused: a classifier for explicit photographs, asked before anything else is done."""

import numpy as np
from PIL import Image

from engines.runtime.session import Session
from engines.types import Pixels, SafetyScore
from engines.vision.geometry import halved
from engines.vision.lossy import jpeg_round_trip

# Yahoo's open_nsfw (2016): the graph takes `input_0` (B, 224, 224, 3) BGR less the mean, and answers (B, 2), harmless and explicit.
INPUT, ANSWER, EXPLICIT = "input_0", "4195", 1
SIDE, CROP = 256, 224
MEAN_BGR = (104.0, 117.0, 123.0)


class SafetyCheck:
    """The classifier. It knows photographs only; drawings and paintings get a score that means little."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def score(self, pixels: Pixels) -> SafetyScore:
        """0 = harmless … 1 = explicit; which score is refused is the pipeline's to say.

        The network was trained on pictures that were stretched to 256 × 256, saved as JPEG and cut to the middle 224. The JPEG is part of
        it: without one, doubtful pictures score too low (over 38 photographs by up to .14 of 1, the median by .001).

        Args:
            pixels: (H, W, 3) uint8 RGB of any size.
        """
        answer = self._session.run({INPUT: prepared(pixels)[None]})[ANSWER]
        return SafetyScore(float(np.clip(answer[0, EXPLICIT], 0.0, 1.0)))


def prepared(pixels: Pixels) -> np.ndarray[tuple[int, int, int], np.dtype[np.float32]]:
    """(224, 224, 3) float32 BGR less the mean, as the network takes it.

    The resize is Pillow's triangle filter, as in the training; averaged areas are sharper and change a score by up to .09. Halving
    down to 512 px before it changes nothing but the time.
    """
    rows, columns = pixels.shape[:2]
    small, _ = halved(pixels, round(2 * SIDE * max(rows, columns) / min(rows, columns)))
    square = np.asarray(Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BILINEAR), dtype=np.uint8)
    edge = (SIDE - CROP) // 2
    middle = jpeg_round_trip(square)[edge : edge + CROP, edge : edge + CROP, ::-1]
    ready: np.ndarray[tuple[int, int, int], np.dtype[np.float32]] = middle.astype(np.float32) - np.array(MEAN_BGR, dtype=np.float32)
    return ready
