"""How a marked picture was turned, scaled and stretched, told by the repetition of the mark.

A pattern that repeats every 128 canvas pixels has all its energy at the crossings of a square lattice in the spectrum, 1/128 apart. A
crop moves none of them; a turn turns the lattice, a scale and other proportions stretch it. On logarithmic polar axes turn and scale are
shifts, which one correlation tries all at once (Reddy & Chatterji, IEEE Trans. Image Processing 5, 1996; periodic marks: Kutter, Proc.
SPIE 3528, 1998); a few other proportions are tried one after the other. What is found is made exact on the spectrum itself.

The lattice belongs to no key and tells nothing but a place to look at: what is read there still has to carry the key's tag.
"""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.provenance.carrier import BAND, TILE
from engines.types import Floats

LONG = 640  # of the picture that is searched: a crop to 40 % of the long side still has a pixel for every pixel of the canvas
STRETCHES = (1.0, 1.025, 1 / 1.025, 1.05, 1 / 1.05)  # across to down; what is within 1.2 % is found by each
LEAST = 3.5  # score from which a place is worth a look. Unmarked photographs: 3; marked ones 5 to 100
_ANGLES, _RADII = 360, 420  # steps of the polar axes: a quarter of a degree, and 0.84 % of radius
_NEAREST, _FARTHEST = 0.0105, 0.36  # cycles a picture pixel: `BAND` at all scales that are searched
_SMALLEST, _LARGEST = 0.21, 1.45  # canvas pixels a picture pixel; 384 pixels are laid on a canvas of 512
_LOUDEST = 9.0  # times its surroundings: more counts as this much, or fences and print would outshout the lattice
_OUTERMOST = 0.44  # cycles a picture pixel, of the spectrum that is looked at: `_FARTHEST`, and what its surroundings are
_PEAKS = 2  # of each stretch
_APART = 0.002  # of an entry of the matrix: a pixel at the far end of a canvas of 512
_STEPS = (0.006, 0.003, 0.0015, 0.0007)  # of the exact search, as shares of the matrix
_ROUNDS = 8  # per step at most
_MOVES = np.array([[[1, 0], [0, 1]], [[0, -1], [1, 0]], [[1, 0], [0, -1]], [[0, 1], [1, 0]]], np.float64)
_MOVES = np.concatenate((_MOVES, -_MOVES))


@dataclass(frozen=True, slots=True)
class Place:
    """A guess. `matrix`: (2, 2) float64, canvas pixels per picture pixel, up to quarter turns and mirroring; turned by at most 45°.

    `score`: sum over the lattice, in standard deviations.
    """

    matrix: NDArray[np.float64]
    score: float


def locate(rest: Floats, stretches: tuple[float, ...] = STRETCHES) -> list[Place]:
    """The likeliest linear maps from a picture to the canvas.

    Args:
        rest: (H, W) float32 as `canvas.flattened` makes it, long side at most `LONG`.

    Returns:
        Best first, those from `LEAST` on, none of them twice.
    """
    power, side = _power(rest), _side(rest.shape)
    found: list[NDArray[np.float64]] = []
    for stretch in stretches:
        spectrum = cv2.mulSpectrums(cv2.dft(_polar(power, side, stretch)), _template(), 0, conjB=True)
        answer = cv2.dft(spectrum, flags=cv2.DFT_INVERSE | cv2.DFT_SCALE | cv2.DFT_REAL_OUTPUT)[:, _shifts()]
        answer = (answer - answer.mean(axis=0)) / (answer.std(axis=0) + 1e-9)
        for _ in range(_PEAKS):
            row, column = np.unravel_index(int(answer.argmax()), answer.shape)
            found.append(_frequencies(int(row), int(_shifts()[column]), stretch))
            answer[max(0, row - 4) : row + 5, max(0, column - 4) : column + 5] = -np.inf
    places: list[Place] = []
    for place in sorted(_exact(power, side, np.stack(found)), key=lambda place: -place.score):
        if place.score >= LEAST and all(np.abs(place.matrix - other.matrix).max() > _APART for other in places):
            places.append(place)
    return places


