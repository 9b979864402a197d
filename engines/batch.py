"""Many pictures, one after the other: a bad one is reported and never stops the rest, and an interrupted batch goes on where it was."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engines.errors import Cancelled, FusionError, InvalidOption, UnreadableImage
from engines.results import FusionResult
from engines.timing import Run

SUFFIXES = frozenset(
    (".jpg", ".jpeg", ".jfif", ".png", ".webp", ".avif", ".heic", ".heif", ".tif", ".tiff", ".bmp", ".gif", ".jp2", ".ppm", ".pgm", ".tga")
)
Status = Literal["fused", "there", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """One target and the file that comes of it."""

    target: Path
    output: Path


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a job.

    Attributes:
        status: fused; there (its output stood there from an earlier run and was left); failed.
        result: of a fused one. fault: of a failed one.
    """

    job: Job
    status: Status
    result: FusionResult | None = None
    fault: FusionError | None = None

    def as_dict(self, language: str = "en") -> dict[str, Any]:
        """A line of the report."""
        line: dict[str, Any] = {"target": str(self.job.target), "output": str(self.job.output), "status": self.status}
        if self.fault is not None:
            return line | {"output": None, "error": self.fault.as_dict(language)}
        if self.result is not None:
            told = self.result.as_dict()
            line |= {name: told[name] for name in ("width", "height", "faces", "mark", "labels", "notes", "timings_ms")}
        return line


def pictures_of(given: Iterable[Path]) -> list[Path]:
    """Each picture once, in order.

    Args:
        given: files, and folders, of which the pictures themselves are taken, sorted by name, not those of folders in them.

    Raises:
        UnreadableImage: missing: no such file or folder. InvalidOption: no picture in all of them.
    """
    found: dict[Path, Path] = {}  # by what they really are
    for path in given:
        if not path.exists():
            raise UnreadableImage("missing", name=path.name)
        inside = sorted(p for p in path.iterdir() if p.suffix.lower() in SUFFIXES and p.is_file()) if path.is_dir() else [path]
        for picture in inside:
            found.setdefault(picture.resolve(), picture)
    if not found:
        raise InvalidOption(name="targets", value=", ".join(str(path) for path in given), allowed="pictures, or folders with pictures")
    return list(found.values())


def jobs_of(given: Iterable[Path], folder: Path, suffix: str) -> tuple[Job, ...]:
    """Each picture once, and a file of its own in the folder: `<name>-fused.<suffix>`, numbered where names meet.

    Args:
        given: as `pictures_of` takes them, which also says what is raised.
    """
    targets = {path.resolve(): path for path in pictures_of(given)}
    jobs, taken = [], set(targets)  # no output over a target
    for target in targets.values():
        name, number = f"{target.stem}-fused", 1
        while (output := folder / f"{name}.{suffix}").resolve() in taken:
            number += 1
            name = f"{target.stem}-fused-{number}"
        taken.add(output.resolve())
        jobs.append(Job(target, output))
    return tuple(jobs)


def work_off(jobs: Sequence[Job], fuse: Callable[[Job, Run], FusionResult], run: Run, resume: bool = False) -> Iterator[Done]:
    """Does them in order, each answer as soon as it is there.

    Args:
        fuse: fuses and saves one. Its errors are the job's.
        run: stops the whole batch; each picture is timed for itself.
        resume: an output that is there already counts as done: files get their name only when they are whole.

    Raises:
        Cancelled: the batch was stopped; what was answered before stands.
    """
    for job in jobs:
        run.check()
        if resume and job.output.exists():
            yield Done(job, "there")
            continue
        one = Run()
        try:
            with run.stopping(one.cancel):
                result = fuse(job, one)
        except Cancelled:
            raise
        except FusionError as fault:
            yield Done(job, "failed", fault=fault)
        else:
            yield Done(job, "fused", result)
