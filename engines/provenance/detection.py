"""Finding and reading the watermark in a picture that was resized, turned, stretched, cut or framed.

Quick: the picture as a whole, in its eight upright positions. Deep, until a message is read: where the lattice of its repetitions says
(`engines.provenance.lattice`: any turn, scale and proportions), then every scale in turn, since the key's own pilot is still heard where
the lattice is not.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from engines.provenance import lattice, payload
from engines.provenance.canvas import CANVASES, flattened, luma, reduce, resize
from engines.provenance.carrier import TILE, TURNS, Carrier, carrier, unturn
from engines.provenance.keys import MarkKey
from engines.timing import Run
from engines.types import Floats, Pixels

MOST_TRIES = 90  # messages that are tried in a picture: with 1e-11 each (`engines.provenance.payload`) a false id has a chance below 1e-9
_BASE = 1024  # long side of the picture that is looked at
_PROMISING = 5.2  # score from which a message is tried; 1 of 80 looks at an unmarked picture reaches it
_STEP, _LEAST, _LARGEST = 0.005, 0.4, 1.2  # scales that are tried. Half a step shifts the far end of a 512 canvas by 1.3 pixels
_REFINED = 3  # best looks that are looked at again between the steps
_PLACES = 4  # of the lattice that are looked at


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in a picture.

    Attributes:
        id: None where no message could be read.
        score: how far the pilot stands out of the noise, in standard deviations. Unmarked pictures: 4 to 5, in a deep search
            5 to 6 (300 photographs, crops, noises and gradients: at most 6.3).
        corrected: wrong bits of the message that was read.
        scale: 1.0 uncropped; 0.8 where a crop left 80 % of the long side.
        turns, mirrored: how the picture lies, quarter turns counter-clockwise.
        angle: degrees by which it was turned besides, counter-clockwise, -45 to 45.
    """

    id: str | None
    score: float
    corrected: int = 0
    scale: float = 1.0
    turns: int = 0
    mirrored: bool = False
    angle: float = 0.0


def detect(pixels: Pixels, key: MarkKey, deep: bool = False, run: Run | None = None) -> Reading:
    """Looks for a mark of this key.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        deep: also looks for crops down to 40 % of the long side, for added borders up to 20 %, for turns by any angle and for
            proportions up to 6 % off.
        run: asked at every step whether to stop.

    Returns:
        The first message that could be read, or the best score and no id.
    """
    return _Search(pixels, key, run or Run()).reading(deep)


