"""Which pieces of a picture are worth a look from near: those with fine detail that belongs to nobody who was found already."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Pixels

SIDE, STEP = 640, 560  # px of the detector's view; what is cut by one tile lies whole in the next up to 80 px
CELL = 4  # px of the reduced picture that make one cell of its detail
# Mean |Laplacian| of luma from which a cell may show a small face. Noise of σ 4 in a picture that was halved twice comes to 4, a soft
# background to 1, the faintest of the 16 px faces that the detector finds to 14.
BUSY = 10.0
HEAD, BODY, SHOULDER = 1.4, 6.0, 1.6  # what belongs to a person, from the middle of the face, in face sizes: up, down, to each side
MOST = 80  # tiles of one pass: 24 megapixels have 77

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tile:
    """A rectangle in pixels of the picture that is cut; `busy`: how many cells of detail it has."""

    left: int
    top: int
    right: int
    bottom: int
    busy: int = 0


class Detail:
    """Where a picture has fine detail.

    Args:
        small: (h, w, 3) uint8 RGB, the picture reduced to a long side of about 1,000 px; a face of 16 px in 12 megapixels is 4 px there.
    """

    def __init__(self, small: Pixels) -> None:
        luma = cv2.cvtColor(np.ascontiguousarray(small), cv2.COLOR_RGB2GRAY)
        edges = np.abs(cv2.Laplacian(luma, cv2.CV_16S)).astype(np.float32)
        size = max(1, round(luma.shape[1] / CELL)), max(1, round(luma.shape[0] / CELL))
        self._busy = np.asarray(cv2.resize(edges, size, interpolation=cv2.INTER_AREA)) > BUSY

    def busy_outside(self, people: Iterable[tuple[Doubles, float, float]]) -> NDArray[np.bool_]:
        """The cells with detail, without those of people whose faces are known.

        Args:
            people: for each the middle of the face (x, y) in parts of the picture's width and height, its size in parts of the width,
                and by how many degrees it leans clockwise.
        """
        rows, columns = self._busy.shape
        left = self._busy.astype(np.uint8)
        for middle, size, roll in people:
            c, s = np.cos(np.radians(roll)), np.sin(np.radians(roll))
            across, down = np.array([c, s]) * size * columns, np.array([-s, c]) * size * columns
            at = middle * (columns, rows)
            corners = [at - SHOULDER * across - HEAD * down, at + SHOULDER * across - HEAD * down]
            corners += [at + SHOULDER * across + BODY * down, at - SHOULDER * across + BODY * down]
            cv2.fillConvexPoly(left, np.round(corners).astype(np.int32), 0)
        return np.asarray(left > 0)


def tiles(rows: int, columns: int, side: int = SIDE, step: int = STEP) -> list[Tile]:
    """Overlapping squares that cover rows × columns pixels, row by row; the last of each are cut off by the picture's edge."""
    return [
        Tile(left, top, min(left + side, columns), min(top + side, rows))
        for top in range(0, max(1, rows - side + step), step)
        for left in range(0, max(1, columns - side + step), step)
    ]


def worthwhile(pieces: Iterable[Tile], busy: NDArray[np.bool_], rows: int, columns: int, most: int = MOST) -> list[Tile]:
    """Those of the pieces of rows × columns pixels that have detail, the richest first, at most so many."""
    high, wide = busy.shape[0] / rows, busy.shape[1] / columns
    counted = []
    for one in pieces:
        cells = busy[int(one.top * high) : ceil(one.bottom * high), int(one.left * wide) : ceil(one.right * wide)]
        counted.append(Tile(one.left, one.top, one.right, one.bottom, int(cells.sum())))
    return sorted((one for one in counted if one.busy), key=lambda one: -one.busy)[:most]
