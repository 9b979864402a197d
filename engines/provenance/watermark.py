"""The invisible watermark: a keyed pattern in the luma, tiled over a canvas of fixed size, so that resizing doesn't lose it.

Where it lies: the picture is thought of as reduced to a long side of 512 (256 for pictures under 384). The pattern of
`engines.provenance.carrier` is tiled over that canvas, weakened where an eye would see it, enlarged, and multiplied into the pixels.

How strong: a `Dose` says how many levels in flat areas and what share of the local activity elsewhere (geometric mean over its
surroundings, so that a lone edge doesn't raise the flat area beside it), at most 2.6, and never below the PSNR asked for. The gentlest
doses leave flat areas almost alone, where a mark is seen first and a JPEG takes it first, and lay it into texture. It multiplies and
leaves hue alone: a sum of the same energy made grey and orange blotches on dark skin, and at an even 42 dB smooth skin looked mottled.

What it survives, as `engines.provenance.mark` doses it (22 photographs of 450 to 1584 pixels, PSNR 43 to 52 dB, median 48; exact ids):
all 22 through JPEG 40, WebP 80, half and 1.5 times the size, a tenth to half of the area cut off, a border, mirroring, quarter turns,
noise of 10 levels, blur, contrast ± 20 %, a screenshot, three re-encodings, a chat program, that one after a crop of a quarter; 21 through
20 % more brightness; 19 a quarter of the size. At 384 pixels: JPEG 70, WebP 90. At 256: JPEG 80 (WebP 90: 21). Under 192: no JPEG.
Ten varied pictures, all attacks with other turns and proportions: docs/provenance.md.

What it doesn't: a JPEG saved anew at its own old quality of 70 and less (18 of 22, at 50 10 of 22: what lies below half a quantisation
step is gone); a crop to under 40 % of the long side. Regeneration by a network wasn't tried. Who averages very many marked pictures can
estimate the pilot, not forge an id.
"""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.provenance import payload
from engines.provenance.canvas import CANVASES, activity, canvas_of, luma, reduce
from engines.provenance.carrier import carrier, tiled
from engines.provenance.detection import Reading, detect
from engines.provenance.keys import MarkKey
from engines.timing import Run
from engines.types import Floats, Pixels

__all__ = ("DOSES", "Dose", "Reading", "canvas_of", "detect", "embed")

_SMALL_STRENGTH = 1.5  # a 256 canvas has a quarter of the pixels to say the same
_MOST = 2.6  # amplitude of the busiest area, whatever the strength: no value moves by more than 8
_MARGIN = 0.15  # dB: the limit is kept on the canvas, and enlarging adds a little
_PEAK = 2.7  # of the pattern, in multiples of its RMS
_DARK = 24.0  # below this brightness the gain no longer grows, and the mark fades out
_STRIP = 32  # rows per step: what is made of them stays in the processor's cache
_ALONE = 1 << 20  # pixels from which two threads share the rows


@dataclass(frozen=True, slots=True)
class Dose:
    """`flat`: amplitude where nothing is, in levels. `texture`: share of the local activity that is added."""

    flat: float
    texture: float


# Gentlest first, each heard better than the one before. What is seen on a sky at 3 times the contrast goes from nothing at 0.1 levels in
# flat areas to a grain at 0.55.
DOSES = tuple(Dose(*dose) for dose in ((0.1, 0.4), (0.15, 0.42), (0.2, 0.42), (0.3, 0.42), (0.4, 0.42), (0.55, 0.4), (0.8, 0.38)))


def embed(
    pixels: Pixels,
    mark_id: str,
    key: MarkKey,
    psnr: float = 44.0,
    dose: Dose = DOSES[4],
    alpha: Pixels | None = None,
    run: Run | None = None,
) -> NDArray[np.uint8]:
    """Writes a mark into a copy.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        mark_id: as `payload.new_id` makes it.
        psnr: in dB, the strongest mark allowed, whatever the dose.
        alpha: (H, W) uint8; what is fully transparent isn't marked.
        run: asked at every strip whether to stop.

    Returns:
        (H, W, 3) uint8 RGB.

    Raises:
        ValueError: `mark_id` has another shape. Cancelled.
    """
    small = reduce(pixels, canvas_of(*pixels.shape[:2]))
    change = pattern(mark_id, key, small) * strength(small, dose)
    if alpha is not None:
        change *= reduce(alpha, max(small.shape[:2])) > 0
    return written(pixels, small, change, psnr, run)


