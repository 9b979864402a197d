"""106 points of a face: buffalo_l's 2d106det and its kind, `Landmark` of the InsightFace package.

One input, a crop of 192 px with the detector's box in its middle, two thirds of it wide; one output, x and y of 106 points in parts of half
the crop, from its middle. Mean and deviation come from the entry: 0 and 1 where the graph subtracts them itself, as 2d106det does.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.feeds import expect, feed, input_of
from engines.model_entry import ModelEntry
from engines.runtime.session import Session
from engines.types import Box, Pixels
from engines.vision.geometry import apply, invert

COUNT = 106
SIDE = 192
AROUND = 1.5  # side of the crop in lengths of the box's longer side


class Landmarks106:
    """The network.

    Args:
        entry: of models.toml, contract "landmarks_106".

    Raises:
        SessionContract: not one input and one output.
    """

    def __init__(self, session: Session, entry: ModelEntry) -> None:
        expect(entry, session, 1, (1,))
        self._session, self._input = session, input_of(entry)
        fixed = session.inputs[0].shape[2]
        self._side = fixed if isinstance(fixed, int) else SIDE

    def find(self, pixels: Pixels, box: Box) -> NDArray[np.float32]:
        """(106, 2) float32 in picture pixels, in the order of the original.

        Args:
            pixels: (H, W, 3) uint8 RGB. box: of a detector.
        """
        scale = self._side / (AROUND * max(box.width, box.height, 1e-6))
        middle = np.array(box.centre) * scale
        matrix = np.column_stack([np.eye(2) * scale, self._side / 2 - middle])
        crop = cv2.warpAffine(pixels, matrix, (self._side, self._side), flags=cv2.INTER_LINEAR, borderValue=(0, 0, 0))
        answer = self._session.run({self._session.inputs[0].name: feed(np.asarray(crop, np.uint8)[None], self._input)})
        points = answer[self._session.outputs[0].name].reshape(-1, 2)[-COUNT:]
        return apply(invert(matrix), (points + 1) * (self._side // 2)).astype(np.float32)
