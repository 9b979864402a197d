"""`fusion-studio batch`, and the several faces of `fuse`."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.command import Command

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def her(tmp_path_factory: pytest.TempPathFactory, astronaut: Pixels) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "her.png"
    Image.fromarray(astronaut).save(path)
    return path


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, officer: Pixels, astronaut: Pixels) -> Path:
    """The officer is face 0, the astronaut face 1."""
    rows = max(officer.shape[0], astronaut.shape[0])
    tall = [np.pad(one, ((0, rows - one.shape[0]), (0, 0), (0, 0)), mode="edge") for one in (officer, astronaut)]
    path = tmp_path_factory.mktemp("pictures") / "pair.png"
    Image.fromarray(np.hstack(tall)).save(path)
    return path


@pytest.fixture(scope="module")
def her_place(command: Command, pair: Path) -> str:
    x, y, width, height = command.json("faces", pair)["faces"][1]["box"]
    return f"{x + width // 2}x{y + height // 2}"


def test_each_face_has_a_source_of_its_own(
    command: Command, her: Path, officer_path: Path, pair: Path, her_place: str, tmp_path: Path
) -> None:
    """By number and by place, in one map."""
    answer = command.json("fuse", pair, "--map", f"0={her},{her_place}={officer_path}", "-o", tmp_path / "a.jpg")
    assert [(face["index"], face["source"]) for face in answer["faces"]] == [(0, 0), (1, 1)]
    assert all(face["identity_after"] < face["identity_before"] - 0.1 for face in answer["faces"])
    assert command.json("verify", tmp_path / "a.jpg")["verdict"] == "made_here"


def test_two_sources_in_the_order_of_the_faces(command: Command, her: Path, officer_path: Path, pair: Path, tmp_path: Path) -> None:
    answer = command.json("fuse", her, officer_path, pair, "--order", "left-right", "--mode", "live", "-o", tmp_path / "a.jpg")
    assert [(face["index"], face["source"]) for face in answer["faces"]] == [(0, 0), (1, 1)]
    assert command.json("fuse", her, officer_path, pair, "-o", tmp_path / "b.jpg", status=1)["error"]["code"] == "invalid_option"


def test_the_person_of_a_reference_is_changed(command: Command, her: Path, officer_path: Path, pair: Path, tmp_path: Path) -> None:
    answer = command.json("fuse", officer_path, pair, "--match", her, "--mode", "live", "-o", tmp_path / "a.jpg")
    assert [face["index"] for face in answer["faces"]] == [1]
    refused = command.json("fuse", her, officer_path, "--match", her, "-o", tmp_path / "b.jpg", status=1)
    assert refused["error"]["code"] == "no_match"
    assert not (tmp_path / "b.jpg").exists()


def test_a_batch_reports_what_failed_and_goes_on_where_it_was(
    command: Command, her: Path, officer_path: Path, pair: Path, tmp_path: Path
) -> None:
    inside, out = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    out.mkdir()
    (inside / "1 bad.jpg").write_bytes(b"")
    Image.fromarray(np.full((64, 64, 3), 90, np.uint8)).save(inside / "2 nobody.png")
    (inside / "3 them.png").write_bytes(pair.read_bytes())
    given = ("batch", inside, "-s", her, "--face", 0, "-o", out, "--mode", "live")
    answer = command.json(*given, status=1)
    assert (answer["fused"], answer["there"], answer["failed"]) == (1, 0, 2)
    assert [line["status"] for line in answer["pictures"]] == ["failed", "failed", "fused"]
    assert [line["error"]["code"] for line in answer["pictures"][:2]] == ["unreadable_image", "no_face"]
    written = out / "3 them-fused.jpg"
    assert [path.name for path in out.iterdir()] == [written.name]
    assert command.json("verify", written)["mark"]["id"] == answer["pictures"][2]["mark"]["id"]

    before = written.stat().st_mtime_ns
    again = command.json(*given, "--resume", status=1)
    assert (again["fused"], again["there"], again["failed"]) == (0, 1, 2)
    assert written.stat().st_mtime_ns == before
    said = command(*given, status=1).stdout  # neither resumed nor overwritten: that is a failure of its own, and says so
    assert "3 of 3" in said
    assert "failed 3" in said


def test_a_brush_is_for_the_targets_whose_proportions_it_has(command: Command, her: Path, officer: Pixels, tmp_path: Path) -> None:
    inside, brush = tmp_path / "in", tmp_path / "brush.png"
    inside.mkdir()
    Image.fromarray(officer).save(inside / "1 officer.png")
    (inside / "2 her.png").write_bytes(her.read_bytes())
    painted = np.full(officer.shape, 128, np.uint8)
    painted[:, :260] = 0  # the left half of his face stays
    Image.fromarray(painted).save(brush)
    answer = command.json("batch", inside, "-s", her, "-o", tmp_path, "--mode", "live", "--paint", brush, "--format", "png", status=1)
    first, second = answer["pictures"]
    assert (first["status"], second["error"]["code"]) == ("fused", "invalid_option")
    with Image.open(tmp_path / "1 officer-fused.png") as picture:
        away = np.abs(np.asarray(picture.convert("RGB")).astype(int) - officer).max(axis=2)
    assert away[:, :258].max() < 12 < away[:, 260:].max()


def test_a_bad_source_stops_a_batch_before_it_begins(command: Command, pair: Path, tmp_path: Path) -> None:
    nobody = tmp_path / "nobody.png"
    Image.fromarray(np.full((64, 64, 3), 90, np.uint8)).save(nobody)
    answer = command.json("batch", pair, "-s", nobody, "-o", tmp_path, status=1)
    assert answer["error"]["code"] == "no_face"
    missing = command.json("batch", pair, "-s", pair, "-o", tmp_path / "none", status=1)
    assert missing["error"]["code"] == "output_unwritable"
