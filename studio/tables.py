"""Rows of words and figures in columns, for a terminal."""

import unicodedata
from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """One line a row: the first column to the left, the others to the right, as wide as their widest cell."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(_padded(cell, width, i == 0) for i, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip() for row in rows
    ]


def columns(words: str) -> int:
    """How many columns of a terminal they take: Chinese characters take two, combining marks none (Unicode Standard Annex 11)."""
    return sum(0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in words)


def _padded(cell: str, width: int, left: bool) -> str:
    room = " " * (width - columns(cell))
    return cell + room if left else room + cell
