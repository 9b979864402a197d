"""CenterFace: where faces are, with five points each.

Xu et al., "CenterFace: Joint Face Detection and Alignment Using Face as Point", 2019. The graph takes `input.1` (B, 3, H, W) RGB
0..255 with H and W multiples of 32, and answers on a grid of 4 px: `537` heat 0..1, `538` logarithm of the size (h, w), `539` offset
of the centre (y, x), `540` five points (y, x) in units of the box, from its corner.
"""

import numpy as np
from numpy.typing import NDArray

from engines.faces.batches import run_stack
from engines.faces.detector import Doubles, StackDetector, suppress
from engines.runtime.session import Session
from engines.types import Pixels

INPUT, HEAT, SIZE, OFFSET, POINTS = "input.1", "537", "538", "539", "540"
STRIDE = 4  # picture pixels per cell of the answer
CANDIDATES = 1000  # of the heat map's cells, best first, before overlaps are removed; a crowd of 200 faces has about 1,000
LARGEST_LOG_SIZE = 8.0  # exp(8) · 4 px = 12,000 px: keeps a wild answer finite


class CenterFace(StackDetector):
    """The detector. A picture of any size; (H, W, 3) uint8 RGB."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def detect_stack(self, stack: Pixels, score: float = 0.5) -> list[tuple[Doubles, Doubles, Doubles]]:
        """The bare network on equal pictures, (B, H, W, 3) uint8 with H and W multiples of 32.

        Returns for each (N, 4) left, top, right, bottom; (N,) scores, best first; (N, 5, 2) points; all measured from the edges of
        the picture's corner pixel.
        """
        feed = np.ascontiguousarray(stack.transpose(0, 3, 1, 2), dtype=np.float32)
        answer = run_stack(self._session, INPUT, feed, most=8)
        found = []
        for heat, size, offset, points in zip(answer[HEAT], answer[SIZE], answer[OFFSET], answer[POINTS], strict=True):
            boxes, scores, fives = decode(heat[0], size, offset, points, score)
            kept = suppress(boxes, scores)
            found.append((boxes[kept], scores[kept], fives[kept]))
        return found


def decode(
    heat: NDArray[np.float32], size: NDArray[np.float32], offset: NDArray[np.float32], points: NDArray[np.float32], score: float
) -> tuple[Doubles, Doubles, Doubles]:
    """The answer's cells of more than `score` as boxes (N, 4), scores (N,) and points (N, 5, 2), best first.

    Args:
        heat: (h, w). size: (2, h, w), logarithms of height and width in cells. offset: (2, h, w), y and x, in cells.
        points: (10, h, w), y and x by turns, in units of the box.
    """
    rows, columns = np.nonzero(heat > score)
    scores = heat[rows, columns].astype(np.float64)
    best = np.argsort(-scores, kind="stable")[:CANDIDATES]
    rows, columns, scores = rows[best], columns[best], scores[best]
    extent = np.exp(np.minimum(size[:, rows, columns].astype(np.float64), LARGEST_LOG_SIZE)) * STRIDE  # (2, N): h, w
    centre = (np.stack([rows, columns]) + offset[:, rows, columns] + 0.5) * STRIDE  # (2, N): y, x
    corner = centre - extent / 2
    fives = points[:, rows, columns].astype(np.float64).reshape(5, 2, -1) * extent + corner  # (5, 2, N)
    boxes = np.stack([corner[1], corner[0], corner[1] + extent[1], corner[0] + extent[0]], axis=1)
    return boxes, scores, fives[:, ::-1].transpose(2, 0, 1)
