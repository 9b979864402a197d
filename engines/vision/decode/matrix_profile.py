"""The short way from a matrix profile to sRGB: three curves, one matrix, one curve back.

Display P3, Adobe RGB and ProPhoto are all of this kind, and so is what every iPhone saves. OpenCV's tables and matrix take
19 ms a megapixel on one core where littleCMS takes 55 with the copies into Pillow and out of it. Whoever builds one of these
checks it against littleCMS and takes that where they differ, so what isn't read here (other curves, tables) costs nothing
but time. Sources: ICC.1:2022, 8.3.3 and 10.6, 10.18, 10.31; IEC 61966-2-1.
"""

import struct
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Pixels

# Linear sRGB → XYZ under D50 (Bradford), as in the profile that the ICC publishes.
_SRGB = np.array([[0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169], [0.0139322, 0.0971045, 0.7141733]])
_HEADER, _ENTRY = 128, 12
_MAX_TAGS = 100
_ONE = np.ones(4)  # OpenCV takes four numbers for a scalar


@dataclass(frozen=True, slots=True)
class MatrixProfile:
    """Attributes:
    curves: (1, 256, 3) float32, stored value → linear light 0..1, a column a channel.
    matrix: (3, 3) float32, linear light → linear sRGB in 16-bit steps.
    """

    curves: NDArray[np.float32]
    matrix: NDArray[np.float32]

    def apply(self, values: Pixels) -> Pixels:
        """(H, W, 3) uint8 in the profile's colours → (H, W, 3) uint8 sRGB, clipped where sRGB doesn't reach."""
        light = cv2.transform(cv2.LUT(values, self.curves), self.matrix)
        steps = cv2.multiply(light, _ONE, dtype=cv2.CV_16U)  # rounds and clips
        return np.asarray(cv2.LUT(steps, _TO_SRGB), np.uint8)


def matrix_profile(icc: bytes) -> MatrixProfile | None:
    """The curves and the matrix of an RGB profile; None where it has tables, or anything that isn't read here."""
    try:
        tags = _tags(icc)
        if any(name.startswith((b"A2B", b"D2B")) for name in tags):
            return None
        with np.errstate(all="ignore"):  # a broken curve may reach anywhere; what isn't finite is refused below
            curves = np.stack([_curve(tags[name]) for name in (b"rTRC", b"gTRC", b"bTRC")], axis=1)[None].astype(np.float32)
        columns = [np.array(struct.unpack_from(">3i", tags[name], 8)) / 65536 for name in (b"rXYZ", b"gXYZ", b"bXYZ")]
    except (KeyError, ValueError, struct.error):
        return None
    matrix = np.linalg.solve(_SRGB, np.stack(columns, axis=1)) * 65535
    return MatrixProfile(curves, matrix.astype(np.float32)) if np.isfinite(curves).all() else None


def _tags(icc: bytes) -> dict[bytes, bytes]:
    (count,) = struct.unpack_from(">I", icc, _HEADER)
    if count > _MAX_TAGS:
        raise ValueError(f"{count} tags")
    entries = (struct.unpack_from(">4sII", icc, _HEADER + 4 + _ENTRY * n) for n in range(count))
    return {name: icc[at : at + size] for name, at, size in entries}


def _curve(tag: bytes) -> NDArray[np.float64]:
    """(256,): the curve at 0, 1/255 … 1."""
    stored = np.linspace(0, 1, 256)
    if tag[:4] == b"para":
        (kind,) = struct.unpack_from(">H", tag, 8)
        if kind not in (0, 3):
            raise ValueError(f"curve of kind {kind}")
        numbers = np.array(struct.unpack_from(">i" if kind == 0 else ">5i", tag, 12)) / 65536
        gamma, a, b, c, d = (numbers[0], 1, 0, 0, -1) if kind == 0 else numbers
        return np.asarray(np.where(stored >= d, np.maximum(a * stored + b, 0) ** gamma, c * stored))
    if tag[:4] != b"curv":
        raise ValueError(f"curve of type {tag[:4]!r}")
    (count,) = struct.unpack_from(">I", tag, 8)
    if count == 0:
        return stored
    if count == 1:
        return np.asarray(stored ** (struct.unpack_from(">H", tag, 12)[0] / 256))
    return np.interp(stored, np.linspace(0, 1, count), np.frombuffer(tag, ">u2", count, 12) / 65535)


def _to_srgb() -> Pixels:
    light = np.linspace(0, 1, 65536)
    coded = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(coded * 255), np.uint8)[None]


_TO_SRGB = _to_srgb()
