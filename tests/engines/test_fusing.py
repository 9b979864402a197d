"""Several faces of one picture, on real portraits and the default pack."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.errors import FaceIndexError, FaceUnchanged, InvalidOption, NoMatch
from engines.options import FuseOptions
from engines.pipeline import Studio

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def pair(officer: Pixels, astronaut: Pixels) -> Pixels:
    """Both portraits side by side: the officer is face 0, the astronaut face 1."""
    rows = max(officer.shape[0], astronaut.shape[0])
    tall = [np.pad(one, ((0, rows - one.shape[0]), (0, 0), (0, 0)), mode="edge") for one in (officer, astronaut)]
    return np.ascontiguousarray(np.hstack(tall))


def test_two_faces_change_places(studio: Studio, pair: Pixels, officer: Pixels, astronaut: Pixels) -> None:
    result = studio.fuse_faces([(officer, FuseOptions(face=1)), (astronaut, FuseOptions(face=0))], pair)
    assert [(face.index, face.source) for face in result.faces] == [(1, 0), (0, 1)]
    for face in result.faces:
        assert face.identity_after <= face.identity_before - 0.1
    assert len(result.sources) == 2
    assert len(result.safety) == 3
    told = result.as_dict()
    assert [face["options"]["face"] for face in told["faces"]] == [1, 0]


def test_each_face_comes_out_as_it_would_alone(studio: Studio, pair: Pixels, officer: Pixels, astronaut: Pixels) -> None:
    """They lie far apart: the second is read from the picture as it came in, and nothing of the first is undone."""
    wishes = [(officer, FuseOptions(face=1)), (astronaut, FuseOptions(face=0, strength=0.7))]
    both = studio.fuse_faces(wishes, pair).faces
    for number, (source, options) in enumerate(wishes):
        alone = studio.fuse(source, pair, options).faces[0]
        assert both[number].identity_after == pytest.approx(alone.identity_after, abs=0.01)


def test_one_source_for_everybody_and_the_order_of_the_faces(studio: Studio, pair: Pixels, officer: Pixels, astronaut: Pixels) -> None:
    assert [options.face for _, options in studio.face_map([astronaut], pair, "left-right")] == [0, 1]
    sizes = [face.mesh.size for face in studio.faces(pair).faces]
    first = int(np.argmax(sizes))
    mapped = studio.face_map([officer, astronaut], pair, "large-small", options=FuseOptions(strength=0.4))
    assert [options.face for _, options in mapped] == [first, 1 - first]
    assert mapped[0][0] is officer
    assert all(options.strength == 0.4 for _, options in mapped)


def test_faces_are_found_by_a_picture_of_their_person(studio: Studio, pair: Pixels, officer: Pixels, astronaut: Pixels) -> None:
    """The reference is another picture of her: mirrored, smaller, darker."""
    reference = (astronaut[::2, ::-2] * 0.8).astype(np.uint8)
    ((source, options),) = studio.face_map([officer], pair, references=[reference])
    away = studio.likeness(reference, pair)
    assert min(away, key=lambda index: away[index]) == options.face
    assert source is officer
    assert options.face == 1
    with pytest.raises(NoMatch):
        studio.face_map([officer], officer, references=[reference])


@pytest.mark.parametrize(
    ("wishes", "raised"),
    [
        ((), InvalidOption),
        ((FuseOptions(face=1), FuseOptions(face=1, strength=0.5)), InvalidOption),
        ((FuseOptions(face=0), FuseOptions(face=2)), FaceIndexError),
        ((FuseOptions(face=1), FuseOptions(face=0, strength=0.0)), FaceUnchanged),
        ((FuseOptions(strength=2),), InvalidOption),
    ],
)
def test_what_does_not_hold_for_one_face_holds_for_none(
    studio: Studio, pair: Pixels, astronaut: Pixels, wishes: tuple[FuseOptions, ...], raised: type[Exception]
) -> None:
    source = np.ascontiguousarray(astronaut[:, ::-1])
    with pytest.raises(raised):
        studio.fuse_faces([(source, options) for options in wishes], pair)


@pytest.mark.parametrize("given", [{}, {"order": "left-right", "references": []}, {"references": []}])
def test_a_map_needs_one_way_of_choosing(studio: Studio, pair: Pixels, astronaut: Pixels, given: dict[str, object]) -> None:
    with pytest.raises(InvalidOption):
        studio.face_map([astronaut], pair, **given)  # type: ignore[arg-type]
