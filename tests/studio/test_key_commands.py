"""`keys init`, `rotate`, `list`: they name keys and never show one."""

from pathlib import Path

import pytest

from engines.provenance.keys import KEY_FILE, load_key
from tests.command import Command


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def test_a_key_is_made_once(command: Command, tmp_path: Path) -> None:
    assert command.json("keys", "list") == {"made": False, "keys": []}
    assert not (tmp_path / "data" / KEY_FILE).exists()
    first = command.json("keys", "init")
    again = command.json("keys", "init")
    assert (first["made"], again["made"]) == (True, False)
    assert first["keys"] == again["keys"]
    assert first["keys"][0]["name"] == load_key(tmp_path / "data" / KEY_FILE).name


def test_rotating_keeps_what_was(command: Command, tmp_path: Path) -> None:
    (first,) = command.json("keys", "init")["keys"]
    second, kept = command.json("keys", "rotate")["keys"]
    assert kept["name"] == first["name"]
    assert (second["current"], kept["current"]) == (True, False)
    assert [key.name for key in load_key(tmp_path / "data" / KEY_FILE).all] == [second["name"], first["name"]]
    assert Path(kept["path"]).stat().st_size == 32


@pytest.mark.parametrize("words", [("keys", "init"), ("keys", "rotate"), ("keys", "list")])
def test_no_secret_is_shown(command: Command, tmp_path: Path, words: tuple[str, ...]) -> None:
    secret = load_key(tmp_path / "data" / KEY_FILE).secret
    said = str(command.json(*words))
    assert secret.hex() not in said
    assert repr(secret) not in said