def _power(rest: Floats) -> Floats:
    """(2 R + 1, 2 R + 1) float32, the spectrum's power against that of its surroundings less 1, frequency 0 in the middle, R those up to
    `_OUTERMOST`; a cycle a pixel has twice as many steps as the long side pixels, see `_side`."""
    height, width = rest.shape
    side = _side(rest.shape)
    padded = np.zeros((side, side), np.float32)
    padded[:height, :width] = rest * _taper(height)[:, None] * _taper(width)
    reach, window = round(_OUTERMOST * side), side // 20 | 1
    right = _powers(padded, height, reach)
    # the other half mirrors this one: as much of it as two windows reach is enough
    power = np.hstack((right[::-1, window:0:-1], right))
    around = cv2.blur(np.minimum(power, 5 * cv2.blur(power, (window, window))), (window, window))
    right = (np.minimum(power / (around + 1e-9), np.float32(_LOUDEST)) - np.float32(1))[:, window:]
    return np.hstack((right[::-1, :0:-1], right))


def _side(shape: tuple[int, ...]) -> int:
    return 2 * cv2.getOptimalDFTSize(max(*shape, LONG // 2))


def _powers(values: Floats, filled: int, reach: int) -> Floats:
    """(2 reach + 1, reach + 1) float32, |spectrum|² of (S, S) real values, S even, of which only the first `filled` rows aren't 0.

    Frequency 0 lies at (reach, 0). From OpenCV's packed form, ten times as quick as NumPy's: real and imaginary parts side by side, those
    of the first column one above the other.
    """
    packed = cv2.dft(values, nonzeroRows=filled)
    near = np.vstack((packed[-reach:, : 2 * reach + 1], packed[: reach + 1, : 2 * reach + 1]))
    squares = cv2.multiply(near, near)
    out = np.empty((2 * reach + 1, reach + 1), np.float32)
    np.add(squares[:, 1::2], squares[:, 2::2], out=out[:, 1:])
    first = packed[:, 0]
    out[reach, 0] = first[0] ** 2
    out[reach + 1 :, 0] = first[1 : 2 * reach : 2] ** 2 + first[2 : 2 * reach + 1 : 2] ** 2
    out[:reach, 0] = out[:reach:-1, 0]
    return out


def _taper(length: int) -> Floats:
    """Falls to nothing over the outer tenth: a sharp edge would draw a cross through the spectrum."""
    edge = max(2, length // 10)
    ramp = (0.5 - 0.5 * np.cos(np.pi * (np.arange(edge) + 0.5) / edge)).astype(np.float32)
    return np.concatenate((ramp, np.ones(max(0, length - 2 * edge), np.float32), ramp[::-1]))[:length]


def _polar(power: Floats, side: int, stretch: float) -> Floats:
    """(360, 420) float32: a quarter of the plane by angle and logarithm of the radius, the quarter beside it added."""
    across, down = _axes()
    wide, high, middle = np.float32(side * stretch**0.5), np.float32(side / stretch**0.5), np.float32(power.shape[0] // 2)
    one = cv2.remap(power, across * wide + middle, down * high + middle, cv2.INTER_LINEAR)
    other = cv2.remap(power, -down * wide + middle, across * high + middle, cv2.INTER_LINEAR)
    return np.asarray(one + other, np.float32)


@lru_cache(maxsize=1)
def _axes() -> tuple[Floats, Floats]:
    angle = np.arange(_ANGLES)[:, None] * (np.pi / 2 / _ANGLES)
    radius = _NEAREST * (_FARTHEST / _NEAREST) ** (np.arange(_RADII) / _RADII)
    return np.asarray(radius * np.cos(angle), np.float32), np.asarray(radius * np.sin(angle), np.float32)


@lru_cache(maxsize=1)
def _crossings() -> NDArray[np.float64]:
    """(N, 2) frequencies (across, down) of the lattice in the mark's band, half the plane, cycles a canvas pixel."""
    steps = np.arange(-round(BAND[1] * TILE), round(BAND[1] * TILE) + 1) / TILE
    pairs = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    radius = np.hypot(pairs[:, 0], pairs[:, 1])
    upper = (pairs[:, 1] > 0) | ((pairs[:, 1] == 0) & (pairs[:, 0] > 0))
    return np.asarray(pairs[upper & (radius >= BAND[0]) & (radius <= BAND[1])])


@lru_cache(maxsize=1)
def _template() -> Floats:
    """Spectrum of the upright lattice on the polar axes, in OpenCV's packed form."""
    quarter = _crossings()[(_crossings()[:, 0] > 0) & (_crossings()[:, 1] >= 0)]
    rows = np.rint(np.arctan2(quarter[:, 1], quarter[:, 0]) / (np.pi / 2) * _ANGLES).astype(int) % _ANGLES
    columns = np.rint(np.log(np.hypot(quarter[:, 0], quarter[:, 1]) / _NEAREST) / np.log(_FARTHEST / _NEAREST) * _RADII).astype(int)
    marks = np.zeros((_ANGLES, _RADII), np.float32)
    np.add.at(marks, (rows, columns), 1)
    return np.asarray(cv2.dft(marks))


@lru_cache(maxsize=1)
def _shifts() -> NDArray[np.intp]:
    """Shifts along the radius that are searched: none of them pushes the lattice over an end of the axis."""
    steps = _RADII / np.log(_FARTHEST / _NEAREST)
    return np.arange(round(np.log(_SMALLEST) * steps), round(np.log(_LARGEST) * steps) + 1)


def _frequencies(row: int, shift: int, stretch: float) -> NDArray[np.float64]:
    """The matrix from frequencies of the canvas to those of the picture: the transpose of the map from picture to canvas."""
    angle, scale = row * np.pi / 2 / _ANGLES, (_FARTHEST / _NEAREST) ** (shift / _RADII)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.asarray(np.diag((stretch**0.5, stretch**-0.5)) @ turn * scale)


def _exact(power: Floats, side: int, frequencies: NDArray[np.float64]) -> list[Place]:
    """From each of (N, 2, 2) matrices, climbs in four directions: scale, turn, and the two ways of stretching."""
    best, frequencies = _sums(power, side, frequencies), frequencies.copy()
    for step in _STEPS:
        climbing = np.arange(len(frequencies))
        for _ in range(_ROUNDS):
            here = frequencies[climbing, None]
            tried = here + step * (_MOVES @ here)
            scores = _sums(power, side, tried.reshape(-1, 2, 2)).reshape(len(climbing), len(_MOVES))
            higher = scores.max(axis=1) > best[climbing]
            climbing, steepest, scores = climbing[higher], scores.argmax(axis=1)[higher], scores.max(axis=1)[higher]
            if not len(climbing):
                break
            best[climbing], frequencies[climbing] = scores, tried[higher, steepest]
    return [Place(_upright(each.T), float(score)) for each, score in zip(frequencies, best, strict=True)]


def _upright(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The most upright of the four that a quarter turn lies between: the lattice can't tell them apart."""
    quarters = round(np.arctan2(matrix[1, 0] - matrix[0, 1], matrix[0, 0] + matrix[1, 1]) / (np.pi / 2))
    for _ in range(quarters % 4):
        matrix = np.array([matrix[1], -matrix[0]])
    return np.ascontiguousarray(matrix)


def _sums(power: Floats, side: int, frequencies: NDArray[np.float64]) -> Floats:
    """Scores of (tries, 2, 2) matrices."""
    lattice, middle = np.asarray(_crossings().T, np.float32), np.float32(power.shape[0] // 2)
    scaled = np.asarray(frequencies * side, np.float32)
    values = np.asarray(cv2.remap(power, scaled[:, 0] @ lattice + middle, scaled[:, 1] @ lattice + middle, cv2.INTER_LINEAR))
    return np.asarray(values.sum(axis=1) / lattice.shape[1] ** 0.5, np.float32)
