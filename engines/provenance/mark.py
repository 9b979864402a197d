"""Marking: the one way to a `MarkedImage`, and so to anything that is shown, sent or written."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass, replace
from datetime import UTC, datetime
from typing import Literal, get_args

from engines.errors import InvalidOption
from engines.options import FuseOptions
from engines.provenance import payload, watermark
from engines.provenance.keys import MarkKey
from engines.provenance.labels import TOOL, Labels, tidy
from engines.provenance.recipe import recipes
from engines.provenance.second_mark import SecondMark, write_second
from engines.provenance.view import on_white, shrunk
from engines.provenance.visible import VisibleLabel, draw
from engines.timing import Run
from engines.types import Frame, Note, Pixels
from engines.vision.lossy import jpeg_round_trip

MarkKind = Literal["fusion", "crop", "preview"]

SMALLEST = 192  # long side in pixels; smaller ones lose the mark in JPEG 80 (19 of 22 photographs keep it at 192, none at 128)
_CHECKED = 1024  # long side at which the mark must survive JPEG 80, whatever size the picture has
# The gentlest dose whose score after JPEG 80 is enough is taken. A crop of a quarter, a chat program or WebP 80 then lower it by a third,
# and at 8 to 9 it can still be read. Small pictures can't reach as much. Portraits at 13.1: 2 of 3 were lost in WebP 80; above 16: none
# of 107. Nothing was seen in between.
_ENOUGH = {512: 16.3, 256: 11.3}
_ALLOWANCE = {512: 0.0, 256: 2.0}  # dB: at 44, one of four portraits of 256 pixels couldn't carry the mark through JPEG 80
_ROUGH = 5  # gentler doses than this one of `DOSES` must come back through JPEG 60 as well
_LEAST = 8.5  # of the strongest: below it WebP 90 lost 1 of 22 photographs at 256 pixels
FUSED = "compositeWithTrainedAlgorithmicMedia"  # IPTC's term for what the studio makes
_MAKER = object()


@dataclass(frozen=True, slots=True)
class Mark:
    """What a picture carries.

    Attributes:
        id: "7F3-A91-C04", random. What is made of a picture that was marked here before keeps that one's id.
        kind: "watermark", or "labels_only".
        score: of the watermark after JPEG 80, see `watermark.Reading`.
        reason: why there are labels only: "preview", "small" (under 192 pixels), "content" (what it shows doesn't carry the mark), "photo"
            (of a picture that no algorithm made, as far as is known: a mark would say something false).
    """

    id: str
    kind: Literal["watermark", "labels_only"]
    score: float = 0.0
    reason: Literal["", "preview", "small", "content", "photo"] = ""


@dataclass(frozen=True, slots=True, eq=False)
class MarkedImage:
    """A picture that may leave the studio. Only `mark` makes one; everything that encodes takes nothing else.

    Attributes:
        pixels: (H, W, 3) uint8 RGB, read-only. alpha: (H, W) uint8 or None.
        models: name and licence of each network that had a part, for the ledger.
        visible: the words that were drawn into it for people, "" where none were.
        lone: whether a second mark was asked for and isn't there, since the picture is too small.
        dpi: pixels per inch across and down, of a fusion whose target told them; None else.

    Raises:
        TypeError: anybody else calls the constructor.
    """

    pixels: Pixels
    alpha: Pixels | None
    mark: Mark
    labels: Labels
    kind: MarkKind
    models: tuple[tuple[str, str], ...] = ()
    visible: str = ""
    lone: bool = False
    dpi: tuple[float, float] | None = None
    maker: InitVar[object] = None

    def __post_init__(self, maker: object) -> None:
        if maker is not _MAKER:
            raise TypeError("a MarkedImage is made by engines.provenance.mark.mark alone")
        for array in (self.pixels, self.alpha):
            if array is not None:
                array.flags.writeable = False

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    @property
    def notes(self) -> tuple[Note, ...]:
        """`labels_only` where the picture should carry the watermark and can't; `lone` where a second one was asked for and can't be."""
        missing = (("labels_only", self.mark.reason in ("small", "content")), ("no_second_mark", self.lone))
        return tuple((name, ()) for name, lacks in missing if lacks)


def mark(
    frame: Frame,
    key: MarkKey,
    kind: MarkKind = "fusion",
    psnr: float = 44.0,
    producer: str = "Fusion Studio",
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    run: Run | None = None,
    model: str = "",
    terms: str = "",
    options: Iterable[FuseOptions] = (),
    models: Sequence[tuple[str, str]] = (),
    label: VisibleLabel | None = None,
    said: str = "",
    first: str = "",
    second: SecondMark = "none",
) -> MarkedImage:
    """Gives a picture its watermark and its labels.

    Whether it carries the watermark isn't guessed: the marked picture, at most 1024 pixels long, goes through JPEG 80 and must give its
    id back. The gentlest of seven doses that does so with a reserve is taken; a picture from which even the strongest can't be
    read has labels only, with the reason.

    Args:
        kind: a "fusion" gets watermark and labels. A "crop" of a picture that an algorithm made gets them too, a "preview" of one its
            labels alone; of any other picture they say which program cut it, and nothing of AI.
        said: IPTC's term for what a crop or a preview is of, "" for a picture of which nobody says that an algorithm made it.
        psnr: in dB, the strongest watermark allowed; 2 less for pictures under 384 pixels. Of 22 photographs all carry
            it at 42 to 48, 20 at 50, 16 at 52.
        producer: `ContentProducer` of the labels.
        model, terms: what drew the picture, and under which terms it may be used, for the labels; "" says nothing.
        options: of its fused faces; the labels tell of them what `recipe` lets through.
        models: name and licence of each network that had a part, for the ledger.
        first: id of the output of this studio that the picture was made from. It is kept, and the labels say what it is derived from. Where
            the picture still carries a mark, that mark's id is, and needn't be told.
        second: a mark of the package invisible-watermark, written before ours.
        label: words for people; drawn first, so that the watermark lies over them as well.

    Raises:
        InvalidOption: no such kind; no room for the label. Cancelled: `run` was stopped. ExtraMissing: the second mark's package.
    """
    if kind not in get_args(MarkKind):
        raise InvalidOption(name="kind", value=kind, allowed=", ".join(get_args(MarkKind)))
    said = FUSED if kind == "fusion" else said
    if label is not None:
        frame = draw(frame, label)
    wanted = second != "none" and bool(said) and kind != "preview"
    twice = write_second(frame.pixels, second) if wanted else None
    if twice is not None:
        frame = replace(frame, pixels=twice)
    if not said:
        pixels, made = frame.pixels.copy(), Mark(payload.new_id(), "labels_only", reason="photo")
    elif kind == "preview":
        pixels, made = frame.pixels.copy(), Mark(first or payload.new_id(), "labels_only", reason="preview")
    elif max(frame.width, frame.height) < SMALLEST:
        pixels, made = frame.pixels.copy(), Mark(first or payload.new_id(), "labels_only", reason="small")
    else:
        pixels, made, first = _watermarked(frame, key, psnr, first, run or Run())
    labels = Labels(
        source_type=said,
        aigc="" if not said else "1" if said == FUSED else "2",
        producer=tidy(producer) if said else "",  # of the AIGC label
        id=made.id,
        tool=TOOL,
        created=now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        derived_from=first if said else "",
        model=tidy(model),
        terms=tidy(terms),
        settings=recipes(options),
    )
    return MarkedImage(
        pixels,
        None if frame.alpha is None else frame.alpha.copy(),
        made,
        labels,
        kind,
        tuple(models),
        label.words if label else "",
        wanted and twice is None,
        frame.origin.dpi if kind == "fusion" else None,
        _MAKER,
    )


def preview_of(image: MarkedImage, key: MarkKey, longest: int) -> MarkedImage:
    """A smaller copy for the screen, on white: it says what the picture says, and carries its watermark where it comes through."""
    pixels = on_white(*shrunk(image.pixels, image.alpha, longest)).copy()
    carried = image.mark.kind == "watermark" and _survivor(pixels, None, key).id == image.mark.id
    made = image.mark if carried else Mark(image.mark.id, "labels_only", reason="preview")
    return MarkedImage(pixels, None, made, image.labels, "preview", image.models, image.visible, maker=_MAKER)


def _watermarked(frame: Frame, key: MarkKey, psnr: float, first: str, run: Run) -> tuple[Pixels, Mark, str]:
    """The marked pixels, their mark, and the id that the picture had before. One that is still read well isn't written again; a weaker one
    is, on top of itself: another id there would hide both."""
    small, small_alpha = shrunk(frame.pixels, frame.alpha, _CHECKED)
    before = _survivor(small, small_alpha, key)
    first = before.id or first
    if before.id is not None and (before.turns, before.mirrored) == (0, False) and before.score >= _LEAST:
        return frame.pixels.copy(), Mark(before.id, "watermark", before.score), first
    mark_id = first or payload.new_id()
    canvas = watermark.canvas_of(frame.height, frame.width)
    enough, limit = _ENOUGH[canvas], psnr - _ALLOWANCE[canvas]
    tried: dict[int, tuple[Pixels, watermark.Reading]] = {}
    low, high = 0, len(watermark.DOSES) - 1
    while low < high or high not in tried:  # three or four of seven doses: the score grows with them
        run.check()
        middle = (low + high) // 2
        marked = watermark.embed(small, mark_id, key, limit, watermark.DOSES[middle], small_alpha)
        tried[middle] = marked, _survivor(marked, small_alpha, key)
        enough_heard = tried[middle][1].id == mark_id and tried[middle][1].score >= enough
        if enough_heard and middle < _ROUGH:  # flat colours are heard well in JPEG 80 and not at all where its steps are coarser
            enough_heard = _survivor(marked, small_alpha, key, 60).id == mark_id
        low, high = (low, middle) if enough_heard else (min(middle + 1, high), high)
    marked, reading = tried[high]
    if reading.id == mark_id and reading.score >= _LEAST and small is not frame.pixels:
        marked = watermark.embed(frame.pixels, mark_id, key, limit, watermark.DOSES[high], frame.alpha, run)
        reading = _survivor(*shrunk(marked, frame.alpha, _CHECKED), key)
    if reading.id != mark_id or reading.score < _LEAST:
        return frame.pixels.copy(), Mark(mark_id, "labels_only", reading.score, "content"), first
    return marked, Mark(mark_id, "watermark", reading.score), first


def _survivor(pixels: Pixels, alpha: Pixels | None, key: MarkKey, quality: int = 80) -> watermark.Reading:
    """What is left of a mark when the picture is laid on white and saved as a JPEG."""
    return watermark.detect(jpeg_round_trip(on_white(pixels, alpha), quality), key)
