"""What the page's face map sends, which may be anything."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from engines.errors import InvalidOption
from engines.timing import Run
from studio.face_maps import MOST, rows_of, wishes_of_rows
from studio.media import Gone, Item


@pytest.fixture
def shelf() -> Mock:
    """It has the files a and b."""

    def get(visitor: str, token: str) -> Item:
        if visitor != "me" or token not in ("a", "b"):
            raise Gone(token)
        return Item(token, Path(f"/nowhere/{token}"), f"{token}.png", "image/png", 0.0)

    return Mock(get=get)


def entry(face: Any = 0, source: Any = None, target: str = "t", **more: Any) -> dict[str, Any]:
    return {
        "face": face,
        "target": target,
        "source": {"token": "a"} if source is None else source,
        "strength": 80,
        "enhance": "none",
    } | more


def test_a_row_has_its_own_source_and_options(shelf: Mock) -> None:
    rows = rows_of(
        {"entries": [entry(2), entry(0, {"token": "b", "chosen": 1}, strength=50, options={"shape": 30, "beard": "source"})]},
        "t",
        shelf,
        "me",
    )
    assert [[item.token for item in row.files] for row in rows] == [["a"], ["b"]]
    assert [(row.options.face, row.options.source_face, row.options.strength) for row in rows] == [(2, None, 0.8), (0, 1, 0.5)]
    assert (rows[1].options.shape, rows[1].options.beard) == (0.3, "source")


def test_several_photos_of_one_person_are_one_source(shelf: Mock) -> None:
    (row,) = rows_of({"entries": [entry(source={"token": "", "gathered": [{"token": "a"}, {"token": "b"}]})]}, "t", shelf, "me")
    assert [item.token for item in row.files] == ["a", "b"]


@pytest.mark.parametrize("value", [None, {}, {"entries": None}, {"entries": [entry(target="another")]}, {"entries": ["?"]}])
def test_there_is_no_map_for_this_target(value: Any, shelf: Mock) -> None:
    assert rows_of(value, "t", shelf, "me") == ()


@pytest.mark.parametrize(
    "row",
    [entry("0"), entry(True), entry(None), entry(source="a"), entry(strength="much"), entry(options={"shape": None})],
    ids=["text", "true", "none", "source", "strength", "option"],
)
def test_what_the_page_cannot_have_sent_is_refused(row: dict[str, Any], shelf: Mock) -> None:
    with pytest.raises(InvalidOption):
        rows_of({"entries": [row]}, "t", shelf, "me")


def test_too_many_rows_are_refused(shelf: Mock) -> None:
    with pytest.raises(InvalidOption):
        rows_of({"entries": [entry(n) for n in range(MOST + 1)]}, "t", shelf, "me")


def test_a_file_of_somebody_else_is_gone(shelf: Mock) -> None:
    for row in (entry(source={"token": "c"}), entry(source={"gathered": [{"token": "a"}, {"token": "c"}]})):
        with pytest.raises(Gone):
            rows_of({"entries": [row]}, "t", shelf, "me")
    with pytest.raises(Gone):
        rows_of({"entries": [entry()]}, "t", shelf, "somebody")


def test_a_source_of_several_faces_is_read_once(shelf: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[list[str]] = []

    def known(_studio: Mock, items: Sequence[Item], _run: Run) -> list[str]:
        read.append([item.token for item in items])
        return read[-1]

    monkeypatch.setattr("studio.face_maps.read_sources", known)
    rows = rows_of({"entries": [entry(0), entry(1), entry(2, {"gathered": [{"token": "a"}, {"token": "b"}]})]}, "t", shelf, "me")
    assert [source for source, _ in wishes_of_rows(Mock(), rows, Run())] == [["a"], ["a"], ["a", "b"]]
    assert read == [["a"], ["a", "b"]]
