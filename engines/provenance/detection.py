"""Finding and reading the watermark in a picture that was resized, turned, stretched, cut or framed.

Quick: the picture as a whole, in its eight upright positions. Deep, until a message is read: where the lattice of its repetitions says
(`engines.provenance.lattice`: any turn, scale and proportions), in the whole and in parts of it, from which a perspective is followed
outwards (`engines.provenance.tracking`); then every scale in turn, since the key's own pilot is still heard where the lattice is not; then
the best of these looks, moved until they fit.

Each look lets the pilot choose among 8 orientations × 16384 offsets, and only what stands out is decoded. What bounds false ids is in
`engines.provenance.allowance`.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.provenance import lattice, payload
from engines.provenance.allowance import Allowance
from engines.provenance.canvas import CANVASES, SMALL, flattened, flattened_closely, looked_at, resize, size_of
from engines.provenance.carrier import TURNS, carrier
from engines.provenance.keys import MarkKey
from engines.provenance.listening import Heard, listen
from engines.provenance.tracking import Laid, laid, track
from engines.timing import Run
from engines.types import Floats, Pixels

Matrix = NDArray[np.float64]

LOOKED_AT = 1024  # long side of the picture that is looked at
_PROMISING = 5.2  # score from which a message is tried; 1 of 80 looks at an unmarked picture reaches it
_STEP, _LEAST, _LARGEST = 0.006, 0.4, 1.2  # scales that are tried. Half a step shifts the far end of a 512 canvas by 1.5 pixels
_ENLARGED = 768  # larger pictures aren't tried as crops of one that was marked on the canvas of 256
_HEARD = 5.0  # score of a place that was told from which it is tracked
_TRACKED = 3  # best looks that are tracked in the end
_PART, _PARTS = 0.6, 2  # of the sides that a part has, and the best of five that are tracked outwards
_RADII = (170.0, 240.0, 340.0, np.inf)  # canvas pixels around a part's middle that are asked, one after the other
_PLACES = 4  # of the lattice that are looked at
_AT_ONCE = 12  # scales that are listened to before they are read


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in a picture.

    Attributes:
        id: None where no message could be read.
        score: how far the pilot stands out of the noise, in standard deviations. Unmarked pictures: 4 to 5, in a deep search
            5 to 6 (20,000 crops of photographs, drawings, noise: 99.9 % under 5.8, at most 6.8).
        corrected: wrong bits of the message that was read.
        scale: 1.0 uncropped; 0.8 where a crop left 80 % of the long side.
        turns, mirrored: how the picture lies, quarter turns counter-clockwise.
        angle: degrees by which it was turned besides, -45 to 45.
        key: name of the key whose mark it is, or comes nearest; see `MarkKey.name`.
        where: lays the canvas on which the message was read over the picture, for `engines.provenance.heat`; None where none was read.
    """

    id: str | None
    score: float
    corrected: int = 0
    scale: float = 1.0
    turns: int = 0
    mirrored: bool = False
    angle: float = 0.0
    key: str = ""
    where: Callable[[], Laid | None] | None = field(default=None, repr=False, compare=False)


def detect(pixels: Pixels, key: MarkKey, deep: bool = False, run: Run | None = None, cut: bool = False) -> Reading:
    """Looks for a mark of this key, or of an older one.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        deep: also looks for crops down to 40 % of the long side, for added borders up to 20 %, for turns by any angle and for
            proportions up to 6 % off, a slight perspective, and a marked picture that fills a quarter of a page.
        cut: without `deep`, looks for whole crops and turns all the same, where the lattice says: a tenth of the deep search's time.
        run: asked at every step whether to stop.

    Returns:
        The first message that could be read, or the best score and no id.
    """
    return search(looked_at(pixels, LOOKED_AT), key, deep, run, cut=cut)


