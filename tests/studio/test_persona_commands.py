"""`persona make` and `persona show`, and `fuse` from what they made."""

from pathlib import Path
from typing import Any

import cv2
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
def photos(tmp_path_factory: pytest.TempPathFactory, astronaut: Pixels) -> list[Path]:
    folder = tmp_path_factory.mktemp("photos")
    turn = cv2.getRotationMatrix2D((256, 256), 8, 1.0)
    turned = cv2.warpAffine(astronaut, turn, (512, 512), borderMode=cv2.BORDER_REPLICATE)
    paths = []
    for name, pixels in (("first", astronaut), ("second", turned)):
        paths.append(folder / f"{name}.png")
        Image.fromarray(np.asarray(pixels)).save(paths[-1])
    return paths


@pytest.fixture(scope="module")
def made(command: Command, photos: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return command.json("persona", "make", "Eileen", *photos, "-o", tmp_path_factory.mktemp("out") / "eileen.persona")


def test_make_answers_with_every_fact(made: dict[str, Any]) -> None:
    facts = {"name", "photos", "created", "model", "texture", "safety", "output", "bytes", "encrypted", "timings_ms"}
    assert made.keys() == facts
    assert (made["name"], made["photos"], made["encrypted"]) == ("Eileen", 2, True)
    assert made["bytes"] == Path(made["output"]).stat().st_size


def test_show_tells_the_same(command: Command, made: dict[str, Any]) -> None:
    shown = command.json("persona", "show", made["output"])
    same = ("name", "photos", "created", "model", "texture", "bytes", "encrypted")
    assert {key: shown[key] for key in same} == {key: made[key] for key in same}
    said = command("persona", "show", made["output"]).stdout
    assert "Eileen · 2 photos" in said
    assert "only this studio" in said
    assert "2 张照片" in command("persona", "show", made["output"], LANG="zh_CN.UTF-8").stdout


def test_fuse_takes_it_as_a_source(command: Command, made: dict[str, Any], officer_path: Path, tmp_path: Path) -> None:
    answer = command.json("fuse", made["output"], officer_path, "-o", tmp_path / "a.jpg")
    assert answer["faces"][0]["identity_after"] < answer["faces"][0]["identity_before"] - 0.05
    assert command.json("verify", tmp_path / "a.jpg")["verdict"] == "made_here"


def test_another_studio_reads_only_what_was_exported(command: Command, made: dict[str, Any], photos: list[Path], tmp_path: Path) -> None:
    other = Command(tmp_path / "other")
    fault = other.json("persona", "show", made["output"], status=1)["error"]
    assert fault["code"] == "persona_unusable"
    assert "another studio" in fault["message"]
    exported = command.json("persona", "make", "Eileen", *photos, "-o", tmp_path / "e.persona", "--export")
    assert exported["encrypted"] is False
    assert other.json("persona", "show", exported["output"])["name"] == "Eileen"


def test_a_file_that_is_there_stays(command: Command, made: dict[str, Any], photos: list[Path]) -> None:
    before = Path(made["output"]).read_bytes()
    fault = command.json("persona", "make", "x", *photos, "-o", made["output"], status=1)["error"]
    assert fault["code"] == "output_exists"
    assert Path(made["output"]).read_bytes() == before


def test_without_a_name_for_the_file_it_gets_the_persona_s(
    command: Command, photos: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = command("persona", "make", "Crew: Eileen", *photos).stdout
    assert [one.name for one in tmp_path.iterdir()] == ["Crew_ Eileen.persona"]
    assert "from 2 photos" in said


@pytest.mark.parametrize("kind", ["one", "stranger", "damaged"])
def test_what_goes_wrong_is_one_error_and_no_file(
    command: Command, made: dict[str, Any], photos: list[Path], officer_path: Path, tmp_path: Path, kind: str
) -> None:
    output = tmp_path / "x.persona"
    if kind == "one":
        fault = command.json("persona", "make", "x", photos[0], "-o", output, status=1)["error"]
        assert fault["code"] == "invalid_option"
    elif kind == "stranger":
        fault = command.json("persona", "make", "x", *photos, officer_path, "-o", output, status=1)["error"]
        assert fault["code"] == "not_one_person"
        assert officer_path.name in fault["message"]
    else:
        broken = tmp_path / "broken.persona"
        broken.write_bytes(Path(made["output"]).read_bytes()[:-9])
        fault = command.json("fuse", broken, officer_path, "-o", tmp_path / "a.png", status=1)["error"]
        assert fault["code"] == "persona_unusable"
        assert not (tmp_path / "a.png").exists()
    assert not output.exists()