class _Search:
    """One picture, one key, and what was found so far."""

    def __init__(self, pixels: Pixels, key: MarkKey, run: Run) -> None:
        self._base = luma(reduce(pixels, _BASE) if max(pixels.shape[:2]) > _BASE else pixels)
        self._key, self._run, self._kit = key, run, carrier(key)
        self._best, self._tries = Reading(None, 0.0), 0

    def reading(self, deep: bool) -> Reading:
        for look in (self._upright, self._by_lattice, self._by_scales) if deep else (self._upright,):
            look()
            if self._best.id is not None:
                break
        return self._best

    def _upright(self) -> None:
        for canvas in CANVASES:
            self._scaled(canvas, 1.0)

    def _by_lattice(self) -> None:
        long = max(self._base.shape)
        small = resize(self._base, lattice.LONG) if long > lattice.LONG else self._base
        for place in lattice.locate(flattened(small))[:_PLACES]:
            matrix = place.matrix * (max(small.shape) / long)
            angle = np.degrees(np.arctan2(matrix[1, 0] - matrix[0, 1], matrix[0, 0] + matrix[1, 1]))
            scale = float(np.sqrt(abs(np.linalg.det(matrix)))) * long / CANVASES[0]
            reading = self._read(flattened_at(self._base, matrix), Reading(None, 0.0, scale=scale, angle=round(float(angle), 2)))
            if reading.id is not None:
                return

    def _by_scales(self) -> None:
        steps = sorted(range(round((_LEAST - 1) / _STEP), round((_LARGEST - 1) / _STEP) + 1), key=abs)[1:]
        looks = []
        for step in steps:  # outwards, since light crops are the most frequent. 256 needs half the steps
            for canvas in CANVASES:
                if step % (CANVASES[0] // canvas):
                    continue
                reading = self._scaled(canvas, 1 + step * _STEP)
                if reading.id is not None:
                    return
                looks.append((reading.score, canvas, reading.scale))
        looks.sort(reverse=True)
        for score, canvas, scale in looks[:_REFINED]:
            for part in (-0.5, -0.25, 0.25, 0.5) if score > _PROMISING else ():
                if self._scaled(canvas, scale + part * _STEP * CANVASES[0] / canvas).id is not None:
                    return

    def _scaled(self, canvas: int, scale: float) -> Reading:
        return self._read(flattened(resize(self._base, canvas * scale)), Reading(None, 0.0, scale=scale))

    def _read(self, rest: Floats, place: Reading) -> Reading:
        """Searches one place in all eight orientations and at all offsets."""
        self._run.check()
        tile = _fold(rest, self._kit)
        maps = np.fft.irfft2(np.fft.rfft2(tile) * self._kit.pilots, s=(TILE, TILE))
        peaks = (maps.max(axis=(1, 2)) - maps.mean(axis=(1, 2))) / (maps.std(axis=(1, 2)) + 1e-9)
        best = int(peaks.argmax())
        reading = Reading(None, float(peaks[best]), 0, place.scale, *TURNS[best], place.angle)
        if reading.score >= _PROMISING and self._tries < MOST_TRIES:
            self._tries += 1
            message = _message(tile, reading, self._kit, self._key)
            if message is not None:
                reading = Reading(message.id, reading.score, message.corrected, place.scale, *TURNS[best], place.angle)
        if reading.id is not None or reading.score > self._best.score:
            self._best = reading
        return reading


def flattened_at(brightness: Floats, matrix: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Floats:
    """A picture laid on the canvas by (2, 2) canvas pixels per picture pixel, flattened; 0 where it isn't."""
    scale = min(1.0, float(np.sqrt(abs(np.linalg.det(matrix)))))
    if scale < 1:  # areas averaged first: the warp takes single values
        size = max(16, round(brightness.shape[1] * scale)), max(16, round(brightness.shape[0] * scale))
        matrix = matrix @ np.diag((brightness.shape[1] / size[0], brightness.shape[0] / size[1]))
        brightness = np.asarray(cv2.resize(brightness, size, interpolation=cv2.INTER_AREA))
    height, width = brightness.shape
    corners = np.array([[0, 0], [width, 0], [0, height], [width, height]]) @ matrix.T
    low = corners.min(axis=0)
    across, down = (int(length) for length in np.ceil(corners.max(axis=0) - low))
    whole = np.column_stack((matrix, -low))
    laid = cv2.warpAffine(brightness, whole, (across, down), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    inside = cv2.warpAffine(np.ones_like(brightness), whole, (across, down), flags=cv2.INTER_NEAREST)
    return np.asarray(flattened(np.asarray(laid)) * inside, np.float32)


def _message(tile: Floats, reading: Reading, kit: Carrier, key: MarkKey) -> payload.Message | None:
    upright = unturn(tile, reading.turns, reading.mirrored)
    offsets = np.fft.irfft2(np.fft.rfft2(upright) * kit.pilots[0], s=(TILE, TILE))
    down, right = np.unravel_index(int(offsets.argmax()), offsets.shape)
    soft = kit.patterns @ np.roll(upright, (-int(down), -int(right)), (0, 1)).ravel()
    return payload.decode(np.asarray(soft, np.float32), key)


def _fold(rest: Floats, kit: Carrier) -> Floats:
    """Sums a flattened canvas over its tiles: (128, 128) float32 in which the mark adds up and the picture averages out.

    Afterwards every ring of frequencies gets the same energy, so that no part of the band speaks for all.
    """
    rows, columns = -(-rest.shape[0] // TILE), -(-rest.shape[1] // TILE)
    padded = np.zeros((rows * TILE, columns * TILE), np.float32)
    padded[: rest.shape[0], : rest.shape[1]] = rest
    spectrum = np.fft.rfft2(padded.reshape(rows, TILE, columns, TILE).sum(axis=(0, 2))) * kit.band
    rings = kit.rings[kit.band]
    energy = np.bincount(rings, weights=np.abs(spectrum[kit.band]) ** 2, minlength=TILE) / np.maximum(np.bincount(rings, minlength=TILE), 1)
    tile = np.fft.irfft2(spectrum / np.sqrt(energy[kit.rings] + 1e-9), s=(TILE, TILE))
    return np.asarray(tile / (tile.std() + 1e-9), np.float32)
