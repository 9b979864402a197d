"""Photos of one person, and a persona, as the page is told of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageOps

from engines.errors import PersonaUnusable, UnreadableImage
from engines.persona_file import is_encrypted, load
from engines.personas import MOST, Persona
from engines.pipeline import Studio
from engines.text import LANGUAGES
from engines.timing import Run
from studio import people
from studio.media import MEDIA_TYPES, Item, Shelf


@pytest.fixture(scope="module")
def persona(studio: Studio, astronaut: NDArray[np.uint8]) -> Persona:
    return studio.persona([astronaut, np.ascontiguousarray(astronaut[:, ::-1])], "Ann")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "sessions", 60)


def item(shelf: Shelf, data: bytes, name: str = "x.png") -> Item:
    return shelf.add("anna", data, name, "application/octet-stream")


def test_each_photo_is_looked_at_once(studio: Studio, shelf: Shelf, astronaut: NDArray[np.uint8], tmp_path: Path) -> None:
    """A face, none, no picture, somebody else's: each keeps its place, and says which."""
    path = tmp_path / "one.png"
    ImageOps.mirror(Image.fromarray(astronaut)).save(path)
    given = [item(shelf, path.read_bytes()), item(shelf, b"text", "notes.txt")]
    blank = tmp_path / "blank.png"
    Image.new("RGB", (200, 200), "grey").save(blank)
    given.append(item(shelf, blank.read_bytes()))
    known = {"token": "kept", "name": "seen before", "caption": {"en": "as it was"}, "colour": "good", "tile": "/media/abc"}
    entries = [*({"token": each.token, "name": each.name} for each in given), {"token": "another's", "name": "x"}, known, "nonsense"]
    value = people.gathered_value(studio, shelf, "anna", {"gathered": entries, "person": "Ann"}, Run())
    rows = value["gathered"]
    assert [row["colour"] for row in rows] == ["good", "bad", "bad", "bad", "good"]
    assert [bool(row["tile"]) for row in rows] == [True, False, False, False, True]
    assert "No face" in rows[2]["caption"]["en"]
    assert "no longer" in rows[3]["caption"]["en"]
    assert rows[4] == known
    assert all(row["caption"][language] for row in rows[:4] for language in LANGUAGES)
    assert (value["token"], value["person"]) == ("", "Ann")
    with Image.open(shelf.get("anna", rows[0]["tile"].rsplit("/", 1)[1]).path) as tile:
        assert tile.size == (112, 112)


def test_no_more_photos_are_looked_at_than_a_persona_takes(studio: Studio, shelf: Shelf) -> None:
    value = people.gathered_value(studio, shelf, "anna", {"gathered": [{"token": str(n)} for n in range(MOST + 5)]}, Run())
    assert len(value["gathered"]) == MOST


@pytest.mark.parametrize(
    ("value", "tokens"),
    [(None, []), ({}, []), ({"gathered": "x"}, []), ({"gathered": [1, {"token": "a"}, {}]}, ["a", ""]), ({"token": "a"}, [])],
)
def test_whatever_the_page_sends_gives_tokens(value: Any, tokens: list[str]) -> None:
    assert people.gathered_tokens(value) == tokens


def test_a_made_persona_is_kept_encrypted_and_exported_when_asked_for(studio: Studio, shelf: Shelf, persona: Persona) -> None:
    value = people.made_value(studio, shelf, "anna", persona, "group")
    assert value["persona"]["name"] == "Ann"
    assert "2" in value["persona"]["about"]["zh-CN"]
    kept, exported = (shelf.open("anna", each["address"].rsplit("/", 1)[1]) for each in value["downloads"])
    assert value["token"] == kept.token
    assert kept.media_type == MEDIA_TYPES["persona"]
    assert (is_encrypted(kept.path.read_bytes()), is_encrypted(exported.path.read_bytes())) == (True, False)
    for each in (kept, exported):
        assert load(each.path.read_bytes(), studio.key).digest == persona.digest
        read = people.read_source(studio, each, Run())
        assert isinstance(read, Persona)
    assert "identity" not in str(value)  # neither a face nor its figures go to the page


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [("x.persona", b"not one", PersonaUnusable), ("x.png", b"FSPerson and no more", PersonaUnusable), ("x.png", b"text", UnreadableImage)],
)
def test_a_source_is_read_as_what_it_claims_to_be(studio: Studio, shelf: Shelf, name: str, data: bytes, fault: type[Exception]) -> None:
    with pytest.raises(fault):
        people.read_source(studio, item(shelf, data, name), Run())
