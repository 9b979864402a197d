"""PDQ: 256 bits that stay nearly the same when a picture is saved again, resized or sent through a chat.

Source: "PDQ & TMK + PDQF", Facebook 2019, and its reference implementation (ThreatExchange, `pdq/cpp`); bits and quality are equal to
the reference's on pictures of up to 512 pixels. It is written here because its package has no wheels: a plain install has no compiler.

Measured on pictures of this studio: saved again, resized, sent by chat 0 to 22 bits of 256 differ; a tenth cut off 50; another picture
106 at least. So 31 bits, the paper's own bound, mean the same picture, and up to 70 possibly the same.
"""

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.provenance.view import on_white, shrunk
from engines.types import Floats, Pixels

BYTES = 32
SAME, POSSIBLY = 31, 70  # bits that differ
WORTH = 50  # quality from which a hash tells pictures apart: the paper's; a blank wall has less
_SIDE, _COEFFICIENTS, _LONG = 64, 16, 512


def pdq(pixels: Pixels, alpha: Pixels | None = None) -> tuple[bytes, int]:
    """The hash of a picture, laid on white, at most 512 pixels long.

    Args:
        pixels: (H, W, 3) uint8 RGB. alpha: (H, W) uint8 or None.

    Returns:
        32 bytes, the reference's hexadecimal digits in their order; and the quality, 0..100.
    """
    small = on_white(*shrunk(pixels, alpha, _LONG))
    luma: Floats = small.astype(np.float32) @ np.array((0.299, 0.587, 0.114), np.float32)  # BT.601
    if luma.shape != (_SIDE, _SIDE):
        luma = _blurred(luma)
        height, width = luma.shape
        grid = np.arange(_SIDE) + 0.5
        luma = luma[(grid * height / _SIDE).astype(int)][:, (grid * width / _SIDE).astype(int)]
    basis = _basis()
    waves = basis @ luma @ basis.T
    median = np.partition(waves, waves.size // 2 - 1, axis=None)[waves.size // 2 - 1]  # the lower of the two in the middle
    return np.packbits((waves > median).ravel()[::-1]).tobytes(), _quality(luma)


def distances(packed: NDArray[np.uint64], wanted: bytes) -> NDArray[np.uint16]:
    """Differing bits of each of (N, 4) uint64 hashes, as `np.frombuffer` of their bytes gives them: (N,) uint16."""
    word = np.frombuffer(wanted, np.uint64)
    total = np.zeros(len(packed), np.uint16)
    for column in range(4):  # column by column: a third of the time of a sum along the short axis
        total += np.bitwise_count(packed[:, column] ^ word[column])
    return total


def _blurred(luma: Floats) -> Floats:
    """Two box filters over half a cell of the grid each: a tent. At the borders the mean of what is there (Jarosz 2001)."""
    height, width = luma.shape
    size = (width + 2 * _SIDE - 1) // (2 * _SIDE), (height + 2 * _SIDE - 1) // (2 * _SIDE)
    anchor = (size[0] - (size[0] + 2) // 2, size[1] - (size[1] + 2) // 2)
    for _ in range(2):
        total = cv2.boxFilter(luma, -1, size, anchor=anchor, normalize=False, borderType=cv2.BORDER_CONSTANT)
        there = cv2.boxFilter(np.ones_like(luma), -1, size, anchor=anchor, normalize=False, borderType=cv2.BORDER_CONSTANT)
        luma = np.asarray(total / there, np.float32)
    return luma


@cache
def _basis() -> Floats:
    """(16, 64): the cosines 1 to 16 of a DCT of 64; the mean, 0, is left out."""
    rows, columns = np.arange(1, _COEFFICIENTS + 1)[:, None], np.arange(_SIDE)[None]
    return np.asarray(np.sqrt(2 / _SIDE) * np.cos(np.pi / 2 / _SIDE * rows * (2 * columns + 1)), np.float32)


def _quality(luma: Floats) -> int:
    steps = (np.diff(luma, axis=axis) * 100 / 255 for axis in (0, 1))
    return min(100, sum(int(np.abs(np.trunc(each)).sum()) for each in steps) // 90)