def pattern(mark_id: str, key: MarkKey, small: Pixels) -> Floats:
    """(h, w) float32, RMS 1: what says the id, all over a picture that was reduced to its canvas. Raises `ValueError` as `embed`."""
    tile = carrier(key).tile(payload.encode(mark_id, key))
    return np.asarray(np.clip(tiled(tile, *small.shape[:2]), -_PEAK, _PEAK), np.float32)


def strength(small: Pixels, dose: Dose) -> Floats:
    """(h, w) float32, by how many levels the pattern may move each place of a reduced picture."""
    factor = _SMALL_STRENGTH if max(small.shape[:2]) == CANVASES[-1] else 1.0
    logs = np.log(np.clip(activity(luma(small)), 0.3, 14.0))
    amplitude = np.asarray(dose.flat + dose.texture * np.exp(cv2.GaussianBlur(logs, (0, 0), 3)), np.float32)
    return np.asarray(np.minimum(amplitude * np.float32(factor), np.float32(_MOST)), np.float32)


def written(pixels: Pixels, small: Pixels, change: Floats, psnr: float, run: Run | None = None) -> NDArray[np.uint8]:
    """A copy of `pixels`, multiplied so that `small`, its reduced copy, is moved by `change` levels, weakened where `psnr` asks for it."""
    return _multiply(pixels, gain_of(small, change, psnr), run or Run())


def gain_of(small: Pixels, change: Floats, psnr: float) -> Floats:
    """(h, w) float32, about 1: what moves a reduced picture by `change` levels, weakened where `psnr` asks for it."""
    red, green, blue = cv2.split(small)
    brightest = cv2.dilate(cv2.max(cv2.max(red, green), blue), np.ones((3, 3), np.uint8))
    gain = np.asarray(change / np.maximum(brightest.astype(np.float32), np.float32(_DARK)), np.float32)
    energy = sum(cv2.multiply(channel, channel, dtype=cv2.CV_32F) for channel in (red, green, blue))
    level = np.sqrt(np.mean(gain * gain * energy) / 3)
    allowed = np.sqrt(max(255**2 / 10 ** ((psnr + _MARGIN) / 10) - 1 / 12, 1e-3))  # rounding to whole levels adds 1/12
    gain *= np.float32(min(1.0, allowed / max(float(level), 1e-6)))
    return np.asarray(np.float32(1) + gain, np.float32)


def _multiply(pixels: Pixels, gain: Floats, run: Run) -> Pixels:
    """`pixels` times a gain given at canvas size, in strips of rows."""
    height, width = pixels.shape[:2]
    if height < gain.shape[0] or width < gain.shape[1]:
        whole = cv2.resize(gain, (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.multiply(pixels, cv2.merge([whole] * 3), dtype=cv2.CV_8U))
    out = np.empty_like(pixels)

    def write(tops: range) -> None:
        for top in tops:
            run.check()
            bottom = min(height, top + _STRIP)
            weights, first = _cubic_rows(top, bottom, height, gain.shape[0])
            rows = weights @ gain[first : first + weights.shape[1]]
            strip = cv2.resize(rows, (width, bottom - top), interpolation=cv2.INTER_CUBIC)
            cv2.multiply(pixels[top:bottom], cv2.cvtColor(strip, cv2.COLOR_GRAY2RGB), out[top:bottom], dtype=cv2.CV_8U)

    tops = range(0, height, _STRIP)
    if width * height < _ALONE:
        write(tops)
    else:  # OpenCV multiplies with one thread, whatever it may use
        run.both(lambda: write(tops[::2]), lambda: write(tops[1::2]))
    return out


@lru_cache(maxsize=512)  # as many strips as 108 megapixels have, 2 KB each: the next frame or dose asks for the same
def _cubic_rows(top: int, bottom: int, height: int, source: int) -> tuple[Floats, int]:
    """Weights (rows, taps) that make rows `top` … `bottom` of `height` from those of `source`, and the first source row they take.

    Cubic convolution, a = -0.75, as OpenCV's; a strip of OpenCV's own resize would lie up to half a row off.
    """
    centre = (np.arange(top, bottom) + 0.5) * source / height - 0.5
    first, last = max(0, int(centre[0]) - 2), min(source, int(centre[-1]) + 4)
    weights = np.zeros((bottom - top, last - first), np.float32)
    taps = np.floor(centre).astype(int)[:, None] + np.arange(-1, 3)
    distance = np.abs(centre[:, None] - taps)
    near = (1.25 * distance - 2.25) * distance**2 + 1
    far = -0.75 * (((distance - 5) * distance + 8) * distance - 4)
    columns = np.asarray(np.clip(taps, 0, source - 1) - first, np.intp)
    np.add.at(weights, (np.arange(bottom - top)[:, None], columns), np.where(distance <= 1, near, far))
    weights.flags.writeable = False
    return weights, first
