"""The same fusion by several models: how near each comes to the source, how long it takes, what memory, and under which licence."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from engines.errors import FusionError, LicenceNotAccepted, ModelError, ModelMissing, SessionContract
from engines.footprint import footprint
from engines.manifest import Manifest
from engines.models import MESH_FUSION
from engines.options import MESH, FuseOptions
from engines.results import FusedFace, FusionModel, FusionResult
from engines.timing import Run
from engines.types import Frame

if TYPE_CHECKING:
    from engines.personas import Persona
    from engines.pipeline import Studio

State = Literal["compared", "missing", "licence", "broken"]
MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Compared:
    """What one model made of it, or why it made nothing.

    Attributes:
        name: as `FuseOptions.model` has it.
        state: compared; missing: not installed; licence: not accepted here; broken: its file, `fault` says how.
        licence, commercial: of the model; of all that took part in it, once it was compared.
        first_ms: from nothing to the marked picture, opening the networks included. warm_ms: the same again with the networks open and
            nothing known of the pictures.
        memory_mb, peak_mb: `Footprint.rise` and `Footprint.peak` in MiB, of the same fusion in a process of its own; None where that
            couldn't be measured.
    """

    name: str
    state: State
    licence: str
    commercial: bool
    result: FusionResult | None = None
    first_ms: float = 0.0
    warm_ms: float = 0.0
    memory_mb: float | None = None
    peak_mb: float | None = None
    fault: FusionError | None = None

    @property
    def face(self) -> FusedFace | None:
        return self.result.faces[0] if self.result else None

    def as_dict(self, language: str = "en") -> dict[str, Any]:
        """For JSON: times in milliseconds and memory in MiB, rounded to whole ones; None where there is no figure."""
        known: dict[str, Any] = {"model": self.name, "state": self.state, "licence": self.licence, "commercial": self.commercial}
        face = self.face
        known |= {
            "similarity_before": round(face.similarity_before, 1) if face else None,
            "similarity_after": round(face.similarity_after, 1) if face else None,
            "identity_after": round(face.identity_after, 3) if face else None,
            "first_ms": round(self.first_ms) if face else None,
            "warm_ms": round(self.warm_ms) if face else None,
            "memory_mb": None if self.memory_mb is None else round(self.memory_mb),
            "peak_mb": None if self.peak_mb is None else round(self.peak_mb),
        }
        return known | {"error": self.fault.as_dict(language) if self.fault else None}


def swappers(manifest: Manifest) -> tuple[str, ...]:
    """All that can fuse: the mesh, and every swapper that is listed, installed or not."""
    return (MESH, *(entry.name for entry in manifest.entries if entry.task == "swap"))


def compare(
    studio: "Studio", names: Sequence[str], source: "Frame | Persona", target: Frame, options: FuseOptions, run: Run, label: bool = False
) -> tuple[Compared, ...]:
    """One after the other, each with networks of its own, which are closed before the next one begins. See `Studio.compare`.

    Args:
        names: of models, `MESH` among them.

    Raises:
        ModelUnknown: a name that isn't listed. InputError: of the pictures or the options; no model can do anything about it. Cancelled.
    """
    known = [_licence(studio.manifest, name) for name in dict.fromkeys(names)]
    done = []
    for number, (name, model) in enumerate(known):
        with run.stage("compare", number + 1, len(known)):
            done.append(_tried(studio, name, model, source, target, replace(options, model=name), run, label))
    return tuple(done)


def _licence(manifest: Manifest, name: str) -> tuple[str, FusionModel]:
    if name == MESH:
        return name, MESH_FUSION
    entry = manifest.entry(name)
    return name, FusionModel(name, entry.licence, entry.commercial, (name,))


def _tried(
    studio: "Studio", name: str, model: FusionModel, source: "Frame | Persona", target: Frame, options: FuseOptions, run: Run, label: bool
) -> Compared:
    try:
        with _twin(studio) as twin:
            _, first = _timed(twin, source, target, options, run, label)
            result, warm = _timed(twin, source, target, options, run, label)
    except (ModelError, SessionContract) as fault:
        return Compared(name, _state(fault), model.licence, model.commercial, fault=fault)
    done = Compared(name, "compared", result.model.licence, result.model.commercial, result, first, warm)
    taken = footprint(studio, source, target, options, run)  # after the networks here were closed: both at once may be more than there is
    return done if taken is None else replace(done, memory_mb=taken.rise / MEGABYTE, peak_mb=taken.peak / MEGABYTE)


@contextmanager
def _twin(studio: "Studio") -> "Iterator[Studio]":
    twin = studio.twin()
    try:
        yield twin
    finally:
        twin.models.close()
        twin.known.forget()


def _timed(
    studio: "Studio", source: "Frame | Persona", target: Frame, options: FuseOptions, run: Run, label: bool
) -> tuple[FusionResult, float]:
    """Milliseconds of the one fusion, with nothing known of the pictures."""
    one, began = Run(), time.perf_counter()
    studio.known.forget()
    with run.stopping(one.cancel):
        result = studio.fuse(source, target, options, one, label)
    return result, 1000 * (time.perf_counter() - began)


def _state(fault: FusionError) -> State:
    if isinstance(fault, ModelMissing):
        return "missing"
    return "licence" if isinstance(fault, LicenceNotAccepted) else "broken"
