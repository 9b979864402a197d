"""The patterns that carry the watermark's bits: noise that only the key's owner can make again.

One pilot, which tells where the mark lies, and 126 patterns, one a bit. All fill a square of 128 × 128 that repeats over the
picture, hold the frequencies of `BAND` alone, and are orthogonal to each other. Method: Cox et al., Secure spread spectrum
watermarking for multimedia, IEEE Trans. Image Processing 6 (1997); periodic tiles for blind synchronisation: Kutter, Watermarking
resisting to translation, rotation and scaling, Proc. SPIE 3528 (1998).
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engines.provenance.keys import MarkKey
from engines.provenance.payload import BITS
from engines.types import Floats

TILE = 128
BAND = (0.05, 0.23)  # cycles a canvas pixel: below lies the picture's own energy, above what JPEG and resizing take first
PILOT_SHARE = 0.28  # of the mark's energy. 0.4 finds more than it can read, 0.22 loses crops whose bits could be read
TURNS = tuple((turns, mirrored) for mirrored in (False, True) for turns in range(4))  # the eight ways in which a picture can lie


@dataclass(frozen=True, slots=True)
class Carrier:
    """A key's patterns.

    Attributes:
        pilot: (128, 128) float32, RMS 1.
        patterns: (126, 16384) float32, orthogonal, each RMS 1.
        pilots: (8, 128, 65) complex64, conjugate spectra of the pilot in the orders of `TURNS`.
        band: (128, 65) bool, the frequencies in use. rings: (128, 65) int, radius of each in whole steps.
    """

    pilot: Floats
    patterns: Floats
    pilots: NDArray[np.complex64]
    band: NDArray[np.bool_]
    rings: NDArray[np.intp]

    def tile(self, bits: NDArray[np.uint8]) -> Floats:
        """(128, 128) float32, RMS 1: the pilot and the sum of all patterns, each with its bit's sign."""
        signs = bits.astype(np.float32) * 2 - 1
        message = (signs @ self.patterns).reshape(TILE, TILE)
        return np.asarray(np.sqrt(PILOT_SHARE) * self.pilot + np.sqrt((1 - PILOT_SHARE) / BITS) * message, np.float32)


@lru_cache(maxsize=12)
def carrier(key: MarkKey) -> Carrier:
    """Makes a key's patterns (0.3 s, 8 MB; the last twelve are kept).

    The noise is SHAKE-256 of the key and not a generator of NumPy, whose streams may change between releases: marks have to be read
    years later. The basis comes from a Cholesky factor, which is unique, where that of a QR may change its signs with the library.
    """
    noise = np.frombuffer(hashlib.shake_256(key.derive(b"carrier")).digest((BITS + 1) * TILE * TILE), np.uint8)
    radius = np.hypot(np.fft.fftfreq(TILE)[:, None], np.fft.rfftfreq(TILE)[None])
    band = (radius >= BAND[0]) & (radius <= BAND[1])
    spectra = np.fft.rfft2((noise.astype(np.float32) - 127.5).reshape(BITS + 1, TILE, TILE)) * band
    rows = np.fft.irfft2(spectra, s=(TILE, TILE)).reshape(BITS + 1, -1).astype(np.float64)
    triangle = np.linalg.cholesky(rows @ rows.T)
    patterns = np.ascontiguousarray(np.linalg.solve(triangle, rows) * TILE, np.float32)
    pilot = patterns[0].reshape(TILE, TILE)
    turned = np.stack([turn(pilot, *way) for way in TURNS])
    pilots = np.conj(np.fft.rfft2(turned)).astype(np.complex64)
    for array in (patterns, pilots):
        array.flags.writeable = False
    return Carrier(pilot, patterns[1:], pilots, band, np.rint(radius * TILE).astype(np.intp))


def turn(tile: Floats, turns: int, mirrored: bool) -> Floats:
    """Mirrors left to right, then turns counter-clockwise by quarter turns."""
    return np.rot90(tile[:, ::-1] if mirrored else tile, turns)


def unturn(tile: Floats, turns: int, mirrored: bool) -> Floats:
    """Undoes `turn`."""
    back = np.rot90(tile, -turns)
    return back[:, ::-1] if mirrored else back


def tiled(tile: Floats, height: int, width: int) -> Floats:
    """(height, width): a tile, side by side with itself from the upper left corner on."""
    return np.asarray(np.tile(tile, (-(-height // TILE), -(-width // TILE)))[:height, :width])


def folded(rest: Floats) -> Floats:
    """(128, 128): the sum of a canvas's tiles; what it lacks to whole ones counts as 0."""
    tile = np.zeros((TILE, TILE), np.float32)
    for top in range(0, rest.shape[0], TILE):
        for left in range(0, rest.shape[1], TILE):
            part = rest[top : top + TILE, left : left + TILE]
            tile[: part.shape[0], : part.shape[1]] += part
    return tile


def ring_energy(spectrum: NDArray[np.complexfloating], rings: NDArray[np.intp], band: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(128,): the mean power of a spectrum that is 0 off the band, by ring: the radius in 1 / 128 of the sampling frequency."""
    power = spectrum.real**2 + spectrum.imag**2
    return np.asarray(np.bincount(rings.ravel(), power.ravel(), TILE) / np.maximum(np.bincount(rings.ravel(), band.ravel(), TILE), 1))
