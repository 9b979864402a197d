"""Which face is meant, and whether it can serve."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.choosing import choose, require, source_half
from engines.errors import FaceIndexError, FaceNotUsable, InvalidOption, NoFace
from engines.faces.beard import Beard
from engines.known import Known
from engines.models import Models
from engines.options import FuseOptions
from engines.personas import Persona
from engines.pipeline import Studio
from engines.timing import Run
from engines.types import Face, Frame, Verdict
from engines.vision import io

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def face(studio: Studio, astronaut: Pixels) -> Face:
    return studio.faces(astronaut).faces[0]


class Seen(Known):
    """Faces that are given."""

    def __init__(self, models: Models, *faces: Face) -> None:
        super().__init__(models, 1 << 20)
        self._faces = faces

    def faces(self, frame: Frame, run: Run) -> tuple[Face, ...]:
        return self._faces


def like(face: Face, index: int, size: float, reason: str = "") -> Face:
    mesh = replace(face.mesh, points=face.mesh.points * np.float32(size))
    return replace(face, index=index, mesh=mesh, verdict=Verdict(reason, (("angle", 60.0), ("limit", 35.0)) if reason else ()))


@pytest.fixture
def frame(astronaut: Pixels) -> Frame:
    return io.from_array(astronaut)


@pytest.mark.parametrize(
    ("faces", "index", "chosen", "noted"),
    [
        ([(1.0, "")], None, 0, False),
        ([(1.0, ""), (2.0, "")], None, 1, True),
        ([(1.0, ""), (2.0, "turned")], None, 0, True),
        ([(1.0, ""), (2.0, "")], 0, 0, False),
    ],
)
def test_without_a_number_it_is_the_largest_that_can_serve(
    studio: Studio, face: Face, frame: Frame, faces: list[tuple[float, str]], index: int | None, chosen: int, noted: bool
) -> None:
    known = Seen(studio.models, *(like(face, number, *facts) for number, facts in enumerate(faces)))
    found, notes = choose(known, frame, "target", index, Run())
    assert found.index == chosen
    assert notes == ((("several", (("role", "target"), ("count", len(faces)), ("index", chosen))),) if noted else ())


@pytest.mark.parametrize(
    ("faces", "index", "fault", "facts"),
    [
        ([], None, NoFace, {"role": "target"}),
        ([(1.0, "")], 1, FaceIndexError, {"role": "target", "index": 1, "count": 1}),
        ([(1.0, "")], -1, FaceIndexError, {"index": -1}),
        ([(1.0, ""), (1.0, "turned")], 1, FaceNotUsable, {"index": 1, "verdict": "turned", "angle": 60.0}),
        ([(1.0, "turned"), (2.0, "turned")], None, FaceNotUsable, {"index": 1, "verdict": "turned"}),
    ],
)
def test_what_cannot_be_chosen(
    studio: Studio,
    face: Face,
    frame: Frame,
    faces: list[tuple[float, str]],
    index: int | None,
    fault: type[Exception],
    facts: dict[str, Any],
) -> None:
    known = Seen(studio.models, *(like(face, number, *given) for number, given in enumerate(faces)))
    with pytest.raises(fault) as caught:
        choose(known, frame, "target", index, Run())
    assert {name: caught.value.facts[name] for name in facts} == facts  # type: ignore[attr-defined]


def test_a_verdict_that_allows_is_no_error() -> None:
    require(Verdict(), "source", 0)
    with pytest.raises(FaceNotUsable):
        require(Verdict("unsteady"), "source", 0)


def test_a_bare_source_says_that_it_has_no_beard_to_give(studio: Studio, frame: Frame) -> None:
    def notes(**given: Any) -> list[str]:
        return [key for key, _ in source_half(studio.known, frame, FuseOptions(**given), Run()).prepare()[1]]

    assert notes() == []
    assert notes(beard="source") == ["no_beard"]


def test_a_persona_has_one_face_no_picture_and_perhaps_a_beard(studio: Studio, frame: Frame, face: Face) -> None:
    half = studio.known.source(frame, face)
    bearded = replace(half, beard=Beard(0.9, 0.1, np.ones_like(half.beard.map)))
    identity, safety = studio.known.identity(frame, face, Run()), studio.known.safety(frame)
    persona = Persona("x", identity, bearded, 2, "2026-12-02T05:00:00Z", safety)
    chosen = source_half(studio.known, persona, FuseOptions(beard="source"), Run())
    assert (chosen.index, chosen.face, chosen.notes, chosen.prepare()) == (0, None, (), (bearded, ()))
    with pytest.raises(FaceIndexError):
        source_half(studio.known, persona, FuseOptions(source_face=1), Run())
    with pytest.raises(InvalidOption):
        source_half(studio.known, persona, FuseOptions(source_points=((1.0, 1.0),) * 5), Run())
