"""A canvas laid over a picture, and moved until the mark lies on it everywhere.

What a lattice or a scale tells is right to a few pixels at the far end, and a perspective is no linear map at all. The canvas is cut into
boxes; each is correlated with the pilot at small displacements, and the displacements that suit all boxes together, out of the eight
freedoms of a perspective, are climbed to. The sum stays coherent: no box has to be found by itself, which most could not.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.provenance.canvas import flattened
from engines.provenance.carrier import TILE
from engines.types import Floats

Reals = NDArray[np.float64]

BOX = 64  # pixels: within it the mark moves by less than one
REACH = 14  # pixels by which a box may lie off
_HALF = 256.0  # pixels of the canvas at which the freedoms are counted: a step of 1 moves what lies there by 1
_STEPS = (4.0, 2.0, 1.0, 0.5, 0.25)
_ROUNDS = 6  # per step at most
_LONGEST = 2048  # sides of a canvas: a guess that needs more is wrong
# Rows: displacement across as shares of (1, x, y, x², xy, y²), then down: shift, scale, turn, two stretches, and the two of a perspective.
_FREEDOMS = np.array(
    [
        [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
        [[0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]],
        [[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]],
        [[0, 0, -1, 0, 0, 0], [0, 1, 0, 0, 0, 0]],
        [[0, 1, 0, 0, 0, 0], [0, 0, -1, 0, 0, 0]],
        [[0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0]],
        [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]],
        [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]],
    ],
    np.float64,
)


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A canvas over a picture. `where`: (H, W, 2) float32, for each canvas pixel its place (across, down) in `brightness`."""

    brightness: Floats
    where: Floats

    def rest(self) -> Floats:
        """(H, W) float32, the flattened canvas; 0 where the picture isn't."""
        across, down = cv2.split(self.where)
        seen = cv2.remap(self.brightness, across, down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        height, width = self.brightness.shape
        inside = cv2.inRange(self.where, (0.0, 0.0), (width - 1.0, height - 1.0))
        return np.asarray(cv2.multiply(flattened(np.asarray(seen)), inside, scale=1 / 255, dtype=cv2.CV_32F))

    def around(self, across: float, down: float, radius: float) -> NDArray[np.bool_]:
        """(H, W), what lies within `radius` canvas pixels of the picture's point (across, down), both as shares of its sides."""
        height, width = self.brightness.shape
        away = cv2.magnitude(*cv2.split(self.where - np.array([across * width, down * height], np.float32)))
        row, column = np.unravel_index(int(away.argmin()), away.shape)
        rows, columns = np.ogrid[: self.where.shape[0], : self.where.shape[1]]
        return np.asarray((rows - row) ** 2 + (columns - column) ** 2 <= radius**2)

    def moved(self, freedoms: Reals) -> "Laid":
        """The canvas after its pixels were displaced by `_FREEDOMS` in these amounts."""
        height, width = self.where.shape[:2]
        rows, columns = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)
        x, y = (columns - np.float32(width / 2)) / np.float32(_HALF), (rows - np.float32(height / 2)) / np.float32(_HALF)
        across, down = (
            still + (one + right * x + right_twice * x * x) + (low * y + low_twice * y * y) + both * y * x
            for still, (one, right, low, right_twice, both, low_twice) in zip(
                (columns, rows), np.tensordot(freedoms, _FREEDOMS, 1).astype(np.float32), strict=True
            )
        )
        return Laid(self.brightness, _sampled(self.where, across, down))


def laid(brightness: Floats, matrix: Reals) -> Laid | None:
    """Lays a canvas by a map of the picture's plane.

    Args:
        brightness: (H, W) float32.
        matrix: (2, 2) or, with a perspective, (3, 3): canvas pixels per picture pixel.

    Returns:
        None where the map is none that a picture could have gone through.
    """
    whole = np.eye(3)
    whole[: matrix.shape[0], : matrix.shape[1]] = matrix
    scale = float(np.sqrt(abs(np.linalg.det(whole[:2, :2]))))
    if scale < 1:  # areas averaged first: the canvas takes single values
        size = max(16, round(brightness.shape[1] * scale)), max(16, round(brightness.shape[0] * scale))
        whole = whole @ np.diag((brightness.shape[1] / size[0], brightness.shape[0] / size[1], 1))
        brightness = np.asarray(cv2.resize(brightness, size, interpolation=cv2.INTER_AREA))
    height, width = brightness.shape
    corners = np.array([[0, 0, 1], [width, 0, 1], [0, height, 1], [width, height, 1]]) @ whole.T
    if corners[:, 2].min() < 0.3:
        return None
    corners = corners[:, :2] / corners[:, 2:]
    low = np.floor(corners.min(axis=0))
    across, down = (int(length) for length in np.ceil(corners.max(axis=0) - low))
    if not (16 <= across <= _LONGEST and 16 <= down <= _LONGEST):
        return None
    rows, columns = np.arange(down)[:, None] + low[1], np.arange(across) + low[0]
    back = np.linalg.inv(whole)
    depth = back[2, 0] * columns + back[2, 1] * rows + back[2, 2] if back[2, :2].any() else back[2, 2]
    where = np.empty((down, across, 2), np.float32)
    for axis in range(2):
        where[..., axis] = (back[axis, 0] * columns + (back[axis, 1] * rows + back[axis, 2])) / depth
    return Laid(brightness, where)


