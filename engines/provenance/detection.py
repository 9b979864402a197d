"""Finding and reading the watermark in a picture that was resized, turned, stretched, cut or framed.

Quick: the picture as a whole, in its eight upright positions. Deep, until a message is read: where the lattice of its repetitions says
(`engines.provenance.lattice`: any turn, scale and proportions), in the whole and in parts of it, whose lattices together tell a
perspective; then every scale in turn, since the key's own pilot is still heard where the lattice is not; then the best of these looks,
moved until they fit (`engines.provenance.tracking`).

Each look lets the pilot choose among 8 orientations × 16384 offsets, and only what stands out is decoded. The bound on false ids doesn't
count looks but messages that are tried, whose tag is the proof.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engines.provenance import lattice, payload
from engines.provenance.canvas import CANVASES, SMALL, flattened, luma, reduce, resize
from engines.provenance.carrier import TILE, TURNS, Carrier, carrier, unturn
from engines.provenance.keys import MarkKey
from engines.provenance.payload import CHASE
from engines.provenance.tracking import laid, track
from engines.timing import Run
from engines.types import Floats, Pixels

Matrix = NDArray[np.float64]

MOST_TRIES = 64  # messages that are tried in a picture: at 1.2e-11 each (`engines.provenance.payload`) a false id has a chance of 8e-10
_BASE = 1024  # long side of the picture that is looked at
_PROMISING = 5.2  # score from which a message is tried; 1 of 80 looks at an unmarked picture reaches it
_STEP, _LEAST, _LARGEST = 0.006, 0.4, 1.2  # scales that are tried. Half a step shifts the far end of a 512 canvas by 1.5 pixels
_ENLARGED = 768  # larger pictures aren't tried as crops of one that was marked on the canvas of 256
_HEARD = 5.0  # score of a place that was told from which it is tracked
_TRACKED, _TIMES = 3, 2  # best looks that are tracked in the end, and how often the canvas is moved
_TOGETHER = 3  # parts that a perspective takes
_CERTAIN = 8.0  # score from which a mark is there beyond doubt, and more of its bits are tried both ways
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
            proportions up to 6 % off, a slight perspective, and a marked picture that fills a quarter of a page.
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
        self._looks: list[tuple[float, Matrix]] = []

    def reading(self, deep: bool) -> Reading:
        for look in (self._upright, self._by_lattice, self._by_parts, self._by_scales, self._tracked) if deep else (self._upright,):
            look()
            if self._best.id is not None:
                break
        return self._best

    def _upright(self) -> None:
        for canvas in CANVASES:
            self._scaled(flattened(resize(self._base, canvas)), canvas, 1.0)

    def _by_lattice(self) -> None:
        for matrix in _places(self._base, lattice.STRETCHES)[:_PLACES]:
            if self._placed(self._base, matrix).id is not None:
                return

    def _by_parts(self) -> None:
        """Quarters and the middle: a marked picture on a page; and, since a perspective is nearly linear there, what they tell together."""
        height, width = self._base.shape
        rows, columns = height // 2, width // 2
        corners = [(top, left) for top in (0, height - rows) for left in (0, width - columns)] + [(rows // 2, columns // 2)]
        found: list[tuple[float, float, Matrix]] = []
        for top, left in corners:
            self._run.check()
            part = np.ascontiguousarray(self._base[top : top + rows, left : left + columns])
            for matrix in _places(part, (1.0,))[:1]:
                if self._placed(part, matrix).id is not None:
                    return
                found.append((left + columns / 2, top + rows / 2, matrix))
        if len(found) >= _TOGETHER:
            self._placed(self._base, _perspective(found))

    def _by_scales(self) -> None:
        """Outwards, since light crops are the most frequent. Flattening takes as long as reading: a few sizes serve all."""
        sizes: dict[int, Floats] = {}
        for canvas in CANVASES[: 1 if max(self._base.shape) > _ENLARGED else None]:
            step = _STEP * CANVASES[0] / canvas
            for index in sorted(range(round((_LEAST - 1) / step), round((_LARGEST - 1) / step) + 1), key=abs)[1:]:
                long = canvas * (1 + index * step)
                octave = int(np.ceil(np.log2(long / _BASE) * 2))
                if octave not in sizes:
                    sizes[octave] = flattened(resize(self._base, _BASE * 2 ** (octave / 2)))
                if self._scaled(resize(sizes[octave], long), canvas, 1 + index * step).id is not None:
                    return

    def _tracked(self) -> None:
        """The best looks again, each moved until the mark lies on it everywhere."""
        for _, matrix in sorted(self._looks, key=lambda look: -look[0])[:_TRACKED]:
            if self._track(self._base, matrix).id is not None:
                return

    def _scaled(self, rest: Floats, canvas: int, scale: float) -> Reading:
        reading = self._read(rest, Reading(None, 0.0, scale=scale))
        if reading.score >= _PROMISING:
            self._looks.append((reading.score, np.eye(2) * (canvas * scale / max(self._base.shape))))
        return reading

    def _placed(self, part: Floats, matrix: Matrix) -> Reading:
        """Reads at a place that was told, and tracks from there where the pilot is heard and the message isn't."""
        canvas = laid(part, matrix)
        if canvas is None:
            return Reading(None, 0.0)
        reading = self._read(canvas.rest(), _lying(matrix, part))
        return self._track(part, matrix) if reading.id is None and reading.score >= _HEARD else reading

    def _track(self, part: Floats, matrix: Matrix) -> Reading:
        canvas, place = laid(part, matrix), _lying(matrix, part)
        reading = Reading(None, 0.0)
        for _ in range(_TIMES):
            self._run.check()
            if canvas is None or reading.id is not None:
                break
            rest = canvas.rest()
            spectrum, weights = _folded(rest, self._kit)
            maps = np.fft.irfft2(spectrum * self._kit.pilots, s=(TILE, TILE))
            best, down, right = np.unravel_index(int(maps.argmax()), maps.shape)
            canvas = canvas.moved(track(rest, np.asarray(self._kit.pilots[best] * weights, np.complex64), (int(down), int(right))))
            reading = self._read(canvas.rest(), place)
        return reading

    def _read(self, rest: Floats, place: Reading) -> Reading:
        """Searches one place in all eight orientations and at all offsets."""
        self._run.check()
        spectrum, weights = _folded(rest, self._kit)
        spectrum *= weights
        maps = np.fft.irfft2(spectrum * self._kit.pilots, s=(TILE, TILE))
        best, down, right = (int(index) for index in np.unravel_index(int(maps.argmax()), maps.shape))
        reading = Reading(None, float(maps[best, down, right] / (maps[best].std() + 1e-9)), 0, place.scale, *TURNS[best], place.angle)
        if reading.score >= _PROMISING and self._tries < MOST_TRIES:
            self._tries += 1
            tile = np.fft.irfft2(spectrum, s=(TILE, TILE))
            message = _message(np.asarray(tile / (tile.std() + 1e-9), np.float32), reading, self._kit, self._key)
            if message is not None:
                reading = replace(reading, id=message.id, corrected=message.corrected)
        if reading.id is not None or reading.score > self._best.score:
            self._best = reading
        return reading


