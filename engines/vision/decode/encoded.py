"""`Encoded`: a picture whose header was read and whose pixels were not; and the `Samples` that loading it gives.

Reading happens in two steps, so that a size limit stands between them: a codec reads the header and hands back an
`Encoded`; only `Encoded.load` allocates pixels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engines.errors import UnreadableImage
from engines.types import Pixels

Space = Literal["L", "RGB", "CMYK", "LAB"]  # the names that Pillow and littleCMS share

STRIP_PIXELS = 1 << 18  # per step when pixels leave Pillow or change their colours: a few MB at a time, not a second picture


@dataclass(frozen=True, slots=True)
class Samples:
    """Decoded values as stored: not upright yet, in the file's own colours.

    Attributes:
        values: (H, W) uint8 for space "L", (H, W, 3) for "RGB" and "LAB", (H, W, 4) for "CMYK" (0 = no ink). C-contiguous.
        alpha: (H, W) uint8, or None where the file has no transparency.
    """

    values: Pixels
    space: Space
    alpha: Pixels | None = None


@dataclass(frozen=True, slots=True)
class Encoded:
    """What a header says.

    Attributes:
        mode: Pillow's name of the stored layout; 16-bit colour, which Pillow has no mode for, as "RGB;16", "RGBA;16", "LA;16".
        orientation: EXIF 1..8 as stored.
        upright: whether `load` turns the pixels itself.
        dpi: pixels per inch across and down as stored, see `ifd.per_inch`; None where none is told.
        icc: the embedded profile; b"" where there is one that can't be unpacked; None without one.
        load: decodes the pixels. May raise anything that Pillow and OpenCV raise; `io.decode` is the boundary.
    """

    format: str
    width: int
    height: int
    mode: str
    load: Callable[[], Samples]
    bit_depth: int = 8
    orientation: int = 1
    upright: bool = False
    frames: int = 1
    icc: bytes | None = None
    dpi: tuple[float, float] | None = None


def samples_of(picture: Image.Image, peak: int = 65535) -> Samples:
    """Copies a Pillow picture into arrays, strip by strip.

    `np.asarray(picture)` would hold Pillow's copy (4 bytes a pixel), a list of encoded blocks and their join at one time:
    3.3 times the result. Strips hold 2.4 times.

    Args:
        peak: white of a 16-bit gray picture; 4095 where 12 bits were stored.

    Raises:
        UnreadableImage: codec, for floating-point and 32-bit samples, which have no fixed white.
    """
    picture.load()
    if picture.mode.startswith("I;16"):
        return Samples(to_eight(np.asarray(picture), peak), "L")
    target = _target(picture)
    width, height = picture.size
    transparent = target.endswith("A")
    colours = Image.getmodebands(target) - transparent
    values = np.empty((height, width) if colours == 1 else (height, width, colours), np.uint8)
    alpha = np.empty((height, width), np.uint8) if transparent else None
    rows = max(1, STRIP_PIXELS // width)
    for top in range(0, height, rows):
        strip = picture.crop((0, top, width, min(height, top + rows)))
        part = np.asarray(strip if strip.mode == target else strip.convert(target))
        if alpha is None:
            values[top : top + rows] = part
        else:
            values[top : top + rows] = part[..., 0] if colours == 1 else part[..., :3]
            alpha[top : top + rows] = part[..., -1]
    space: Space = "L" if colours == 1 else "CMYK" if target == "CMYK" else "LAB" if target == "LAB" else "RGB"
    return Samples(values, space, alpha)


def _target(picture: Image.Image) -> str:
    transparent = "transparency" in picture.info
    match picture.mode:
        case "1" | "L":
            return "LA" if transparent else "L"
        case "LA" | "La":
            return "LA"
        case "RGBA" | "RGBa" | "PA":
            return "RGBA"
        case "P" | "RGB" | "RGBX" | "YCbCr":
            return "RGBA" if transparent else "RGB"
        case "CMYK" | "LAB" as same:
            return str(same)
        case other:
            raise UnreadableImage("codec", format="floating-point" if other == "F" else "32-bit", name="")


def to_eight(values: NDArray[np.uint16], peak: int = 65535) -> Pixels:
    """Scales 0..`peak` to 0..255, rounded to the nearest: `v / 257` for 16 bits. uint16 of any shape in, uint8 out."""
    native = np.ascontiguousarray(values, dtype=np.uint16)
    # convertScaleAbs rounds in float32; no v · 255 / peak comes nearer than 0.0019 to a half, far above its error.
    return np.asarray(cv2.convertScaleAbs(native, alpha=255 / peak), np.uint8).reshape(values.shape)