def track(rest: Floats, spectrum: NDArray[np.complex64], offset: tuple[int, int], near: NDArray[np.bool_] | None = None) -> Reals:
    """The displacements that bring the mark into place.

    Args:
        rest: (H, W) float32, a flattened canvas.
        spectrum: (128, 65), what a box's spectrum is multiplied by: the pilot's conjugate spectrum in its orientation, and the weights of
            the frequencies.
        offset: rows and columns by which the tiles lie off in `rest`.
        near: (H, W), where the canvas already lies about right; what else is there isn't asked. None asks everywhere.

    Returns:
        (8,) for `Laid.moved`.
    """
    rows, columns = -(-rest.shape[0] // BOX), -(-rest.shape[1] // BOX)
    padded = np.zeros((rows * BOX, columns * BOX), np.float32)
    padded[: rest.shape[0], : rest.shape[1]] = rest if near is None else rest * near
    boxes = padded.reshape(rows, BOX, columns, BOX).transpose(0, 2, 1, 3).reshape(-1, BOX, BOX)
    top, left = (BOX * np.indices((rows, columns)).reshape(2, -1)).astype(int)
    maps = np.fft.irfft2(np.fft.rfft2(boxes, s=(TILE, TILE)) * spectrum, s=(TILE, TILE))
    around = np.arange(-REACH - 1, REACH + 2)
    answers = np.empty((len(boxes), len(around), len(around)), np.float32)
    for index, answer in enumerate(maps):  # a box's own corner lies at `top`, `left`
        answers[index] = answer[np.ix_((offset[0] - top[index] + around) % TILE, (offset[1] - left[index] + around) % TILE)]
    answers -= maps.mean()
    return _climbed(answers, left + BOX / 2, top + BOX / 2, rest.shape)


def _climbed(answers: Floats, across: Reals, down: Reals, shape: tuple[int, ...]) -> Reals:
    freedoms = np.zeros(len(_FREEDOMS))
    best = float(_sums(answers, _displaced(freedoms[None], across, down, shape))[0])
    moves = np.concatenate((np.eye(len(_FREEDOMS)), -np.eye(len(_FREEDOMS))))
    for step in _STEPS:
        for _ in range(_ROUNDS):
            tried = freedoms + step * moves
            sums = _sums(answers, _displaced(tried, across, down, shape))
            if sums.max() <= best:
                break
            best, freedoms = float(sums.max()), tried[int(sums.argmax())]
    return freedoms


def _displaced(freedoms: Reals, across: Floats | Reals, down: Floats | Reals, shape: tuple[int, ...]) -> Reals:
    """(tries, 2, points) pixels across and down."""
    x, y = (across - shape[1] / 2) / _HALF, (down - shape[0] / 2) / _HALF
    terms = np.stack((np.ones_like(x), x, y, x * x, x * y, y * y))
    return np.asarray(np.tensordot(freedoms, _FREEDOMS, 1) @ terms)


def _sums(answers: Floats, displaced: Reals) -> Reals:
    """(tries,): the answers of all boxes at their displacements, between four values each; those out of reach say nothing."""
    limit = answers.shape[1] - 1
    x, y = (displaced[:, axis] + REACH + 1 for axis in (0, 1))
    inside = (x >= 0) & (y >= 0) & (x < limit) & (y < limit)
    x, y = np.where(inside, x, 0), np.where(inside, y, 0)
    left, top = x.astype(int), y.astype(int)
    right, low = x - left, y - top
    box = np.arange(len(answers))
    upper = answers[box, top, left] * (1 - right) + answers[box, top, left + 1] * right
    lower = answers[box, top + 1, left] * (1 - right) + answers[box, top + 1, left + 1] * right
    return np.asarray(((upper * (1 - low) + lower * low) * inside).sum(axis=1))


def _sampled(where: Floats, across: Floats, down: Floats) -> Floats:
    return np.asarray(cv2.remap(where, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(-9, -9)), np.float32)
