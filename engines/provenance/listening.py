"""One look at a canvas: its tiles summed, and each key's pilot sought in them in all eight orientations and at all offsets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.provenance.carrier import TILE, TURNS, Carrier, folded, ring_energy, unturn
from engines.provenance.keys import MarkKey
from engines.types import Floats

_NEAR = np.exp(-0.5 * (np.arange(-12, 13) / 4.0) ** 2)  # rings that are asked together: one alone holds too little of the pilot
_FAINTEST = 0.3  # a ring in which the pilot isn't heard is still believed so much


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """Where a key's pilot stands out the most.

    Attributes:
        way: of `TURNS`. offset: rows and columns by which the tiles are off.
        height: the pilot's correlation there. score: that in standard deviations.
    """

    key: MarkKey
    kit: Carrier
    way: int
    offset: tuple[int, int]
    height: float
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """What a look brought.

    Attributes:
        spectrum: (128, 65) complex64, of the sum of the tiles, weighted. weights: (128, 65) float32, by which it was.
        voices: one of each key.
    """

    spectrum: NDArray[np.complex64]
    weights: Floats
    voices: tuple[Voice, ...]

    def said(self, voice: Voice) -> Floats:
        """(126,) float32, the bits of the message where the pilot was heard: the sign is the bit, the size how sure it is."""
        tile = np.fft.irfft2(self.spectrum, s=(TILE, TILE))
        upright = unturn(np.asarray(tile / (tile.std() + 1e-9), np.float32), *TURNS[voice.way])
        offsets = np.fft.irfft2(np.fft.rfft2(upright) * voice.kit.pilots[0], s=(TILE, TILE))
        down, right = np.unravel_index(int(offsets.argmax()), offsets.shape)
        placed = np.fft.rfft2(np.roll(upright, (-int(down), -int(right)), (0, 1)))
        louder = np.fft.irfft2(placed * _answers(placed, voice.kit)[voice.kit.rings], s=(TILE, TILE))
        return np.asarray(voice.kit.patterns @ louder.ravel().astype(np.float32), np.float32)


def listen(rest: Floats, kits: Sequence[tuple[MarkKey, Carrier]]) -> Heard:
    """Looks at a flattened canvas, (H, W) float32. No state is kept: several may listen at once."""
    spectrum, weights = _folded(rest, kits[0][1])
    spectrum *= weights
    voices = []
    for key, kit in kits:
        maps = np.fft.irfft2(spectrum * kit.pilots, s=(TILE, TILE))
        way, down, right = (int(index) for index in np.unravel_index(int(maps.argmax()), maps.shape))
        height = float(maps[way, down, right])
        voices.append(Voice(key, kit, way, (down, right), height, height / (float(maps[way].std()) + 1e-9)))
    return Heard(spectrum, weights, tuple(voices))


def _answers(placed: NDArray[np.complexfloating], kit: Carrier) -> NDArray[np.float64]:
    """(128,): how much of the pilot is left in each ring, up to 1: what is left of the message there, and so how far it is to be believed.

    A picture of a quarter of its size has lost the outer rings: with all rings alike 34 of 40 were read, so 39.
    """
    rings, pilot = kit.rings.ravel(), kit.pilots[0]
    alike, whole = (placed * pilot).real.ravel(), (pilot.real**2 + pilot.imag**2).ravel()
    left = np.convolve(np.bincount(rings, alike, TILE), _NEAR, "same") / (
        np.convolve(np.bincount(rings, whole, TILE), _NEAR, "same") + 1e-9
    )
    return np.asarray(np.clip(left / (left[kit.rings[kit.band]].max() + 1e-9), _FAINTEST, 1.0))


def _folded(rest: Floats, kit: Carrier) -> tuple[NDArray[np.complex64], Floats]:
    """Sums a canvas over its tiles: the spectrum of the sum, and weights that give every ring of frequencies the same energy.

    (128, 65) both. No part of the band then speaks for all.
    """
    spectrum = np.fft.rfft2(folded(rest)) * kit.band
    energy = ring_energy(spectrum, kit.rings, kit.band)
    return np.asarray(spectrum, np.complex64), np.asarray(kit.band / np.sqrt(energy[kit.rings] + 1e-9), np.float32)
