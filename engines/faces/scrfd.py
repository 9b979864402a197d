"""SCRFD and RetinaFace: where faces are, with or without five points (buffalo_l's det_10g and its kind).

Guo et al., "Sample and Computation Redistribution for Efficient Face Detection", ICLR 2022; the arithmetic is that of `SCRFD` and
`RetinaFace` in the InsightFace package, which differ in nothing that is done here. One input of any size that its strides divide, RGB,
(x − 127.5) / 128. The outputs are the scores of all strides, then the boxes, then the points: distances from the cell's corner to the four
sides, and to the points, in strides. Three strides with two anchors a cell (6 outputs, with points 9), or five with one (10, 15).
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.detector import Found, StackDetector
from engines.faces.feeds import expect, feed, input_of
from engines.model_entry import ModelEntry
from engines.runtime.session import Array, Session
from engines.types import Box, Detection, Pixels

SCORE, OVERLAP = 0.5, 0.4  # the package's `det_thresh` and `nms_thresh`
LAYOUTS = {6: ((8, 16, 32), 2, False), 9: ((8, 16, 32), 2, True), 10: ((8, 16, 32, 64, 128), 1, False), 15: ((8, 16, 32, 64, 128), 1, True)}

# Where a model without points is taken to have them, in parts of its box. The mesh looks again from there. From ArcFace's template in
# the box that SCRFD draws round a frontal face, forehead to chin.
GUESSED: NDArray[np.float32] = np.array([(0.30, 0.40), (0.70, 0.40), (0.50, 0.59), (0.34, 0.77), (0.66, 0.77)], np.float32)
GUESSED.setflags(write=False)

Floats32 = NDArray[np.float32]


class Scrfd(StackDetector):
    """One detection network.

    Args:
        entry: of models.toml, contract "scrfd".

    Raises:
        SessionContract: not one input, or another number of outputs than 6, 9, 10 or 15.
    """

    def __init__(self, session: Session, entry: ModelEntry) -> None:
        expect(entry, session, 1, tuple(LAYOUTS))
        self._session, self._input = session, input_of(entry)
        self._strides, self._anchors, self.has_points = LAYOUTS[len(session.outputs)]
        rows, columns = session.inputs[0].shape[2:4]
        self._fixed = (columns, rows) if isinstance(rows, int) and isinstance(columns, int) else None

    def find(self, pixels: Pixels, size: tuple[int, int] = (640, 640), score: float = SCORE, overlap: float = OVERLAP) -> list[Detection]:
        """Faces, best score first: `detect` of the original, value for value.

        Args:
            pixels: (H, W, 3) uint8 RGB. It is shrunk or enlarged into the upper left corner of a black picture of `size`.
            size: width and height that the graph sees, multiples of its largest stride; one that is fixed in the graph wins.
            score: the least. overlap: IoU up to which two boxes are two faces.
        """
        width, height = self._fixed or size
        view, scale = letterbox(pixels, width, height)
        boxes, scores, points = self._candidates(view, score)
        if not len(scores):
            return []
        boxes, points = boxes / scale, points / scale
        kept = suppress(boxes, scores, overlap)
        return [
            Detection(Box(left, top, right - left, bottom - top), float(scores[i]), points[i])
            for i, (left, top, right, bottom) in zip(kept, boxes[kept].tolist(), strict=True)
        ]

    def detect_stack(self, stack: Pixels, score: float = SCORE) -> list[Found]:
        """See `StackDetector.detect_stack`. Graphs of this kind take one picture at a time; the original counts from the middle of the
        corner pixel."""
        found = []
        for view in stack:
            rows, columns = view.shape[:2]
            width, height = self._fixed or (columns, rows)
            shown, scale = (view, 1.0) if (width, height) == (columns, rows) else letterbox(view, width, height)
            boxes, scores, points = self._candidates(shown, score)
            kept = suppress(boxes, scores, OVERLAP)
            found.append(_doubles(boxes[kept] / scale + 0.5, scores[kept], points[kept] / scale + 0.5))
        return found

    def _candidates(self, view: Pixels, least: float) -> tuple[Floats32, Floats32, Floats32]:
        """(N, 4) left, top, right, bottom; (N,) scores; (N, 5, 2) points, in pixels of the view, best score first."""
        answer = self._session.run({self._session.inputs[0].name: feed(view[None], self._input)})
        tensors = [_flat(answer[spec.name]) for spec in self._session.outputs]
        levels = len(self._strides)
        parts = []
        for level, stride in enumerate(self._strides):
            scores, sides = tensors[level][:, 0], tensors[level + levels] * np.float32(stride)
            corners = anchors(view.shape[0] // stride, view.shape[1] // stride, stride, self._anchors)
            good = np.flatnonzero(scores >= least)
            boxes = np.concatenate([corners - sides[:, :2], corners + sides[:, 2:]], axis=1)[good]
            if self.has_points:
                away = tensors[level + 2 * levels] * np.float32(stride)
                points = (corners[:, None] + away.reshape(len(away), -1, 2))[good]
            else:
                points = boxes[:, None, :2] + GUESSED * (boxes[:, None, 2:] - boxes[:, None, :2])
            parts.append((boxes, scores[good], points))
        boxes, scores, points = (np.concatenate(part) for part in zip(*parts, strict=True))
        best = np.argsort(-scores, kind="stable")
        return boxes[best], scores[best], points[best]


def letterbox(pixels: Pixels, width: int, height: int) -> tuple[Pixels, float]:
    """The picture as large as fits into width × height, in the upper left corner of black, and how many of its pixels make one."""
    rows, columns = pixels.shape[:2]
    ratio = rows / columns
    if ratio > height / width:
        high, wide = height, max(1, int(height / ratio))
    else:
        high, wide = max(1, int(width * ratio)), width
    canvas = np.zeros((height, width, 3), np.uint8)
    canvas[:high, :wide] = cv2.resize(np.ascontiguousarray(pixels), (wide, high), interpolation=cv2.INTER_LINEAR)
    return canvas, high / rows


def anchors(rows: int, columns: int, stride: int, count: int) -> Floats32:
    """(rows · columns · count, 2) float32, x and y of the cells' corners in pixels, each cell `count` times."""
    y, x = np.mgrid[:rows, :columns].astype(np.float32) * np.float32(stride)
    return np.repeat(np.stack([x, y], axis=-1).reshape(-1, 2), count, axis=0)


def suppress(boxes: Floats32, scores: Floats32, overlap: float) -> list[int]:
    """The numbers of the boxes that stay, best first; lengths count both end pixels, as the original's do."""
    left, top, right, bottom = boxes.T
    area = (right - left + 1) * (bottom - top + 1)
    order, kept = np.argsort(-scores, kind="stable"), []
    while order.size:
        best, rest = order[0], order[1:]
        kept.append(int(best))
        wide = np.maximum(0, np.minimum(right[best], right[rest]) - np.maximum(left[best], left[rest]) + 1)
        high = np.maximum(0, np.minimum(bottom[best], bottom[rest]) - np.maximum(top[best], top[rest]) + 1)
        common = wide * high
        order = rest[common / (area[best] + area[rest] - common) <= overlap]
    return kept


def _flat(tensor: Array) -> Floats32:
    """(N, C) of an output with or without a first axis for the batch."""
    return np.asarray(tensor[0] if tensor.ndim == 3 else tensor, np.float32)


def _doubles(boxes: Floats32, scores: Floats32, points: Floats32) -> Found:
    return boxes.astype(np.float64), scores.astype(np.float64), points.astype(np.float64)
