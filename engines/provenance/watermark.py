"""The invisible watermark: a keyed pattern in the luma, tiled over a canvas of fixed size, so that resizing doesn't lose it.

Where it lies: the picture is thought of as reduced to a long side of 512 (256 for pictures under 384). The pattern of
`engines.provenance.carrier` is tiled over that canvas, weakened where an eye would see it, enlarged, and multiplied into the pixels.

How strong: 0.5 levels in flat areas plus 0.22 of the local activity (geometric mean over its surroundings, so that a lone edge doesn't
raise the flat area beside it), at most 2.6, and never below the PSNR asked for. It multiplies and leaves hue alone: a sum of the same
energy made grey and orange blotches on dark skin, and at an even 42 dB smooth skin looked mottled.

What it survives, as `engines.provenance.mark` doses it (22 photographs of 450 to 1584 pixels, PSNR 43 to 52 dB, median 48; exact ids):
all 22 through JPEG 40, WebP 80, half and 1.5 times the size, a tenth to half of the area cut off, a border, mirroring, quarter turns,
noise of 10 levels, blur, contrast ± 20 %, a screenshot, three re-encodings, a chat program, that one after a crop of a quarter; 21 through
20 % more brightness; 19 a quarter of the size. At 384 pixels: JPEG 70, WebP 90. At 256: JPEG 80 (WebP 90: 21). Under 192: no JPEG.

What it doesn't: a JPEG saved anew at its own old quality of 70 and less (18 of 22, at 50 10 of 22: what lies below half a quantisation
step is gone); a turn by other than quarter turns; a perspective; a crop to under 40 % of the long side. Regeneration by a network
wasn't tried. Who averages very many marked pictures can estimate the pilot, not forge an id.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.provenance import payload
from engines.provenance.carrier import TILE, TURNS, Carrier, carrier, unturn
from engines.provenance.keys import MarkKey
from engines.provenance.view import reduced
from engines.timing import Run
from engines.types import Floats, Pixels

CANVASES = (512, 256)  # long sides. 256 carries crops whose pixels are too few for the finer half of a 512 canvas
SMALL = 384  # pictures with a shorter long side use the last canvas
_FLAT, _TEXTURE = 0.5, 0.22  # amplitude in levels: floor, and share of the local activity
_SMALL_STRENGTH = 1.5  # a 256 canvas has a quarter of the pixels to say the same
_MOST = 2.6  # amplitude of the busiest area, whatever the strength: no value moves by more than 8
_PEAK = 2.7  # of the pattern, in multiples of its RMS
_DARK = 24.0  # below this brightness the gain no longer grows, and the mark fades out
_STRIP = 256  # rows per step: 108 megapixels need 40 MB beside the output
_BASE = 1024  # detection starts from a picture of at most this long side
_PROMISING = 5.2  # score from which a message is tried; 1 of 80 looks at an unmarked picture reaches it
_STEP, _LEAST, _LARGEST = 0.005, 0.4, 1.2  # scales of the deep search. Half a step shifts the far end of a 512 canvas by 1.3 pixels
_REFINED = 3  # best looks that are looked at again between the steps


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
    """

    id: str | None
    score: float
    corrected: int = 0
    scale: float = 1.0
    turns: int = 0
    mirrored: bool = False


