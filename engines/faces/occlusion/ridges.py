"""Thin lines of a picture: how much darker or brighter than both its flanks each place is, for 16 orientations.

A plain edge gives nothing, because both flanks must differ from the middle the same way.
"""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.occlusion.scene import SIDE
from engines.types import Floats

TURNS = 16  # orientations, pi / 16 apart
_LENGTH, _WIDTH = 5.0, 0.8  # deviations of the line's Gaussian along and across, px
_FLANKS = (3, 5, 8)  # px from the line to what it is compared with
_FRAME = 256  # side of the transform: SIDE with a rim, a power of two


@dataclass(frozen=True, slots=True)
class Ridges:
    """(TURNS, SIDE, SIDE) float32 in the unit of the picture; positive is brighter than both flanks, orientation k runs along pi k / 16.

    Attributes:
        thin: hair; soft lines (folds, shine), which stand out more from flanks further off, are damped.
        wide: lines up to a frame's width.
    """

    thin: Floats
    wide: Floats


def ridges(light: Floats) -> Ridges:
    """Of (SIDE, SIDE) float32. All 16 line filters cost one transform and 16 back (7 ms; as convolutions 50)."""
    rim = (_FRAME - SIDE) // 2
    padded = cv2.copyMakeBorder(light, rim, _FRAME - SIDE - rim, rim, _FRAME - SIDE - rim, cv2.BORDER_REPLICATE)
    spectrum = cv2.dft(padded)
    reach = max(_FLANKS)
    shape = (TURNS, SIDE, SIDE)
    thin, wide = np.empty(shape, np.float32), np.empty(shape, np.float32)
    for k, kernel in enumerate(_kernels()):
        back = np.asarray(cv2.idft(cv2.mulSpectrums(spectrum, kernel, 0), flags=cv2.DFT_SCALE), np.float32)
        line = np.ascontiguousarray(back[rim : rim + SIDE, rim : rim + SIDE])
        around = np.asarray(cv2.copyMakeBorder(line, reach, reach, reach, reach, cv2.BORDER_REPLICATE), np.float32)
        s, c = np.sin(np.pi * k / TURNS), np.cos(np.pi * k / TURNS)
        near, middle, far = (_contrast(line, around, round(-s * d), round(c * d), reach) for d in _FLANKS)
        size = np.abs(near), np.abs(middle), np.abs(far) * np.float32(0.9)
        thin[k] = near * np.clip(np.float32(3.2) - 2 * size[1] / np.maximum(size[0], np.float32(1e-3)), 0, 1)
        wide[k] = np.where(size[1] > size[0], middle, near)
        np.copyto(wide[k], far * np.float32(0.9), where=size[2] > np.maximum(size[0], size[1]))
    return Ridges(thin, wide)


def along(field: Floats, points: NDArray[np.floating], angles: NDArray[np.floating]) -> Floats:
    """Ridge strengths at points (…, 2) for lines of these angles (radians); an orientation off by one step counts nine tenths."""
    turn = np.round(angles / np.pi * TURNS).astype(int)
    x, y = inside(points)
    return np.asarray(
        np.maximum(field[turn % TURNS, y, x], 0.9 * np.maximum(field[(turn - 1) % TURNS, y, x], field[(turn + 1) % TURNS, y, x]))
    )


def inside(points: NDArray[np.floating]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Columns and rows of the nearest pixels, within the square."""
    nearest = np.clip(np.round(points), 0, SIDE - 1).astype(np.intp)
    return nearest[..., 0], nearest[..., 1]


def _contrast(line: Floats, around: Floats, dx: int, dy: int, reach: int) -> Floats:
    """How far the line lies over both flanks (positive) or under both (negative), by the nearer of the two."""
    a = around[reach + dy : reach + dy + SIDE, reach + dx : reach + dx + SIDE]
    b = around[reach - dy : reach - dy + SIDE, reach - dx : reach - dx + SIDE]
    none = np.float32(0)
    return np.asarray(np.maximum(line - np.maximum(a, b), none) - np.maximum(np.minimum(a, b) - line, none), np.float32)


@cache
def _kernels() -> tuple[Floats, ...]:
    """Spectra of the line filters, centred at the origin."""
    at = (np.arange(_FRAME) + _FRAME // 2) % _FRAME - _FRAME // 2
    x, y = np.meshgrid(at, at)
    out = []
    for k in range(TURNS):
        c, s = np.cos(np.pi * k / TURNS), np.sin(np.pi * k / TURNS)
        kernel = np.exp(-((x * c + y * s) ** 2) / (2 * _LENGTH**2) - (y * c - x * s) ** 2 / (2 * _WIDTH**2))
        kernel[np.maximum(np.abs(x), np.abs(y)) > 13] = 0
        out.append(np.asarray(cv2.dft((kernel / kernel.sum()).astype(np.float32)), np.float32))
    return tuple(out)
