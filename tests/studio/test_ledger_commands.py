"""`ledger find`, `export`, `delete`."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engines.pipeline import Studio
from engines.settings import Settings
from engines.types import Pixels
from tests.command import Command


@pytest.fixture
def made(tmp_path: Path, officer: Pixels, astronaut: Pixels) -> dict[str, Path]:
    paths = {}
    with Studio.open(Settings(data_dir=tmp_path / "data", provider="cpu")) as studio:
        for name, pixels in (("officer", officer), ("astronaut", astronaut)):
            encoded = studio.encode(studio.mark(pixels, "fusion"), "png")
            paths[name] = tmp_path / f"{name}.png"
            paths[name].write_bytes(encoded.data)
    return paths


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def test_find_by_file_and_by_id(command: Command, made: dict[str, Path], tmp_path: Path) -> None:
    (match,) = command.json("ledger", "find", made["officer"])["matches"]
    assert (match["how"], match["kind"], match["format"]) == ("file", "fusion", "png")
    (same,) = command.json("ledger", "find", match["id"].lower())["matches"]
    assert (same["how"], same["sha256"]) == ("id", match["sha256"])
    with Image.open(made["officer"]) as picture:
        picture.convert("RGB").save(tmp_path / "sent.jpg", quality=70)
    assert match["id"] in command("ledger", "find", tmp_path / "sent.jpg").stdout
    assert "watermark" in command("ledger", "find", tmp_path / "sent.jpg").stdout


def test_find_nothing(command: Command, tmp_path: Path) -> None:
    Image.fromarray(np.full((300, 300, 3), 99, np.uint8)).save(tmp_path / "plain.png")
    assert command.json("ledger", "find", tmp_path / "plain.png") == {"matches": []}
    assert "prove" in command("ledger", "find", "FFF-FFF-FFF").stdout
    assert command.json("ledger", "find", tmp_path / "missing.png", status=1)["error"]["code"] == "unreadable_image"


def test_export(command: Command, made: dict[str, Path], tmp_path: Path) -> None:
    lines = [json.loads(line) for line in command("ledger", "export").stdout.splitlines()]
    assert [line["number"] for line in lines] == [1, 2]
    assert command.json("ledger", "export")["outputs"] == lines
    assert command.json("ledger", "export", "--since", "2999-01-01")["outputs"] == []
    assert command.json("ledger", "export", "--until", "2999-01-01T10:00+02:00")["outputs"] == lines
    path = tmp_path / "ledger.csv"
    assert command.json("ledger", "export", "-o", path, "--format", "csv") == {"output": str(path), "outputs": 2}
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert [row["id"] for row in rows] == [line["id"] for line in lines]
    assert rows[0]["labels"] == "; ".join(lines[0]["labels"])
    assert command.json("ledger", "export", "-o", path, status=1)["error"]["code"] == "output_exists"


def test_delete(command: Command, made: dict[str, Path]) -> None:
    (match,) = command.json("ledger", "find", made["officer"])["matches"]
    assert command.json("ledger", "delete", match["id"]) == {"deleted": 1}
    assert command.json("ledger", "find", made["officer"]) == {"matches": []}
    assert command.json("ledger", "delete", "--before", "2000-01-01") == {"deleted": 0}
    assert "1" in command("ledger", "delete", "--all").stdout


@pytest.mark.parametrize("wrong", [("delete",), ("delete", "--before", "yesterday"), ("export", "--format", "xml")])
def test_what_cannot_be_done_is_said(command: Command, wrong: tuple[str, ...]) -> None:
    assert command.json("ledger", *wrong, status=1)["error"]["code"] == "invalid_option"
