"""Which face of a picture is meant, and whether it can serve: what is settled before anything is fused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from engines.errors import FaceIndexError, FaceNotUsable, InvalidOption, NoFace
from engines.faces.embedder import distance
from engines.faces.face_map import Order, Pairs, by_likeness, in_order
from engines.faces.finder import MINIMUM_SIZE
from engines.faces.occlusion.as_source import judge
from engines.faces.pairing import Side, side_of_points
from engines.faces.source import PreparedSource
from engines.known import Known
from engines.options import FuseOptions
from engines.personas import Persona
from engines.timing import Run
from engines.types import Face, FivePoints, Frame, Identity, Note, Role, Verdict

Notes = tuple[Note, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SourceHalf:
    """What a fusion needs of its source, be it a picture or a persona.

    Attributes:
        prepare: the face as a source, and what a person should know of it. Raises `FaceNotUsable` (hidden), `Cancelled`.
        known_to: the identity to the network of that name. Raises `InvalidOption` (persona_identity).
        notes: on the choice.
        face: None for a persona, which has no picture.
    """

    identity: Identity
    prepare: Callable[[], tuple[PreparedSource, Notes]]
    side: Callable[[], Side]
    known_to: Callable[[str], Identity]
    notes: Notes = ()
    face: Face | None = None

    @property
    def index(self) -> int:
        """The face's number; a persona has one face, number 0."""
        return self.face.index if self.face else 0


def source_half(known: Known, source: Frame | Persona, options: FuseOptions, run: Run) -> SourceHalf:
    """The face that `options` choose as the source.

    Raises:
        As `choose`. InvalidOption: points on a persona, or one that another identity model made (persona_identity).
    """
    if isinstance(source, Persona):  # one face, number 0, and no picture in which to look for another
        if options.source_face not in (None, 0):
            raise FaceIndexError(role="source", index=options.source_face, count=1)
        if options.source_points is not None:
            raise InvalidOption("no_picture", name="source_points")
        return SourceHalf(
            _of_persona(source, known.models.identity),
            lambda: _open(source.source, 0, options),
            lambda: side_of_points(source.source.points),
            lambda model: _of_persona(source, model),
        )
    face, notes = choose(known, source, "source", options.source_face, run, options.source_points)
    return SourceHalf(
        known.identity(source, face, run),
        lambda: ready(known, source, face, options, run),
        lambda: known.side(source, face),
        lambda model: known.identity(source, face, run, model),
        notes,
        face,
    )


def _of_persona(persona: Persona, model: str) -> Identity:
    """A persona keeps one identity, and no photo of which another model could make one."""
    if persona.identity.model != model:
        raise InvalidOption("persona_identity", name="source", value=persona.name, made=persona.identity.model, needed=model, allowed=model)
    return persona.identity


def ready(known: Known, frame: Frame, face: Face, options: FuseOptions, run: Run) -> tuple[PreparedSource, Notes]:
    """A photo's face as a source, and what a person should know of it. Raises `FaceNotUsable` (hidden), `Cancelled`."""
    return _open(known.source(frame, face, options.enhance, run), face.index, options)


def choose(known: Known, frame: Frame, role: Role, index: int | None, run: Run, points: FivePoints | None = None) -> tuple[Face, Notes]:
    """The face that is meant: that at the points, that of the number, or without either the largest usable one.

    Raises:
        NoFace, FaceIndexError, FaceNotUsable. InvalidOption: the points.
    """
    if points is not None:  # set by hand, they win over the number
        by_hand = known.face_at(frame, points, "points" if role == "target" else "source_points", run)
        return usable(by_hand, role), ()
    faces = known.faces(frame, run)
    if not faces:
        raise NoFace(role=role, minimum=MINIMUM_SIZE)
    if index is not None and not 0 <= index < len(faces):
        raise FaceIndexError(role=role, index=index, count=len(faces))
    if index is not None:
        return usable(faces[index], role), ()
    face = usable(max([face for face in faces if face.verdict.usable] or faces, key=lambda face: face.mesh.size), role)
    return face, ((("several", (("role", role), ("count", len(faces)), ("index", face.index))),) if len(faces) > 1 else ())


def mapped(
    known: Known,
    target: Frame,
    sources: int,
    order: str | None,
    references: Sequence[Frame] | None,
    threshold: float,
    run: Run,
) -> Pairs:
    """Which source is for which face of a picture. Raises as `Studio.face_map` does.

    Args:
        sources: how many; one alone is for every usable face.
        order: "left-right" or "large-small": the first source for the first face, and so on.
        references: one picture for each source, of the person in the target whose face it is for; every usable face that shows that
            person is taken.
        threshold: largest distance at which a face is that person, on the scale of `FusedFace.identity_before`.
    """
    if (order is None) == (references is None):
        raise InvalidOption(name="order", value=order, allowed=", ".join(get_args(Order)))
    if references is not None and len(references) != sources:
        raise InvalidOption(name="references", value=len(references), allowed=sources)
    if references is None:
        return in_order(sources, fit(known, target, run), str(order))
    persons = [shown_person(known, picture, run) for picture in references]
    return by_likeness(persons, {face.index: known.identity(target, face, run) for face in fit(known, target, run)}, threshold)


def likeness(known: Known, target: Frame, reference: Frame, run: Run) -> dict[int, float]:
    """How far each usable face of a picture is from the person of another, by the face's number.

    On the scale of `FusedFace.identity_before`: a face within `faces.face_map.THRESHOLD` is that person. Raises `NoFace`,
    `FaceNotUsable`: of either picture.
    """
    person = shown_person(known, reference, run)
    return {face.index: distance(person, known.identity(target, face, run)) for face in fit(known, target, run)}


def fit(known: Known, target: Frame, run: Run) -> list[Face]:
    """The faces of a picture that can be fused, one at least. Raises `NoFace`, `FaceNotUsable`."""
    faces = [face for face in known.faces(target, run) if face.verdict.usable]
    return faces or [choose(known, target, "target", None, run)[0]]  # which says why there is none


def shown_person(known: Known, picture: Frame, run: Run) -> Identity:
    """Who a reference picture shows. Raises what `choose` does."""
    return known.identity(picture, choose(known, picture, "source", None, run)[0], run)


def distinct(sources: Sequence[T]) -> tuple[list[T], list[int]]:
    """Each source once, and which of them each was: one that is given for several faces is read, and judged, once."""
    distinct: list[T] = []
    which = []
    for source in sources:
        same = (n for n, one in enumerate(distinct) if one is source or (isinstance(source, str | Path) and one == source))
        number = next(same, len(distinct))
        if number == len(distinct):
            distinct.append(source)
        which.append(number)
    return distinct, which


def usable(face: Face, role: Role) -> Face:
    """The same face. Raises `FaceNotUsable`."""
    require(face.verdict, role, face.index)
    return face


def require(verdict: Verdict, role: Role, index: int) -> None:
    """Raises `FaceNotUsable` where a verdict says so."""
    if not verdict.usable:
        facts: dict[str, Any] = dict(verdict.facts)
        raise FaceNotUsable(role=role, index=index, verdict=verdict.reason, **facts)


def _open(source: PreparedSource, index: int, options: FuseOptions) -> tuple[PreparedSource, Notes]:
    verdict, notes = judge(source.found)
    require(verdict, "source", index)
    if options.beard == "source" and not source.beard.worn:  # the target's stays then, whatever was asked for
        notes = (*notes, ("no_beard", ()))
    return source, notes
