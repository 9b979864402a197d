"""A swapper's crop at twice or four times its side: the larger crop is taken apart into grids of every n-th pixel, and put together again.

Each grid is the whole face at the network's own side, shifted by a part of its pixel, so that the network sees what it was trained on; the
results interleave. The idea is FaceFusion's "pixel boost" (facefusion.io, release 3.0).
"""

import numpy as np
from numpy.typing import NDArray

from engines.options import BOOSTS

FACTORS = BOOSTS


def implode(crop: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """(n · side, n · side, C) → (n², side, side, C): grid n · i + j begins at row i and column j.

    Raises:
        ValueError: the crop isn't square, or not a multiple of `side`.
    """
    rows, columns, channels = crop.shape
    if rows != columns or rows % side:
        raise ValueError(f"a square of a multiple of {side} px is needed, not {rows} × {columns}")
    n = rows // side
    return np.ascontiguousarray(crop.reshape(side, n, side, n, channels).transpose(1, 3, 0, 2, 4)).reshape(n * n, side, side, channels)


def explode(grids: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(n², side, side, C) → (n · side, n · side, C): undoes `implode`."""
    count, side, _, channels = grids.shape
    n = round(count**0.5)
    if n * n != count:
        raise ValueError(f"{count} grids make no square")
    return np.ascontiguousarray(grids.reshape(n, n, side, side, channels).transpose(2, 0, 3, 1, 4)).reshape(n * side, n * side, channels)
