"""`Layout`: where a model's visual tokens lie on a picture, and how many there are.

A token stands for a cell of a grid that is laid over the picture, or for no place at all (a separator, the end of a row). A model may
lay several grids over one picture: the tiles of the whole, and a thumbnail.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

_FINE = 16  # subdivisions of a cell's side when an outline is laid over the grid: an overlap under 1/256 of a cell may be missed


@dataclass(frozen=True, slots=True)
class Sheet:
    """One grid of cells over a part of the picture.

    Attributes:
        columns, rows: of cells.
        box: left, top, width, height in pixels of the picture. It may reach beyond the picture (padding) or leave some of it out (crop).
        tokens: of one cell; broken where a price list multiplies.
        tiles: columns and rows of the tiles that the cells belong to; (1, 1) where the picture isn't cut.
    """

    columns: int
    rows: int
    box: tuple[float, float, float, float]
    tokens: float = 1
    tiles: tuple[int, int] = (1, 1)

    @property
    def total(self) -> float:
        return self.columns * self.rows * self.tokens

    def touched(self, outline: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(rows, columns) bool: the cells that overlap a closed outline, (N, 2) in pixels of the picture."""
        left, top, width, height = self.box
        if not self.columns or not self.rows or width <= 0 or height <= 0:
            return np.zeros((self.rows, self.columns), np.bool_)
        step = (self.columns / width * _FINE, self.rows / height * _FINE)
        # A pixel of the raster stands for the subdivision whose centre it is: minus half a subdivision.
        points = (np.asarray(outline, np.float64) + 0.5 - (left, top)) * step - 0.5
        raster = np.zeros((self.rows * _FINE, self.columns * _FINE), np.uint8)
        cv2.fillPoly(raster, [np.round(points * 16).astype(np.int32)], (1,), shift=4)
        return np.asarray(raster.reshape(self.rows, _FINE, self.columns, _FINE).any(axis=(1, 3)), np.bool_)


@dataclass(frozen=True, slots=True)
class Layout:
    """All tokens of one picture.

    Attributes:
        tokens: their number, as the model's processor makes it or the price list counts it.
        seen: width and height in pixels of what the encoder sees of the whole picture, all tiles together, without the thumbnail.
        sheets: see `Sheet`; the first is the finest.
    """

    tokens: int
    seen: tuple[int, int]
    sheets: tuple[Sheet, ...]

    @property
    def placeless(self) -> float:
        """Tokens that belong to no place of the picture: separators, row ends, class tokens; the rounding of a multiplied count."""
        return self.tokens - sum(sheet.total for sheet in self.sheets)

    @property
    def sum(self) -> str:
        """The number as its sum: `24 × 24 + 48 × 36 + 36`."""
        parts = [f"{s.columns} × {s.rows}" + (f" × {s.tokens:g}" if s.tokens != 1 else "") for s in self.sheets]
        if any(sheet.tokens != int(sheet.tokens) for sheet in self.sheets):
            return f"⌈{' + '.join(parts)}⌉"
        return " + ".join(parts + ([f"{self.placeless:g}"] if self.placeless else []))

    def useful(self, outline: NDArray[np.float64]) -> float:
        """Tokens whose cells overlap an outline, (N, 2) in pixels of the picture. Of a thumbnail too: it shows the same face."""
        return math.fsum(int(sheet.touched(outline).sum()) * sheet.tokens for sheet in self.sheets)


class SizeRefusedError(ValueError):
    """A model's processor refuses a picture of this size. Its text tells why; `visual.VisualModel` makes the error of the tree of it."""
