"""What a person says of several faces."""

from pathlib import Path

import pytest

from engines.errors import InvalidOption
from studio.wishes import parse_map, wishes_of

A, B = Path("a.jpg"), Path("b, c=d.jpg")


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        (["0=a.jpg"], (((0,), A),)),
        (["0=a.jpg,2=b, c=d.jpg"], (((0,), A), ((2,), B))),  # a comma and an equals sign in a name
        (["0=a.jpg", "420x310=a.jpg"], (((0,), A), ((420, 310), A))),
        ([" 3=人脸/é.png"], (((3,), Path("人脸/é.png")),)),
        ([], ()),
    ],
)
def test_a_map_is_read(entries: list[str], found: object) -> None:
    assert parse_map(entries) == found


@pytest.mark.parametrize("entry", ["", "a.jpg", "x=a.jpg", "-1=a.jpg", "0=", "1x=a.jpg", "0:a.jpg"])
def test_what_is_no_map_is_refused(entry: str) -> None:
    with pytest.raises(InvalidOption) as told:
        parse_map([entry])
    assert "0=a.jpg" in told.value.hint()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"sources": []}, "nobody"),
        ({"sources": [A], "face_map": ["0=a.jpg"]}, "map_and_source"),
        ({"sources": [A], "order": "left-right", "match": [A]}, "ways"),
        ({"sources": [], "face_map": ["0=a.jpg"], "match": [A]}, "ways"),
    ],
)
def test_two_ways_or_none_are_refused(given: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidOption) as told:
        wishes_of(**given)  # type: ignore[arg-type]
    assert told.value.reason == reason
    assert told.value.message("zh-CN") != told.value.message()


def test_a_source_for_two_faces_is_read_once() -> None:
    wishes = wishes_of([], ["0=a.jpg,1=a.jpg,2=b, c=d.jpg"])
    assert wishes.sources == (A, B)
    assert len(wishes.face_map) == 3