def search(
    brightness: Floats,
    key: MarkKey,
    deep: bool = False,
    run: Run | None = None,
    allowance: Allowance | None = None,
    cut: bool = False,
) -> Reading:
    """As `detect`, in (H, W) float32 levels. `allowance`: what earlier searches of the same have left; it is drawn from."""
    return _Search(brightness, key, run or Run(), allowance or Allowance()).reading(deep, cut)


class _Search:
    """One picture, one key, and what was found so far."""

    def __init__(self, brightness: Floats, key: MarkKey, run: Run, allowance: Allowance) -> None:
        self._base = brightness
        self._run, self._kits = run, [(each, carrier(each)) for each in key.all]
        self._best, self._allowance = Reading(None, 0.0), allowance
        self._looks: list[tuple[float, Matrix]] = []

    def reading(self, deep: bool, cut: bool) -> Reading:
        looks = (self._upright, self._by_lattice, self._by_parts, self._by_scales, self._tracked)
        for look in looks[: len(looks) if deep else 2 if cut else 1]:
            look()
            if self._best.id is not None:
                break
        return self._best

    def _upright(self) -> None:
        for canvas in CANVASES:
            if self._scaled(self._listen(flattened_closely(resize(self._base, canvas))), canvas, 1.0).id is not None:
                return

    def _by_lattice(self) -> None:
        for matrix in _places(self._base, lattice.STRETCHES)[:_PLACES]:
            reading = self._placed(self._base, matrix)
            if reading.id is None and reading.score >= _HEARD:
                reading = self._track(matrix, self._followed(matrix))
            if reading.id is not None:
                return

    def _by_parts(self) -> None:
        """The corners and the middle: a marked picture on a page, or a perspective, which is nearly linear in each of them."""
        height, width = self._base.shape
        rows, columns = round(height * _PART), round(width * _PART)
        corners = [(top, left) for top in (0, height - rows) for left in (0, width - columns)] + [
            ((height - rows) // 2, (width - columns) // 2)
        ]
        heard: list[tuple[float, Matrix, tuple[float, float]]] = []
        parts = [np.ascontiguousarray(self._base[top : top + rows, left : left + columns]) for top, left in corners]
        with ThreadPoolExecutor(2, "parts") as beside:  # the next part is searched while this one is read
            told = beside.map(partial(_places, stretches=lattice.STRETCHES[:3]), parts)
            for (top, left), part, places in zip(corners, parts, told, strict=True):
                self._run.check()
                for matrix in places[:2]:
                    reading = self._placed(part, matrix)
                    if reading.id is not None:
                        beside.shutdown(wait=False, cancel_futures=True)
                        return
                    heard.append((reading.score, matrix, (left + columns / 2, top + rows / 2)))
        for score, matrix, middle in sorted(heard, key=lambda one: -one[0])[:_PARTS]:
            if score >= _HEARD and self._track(matrix, self._followed(matrix, middle)).id is not None:
                return

    def _by_scales(self) -> None:
        """Outwards, since light crops are the most frequent. Flattening takes as long as reading: a few sizes serve all."""
        sizes: dict[int, Floats] = {}

        def heard(long: float) -> Heard:
            seen = cv2.resize(sizes[_octave(long)], size_of(self._base, long))  # by less than a third: areas would take eight times as long
            return self._listen(np.asarray(seen))

        with ThreadPoolExecutor(2, "scales") as beside:
            for canvas in CANVASES[: 1 if max(self._base.shape) > _ENLARGED else None]:
                step = _STEP * CANVASES[0] / canvas
                indices = sorted(range(round((_LEAST - 1) / step), round((_LARGEST - 1) / step) + 1), key=abs)[1:]
                for first in range(0, len(indices), _AT_ONCE):
                    scales = [1 + index * step for index in indices[first : first + _AT_ONCE]]
                    for octave in {_octave(canvas * scale) for scale in scales} - sizes.keys():
                        sizes[octave] = flattened(resize(self._base, LOOKED_AT * 2 ** (octave / 2)))
                    for scale, found in zip(scales, beside.map(heard, [canvas * scale for scale in scales]), strict=True):
                        if self._scaled(found, canvas, scale).id is not None:
                            return

    def _tracked(self) -> None:
        """The best looks again, each moved until the mark lies on it everywhere; two at a time."""
        best = [matrix for _, matrix in sorted(self._looks, key=lambda look: -look[0])[:_TRACKED]]
        with ThreadPoolExecutor(2, "tracks") as beside:
            for matrix, steps in zip(best, beside.map(lambda matrix: list(self._followed(matrix)), best), strict=True):
                if self._track(matrix, steps).id is not None:
                    return

    def _scaled(self, heard: Heard, canvas: int, scale: float) -> Reading:
        reading = self._read(heard, Reading(None, 0.0, scale=scale))
        if reading.id is not None:
            self._best = replace(reading, where=partial(laid, self._base, np.eye(2) * (canvas * scale / max(self._base.shape))))
        if reading.score >= _PROMISING:
            self._looks.append((reading.score, np.eye(2) * (canvas * scale / max(self._base.shape))))
        return reading

    def _placed(self, part: Floats, matrix: Matrix) -> Reading:
        """Reads at a place that was told."""
        canvas = laid(part, matrix)
        if canvas is None:
            return Reading(None, 0.0)
        reading = self._read(self._listen(canvas.rest()), _lying(matrix, part))
        if reading.id is not None:
            self._best = replace(reading, where=partial(laid, self._base, matrix))
        return reading

    def _track(self, matrix: Matrix, steps: Iterable[tuple[Laid, Heard]]) -> Reading:
        """Reads the canvas after each time that it was moved."""
        reading = Reading(None, 0.0)
        for canvas, heard in steps:
            reading = self._read(heard, _lying(matrix, self._base), fitted=True)
            if reading.id is not None:
                self._best = replace(reading, where=partial(_same, canvas))
                break
        return reading

    def _followed(self, matrix: Matrix, middle: tuple[float, float] | None = None) -> Iterator[tuple[Laid, Heard]]:
        """The canvas after it was moved, and again; from around `middle` (across, down in the picture) outwards, or everywhere at once."""
        canvas = laid(self._base, matrix)
        if canvas is None:
            return
        rest = canvas.rest()
        for radius in _RADII if middle is not None else (np.inf, np.inf):
            self._run.check()
            near = None
            if middle is not None:
                near = canvas.around(middle[0] / self._base.shape[1], middle[1] / self._base.shape[0], radius)
            heard = self._listen(rest if near is None else rest * near)
            best = max(heard.voices, key=lambda voice: voice.height)
            pilot = np.asarray(best.kit.pilots[best.way] * heard.weights, np.complex64)
            canvas = canvas.moved(track(rest, pilot, best.offset, near))
            rest = canvas.rest()
            yield canvas, self._listen(rest)

    def _listen(self, rest: Floats) -> Heard:
        self._run.check()
        return listen(rest, self._kits)

    def _read(self, listened: Heard, place: Reading, fitted: bool = False) -> Reading:
        """Tries the message where a pilot stands out."""
        self._run.check()
        heard = Reading(None, 0.0)
        for voice in listened.voices:
            reading = Reading(None, voice.score, 0, place.scale, *TURNS[voice.way], place.angle, voice.key.name)
            least = self._allowance.least(voice.score, fitted)
            if voice.score >= _PROMISING and self._allowance.messages > 0:
                self._allowance.messages -= 1
                message = payload.decode(listened.said(voice), voice.key, least)
                if message is not None:
                    reading = replace(reading, id=message.id, corrected=message.corrected)
            if reading.id is not None or voice.score > heard.score:
                heard = reading
            if reading.id is not None:
                break
        if heard.id is not None or (heard.score > self._best.score and not fitted):
            self._best = heard
        return heard


def _same(canvas: Laid) -> Laid:
    return canvas


def _octave(long: float) -> int:
    """Half octaves below `LOOKED_AT`, rounded up."""
    return int(np.ceil(np.log2(long / LOOKED_AT) * 2))


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
