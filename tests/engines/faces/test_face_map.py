"""Who becomes whom: faces here are boxes and numbers, no pictures."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import InvalidOption, NoMatch
from engines.faces.embedder import distance
from engines.faces.face_map import at_place, by_likeness, in_order
from engines.types import Box, Detection, Face, FaceMesh, Identity, Pose, Verdict


def face(index: int, x: float, size: float, usable: bool = True) -> Face:
    points = np.zeros((478, 3), np.float32)
    points[1, :2] = points[2, :2] = size
    detection = Detection(Box(x, 10, size, size), 0.9, np.zeros((5, 2), np.float32))
    return Face(index, detection, FaceMesh(points, Pose(0, 0, 0)), 10, Verdict() if usable else Verdict("turned"))


def person(*values: float) -> Identity:
    return Identity(np.array(values, np.float32), "net")


GROUP = (face(0, 0, 50), face(1, 100, 90), face(2, 220, 70, usable=False), face(3, 300, 60))


@pytest.mark.parametrize(
    ("sources", "order", "pairs"),
    [
        (1, "left-right", ((0, 0), (0, 1), (0, 3))),  # one source is for everybody
        (2, "left-right", ((0, 0), (1, 1))),
        (3, "left-right", ((0, 0), (1, 1), (2, 3))),
        (2, "large-small", ((0, 1), (1, 3))),
        (3, "large-small", ((0, 1), (1, 3), (2, 0))),
    ],
)
def test_sources_go_to_usable_faces_in_order(sources: int, order: str, pairs: tuple[tuple[int, int], ...]) -> None:
    assert in_order(sources, GROUP, order) == pairs


def test_more_sources_than_faces_are_refused() -> None:
    with pytest.raises(InvalidOption, match="4 sources for 3 usable faces"):
        in_order(4, GROUP, "left-right")
    with pytest.raises(InvalidOption, match="right-left"):
        in_order(1, GROUP, "right-left")


def test_each_face_goes_to_the_reference_that_it_is_nearest_to() -> None:
    faces = {0: person(0.1, 0), 1: person(1, 0.2), 2: person(0.45, 0), 5: person(9, 9)}
    assert by_likeness([person(0, 0), person(1, 0)], faces) == ((0, 0), (0, 2), (1, 1))
    assert by_likeness([person(0, 0)], faces, 0.3) == ((0, 0),)


@pytest.mark.parametrize("threshold", [0, -1, 2.5, True])
def test_a_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidOption):
        by_likeness([person(0)], {0: person(0)}, threshold)


def test_nobody_alike_says_how_far_the_nearest_is() -> None:
    with pytest.raises(NoMatch) as told:
        by_likeness([person(0, 0)], {0: person(0.7, 0), 1: person(3, 0)})
    assert told.value.facts == {"nearest": pytest.approx(0.7), "threshold": 0.5, "count": 2}
    with pytest.raises(NoMatch):
        by_likeness([person(0, 0)], {})


def test_a_place_names_the_face_whose_box_holds_it() -> None:
    inner = replace(face(1, 20, 20))
    assert at_place((face(0, 0, 60), inner), 31, 20).index == 1  # of two the one whose middle is nearer
    assert at_place((face(0, 0, 60), inner), 5, 40).index == 0
    with pytest.raises(NoMatch, match="no face at 200, 40"):
        at_place(GROUP, 200, 40)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=6), st.lists(st.floats(0, 3), min_size=1, max_size=6), st.floats(0.1, 2))
def test_no_face_is_given_twice_and_none_beyond_the_threshold(references: list[float], faces: list[float], threshold: float) -> None:
    numbered = {index: person(value, 0) for index, value in enumerate(faces)}
    away = np.array([[distance(person(one, 0), person(face, 0)) for face in faces] for one in references])
    if away.min() > threshold:
        with pytest.raises(NoMatch):
            by_likeness([person(value, 0) for value in references], numbered, threshold)
        return
    pairs = by_likeness([person(value, 0) for value in references], numbered, threshold)
    assert [index for _, index in sorted(pairs, key=lambda pair: pair[1])] == np.flatnonzero(away.min(0) <= threshold).tolist()
    for number, index in pairs:
        assert away[number, index] == away[:, index].min()
