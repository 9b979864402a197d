"""Where a face might be: the detector on one picture at several sizes, turned, with a border, in tiles, and close to where it hesitates."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from engines.faces.detector import StackDetector, Turn
from engines.faces.facemesh import upright
from engines.faces.tiles import SIDE, STEP, Detail, Doubles, Tile, tiles
from engines.timing import Run
from engines.types import Box, Detection, Matrix, Pixels
from engines.vision.geometry import apply, compose, halved, invert, resizing, warp

SCORE = 0.3  # a proposal is examined anyway; real faces come down to .31 at an unlucky side
# Under a proposal, over a hint: .1 to .3 is what a face of 9 to 12 px or one on its side gets. Of 17 portraits 13 have none.
HINT = 0.1
FINE = 2400  # long side of the nearest look at a small picture: it is enlarged towards it, twice at most
TWICE = 2.0
FINEST = 6400  # long side of the nearest look at a large one: above, it is halved
CLOSE, SHOWN = 128, 48.0  # a hint in a square of so many px, at this size


@dataclass(frozen=True, slots=True)
class Look:
    """What one look gave, best score first: proposals, and hints that are too weak to be examined."""

    proposals: Sequence[Detection] = ()
    hints: Sequence[Detection] = ()


class Proposer:
    """Asks the detector about one picture. Detections are in the picture's own pixels."""

    def __init__(self, detector: StackDetector, pixels: Pixels, run: Run) -> None:
        self._detector, self._run = detector, run
        self._levels = [pixels]
        self._detail: Detail | None = None

    def whole(self, side: int, border: float = 0.0, turn: Turn = 0) -> Look:
        """The whole picture, as `StackDetector.detect` takes it."""
        with self._run.stage("detect"):
            view, scale = self._level(side)
            found = self._detector.detect(view, side, HINT, border, turn)
            return _sorted([moved(one, resizing(1 / scale)) for one in found])

    @property
    def detail(self) -> Detail:
        """Of the picture reduced to about 1,000 px."""
        if self._detail is None:
            self._detail = Detail(self._level(SIDE)[0])
        return self._detail

    def finest(self) -> float:
        """How many pixels of the nearest look make one of the picture's: 2 for a small one, 1/2 and less over `FINEST`."""
        long: int = max(self._levels[0].shape[:2])
        if long < FINE:
            return min(FINE / long, TWICE)
        return float(2.0 ** -max(0, ceil(log2(long / FINEST))))

    def pieces(self, scale: float) -> list[Tile]:
        """The tiles of a look at `scale`, in pixels of the picture."""
        rows, columns = self._levels[0].shape[:2]
        return tiles(rows, columns, max(1, int(SIDE / scale)), max(1, int(STEP / scale)))

    def near(self, pieces: Sequence[Tile], scale: float) -> Look:
        """Pieces of the picture at `scale`, which is at least 1 or a power of ½."""
        found: list[Detection] = []
        with self._run.stage("detect"):
            view, level = self._level(round(scale * max(self._levels[0].shape[:2])))
            for piece in pieces:
                self._run.check()
                left, top, right, bottom = (int(v * level) for v in (piece.left, piece.top, piece.right, piece.bottom))
                part = view[top:bottom, left:right]
                there = compose(resizing(1 / level), np.array([[1.0, 0.0, left], [0.0, 1.0, top]]))
                side = round(scale / level * max(part.shape[:2]))
                found += [moved(one, there) for one in self._detector.detect(part, side, HINT)]
        return _sorted(found)

    def close(self, hints: Sequence[Detection]) -> Look:
        """Each hint at a good size, as it stands and turned to each side and over: one view holds all four."""
        found: list[Detection] = []
        with self._run.stage("detect"):
            for hint in hints:
                self._run.check()
                found += self._turned_about(hint)
        return _sorted(found)

    def _turned_about(self, hint: Detection) -> list[Detection]:
        size = extent(hint)
        view, level = self._level(round(max(self._levels[0].shape[:2]) * SHOWN / size))
        x, y = apply(resizing(level), [hint.box.centre])[0]
        matrices = [upright(float(x), float(y), quarter * np.pi / 2, SHOWN / (size * level), CLOSE) for quarter in range(4)]
        crops = [warp(view, matrix, (CLOSE, CLOSE)) for matrix in matrices]
        sheet = np.vstack([np.hstack(crops[:2]), np.hstack(crops[2:])])
        boxes, scores, points = self._detector.detect_stack(sheet[None], SCORE)[0]
        found = []
        for box, score, five in zip(boxes, scores, points, strict=True):
            column, row = (int(v) for v in np.clip((box[:2] + box[2:]) / 2 // CLOSE, 0, 1))
            corner = np.array([column, row]) * CLOSE + 0.5
            back = compose(resizing(1 / level), invert(matrices[2 * row + column]))
            found.append(_through(back, box - np.tile(corner, 2), float(score), five - corner))
        return found

    def _level(self, side: int) -> tuple[Pixels, float]:
        """The picture halved as often as `side` allows, from what was halved already."""
        side = max(1, side)
        last = self._levels[-1]
        while max(last.shape[:2]) >= 2 * side and min(last.shape[:2]) >= 2:
            last, _ = halved(last, max(last.shape[:2]) // 2)
            self._levels.append(last)
        level = next((i for i, one in enumerate(self._levels) if max(one.shape[:2]) < 2 * side), len(self._levels) - 1)
        return self._levels[level], 0.5**level


def extent(found: Detection) -> float:
    """√(width · height) of its box in pixels, at least 1."""
    return max(1.0, float(np.sqrt(max(found.box.width * found.box.height, 0.0))))


def moved(found: Detection, matrix: Matrix) -> Detection:
    """A detection through a matrix that only scales and shifts."""
    box = found.box
    corners = apply(matrix, [(box.x, box.y), (box.x + box.width, box.y + box.height)])
    (left, top), (right, bottom) = corners.tolist()
    return Detection(Box(left, top, right - left, bottom - top), found.score, apply(matrix, found.points).astype(np.float32))


def _through(matrix: Matrix, box: Doubles, score: float, points: Doubles) -> Detection:
    """A detector's left, top, right, bottom and points through a similarity; the box stays upright round its turned corners."""
    left, top, right, bottom = box
    corners = apply(matrix, [(left, top), (right, top), (left, bottom), (right, bottom)])
    (x, y), (far_x, far_y) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    return Detection(Box(x, y, far_x - x, far_y - y), score, apply(matrix, points).astype(np.float32))


def _sorted(found: Sequence[Detection]) -> Look:
    best = sorted(found, key=lambda one: -one.score)
    return Look([one for one in best if one.score >= SCORE], [one for one in best if one.score < SCORE])
