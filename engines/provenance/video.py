"""The watermark of a video, written and read frame by frame; nothing of the stream is kept but one picture's worth of numbers.

Written: one still pattern over all frames, so that nothing flickers. Only how strong it is follows the scene, and slowly: it moves by
`_FOLLOWS` of the way a frame, and never lies more than twice as strong as the frame by itself would have it, or texture that has left
would leave its mark on a bare wall. A still scene gives the same strength to the last bit, and so the same change in each frame.

Read: what is left of each frame once it is flattened is summed. The pattern lies in every frame at the same place and adds up; what moves
does not. Each encoder takes most of it from most frames, and what it carries on from one frame to the next isn't heard twice: 24 frames
at rest tell little more than one, and where the whole picture drifts sideways, motion compensation drags the pattern along and blurs it.
Figures: docs/provenance.md.

False ids: the sum is searched as one picture is (`engines.provenance.detection`), by the same threshold, which is in standard deviations
of the sum's own noise. What bounds false ids is `engines.provenance.allowance`, and that is drawn from over the whole video and not anew
for each reading: 8e-10 a video, however long it is and however often it is asked.
"""

from dataclasses import InitVar, dataclass, replace

import numpy as np

from engines.provenance import payload
from engines.provenance.allowance import Allowance
from engines.provenance.canvas import canvas_of, flattened, looked_at, reduce
from engines.provenance.detection import LOOKED_AT, Reading, search
from engines.provenance.keys import MarkKey
from engines.provenance.labels import Labels
from engines.provenance.watermark import DOSES, Dose, pattern, strength, written
from engines.timing import Run
from engines.types import Floats, Pixels

PSNR = 45.0  # dB of each frame, at least; a single picture has 44
DOSE = DOSES[-1]  # an encoder has coarser steps than JPEG 80, and more of the flat areas' grain is lost in it than seen before it
_FOLLOWS = 0.15  # of the way a frame: a camera's grain no longer moves it; 90 % of a change in half a second at 30 frames
_CONTRAST = 20.0  # levels that the sum's mean is stretched by: its local activity then lies where flattening it again divides by it
_MAKER = object()


@dataclass(frozen=True, slots=True)
class MarkedVideo:
    """What a video says that may leave the studio. Only `FrameMarker` makes one; what writes videos takes nothing else.

    Attributes:
        id: the watermark's, in all frames. labels: with the same id.
        frames: so many were marked.

    Raises:
        TypeError: anybody else calls the constructor.
    """

    id: str
    width: int
    height: int
    frames: int
    labels: Labels
    maker: InitVar[object] = None

    def __post_init__(self, maker: object) -> None:
        if maker is not _MAKER:
            raise TypeError("a MarkedVideo is made by engines.provenance.video.FrameMarker alone")


class FrameMarker:
    """Marks the frames of one video, in their order.

    Args:
        mark_id: None takes a new one.
        psnr: in dB, the strongest mark allowed in a frame. dose: how the mark is spread, see `watermark.Dose`.

    Raises:
        ValueError: `mark_id` has another shape.
    """

    def __init__(self, key: MarkKey, width: int, height: int, mark_id: str | None = None, psnr: float = PSNR, dose: Dose = DOSE) -> None:
        self.id = payload.new_id() if mark_id is None else mark_id
        self._shape, self._long = (height, width, 3), canvas_of(height, width)
        self._pattern = pattern(self.id, key, reduce(np.zeros(self._shape, np.uint8), self._long))
        self._psnr, self._dose = psnr, dose
        self._levels: Floats | None = None
        self.frames = 0

    def mark(self, frame: Pixels, run: Run | None = None) -> Pixels:
        """A marked copy of the next frame, (H, W, 3) uint8 RGB. Raises `ValueError` for one of another size; Cancelled."""
        if frame.shape != self._shape:
            raise ValueError(f"a frame of {frame.shape}, not {self._shape}")
        small = reduce(frame, self._long)
        here = strength(small, self._dose)
        last = here if self._levels is None else self._levels
        self._levels = np.minimum(last + np.float32(_FOLLOWS) * (here - last), 2 * here)
        marked = written(frame, small, self._pattern * self._levels, self._psnr, run)
        self.frames += 1
        return marked

    def marked(self, labels: Labels) -> MarkedVideo:
        """What was marked so far, with labels, which get the watermark's id. Raises `ValueError` before the first frame."""
        if not self.frames:
            raise ValueError("no frame was marked")
        height, width, _ = self._shape
        return MarkedVideo(self.id, width, height, self.frames, replace(labels, id=self.id), _MAKER)


class FrameReader:
    """Listens to frames until the mark is heard.

    Args:
        deep: also looks for cut, turned and stretched videos, see `detection.detect`: half a second to two a reading.
    """

    def __init__(self, key: MarkKey, deep: bool = False, run: Run | None = None) -> None:
        self._key, self._deep, self._run = key, deep, run
        self._sum: Floats | None = None
        self._allowance, self.frames = Allowance(), 0
        self._reading: Reading | None = None

    def add(self, frame: Pixels) -> None:
        """Takes a frame in, (H, W, 3) uint8 RGB. Raises `ValueError` where its size isn't that of the first."""
        seen = flattened(looked_at(frame, LOOKED_AT))
        if self._sum is not None and seen.shape != self._sum.shape:
            raise ValueError("a frame of another size")
        self._sum = seen if self._sum is None else self._sum + seen
        self.frames += 1
        if self._reading is not None and self._reading.id is None:
            self._reading = None

    @property
    def reading(self) -> Reading:
        """What all frames so far say. Once an id was read, it stays. Ask when an answer is needed: each search tries messages out of 64
        that the whole video has, and when they are spent, only the score goes on."""
        if self._sum is None:
            return Reading(None, 0.0)
        if self._reading is None:
            mean = np.float32(128) + self._sum * np.float32(_CONTRAST / self.frames)
            self._reading = search(mean, self._key, self._deep, self._run, self._allowance)
        return self._reading
