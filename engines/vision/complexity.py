"""How much there is to see in a picture, 0..1, and how many diffusion steps that asks for.

c = mean of three shares, each clipped to 0..1, of the luma at 256 px: pixels with a clear edge ÷ 0.35, entropy of the gradients ÷ 5 bits,
bits a pixel of a JPEG of quality 75 ÷ 3. Steps = 15 + 15 c, rounded. No encoded picture comes into being: the JPEG's bits are counted.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Pixels
from engines.vision.lossy import BLOCK, luma_steps

SIDE = 256  # of the longer side, in pixels: large photos compare with small ones
EDGE, EDGES_FULL = 12.0, 0.35  # levels a pixel that count as an edge; share of such pixels that counts as full
BINS, STEEPEST, ENTROPY_FULL = 64, 128.0, 5.0
QUALITY, BITS_FULL = 75, 3.0
FEWEST, MOST = 15, 30

# ITU-T T.81 (1992), annex K.3: lengths of the typical Huffman codes for luma. DC by the category of the difference, AC by
# 16 × run + category; all AC symbols that aren't listed have 16 bits.
_DC = (2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9)
_AC = {
    2: (0x01, 0x02),
    3: (0x03,),
    4: (0x00, 0x04, 0x11),
    5: (0x05, 0x12, 0x21),
    6: (0x31, 0x41),
    7: (0x06, 0x13, 0x51, 0x61),
    8: (0x07, 0x22, 0x71),
    9: (0x14, 0x32, 0x81, 0x91, 0xA1),
    10: (0x08, 0x23, 0x42, 0xB1, 0xC1),
    11: (0x15, 0x52, 0xD1, 0xF0),
    12: (0x24, 0x33, 0x62, 0x72),
    15: (0x82,),
}


@dataclass(frozen=True, slots=True)
class Complexity:
    """Attributes: edges, entropy, bits: the three shares, 0..1."""

    edges: float
    entropy: float
    bits: float

    @property
    def value(self) -> float:
        """0 = nothing to see … 1."""
        return (self.edges + self.entropy + self.bits) / 3

    @property
    def steps(self) -> int:
        """For a diffusion model: 15 for a plain ground, 30 for the busiest picture."""
        return round(FEWEST + (MOST - FEWEST) * self.value)

    def as_dict(self) -> dict[str, float | int]:
        shares = {name: round(getattr(self, name), 4) for name in ("edges", "entropy", "bits")}
        return {"complexity": round(self.value, 4), "steps": self.steps, **shares}


def complexity(pixels: Pixels) -> Complexity:
    """Measures a picture, (H, W, 3) uint8 RGB."""
    luma = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    factor = SIDE / max(luma.shape)
    if factor < 1:
        size = (max(1, round(luma.shape[1] * factor)), max(1, round(luma.shape[0] * factor)))
        luma = cv2.resize(luma, size, interpolation=cv2.INTER_AREA)
    small = np.asarray(luma, np.uint8)
    steep = _gradients(small)
    counts = np.histogram(np.minimum(steep, STEEPEST), BINS, (0, STEEPEST))[0]
    share = counts[counts > 0] / steep.size
    entropy = float(-(share * np.log2(share)).sum())
    measured = (float((steep > EDGE).mean()) / EDGES_FULL, entropy / ENTROPY_FULL, jpeg_bits(small, QUALITY) / small.size / BITS_FULL)
    return Complexity(*(min(max(0.0, value), 1.0) for value in measured))


def jpeg_bits(luma: Pixels, quality: int) -> int:
    """Bits of the entropy-coded data of a baseline JPEG of one channel, with the standard's typical Huffman codes.

    Args:
        luma: (H, W) uint8. quality: libjpeg's scale, 1..100.
    """
    steps = luma_steps(luma, quality)  # (blocks, 64), as they are stored
    steps = steps[:, _zigzag()]
    difference = np.diff(steps[:, 0], prepend=0)
    category = _category(difference)
    total = int((np.array(_DC)[np.minimum(category, 11)] + category).sum())
    lengths = np.full(256, 16, np.int64)
    for length, symbols in _AC.items():
        lengths[list(symbols)] = length
    block, place = np.nonzero(steps[:, 1:])
    first = np.diff(block, prepend=-1) != 0
    run = np.where(first, place, np.diff(place, prepend=-1) - 1)
    size = _category(steps[block, place + 1])
    total += int((lengths[run % 16 * 16 + size] + size).sum() + lengths[0xF0] * (run // 16).sum())
    return total + int(lengths[0x00]) * int((steps[:, -1] == 0).sum())  # a block that doesn't end in a value has an end mark


def _gradients(luma: Pixels) -> NDArray[np.float64]:
    """Magnitude of the central differences, levels a pixel."""
    values = np.pad(luma.astype(np.float64), 1, "edge")
    across, down = (values[1:-1, 2:] - values[1:-1, :-2]) / 2, (values[2:, 1:-1] - values[:-2, 1:-1]) / 2
    return np.asarray(np.hypot(across, down), np.float64)


def _category(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bits of the magnitude: 0 → 0, ±1 → 1, ±2, ±3 → 2, …"""
    return np.asarray(np.frexp(np.abs(values).astype(np.float64))[1], np.int64)


def _zigzag() -> NDArray[np.int64]:
    """Places of the 64 coefficients in the order in which they are stored (T.81, figure A.6)."""
    places = [(row, column) for row in range(BLOCK) for column in range(BLOCK)]
    order = sorted(places, key=lambda at: (sum(at), at[0] if sum(at) % 2 else at[1]))
    return np.array([row * BLOCK + column for row, column in order], np.int64)
