"""What a JPEG does to pixels, without making one: colour, subsampling, cosine transform, quantisation, and back.

For networks that were trained on JPEG pictures. No encoded picture comes into being, so nothing can be shown or written by it.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Floats, Pixels

BLOCK = 8

# ITU-T T.81 (1992), annex K.1: the example tables that libjpeg scales by its quality.
LUMA = (
    *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62),
    *(18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101),
    *(72, 92, 95, 98, 112, 100, 103, 99),
)
CHROMA = (
    *(17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99),
    *((99,) * 32),
)


def jpeg_round_trip(pixels: Pixels, quality: int = 75) -> Pixels:
    """The picture as it comes back from a baseline JPEG with 4:2:0 chroma, within about half a level of libjpeg's.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        quality: libjpeg's scale, 1..100; 75 is its default and Pillow's.

    Raises:
        ValueError: the quality is out of range.
    """
    if not 1 <= quality <= 100:
        raise ValueError("the quality must be 1 … 100")
    rows, columns = pixels.shape[:2]
    edge = 2 * BLOCK  # the unit of 4:2:0
    padded = cv2.copyMakeBorder(pixels, 0, -rows % edge, 0, -columns % edge, cv2.BORDER_REPLICATE)
    planes = np.asarray(cv2.cvtColor(padded, cv2.COLOR_RGB2YCrCb), dtype=np.uint8)
    luma, red, blue = (planes[..., i] for i in range(3))
    half = (luma.shape[1] // 2, luma.shape[0] // 2)
    kept = [_quantised(luma, _table(LUMA, quality))]
    for plane in (red, blue):
        small = _quantised(np.asarray(cv2.resize(plane, half, interpolation=cv2.INTER_AREA), dtype=np.uint8), _table(CHROMA, quality))
        # Bilinear from sample centres between the pixels: libjpeg's "fancy upsampling".
        kept.append(np.asarray(cv2.resize(small, luma.shape[::-1], interpolation=cv2.INTER_LINEAR), dtype=np.uint8))
    back = np.asarray(cv2.cvtColor(np.dstack(kept), cv2.COLOR_YCrCb2RGB), dtype=np.uint8)
    return np.ascontiguousarray(back[:rows, :columns])


def luma_steps(luma: Pixels, quality: int) -> NDArray[np.int64]:
    """The quantised cosine coefficients of a JPEG's luma: (blocks, 64), blocks row by row, each in the order of its own rows.

    Args:
        luma: (H, W) uint8; its last row and column are repeated to whole blocks. quality: as in `jpeg_round_trip`.
    """
    rows, columns = luma.shape
    padded = cv2.copyMakeBorder(luma, 0, -rows % BLOCK, 0, -columns % BLOCK, cv2.BORDER_REPLICATE)
    bands = padded.astype(np.float32).reshape(-1, BLOCK, padded.shape[1]) - np.float32(128)
    steps = np.rint(_across(_COSINES @ bands, _COSINES.T) / np.tile(_table(LUMA, quality), (1, padded.shape[1] // BLOCK)))
    blocks = steps.reshape(-1, BLOCK, padded.shape[1] // BLOCK, BLOCK).transpose(0, 2, 1, 3)
    return np.asarray(blocks.reshape(-1, BLOCK * BLOCK), np.int64)


def _table(base: tuple[int, ...], quality: int) -> Floats:
    """libjpeg's scaling of a table (jpeg_quality_scaling), clipped to the baseline's 1..255."""
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return np.clip((np.array(base, dtype=np.int64) * scale + 50) // 100, 1, 255).astype(np.float32).reshape(BLOCK, BLOCK)


def _quantised(plane: Pixels, table: Floats) -> Pixels:
    """(H, W) uint8, sides multiples of 8, with its cosine coefficients rounded to the table's steps."""
    rows, columns = plane.shape
    tables = np.tile(table, (1, columns // BLOCK))
    bands = plane.astype(np.float32).reshape(-1, BLOCK, columns) - np.float32(128)
    steps = _across(_COSINES @ bands, _COSINES.T)
    steps = np.rint(steps / tables) * tables
    values = np.rint(_across(_COSINES.T @ steps, _COSINES)) + np.float32(128)
    return np.clip(values, 0, 255).astype(np.uint8).reshape(rows, columns)


def _across(bands: Floats, matrix: Floats) -> Floats:
    """Every eight values of a row times (8, 8): one large product, in half the time of one for each block."""
    return np.asarray((bands.reshape(-1, BLOCK) @ matrix).reshape(bands.shape), np.float32)


def _cosines() -> Floats:
    """The orthonormal DCT-II of 8 samples as a matrix."""
    k, n = np.mgrid[:BLOCK, :BLOCK]
    return np.asarray(np.cos(np.pi * (2 * n + 1) * k / (2 * BLOCK)) * np.where(k == 0, np.sqrt(1 / BLOCK), np.sqrt(2 / BLOCK)), np.float32)


_COSINES = _cosines()
