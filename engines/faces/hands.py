"""Hands near a face: MediaPipe's palm detector, then its landmarks (Zhang et al., "MediaPipe Hands", 2020).

The palm's score alone is useless before a face (.94 on a bare old one); what the landmark network says of a hand's presence decides:
.99 on a hand, .47 and less on 33 faces.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.faces.batches import run_stack
from engines.faces.detector import suppress
from engines.faces.facemesh import upright
from engines.runtime.session import Session
from engines.types import Box, Matrix, Pixels
from engines.vision.geometry import apply, invert, warp

Points = NDArray[np.float64]

PALM_SIDE, HAND_SIDE = 192, 224
SMALLEST = 60.0  # px of the face: under it the one false hit came (a face of 22 px)
_AROUND = (2.2, 3.0)  # sides of the squares searched, in face sizes: the palm is often below the chin
_SCORE, _PRESENT = 0.5, 0.8
_CANDIDATES = 4  # palms looked at more closely
_PALM_WRIST, _PALM_MIDDLE = 1, 3  # among a palm's points after its centre: wrist and base of the middle finger

# Cells of the two feature maps, with 2 and 6 boxes each, all of one size.
_ANCHORS = np.array([[(x + 0.5) / f, (y + 0.5) / f] for f, n in ((24, 2), (12, 6)) for y in range(f) for x in range(f) for _ in range(n)])


@dataclass(frozen=True, slots=True)
class _Square:
    """Where the landmark network looks: centre, side, and the angle (radians) by which the fingers lean clockwise from up."""

    x: float
    y: float
    side: float
    angle: float

    def matrix(self) -> Matrix:
        return upright(self.x, self.y, self.angle, HAND_SIDE / self.side, HAND_SIDE)


class HandFinder:
    """Both networks. `palm` takes (B, 3, 192, 192), `hand` (B, 3, 224, 224), RGB 0..1."""

    def __init__(self, palm: Session, hand: Session) -> None:
        self._palm, self._hand = palm, hand

    def find(self, pixels: Pixels, box: Box) -> list[Points]:
        """Hands round a face.

        Args:
            pixels: (H, W, 3) uint8 RGB, the whole picture; outside it is black.
            box: of the face, in its pixels.

        Returns:
            For each hand (21, 2) float64 in the picture's pixels, in MediaPipe's numbering: 0 the wrist, then four from the base to the
            tip of the thumb and of each finger. Empty for a face smaller than `SMALLEST`.
        """
        side = max(box.width, box.height)
        if not np.isfinite([box.x, box.y, side]).all() or side < SMALLEST:
            return []
        squares = self._palms(pixels, box.centre, side)
        if not squares:
            return []
        first, present = self._read(pixels, squares)
        again = [_round(points, square) for points, square, sure in zip(first, squares, present, strict=True) if sure >= _PRESENT]
        if not again:
            return []
        out: list[Points] = []
        for points, sure in zip(*self._read(pixels, again), strict=True):
            apart = 0.12 * float(np.ptp(points, axis=0).max())
            if sure >= _PRESENT and all(np.abs(points - other).mean() > apart for other in out):
                out.append(points)
        return out

    def _palms(self, pixels: Pixels, centre: tuple[float, float], side: float) -> list[_Square]:
        matrices = [upright(*centre, 0.0, PALM_SIDE / (side * f), PALM_SIDE) for f in _AROUND]
        found = run_stack(self._palm, "input", _stack(pixels, matrices, PALM_SIDE))
        boxes, scores, squares = [], [], []
        for matrix, raw, logits in zip(matrices, found["boxes"], found["scores"], strict=True):
            score = 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -50, 50)))
            best = np.argsort(-score, kind="stable")[:12]
            best = best[score[best] >= _SCORE]
            values = raw.reshape(len(_ANCHORS), 9, 2)[best].astype(np.float64)
            places = np.concatenate([values[:, :1], values[:, 2:]], 1) + _ANCHORS[best, None] * PALM_SIDE
            places = apply(invert(matrix), places)
            for k, point in enumerate(places):
                size = float(values[k, 1].max() / matrix[0, 0])
                if size <= 0:
                    continue
                up = point[1 + _PALM_MIDDLE - 1] - point[_PALM_WRIST]
                angle = float(np.arctan2(up[1], up[0]) + np.pi / 2)
                middle = point[0] + 0.5 * size * np.array([np.sin(angle), -np.cos(angle)])
                squares.append(_Square(float(middle[0]), float(middle[1]), 2.6 * size, angle))
                boxes.append([*(point[0] - size / 2), *(point[0] + size / 2)])
                scores.append(score[best[k]])
        if not squares:
            return []
        return [squares[i] for i in suppress(np.array(boxes), np.array(scores))[:_CANDIDATES]]

    def _read(self, pixels: Pixels, squares: list[_Square]) -> tuple[list[Points], list[float]]:
        matrices = [square.matrix() for square in squares]
        found = run_stack(self._hand, "input", _stack(pixels, matrices, HAND_SIDE))
        landmarks = found["landmarks"].reshape(len(squares), 21, 3)[..., :2].astype(np.float64)
        points = [apply(invert(matrix), one) for matrix, one in zip(matrices, landmarks, strict=True)]
        return points, [float(p) for p in found["present"].reshape(-1)]


def _round(points: Points, square: _Square) -> _Square:
    """The next square: round the points that the first one gave."""
    low, high = points.min(0), points.max(0)
    middle = (low + high) / 2
    return _Square(float(middle[0]), float(middle[1]), max(1.6 * float((high - low).max()), 1.0), square.angle)


def _stack(pixels: Pixels, matrices: list[Matrix], side: int) -> NDArray[np.float32]:
    crops = np.stack([warp(pixels, matrix, (side, side)) for matrix in matrices])
    return np.asarray(crops.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255))
