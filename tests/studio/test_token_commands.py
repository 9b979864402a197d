"""The command `tokens`."""

from pathlib import Path

import pytest
from PIL import Image

from engines.tokens.visual import load
from studio.tables import columns, table
from tests.command import Command

ROW = {"model", "photo", "shrunk", "crop", "saving_vs_photo", "saving_vs_shrunk", "source", "date"}


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("data"))


def test_a_picture_is_answered_with_a_row_a_model(command: Command, officer_path: Path) -> None:
    answer = command.json("tokens", officer_path, "--all")
    assert (answer["image"], answer["width"], answer["height"]) == (str(officer_path), 512, 600)
    assert [row["model"] for row in answer["rows"]] == list(load())
    for row in answer["rows"]:
        assert set(row) >= ROW
        assert set(row["crop"]) == {"112", "224", "256", "512"}
        assert row["photo"] == load()[row["model"]].count(512, 600)
        assert row["saving_vs_photo"] == pytest.approx(1 - row["crop"]["224"] / row["photo"], abs=1e-4)
        assert row["saving_vs_shrunk"] == pytest.approx(1 - row["crop"]["224"] / row["shrunk"], abs=1e-4)


def test_a_size_needs_no_picture(command: Command) -> None:
    answer = command.json("tokens", "--size", "4000x3000", "--model", "qwen2_5_vl", "--model", "clip_l14")
    assert [(row["photo"], row["crop"]["224"], row["shrunk"]) for row in answer["rows"]] == [(15301, 64, None), (256, 256, None)]
    assert answer["rows"][0]["formula"]["photo"] == "143 × 107"


@pytest.mark.parametrize(
    "wrong",
    [
        ("--size", "wide"),
        ("--size", "0x5"),
        (),
        ("a.jpg", "--size", "5x5"),
        ("--size", "9x9", "--crop", 100),
        ("--size", "9x9", "--model", "gpt"),
        ("a.jpg", "b.jpg", "--face", 0),
    ],
)
def test_what_cannot_be_meant_is_an_error(command: Command, wrong: tuple[object, ...]) -> None:
    assert command.json("tokens", *wrong, status=1)["error"]["code"] == "invalid_option"


def test_a_table_is_told_in_both_languages(command: Command) -> None:
    english = command("tokens", "--size", "1920x1080", "--model", "claude", "--model", "smolvlm_2b").stdout
    assert "95.9%" in english
    assert "-30.8%" in english  # a model that enlarges says the loss
    chinese = command("tokens", "--size", "1920x1080", "--model", "claude", LANG="zh_CN.UTF-8").stdout
    assert "词元" in chinese


def test_a_folder_is_summed_up(command: Command, tmp_path: Path) -> None:
    for number in range(3):
        Image.new("RGB", (560, 280)).save(tmp_path / f"{number}.jpg")
    answer = command.json("tokens", tmp_path, "--model", "claude")
    assert answer["rows"][0]["photo"]["total"] == 3 * 200
    assert answer["rows"][0]["crop"]["224"] == 3 * 64
    (tmp_path / "bad.jpg").write_bytes(b"")
    assert command.json("tokens", tmp_path, status=1)["pictures"] == 3
    assert "bad.jpg" in command("tokens", tmp_path, status=1).stdout


def test_steps_of_a_picture(command: Command, officer_path: Path, tmp_path: Path) -> None:
    answer = command.json("steps", officer_path)
    assert set(answer) == {"image", "width", "height", "complexity", "steps", "edges", "entropy", "bits"}
    assert answer["steps"] == round(15 + 15 * answer["complexity"])
    assert answer["complexity"] == pytest.approx((answer["edges"] + answer["entropy"] + answer["bits"]) / 3, abs=1e-3)
    plain = tmp_path / "plain.png"
    Image.new("RGB", (300, 200), (90, 120, 150)).save(plain)
    assert command.json("steps", plain)["steps"] == 15
    assert "15 steps" in command("steps", plain).stdout
    assert command.json("steps", tmp_path / "none.jpg", status=1)["error"]["code"] == "unreadable_image"


def test_columns_of_a_table_stand_under_each_other() -> None:
    lines = table([["模型", "照片"], ["Claude", "1,560"], ["é", "1"]])
    assert [columns(line) for line in lines] == [13, 13, 13]
    assert lines[1] == "Claude  1,560"
