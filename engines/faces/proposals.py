"""Where a face might be: the detector on one picture at several sizes, turned, with a border, in tiles."""

import numpy as np

from engines.faces.detector import StackDetector, Turn
from engines.timing import Run
from engines.types import Box, Detection, Matrix, Pixels
from engines.vision.geometry import apply, compose, halved, resizing

SCORE = 0.3  # a proposal is examined anyway; real faces come down to .31 at an unlucky side
TILE, STEP = 640, 560  # of the detector's view; what is cut by one tile lies whole in the next up to 80 px
TILED = 2400  # long side at which tiles begin: a smaller picture is enlarged towards it, twice at most
TWICE = 2.0


class Proposer:
    """Asks the detector about one picture. Detections are in the picture's own pixels."""

    def __init__(self, detector: StackDetector, pixels: Pixels, run: Run) -> None:
        self._detector, self._run = detector, run
        self._levels = [pixels]

    def whole(self, side: int, border: float = 0.0, turn: Turn = 0) -> list[Detection]:
        """The whole picture, as `StackDetector.detect` takes it."""
        with self._run.stage("detect"):
            view, scale = self._level(side)
            return [moved(found, resizing(1 / scale)) for found in self._detector.detect(view, side, SCORE, border, turn)]

    def tiles(self) -> list[Detection]:
        """Overlapping pieces at up to twice the picture's size, for faces of 14 to 40 px.

        A picture of over 4,800 px is halved first: 63 tiles are the most, and a face of 16 px there is one of 16 in 4,800.
        """
        with self._run.stage("detect"):
            view, scale = self._level(TILED)
            rows, columns = view.shape[:2]
            enlarge = float(np.clip(TILED / max(rows, columns), 1.0, TWICE))
            tile, step = int(TILE / enlarge), int(STEP / enlarge)
            found = []
            for top in range(0, max(1, rows - tile + step), step):
                for left in range(0, max(1, columns - tile + step), step):
                    self._run.check()
                    part = view[top : top + tile, left : left + tile]
                    side = round(enlarge * max(part.shape[:2]))
                    there = compose(resizing(1 / scale), np.array([[1.0, 0.0, left], [0.0, 1.0, top]]))
                    found += [moved(one, there) for one in self._detector.detect(part, side, SCORE)]
            return found

    def _level(self, side: int) -> tuple[Pixels, float]:
        """The picture halved as often as `side` allows, from what was halved already."""
        last = self._levels[-1]
        while max(last.shape[:2]) >= 2 * side and min(last.shape[:2]) >= 2:
            last, _ = halved(last, max(last.shape[:2]) // 2)
            self._levels.append(last)
        level = next((i for i, one in enumerate(self._levels) if max(one.shape[:2]) < 2 * side), len(self._levels) - 1)
        return self._levels[level], 0.5**level


def moved(found: Detection, matrix: Matrix) -> Detection:
    """A detection through a matrix that only scales and shifts."""
    box = found.box
    corners = apply(matrix, [(box.x, box.y), (box.x + box.width, box.y + box.height)])
    (left, top), (right, bottom) = corners.tolist()
    return Detection(Box(left, top, right - left, bottom - top), found.score, apply(matrix, found.points).astype(np.float32))
