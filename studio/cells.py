"""A model's patches or tiles drawn over a picture, those that a face touches coloured: SVG, as sharp as the screen is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engines.tokens.layout import Layout, Sheet

FINEST = 160  # lines each way; beyond them a grid is a grey veil, and only its tiles and the coloured cells are drawn


def cells(layout: Layout, width: int, height: int, outline: NDArray[np.float64] | None = None) -> str:
    """The finest grid of a layout over a picture of width × height pixels.

    Args:
        outline: (N, 2) pixels, of the face; cells that it touches get the class `touched`.
    """
    sheet = layout.sheets[0]
    parts = [f'<svg class="fs-overlay fs-cells" viewBox="0 0 {width} {height}" aria-hidden="true" focusable="false">']
    if outline is not None and sheet.columns * sheet.rows > 1:
        parts.append(f'<path class="touched" d="{_touched(sheet, outline)}"/>')
    if max(sheet.columns, sheet.rows) <= FINEST:
        parts.append(f'<path class="cell" d="{_lines(sheet, sheet.columns, sheet.rows)}"/>')
    if sheet.tiles != (1, 1):
        parts.append(f'<path class="tile" d="{_lines(sheet, *sheet.tiles)}"/>')
    return "".join([*parts, "</svg>"])


def _lines(sheet: Sheet, columns: int, rows: int) -> str:
    left, top, width, height = sheet.box
    across = [f"M{left + width * i / columns:.1f} {top:.1f}v{height:.1f}" for i in range(columns + 1)]
    down = [f"M{left:.1f} {top + height * i / rows:.1f}h{width:.1f}" for i in range(rows + 1)]
    return "".join(across + down)


def _touched(sheet: Sheet, outline: NDArray[np.float64]) -> str:
    left, top, width, height = sheet.box
    wide, high = width / sheet.columns, height / sheet.rows
    return "".join(
        f"M{left + wide * first:.1f} {top + high * row:.1f}h{wide * count:.1f}v{high:.1f}h{-wide * count:.1f}z"
        for row, line in enumerate(sheet.touched(outline))
        for first, count in _runs(line)
    )


def _runs(line: NDArray[np.bool_]) -> Sequence[tuple[int, int]]:
    """Where the runs of true values begin, and how long they are."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]]).astype(np.int8)))
    return [(int(begin), int(end - begin)) for begin, end in zip(edges[::2], edges[1::2], strict=True)]
