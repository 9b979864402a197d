"""A contact sheet for the eye: what no figure sees."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.quality.scene import Doubles
from engines.types import Pixels

COLUMN, GAP, ACROSS = 640, 6, 4  # px, px, columns
EACH = "{pair}"  # in a sheet's name: one file a pair
LARGEST = 65500  # px a side, of JPEG

# Crops below the whole faces: the middle as a mean of mesh vertices, height over width.
CROPS = (
    ("left eye", (33, 133), 0.6),
    ("right eye", (362, 263), 0.6),
    ("mouth and chin", (61, 291, 17, 152), 0.8),
    ("outline, forehead", (10, 109, 338), 0.5),
    ("outline, cheek left", (234, 132, 50), 0.8),
    ("outline, cheek right", (454, 361, 280), 0.8),
)


@dataclass(frozen=True, slots=True)
class Column:
    """One picture of a row: its title, pixels (H, W, 3) RGB and the mesh that crops follow, all of one pair in the target's pixels."""

    title: str
    pixels: Pixels
    points: Doubles


def panel(title: str, source: Column, columns: Sequence[Column]) -> Pixels:
    """Whole faces (source, then the columns) over crops of the columns at 200 %, up to four times as large where the face is small.

    Crops are cut at one place, the first column's, so that rows compare.
    """
    mesh = columns[0].points
    width = float(np.ptp(mesh[:468, :2], axis=0).max())
    scale = float(np.clip(COLUMN / (0.6 * width), 2.0, 4.0))
    rows = [[_titled(_face(c), c.title) for c in (source, *columns)]]
    for name, vertices, ratio in CROPS:
        middle = mesh[list(vertices), :2].mean(0)
        cells = [_titled(_crop(c.pixels, middle, COLUMN / scale, ratio), f"{c.title}: {name} {scale:.1f}x") for c in columns]
        if len(rows[-1]) + len(cells) <= ACROSS and len(rows) > 1:
            rows[-1] += cells  # two columns fill half a row
        else:
            rows.append(cells)
    body = [_row(cells) for cells in rows]
    head = np.zeros((34, body[0].shape[1], 3), np.uint8)
    cv2.putText(head, title, (8, 25), cv2.FONT_HERSHEY_SIMPLEX, 0.75, (255, 230, 90), 2, cv2.LINE_AA)
    return np.vstack([head, *body])


def write(panels: Sequence[tuple[str, Pixels]], where: str) -> list[Path]:
    """Writes one sheet, or one a pair where the name holds `{pair}`; what is taller than a JPEG may be is cut into numbered parts.

    These are development pictures, unmarked, of a fusion under test; they go where the caller says and nowhere else.
    """
    if EACH in where:
        return [_encode(picture, Path(where.replace(EACH, name.replace(":", "-to-").replace("#", "-")))) for name, picture in panels]
    wide = max((picture.shape[1] for _, picture in panels), default=1)
    parts: list[list[Pixels]] = [[]]
    for _, picture in panels:
        if sum(one.shape[0] for one in parts[-1]) + picture.shape[0] > LARGEST:
            parts.append([])
        parts[-1].append(np.pad(picture, ((0, GAP), (0, wide - picture.shape[1]), (0, 0))))
    path = Path(where)
    names = [path] + [path.with_stem(f"{path.stem}_{number}") for number in range(2, len(parts) + 1)]
    return [_encode(np.vstack(part), name) for part, name in zip(parts, names, strict=True) if part]


def _encode(picture: Pixels, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(path), cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 92]):
        raise OSError(f"{path} could not be written")
    return path


def _face(column: Column) -> Pixels:
    points = column.points[:468, :2]
    middle = (points.min(0) + points.max(0)) / 2
    return _crop(column.pixels, middle, 1.75 * float(np.ptp(points, axis=0).max()), 1.0)


def _crop(pixels: Pixels, middle: NDArray[np.floating], side: float, ratio: float) -> Pixels:
    """(COLUMN * ratio, COLUMN, 3): a region `side` px wide round a place; black beyond the picture."""
    scale = COLUMN / side
    height = round(COLUMN * ratio)
    if scale < 0.7:  # averaged first, or a warp skips pixels
        factor = scale / 0.7
        pixels = np.asarray(cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8)
        middle, scale = middle * factor, 0.7
    matrix = np.array([[scale, 0, COLUMN / 2 - scale * middle[0]], [0, scale, height / 2 - scale * middle[1]]])
    return np.asarray(cv2.warpAffine(pixels, matrix, (COLUMN, height), flags=cv2.INTER_CUBIC), np.uint8)


def _titled(picture: Pixels, title: str) -> Pixels:
    out = picture.copy()
    for colour, thickness in (((0, 0, 0), 4), ((255, 255, 255), 1)):
        cv2.putText(out, title, (8, 20), cv2.FONT_HERSHEY_SIMPLEX, 0.55, colour, thickness, cv2.LINE_AA)
    return out


def _row(cells: Sequence[Pixels]) -> Pixels:
    """Side by side, as tall as the tallest, filled up to ACROSS columns."""
    height = max(cell.shape[0] for cell in cells) + GAP
    row = np.hstack([np.pad(cell, ((0, height - cell.shape[0]), (0, GAP), (0, 0))) for cell in cells])
    return np.pad(row, ((0, 0), (0, max(0, ACROSS * (COLUMN + GAP) - row.shape[1])), (0, 0)))