def _places(part: Floats, stretches: tuple[float, ...]) -> list[Matrix]:
    """Maps to the canvas that the lattice tells, (2, 2) each, for a part in its own size."""
    long = max(part.shape)
    seen = resize(part, min(lattice.LONG, max(long, SMALL)))
    across, down = seen.shape[1] / part.shape[1], seen.shape[0] / part.shape[0]
    return [place.matrix @ np.diag((across, down)) for place in lattice.locate(flattened(seen), stretches)]


def _lying(matrix: Matrix, part: Floats) -> Reading:
    angle = np.degrees(np.arctan2(matrix[1, 0] - matrix[0, 1], matrix[0, 0] + matrix[1, 1]))
    scale = float(np.sqrt(abs(np.linalg.det(matrix[:2, :2])))) * max(part.shape) / CANVASES[0]
    return Reading(None, 0.0, scale=scale, angle=round(float(angle), 2))


def _perspective(found: list[tuple[float, float, Matrix]]) -> Matrix:
    """(3, 3), the perspective whose linear parts at the given places (across, down) are nearest to those found there.

    Near a point, x -> (A x) / (1 + p x) has the linear part A (1 - p x) - (A x) p, to first order.
    """
    middle = np.mean([[across, down] for across, down, _ in found], axis=0)
    whole = np.median([matrix for *_, matrix in found], axis=0)
    rows, wanted = [], []
    for across, down, matrix in found:
        x = np.array([across, down]) - middle
        for i in range(2):
            for j in range(2):
                row = np.zeros(6)
                row[2 * i + j] = 1
                row[4:] = -whole[i, j] * x
                row[4 + j] -= whole[i] @ x
                rows.append(row)
                wanted.append(matrix[i, j])
    solved = np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)[0]
    centred = np.eye(3)
    centred[:2, :2], centred[2, :2] = solved[:4].reshape(2, 2), solved[4:]
    away = np.eye(3)
    away[:2, 2] = -middle
    return np.asarray(centred @ away)


def _message(tile: Floats, reading: Reading, kit: Carrier, key: MarkKey) -> payload.Message | None:
    upright = unturn(tile, reading.turns, reading.mirrored)
    offsets = np.fft.irfft2(np.fft.rfft2(upright) * kit.pilots[0], s=(TILE, TILE))
    down, right = np.unravel_index(int(offsets.argmax()), offsets.shape)
    soft = kit.patterns @ np.roll(upright, (-int(down), -int(right)), (0, 1)).ravel()
    return payload.decode(np.asarray(soft, np.float32), key, CHASE + 3 if reading.score >= _CERTAIN else CHASE)


def _folded(rest: Floats, kit: Carrier) -> tuple[NDArray[np.complex64], Floats]:
    """Sums a canvas over its tiles: the spectrum of the sum, and weights that give every ring of frequencies the same energy.

    (128, 65) both. No part of the band then speaks for all.
    """
    rows, columns = -(-rest.shape[0] // TILE), -(-rest.shape[1] // TILE)
    padded = np.zeros((rows * TILE, columns * TILE), np.float32)
    padded[: rest.shape[0], : rest.shape[1]] = rest
    spectrum = np.fft.rfft2(padded.reshape(rows, TILE, columns, TILE).sum(axis=(0, 2))) * kit.band
    rings = kit.rings[kit.band]
    energy = np.bincount(rings, weights=np.abs(spectrum[kit.band]) ** 2, minlength=TILE) / np.maximum(np.bincount(rings, minlength=TILE), 1)
    return np.asarray(spectrum, np.complex64), np.asarray(kit.band / np.sqrt(energy[kit.rings] + 1e-9), np.float32)
