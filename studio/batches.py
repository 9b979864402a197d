"""Many targets in the page, fused one after the other: what is done stands, also after Stop, and Fuse goes on from there."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from engines.batch import Job, work_off
from engines.errors import FusionError
from engines.face_mask import Layer
from engines.options import FuseOptions
from engines.provenance.archive import bundle
from engines.provenance.save import Saved
from engines.results import FusedFace, FusionResult
from engines.timing import Run
from studio import pictures
from studio.media import MEDIA_TYPES, Item, Shelf, stem_of

if TYPE_CHECKING:
    from engines.pipeline import Studio
    from engines.reading import Source

MOST = 100  # targets at once; the command takes whole folders
FORMAT = "jpg"
THUMB_SIDE = 320  # of a line's thumbnail, in pixels: twice its width, for dense screens


@dataclass(slots=True)
class Line:
    """A target, the place for its file, and what became of it: a saved file, or the fault that stood in its way.

    Attributes:
        faces: what changed in it. thumb: the result, small.
    """

    target: Item
    output: Item
    saved: Saved | None = None
    faces: tuple[FusedFace, ...] = ()
    thumb: Item | None = None
    fault: FusionError | None = None


@dataclass(slots=True)
class Batch:
    """What was asked for (`key` tells two questions apart), a line for each target in their order, and all files in one ZIP.

    Attributes:
        thumb: of the target that was done first: by it the row of earlier results knows this one.
    """

    key: str
    lines: tuple[Line, ...]
    archive: Item | None = None
    thumb: Item | None = None

    @property
    def whole(self) -> bool:
        """Whether every place is there still, and every file that was written."""
        return all(line.output.path.parent.exists() and not (line.saved and not line.output.path.exists()) for line in self.lines)

    @property
    def saved(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.saved)

    @property
    def failed(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.fault)


def key_of(sources: Sequence[Item], targets: Sequence[Item], options: FuseOptions, label: bool = False, brush: str = "") -> str:
    """A digest of the question. `brush`: the token of what was painted."""
    asked = [[item.token for item in sources], [item.token for item in targets], asdict(options), label, brush]
    return hashlib.sha256(json.dumps(asked, default=_digest).encode()).hexdigest()


def _digest(layer: Layer) -> str:
    """Of what a brush painted."""
    return f"{layer.shape} {hashlib.sha256(layer.tobytes()).hexdigest()}"


def batch_of(key: str, targets: Sequence[Item], shelf: Shelf, visitor: str, group: str) -> Batch:
    """A new batch, with a place for each file, numbered where names meet."""
    lines, taken = [], set[str]()
    for target in targets:
        stem, number = f"{stem_of(target.name)}-fused", 1
        while (name := f"{stem}.{FORMAT}" if number == 1 else f"{stem}-{number}.{FORMAT}") in taken:
            number += 1
        taken.add(name)
        lines.append(Line(target, shelf.reserve(visitor, name, MEDIA_TYPES[FORMAT], group, stored=f"file.{FORMAT}")))
    return Batch(key, tuple(lines))


def work(
    batch: Batch,
    studio: "Studio",
    source: "Source",
    options: FuseOptions,
    shelf: Shelf,
    visitor: str,
    run: Run,
    label: bool = False,
    own: Mapping[str, FuseOptions] | None = None,
) -> None:
    """Fuses what isn't done yet; what failed is tried again. Each line changes as soon as its target is done.

    Args:
        own: options of single targets by their token, in place of `options`: where one was painted on.

    Raises:
        Cancelled: the lines that are done stand. What `Studio.admit` raises of the source, before any target.
    """
    admitted = studio.admit(source, options, run)
    left = {line.output.path: line for line in batch.lines if not line.saved}
    for line in left.values():
        line.fault = None

    def fuse(job: Job, one: Run) -> FusionResult:
        line = left[job.output]
        with run.stage("fuse", batch.lines.index(line), len(batch.lines)):
            frame = studio.read(line.target.path.read_bytes(), line.target.name, one)
            result = studio.fuse(admitted, frame, (own or {}).get(line.target.token, options), one, label)
            line.thumb = pictures.fused_preview(studio, shelf, visitor, result.image, line.output.group, THUMB_SIDE)
            line.saved, line.faces = result.save(job.output, FORMAT, run=one), result.faces
            batch.thumb = batch.thumb or line.thumb
        return result

    try:
        for done in work_off([Job(line.target.path, path) for path, line in left.items()], fuse, run):
            left[done.job.output].fault = done.fault
    finally:
        _pack(batch, shelf, visitor)


def _pack(batch: Batch, shelf: Shelf, visitor: str) -> None:
    """Promises the ZIP of all that is done."""
    files = [(line.output.name, line.saved) for line in batch.lines if line.saved]
    if files:
        kind, group = MEDIA_TYPES["zip"], batch.lines[0].output.group
        batch.archive = shelf.promise(visitor, "fused.zip", kind, group, lambda: bundle(files), 0)
