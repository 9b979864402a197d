"""YOLO face detectors: exports of YOLOv8 and its kind with five points, one tensor out.

One input (B, 3, H, W), RGB 0..1, the picture in the upper left corner; one output (B, 20, N): centre x and y, width and height in pixels,
the score, then five points as x, y and how sure it is. Greedy suppression at an IoU of 0.4, as for the others.
"""

import numpy as np

from engines.faces.detector import Found, StackDetector, suppress
from engines.faces.feeds import expect, feed, input_of
from engines.faces.scrfd import OVERLAP, SCORE, letterbox
from engines.model_entry import ModelEntry
from engines.runtime.session import Session
from engines.types import Box, Detection, Pixels

WIDTH = 20


class YoloFace(StackDetector):
    """One detection network.

    Args:
        entry: of models.toml, contract "yolo_face".

    Raises:
        SessionContract: not one input and one output.
    """

    def __init__(self, session: Session, entry: ModelEntry) -> None:
        expect(entry, session, 1, (1,))
        self._session, self._input = session, input_of(entry)
        rows, columns = session.inputs[0].shape[2:4]
        self._fixed = (columns, rows) if isinstance(rows, int) and isinstance(columns, int) else None

    def find(self, pixels: Pixels, size: tuple[int, int] = (640, 640), score: float = SCORE) -> list[Detection]:
        """Faces, best score first, in picture pixels.

        Args:
            pixels: (H, W, 3) uint8 RGB.
            size: width and height that the graph sees; one that is fixed in the graph wins.
            score: more than which counts.
        """
        view, scale = letterbox(pixels, *(self._fixed or size))
        boxes, scores, points = self._decoded(view, score)
        return [
            Detection(Box(left, top, right - left, bottom - top), float(value), (five / scale).astype(np.float32))
            for (left, top, right, bottom), value, five in zip((boxes / scale).tolist(), scores, points, strict=True)
        ]

    def detect_stack(self, stack: Pixels, score: float = SCORE) -> list[Found]:
        """See `StackDetector.detect_stack`."""
        found = []
        for view in stack:
            size = self._fixed or (view.shape[1], view.shape[0])
            shown, scale = (view, 1.0) if size == (view.shape[1], view.shape[0]) else letterbox(view, *size)
            boxes, scores, points = self._decoded(shown, score)
            found.append((boxes / scale, scores, points / scale))
        return found

    def _decoded(self, view: Pixels, least: float) -> Found:
        answer = self._session.run({self._session.inputs[0].name: feed(view[None], self._input)})
        rows = answer[self._session.outputs[0].name][0].astype(np.float64)
        rows = rows.T if rows.shape[0] == WIDTH else rows
        rows = rows[rows[:, 4] > least]
        boxes = np.concatenate([rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2], axis=1)
        kept = suppress(boxes, rows[:, 4], OVERLAP)
        points = rows[:, 5:WIDTH].reshape(-1, 5, 3)[..., :2]
        return boxes[kept], rows[kept, 4], points[kept]
