"""`fusion-studio verify`: one file, a folder, a report."""

import base64
import errno
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from engines.errors import UnreadableImage
from engines.provenance import files
from engines.provenance.labels import FoundLabels, Labels
from engines.provenance.verify import Verification
from studio.verify_report import report
from tests.command import Command


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def folder(command: Command, officer_path: Path, astronaut: NDArray[np.uint8], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ours, somebody's generated one, and one that is no picture."""
    folder = tmp_path_factory.mktemp("found")
    her = tmp_path_factory.mktemp("given") / "her.png"
    Image.fromarray(astronaut).save(her)
    command("fuse", officer_path, her, "-o", folder / "a fusion.png", "--mode", "live")
    told = PngInfo()
    told.add_text("parameters", "a <b>cat</b>\nNegative prompt: dog, Sampler: Euler a")
    Image.fromarray(astronaut[:300, :300]).save(folder / "b generated.png", pnginfo=told)
    (folder / "c broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 nothing")
    return folder


@pytest.fixture(scope="module")
def answer(command: Command, folder: Path) -> dict[str, Any]:
    return command.json("verify", folder, "--html", folder / "report.html", status=1)


def test_a_folder_is_gone_through_and_a_bad_file_stops_nothing(answer: dict[str, Any]) -> None:
    assert {name: answer[name] for name in ("made_here", "marked", "inconclusive", "unmarked", "failed")} == {
        "made_here": 1, "marked": 1, "inconclusive": 0, "unmarked": 0, "failed": 1,
    }  # fmt: skip
    first, second, third = answer["files"]
    assert [Path(each["file"]).name[0] for each in answer["files"]] == ["a", "b", "c"]
    assert (first["verdict"], first["credentials"]["state"], first["others"]) == (
        "made_here",
        "ours",
        {"marks": ["c2pa_ai"], "texts": {}, "watermark": None},
    )
    told = {"parameters": "a <b>cat</b> Negative prompt: dog, Sampler: Euler a"}
    assert second["others"] == {"marks": ["parameters"], "texts": told, "watermark": None}
    assert third["error"]["code"] == "unreadable_image"


def test_the_report_has_each_file_and_no_markup_of_theirs(answer: dict[str, Any], folder: Path, command: Command) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    for said in ("a fusion.png", "b generated.png", "c broken.jpg", answer["files"][0]["mark"]["id"], "a &lt;b&gt;cat"):
        assert said in page
    assert "<b>cat" not in page
    assert str(folder) not in page
    again = command.json("verify", folder, "--html", folder / "report.html", status=1)
    assert again["error"]["code"] == "output_exists"


def test_a_report_that_cant_be_written_whole_is_not_there(
    command: Command, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "write", full)
    answer = command.json("verify", folder / "b generated.png", "--html", tmp_path / "report.html", status=1)
    assert answer["error"]["code"] == "output_unwritable"
    assert list(tmp_path.iterdir()) == []


def test_where_the_mark_answers_is_a_picture_that_says_what_the_file_says(command: Command, folder: Path, tmp_path: Path) -> None:
    heat = tmp_path / "heat.png"
    told = command.json("verify", folder / "a fusion.png", "--heat", heat)
    assert told["mark"]["answers"] > 0.5
    found = command.json("verify", heat)
    assert (found["labels"]["aigc_label"], found["labels"]["digital_source_type"]) == ("1", "compositeWithTrainedAlgorithmicMedia")
    plain = tmp_path / "plain.png"
    Image.fromarray(np.random.default_rng(3).integers(0, 256, (200, 300, 3)).astype(np.uint8)).save(plain)
    command("verify", plain, "--heat", tmp_path / "cold.jpg")
    with Image.open(tmp_path / "cold.jpg") as picture:
        assert np.asarray(picture.convert("RGB")).astype(int)[..., [0, 2]].mean((0, 1)) @ [-1, 1] > 50
    assert "aigc_label" not in command.json("verify", tmp_path / "cold.jpg")["labels"]
    assert command.json("verify", plain, folder, "--heat", heat, status=1)["error"]["code"] == "invalid_option"
    assert command.json("verify", plain, "--heat", heat, status=1)["error"]["code"] == "output_exists"


def test_the_report_s_picture_says_it_too(answer: dict[str, Any], folder: Path, command: Command, tmp_path: Path) -> None:
    pictures = re.findall(r"data:image/jpeg;base64,([A-Za-z0-9+/=]+)", (folder / "report.html").read_text(encoding="utf-8"))
    assert len(pictures) == 1  # of the one that carries the mark
    (tmp_path / "seen.jpg").write_bytes(base64.b64decode(pictures[0]))
    assert command.json("verify", tmp_path / "seen.jpg")["labels"]["aigc_label"] == "1"


def test_progress_is_told_file_by_file(command: Command, folder: Path) -> None:
    told = command("verify", folder / "b generated.png", folder / "c broken.jpg", status=1).stdout.splitlines()
    assert [line[:3] for line in told[:2]] == ["1/2", "2/2"]
    assert len(told) == 3


def test_one_file_answers_as_ever(command: Command, folder: Path) -> None:
    assert command.json("verify", folder / "b generated.png")["verdict"] == "marked"
    assert command.json("verify", folder / "c broken.jpg", status=1)["error"]["code"] == "unreadable_image"
    said = command("verify", folder / "a fusion.png").stdout
    assert [line for line in said.splitlines() if not line.startswith(" ")][1:7] == [
        "This studio's watermark:",
        "Signature (Content Credentials, C2PA):",
        "This studio's ledger:",
        "Labels in the open: what the file claims:",
        "What others say:",
        "Outputs of this studio that look alike:",
    ]
    assert "This very file: " in said


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_nothing_of_a_file_is_markup(language: str) -> None:
    evil = "<script>alert(1)</script>"
    found = Verification("marked", None, 1.0, FoundLabels(Labels("x", "1", evil, evil, evil), ("parameters",), (("parameters", evil),)))
    page = report([(evil, found), (evil, UnreadableImage("unknown", name=evil))], "2026-01-01", language)
    assert "<script>" not in page
    assert page.count("&lt;script&gt;") >= 6
