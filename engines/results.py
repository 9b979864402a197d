"""What the pipeline answers with."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engines.options import FuseOptions, as_dict
from engines.timing import Run, Timings
from engines.types import Box, Face, Frame, Note, RefusedFace, Role, SafetyScore

if TYPE_CHECKING:
    from engines.personas import Persona
    from engines.provenance.keys import MarkKey
    from engines.provenance.ledger import Ledger
    from engines.provenance.mark import MarkedImage
    from engines.provenance.save import EncodedImage, Saved
    from engines.provenance.signer import Signer


@dataclass(frozen=True, slots=True)
class FusionModel:
    """What fuses: its licence is the strictest of all that it needs, since that one binds the output's use.

    Attributes:
        commercial: whether the outputs may be used in trade.
        graphs: entries of models.toml that it runs.
    """

    name: str
    licence: str
    commercial: bool
    graphs: tuple[str, ...]

    @property
    def terms(self) -> str:
        """Under which the output may be used, for its labels; "" where nothing binds it."""
        return "" if self.commercial else f"no commercial use ({self.licence})"


@dataclass(frozen=True, slots=True)
class FoundFaces:
    """The faces of one picture, numbered from left to right. Empty when there is none.

    Attributes:
        refused: what looked like a face and is none, best score first. Painted faces are faces; hands, bags and animals end here.
    """

    frame: Frame
    faces: tuple[Face, ...]
    timings: Timings
    refused: tuple[RefusedFace, ...] = ()

    @property
    def usable(self) -> tuple[Face, ...]:
        return tuple(face for face in self.faces if face.verdict.usable)


@dataclass(frozen=True, slots=True)
class FusedFace:
    """One face of a result, with its distance to the source before and after.

    `identity_*`: Euclidean distance of the embeddings (dlib scale: same person below 0.5, strangers around 0.8).
    `similarity_*`: the same, calibrated to 0..100 (`engines/faces/embedder.py` has the formula).
    `source`: number of the source, of those that the fusion was given. `options`: those that were used for it.
    """

    index: int
    box: Box
    score: float
    identity_before: float
    identity_after: float
    similarity_before: float
    similarity_after: float
    source: int = 0
    options: FuseOptions = field(default_factory=FuseOptions)


@dataclass(frozen=True, slots=True)
class FusionResult:
    """One fused picture, marked and not yet written.

    Attributes:
        image: the only form in which the picture leaves the pipeline.
        sources: the pictures, or the personas, that gave the identities.
        target: the picture as it came in, upright and in sRGB.
        faces: those that were changed, with their distance to the source.
        safety: the scores of the sources, and last of the target.
        provider: what really ran the graphs. model: what fused. notes: what a person should know.
        timings: up to the mark; encoding and saving are timed by the `Run` that they are given.
    """

    image: "MarkedImage"
    sources: "tuple[Frame | Persona, ...]"
    target: Frame
    faces: tuple[FusedFace, ...]
    safety: tuple[SafetyScore, ...]
    provider: str
    model: FusionModel
    notes: tuple[Note, ...]
    timings: Timings
    key: "MarkKey" = field(repr=False)
    ledger: "Ledger | None" = field(default=None, repr=False)
    signer: "Signer | None" = field(default=None, repr=False)

    @property
    def source(self) -> "Frame | Persona":
        """The first, mostly the only one."""
        return self.sources[0]

    @property
    def options(self) -> FuseOptions:
        """Those of the first face, mostly of all of them."""
        return self.faces[0].options

    def encode(self, format: str = "png", quality: int | None = None, run: Run | None = None, signed: bool = True) -> "EncodedImage":
        """Encodes, and reads the mark back.

        Args:
            signed: False leaves the credentials to `Studio.sign`, for a picture that is shown and perhaps never taken.

        Raises:
            MarkNotRead, CredentialsUnusable, LedgerUnusable, OutputUnwritable (format, size), InvalidOption (quality).
        """
        from engines.provenance.save import encode

        return encode(self.image, format, quality, self.key, run, self.ledger, self.signer if signed else None)

    def save(
        self, path: Path | str, format: str | None = None, quality: int | None = None, overwrite: bool = False, run: Run | None = None
    ) -> "Saved":
        """Writes the file: complete and verified, or not at all.

        Args:
            path: the format follows its suffix unless `format` says otherwise, see `provenance.output.Format`.
            quality: of JPEG, WebP and AVIF; None takes the format's default.
            overwrite: allows replacing a file that is there.

        Raises:
            OutputExists, OutputUnwritable, MarkNotRead, CredentialsUnusable, LedgerUnusable, InvalidOption.
        """
        from engines.provenance.save import save

        return save(self.image, Path(path), format, quality, overwrite, key=self.key, run=run, ledger=self.ledger, signer=self.signer)

    def as_dict(self, saved: "Saved | None" = None, timings: Timings | None = None) -> dict[str, Any]:
        """The JSON answer of `fusion-studio fuse --json`. `timings`: of the whole job, where it went on after the fusion."""
        labels = (saved or self.image).labels
        notes = dict.fromkeys((*self.notes, *(saved.notes if saved else ())))  # the file's own, such as lost transparency, come last
        return {
            "output": str(saved.path) if saved else None,
            "width": self.target.width,
            "height": self.target.height,
            "faces": [face_dict(face) | ({"options": as_dict(face.options)} if len(self.faces) > 1 else {}) for face in self.faces],
            "mark": {"id": self.image.mark.id, "kind": self.image.mark.kind},
            "labels": labels.names(),
            "visible_label": self.image.visible or None,
            "provider": self.provider,
            "model": self.model.name,
            "licence": self.model.licence,
            "commercial": self.model.commercial,
            "options": as_dict(self.options),
            "notes": [{"key": key, **dict(facts)} for key, facts in notes],
            "timings_ms": (timings or self.timings).as_dict(),
        }


def notes_of(frame: Frame, role: Role) -> tuple[Note, ...]:
    """The decoder's notes, each with the picture that it speaks of."""
    return tuple((key, (("role", role), *facts)) for key, facts in frame.origin.notes)


def face_dict(face: FusedFace) -> dict[str, Any]:
    """A fused face in JSON's terms: the box rounded to pixels, distances to 3 and similarities to 1 decimal place."""
    return {
        "index": face.index,
        "box": face.box.as_ints(),
        "score": round(face.score, 3),
        "identity_before": round(face.identity_before, 3),
        "identity_after": round(face.identity_after, 3),
        "similarity_before": round(face.similarity_before, 1),
        "similarity_after": round(face.similarity_after, 1),
        "source": face.source,
    }
