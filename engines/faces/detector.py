"""What the finder asks of a detector, and the way from a picture to a network's view of it and back, which all detectors share."""

from abc import ABC, abstractmethod
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Box, Detection, Pixels
from engines.vision.geometry import halved

MULTIPLE = 32  # the graphs halve five times
OVERLAP = 0.3  # IoU from which two boxes are one face
LARGEST_ENLARGEMENT = 8.0
SHORTEST_SIDE = 8  # a picture thinner than this has no face of the 14 px that a mesh needs

Turn = Literal[0, 90, 180, 270]
Doubles = NDArray[np.float64]
Found = tuple[Doubles, Doubles, Doubles]


class StackDetector(ABC):
    """A detector that answers for equal pictures; the rest follows from that."""

    def detect(self, pixels: Pixels, side: int = 640, score: float = 0.5, border: float = 0.0, turn: Turn = 0) -> list[Detection]:
        """Faces, best score first, in the picture's own pixels; boxes may reach beyond it.

        Args:
            side: the long side that the picture is resized to (areas are averaged), before it is padded to multiples of 32.
                640 misses no close-up; 1280 misses faces that fill the frame and doubles others.
            score: 0..1, the least score.
            border: black margin on every side, in parts of the long side: .3 helps where a face fills the frame.
            turn: look at the picture turned counter-clockwise by so many degrees; the answer is turned back exactly.
        """
        rows, columns = pixels.shape[:2]
        if min(rows, columns) < SHORTEST_SIDE:
            return []
        turned = np.rot90(pixels, turn // 90)
        shrunk, scale = resized(turned, side / (1 + 2 * border))
        margin = round(max(shrunk.shape[:2]) * border)
        (found,) = self.detect_stack(padded(shrunk, margin)[None], score)
        boxes, scores, points = found
        # Pixel centres are whole numbers in a picture, while a grid's cell is measured from its edge: hence the halves.
        boxes = (boxes - margin) / np.tile(scale, 2) - 0.5
        points = (points - margin) / scale - 0.5
        boxes, points = _turned_back(boxes, points, turn, rows, columns)
        return [
            Detection(Box(float(x), float(y), float(right - x), float(bottom - y)), float(s), five.astype(np.float32))
            for (x, y, right, bottom), s, five in zip(boxes, scores, points, strict=True)
        ]

    @abstractmethod
    def detect_stack(self, stack: Pixels, score: float = 0.5) -> list[Found]:
        """The bare network on equal pictures, (B, H, W, 3) uint8 with H and W multiples of 32.

        Returns for each (N, 4) left, top, right, bottom; (N,) scores, best first; (N, 5, 2) points; all measured from the edges of
        the picture's corner pixel.
        """


def suppress(boxes: Doubles, scores: Doubles, overlap: float = OVERLAP, contained: float = 1.01) -> NDArray[np.intp]:
    """Greedy non-maximum suppression: the numbers of the boxes that stay, best first. Boxes are (N, 4) left, top, right, bottom.

    Args:
        overlap: IoU from which two boxes are one. contained: the same for the part of the smaller that lies in the larger; a whole face
            and half of it, cut by the edge of a view, have an IoU of a half and less.
    """
    order = np.argsort(-scores, kind="stable")
    left, top, right, bottom = boxes[order].T
    area = np.maximum(right - left, 0) * np.maximum(bottom - top, 0)
    wide = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    high = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    common = np.maximum(wide, 0) * np.maximum(high, 0)
    clash = common >= overlap * np.maximum(area[:, None] + area - common, 1e-9)
    clash |= common >= contained * np.maximum(np.minimum(area[:, None], area), 1e-9)
    alive = np.ones(len(order), dtype=bool)
    for i in range(len(order)):
        if alive[i]:
            alive[i + 1 :] &= ~clash[i, i + 1 :]
    return order[alive]


def resized(pixels: Pixels, side: float) -> tuple[Pixels, Doubles]:
    """The picture with a long side of `side`, and how many of its pixels make one of the given picture's, in x and in y.

    Areas are averaged when it shrinks; it grows eight times at most; no side falls under one pixel.
    """
    rows, columns = pixels.shape[:2]
    scale = min(side / max(rows, columns), LARGEST_ENLARGEMENT)
    size = max(1, round(columns * scale)), max(1, round(rows * scale))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    nearer, _ = halved(np.ascontiguousarray(pixels), max(size))
    small: Pixels = np.asarray(cv2.resize(nearer, size, interpolation=method), dtype=np.uint8)
    return small, np.array([size[0] / columns, size[1] / rows])


def padded(pixels: Pixels, margin: int = 0) -> Pixels:
    """With a black margin, then on the right and below up to multiples of 32."""
    rows, columns = (n + 2 * margin for n in pixels.shape[:2])
    canvas = np.zeros((-(-rows // MULTIPLE) * MULTIPLE, -(-columns // MULTIPLE) * MULTIPLE, 3), dtype=np.uint8)
    canvas[margin : rows - margin, margin : columns - margin] = pixels
    return canvas


def _turned_back(boxes: Doubles, points: Doubles, turn: int, rows: int, columns: int) -> tuple[Doubles, Doubles]:
    """Undoes `turn` counter-clockwise degrees for a picture of rows × columns, pixel centres being whole numbers."""
    x, y = boxes[:, 0::2], boxes[:, 1::2]
    if turn == 90:  # (x, y) was shown at (y, columns - 1 - x)
        x, y, points = columns - 1 - y, x, np.stack([columns - 1 - points[..., 1], points[..., 0]], axis=-1)
    elif turn == 180:
        x, y, points = columns - 1 - x, rows - 1 - y, np.array([columns - 1, rows - 1]) - points
    elif turn == 270:
        x, y, points = y, rows - 1 - x, np.stack([points[..., 1], rows - 1 - points[..., 0]], axis=-1)
    return np.stack([x.min(axis=1), y.min(axis=1), x.max(axis=1), y.max(axis=1)], axis=1), points