def embed(
    pixels: Pixels,
    mark_id: str,
    key: MarkKey,
    psnr: float = 42.0,
    strength: float = 1.0,
    alpha: Pixels | None = None,
    run: Run | None = None,
) -> NDArray[np.uint8]:
    """Writes a mark into a copy.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        mark_id: as `payload.new_id` makes it.
        psnr: in dB, the strongest mark allowed. Most pictures need less than 42 and get less.
        strength: multiplies the amplitudes; the limit of `psnr` holds.
        alpha: (H, W) uint8; what is fully transparent isn't marked.
        run: asked at every strip whether to stop.

    Returns:
        (H, W, 3) uint8 RGB.

    Raises:
        ValueError: `mark_id` has another shape. Cancelled.
    """
    tile = carrier(key).tile(payload.encode(mark_id, key))
    height, width = pixels.shape[:2]
    long = canvas_of(height, width)
    small = _reduce(pixels, long)
    rows, columns = small.shape[:2]
    pattern = np.clip(np.tile(tile, (-(-rows // TILE), -(-columns // TILE)))[:rows, :columns], -_PEAK, _PEAK)
    factor = strength * (_SMALL_STRENGTH if long == CANVASES[-1] else 1.0)
    change = pattern * np.minimum(_amplitude(_luma(small)) * np.float32(factor), np.float32(_MOST))
    if alpha is not None:
        change *= _reduce(alpha, long) > 0
    brightest = cv2.dilate(small.max(axis=2), np.ones((3, 3), np.uint8))
    change /= np.maximum(brightest, _DARK).astype(np.float32)
    level = np.sqrt(np.mean(change[..., None] ** 2 * small.astype(np.float32) ** 2))
    allowed = np.sqrt(max(255**2 / 10 ** (psnr / 10) - 1 / 12, 1e-3))  # rounding to whole levels adds 1/12
    return _multiply(pixels, np.float32(1) + change * np.float32(min(1.0, allowed / max(float(level), 1e-6))), run or Run())


def detect(pixels: Pixels, key: MarkKey, deep: bool = False, run: Run | None = None) -> Reading:
    """Looks for a mark of this key.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        deep: also looks for crops down to 40 % of the long side and for added borders up to 20 %.
        run: asked at every step whether to stop.

    Returns:
        The first message that could be read, or the best score and no id.
    """
    kit, run = carrier(key), run or Run()
    base = _luma(_reduce(pixels, _BASE) if max(pixels.shape[:2]) > _BASE else pixels)
    looks: list[tuple[float, int, float]] = []
    for canvas, scale in _places(deep):
        run.check()
        reading = _look(base, canvas, scale, kit, key)
        if reading.id is not None:
            return reading
        looks.append((reading.score, canvas, scale))
    looks.sort(reverse=True)
    for score, canvas, scale in looks[: _REFINED if deep else 0]:
        for part in (-0.5, -0.25, 0.25, 0.5) if score > _PROMISING else ():
            run.check()
            reading = _look(base, canvas, scale + part * _STEP * CANVASES[0] / canvas, kit, key)
            if reading.id is not None:
                return reading
    return Reading(None, looks[0][0], scale=looks[0][2])


def canvas_of(height: int, width: int) -> int:
    """The long side of the canvas that a picture of this size is marked on."""
    return CANVASES[0] if max(height, width) >= SMALL else CANVASES[-1]


def _places(deep: bool) -> list[tuple[int, float]]:
    """Canvases and scales to look at: 1 first, then outwards, since light crops are the most frequent. 256 needs half the steps."""
    reach = range(round((_LEAST - 1) / _STEP), round((_LARGEST - 1) / _STEP) + 1) if deep else (0,)
    steps = [(step, canvas) for step in sorted(reach, key=abs) for canvas in CANVASES if step % (CANVASES[0] // canvas) == 0]
    return [(canvas, 1 + step * _STEP) for step, canvas in steps]


def _look(base: Floats, canvas: int, scale: float, kit: Carrier, key: MarkKey) -> Reading:
    """Searches one scale in all eight orientations and at all offsets."""
    tile = _fold(_resize(base, canvas * scale), kit)
    spectrum = np.fft.rfft2(tile)
    maps = np.fft.irfft2(spectrum * kit.pilots, s=(TILE, TILE))
    peaks = (maps.max(axis=(1, 2)) - maps.mean(axis=(1, 2))) / (maps.std(axis=(1, 2)) + 1e-9)
    best = int(peaks.argmax())
    score, way = float(peaks[best]), TURNS[best]
    if score < _PROMISING:
        return Reading(None, score, scale=scale)
    upright = unturn(tile, *way)
    offsets = np.fft.irfft2(np.fft.rfft2(upright) * kit.pilots[0], s=(TILE, TILE))
    down, right = np.unravel_index(int(offsets.argmax()), offsets.shape)
    soft = kit.patterns @ np.roll(upright, (-int(down), -int(right)), (0, 1)).ravel()
    message = payload.decode(np.asarray(soft, np.float32), key)
    if message is None:
        return Reading(None, score, scale=scale)
    return Reading(message.id, score, message.corrected, scale, *way)


def _fold(luma: Floats, kit: Carrier) -> Floats:
    """Sums a canvas over its tiles: (128, 128) float32 in which the mark adds up and the picture averages out.

    Each value is first taken against its surroundings and divided by the local activity; afterwards every ring of frequencies gets
    the same energy, so that no part of the band speaks for all.
    """
    rest = np.clip((luma - cv2.GaussianBlur(luma, (0, 0), 2.5)) / np.clip(_activity(luma), 1.0, 20.0), -1.5, 1.5)
    rows, columns = -(-rest.shape[0] // TILE), -(-rest.shape[1] // TILE)
    padded = np.zeros((rows * TILE, columns * TILE), np.float32)
    padded[: rest.shape[0], : rest.shape[1]] = rest
    spectrum = np.fft.rfft2(padded.reshape(rows, TILE, columns, TILE).sum(axis=(0, 2))) * kit.band
    rings = kit.rings[kit.band]
    energy = np.bincount(rings, weights=np.abs(spectrum[kit.band]) ** 2, minlength=TILE) / np.maximum(np.bincount(rings, minlength=TILE), 1)
    tile = np.fft.irfft2(spectrum / np.sqrt(energy[kit.rings] + 1e-9), s=(TILE, TILE))
    return np.asarray(tile / (tile.std() + 1e-9), np.float32)


def _activity(luma: Floats) -> Floats:
    """Standard deviation in 5 × 5."""
    mean = cv2.blur(luma, (5, 5))
    return np.sqrt(np.maximum(cv2.blur(luma * luma, (5, 5)) - mean * mean, 0))


def _amplitude(luma: Floats) -> Floats:
    logs = np.log(np.clip(_activity(luma), 0.3, 14.0))
    return np.asarray(_FLAT + _TEXTURE * np.exp(cv2.GaussianBlur(logs, (0, 0), 3)), np.float32)


def _luma(pixels: Pixels) -> Floats:
    """(H, W) float32, ITU-R BT.601 weights as JPEG has them."""
    weights = np.array([[0.299, 0.587, 0.114]], np.float32)
    return np.asarray(cv2.transform(pixels.astype(np.float32), weights))


def _reduce(image: Pixels, long: float) -> Pixels:
    return reduced(image, _size(image, long)) if long < max(image.shape[:2]) else np.asarray(_resize(image, long), np.uint8)


def _resize(image: NDArray[np.uint8] | Floats, long: float) -> Floats:
    method = cv2.INTER_AREA if long < max(image.shape[:2]) else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, _size(image, long), interpolation=method), image.dtype)


def _size(image: NDArray[np.uint8] | Floats, long: float) -> tuple[int, int]:
    """Width and height with a long side of `long`; the short one keeps at least 16."""
    height, width = image.shape[:2]
    factor = long / max(height, width)
    return max(16, round(width * factor)), max(16, round(height * factor))


def _multiply(pixels: Pixels, gain: Floats, run: Run) -> Pixels:
    """`pixels` times a gain given at canvas size, in strips of rows."""
    height, width = pixels.shape[:2]
    if height < gain.shape[0] or width < gain.shape[1]:
        whole = cv2.resize(gain, (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.multiply(pixels, cv2.merge([whole] * 3), dtype=cv2.CV_8U))
    wide = np.asarray(cv2.resize(gain, (width, gain.shape[0]), interpolation=cv2.INTER_CUBIC))
    out = np.empty_like(pixels)
    for top in range(0, height, _STRIP):
        run.check()
        weights, first = _cubic_rows(top, min(height, top + _STRIP), height, gain.shape[0])
        strip = weights @ wide[first : first + weights.shape[1]]
        cv2.multiply(pixels[top : top + _STRIP], cv2.cvtColor(strip, cv2.COLOR_GRAY2RGB), out[top : top + _STRIP], dtype=cv2.CV_8U)
    return out


def _cubic_rows(top: int, bottom: int, height: int, source: int) -> tuple[Floats, int]:
    """Weights (rows, taps) that make rows `top` … `bottom` of `height` from those of `source`, and the first source row they take.

    Cubic convolution, a = -0.75, as OpenCV's; a strip of OpenCV's own resize would lie up to half a row off.
    """
    centre = (np.arange(top, bottom) + 0.5) * source / height - 0.5
    first, last = max(0, int(centre[0]) - 2), min(source, int(centre[-1]) + 4)
    weights = np.zeros((bottom - top, last - first), np.float32)
    base = np.floor(centre).astype(int)
    for tap in (-1, 0, 1, 2):
        distance = np.abs(centre - (base + tap))
        near = (1.25 * distance - 2.25) * distance**2 + 1
        far = -0.75 * (((distance - 5) * distance + 8) * distance - 4)
        column = np.clip(base + tap, 0, source - 1) - first
        np.add.at(weights, (np.arange(bottom - top), column), np.where(distance <= 1, near, far))
    return weights, first
