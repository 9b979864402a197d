"""`prompt`: one, many, and what is said when it can't."""

import json
from pathlib import Path

import pytest

from tests.command import Command

LONG = "Please create a photo of a smiling 35-year-old man with a pair of glasses, no hat, 8k, 4k"


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def test_one(command: Command) -> None:
    answer = command.json("prompt", LONG, "--level", "compact")
    assert list(answer) == ["text", "negative", "level", "recall", "slots", "removed", "tokens"]
    assert (answer["text"], answer["negative"]) == ("photo of smiling age:35 man with glasses, 8k", "hat")
    assert (answer["level"], answer["recall"]) == ("compact", 1.0)
    assert {"text": "4k", "reason": "synonym"} in answer["removed"]
    assert {"clip", "o200k"} <= answer["tokens"].keys()
    assert all(each["after"] < each["before"] for each in answer["tokens"].values())


def test_in_sentences(command: Command) -> None:
    said = command("prompt", LONG, "--level", "strict", "--negative", "photo").stdout
    assert said.startswith("smiling age:35 man, glasses, photo, 8k\nNegative prompt: hat\n")
    assert "blurry" in said
    assert "  − 4k: says the same as another tag" in said
    assert "playing, chess" in command("prompt", "a man playing chess", "--level", "strict").stdout
    assert "负面提示词：眼镜" in command("prompt", "男人，不戴眼镜", FUSION_STUDIO_LANGUAGE="zh-CN").stdout


def test_where_it_may_not(command: Command) -> None:
    held = command.json("prompt", "a man playing chess", "--level", "strict")["held"]
    assert held == [{"reason": "recall", "words": "playing, chess"}]
    assert command.json("prompt", "a man, no hat", "--no-negations")["text"] == "man, no hat"
    preset = command.json("prompt", "a man, no hat", "--negative", "painting")
    assert preset["negative"] == "hat"
    assert preset["negative_preset"].startswith("photo, ")


def test_behind_a_template(command: Command) -> None:
    text = command.json("prompt", "a man, very detailed", "--template", "passport", "--level", "compact")["text"]
    assert text == "passport photo, front view, neutral expression, plain white background, even light, man, detailed"


def test_a_folder_and_lines(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "captions"
    folder.mkdir()
    (folder / "b.txt").write_text("a man,\n8k, 4k", encoding="utf-8")
    (folder / "a.jsonl").write_text('{"caption": "a woman"}\n\n"男人，不戴眼镜"\n', encoding="utf-8")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    answer = command.json("prompt", "--from", folder, "--level", "compact")
    assert [(each["place"], each["text"]) for each in answer["prompts"]] == [
        ("a.jsonl:1", "woman"),
        ("a.jsonl:3", "男人"),
        ("b.txt", "man,\n8k"),
    ]
    assert answer["total"]["prompts"] == 3
    tokens = [each["tokens"]["clip"] for each in answer["prompts"]]
    assert answer["total"]["tokens"]["clip"] == {side: sum(each[side] for each in tokens) for side in ("before", "after")}
    output = tmp_path / "short.jsonl"
    assert command.json("prompt", "--from", folder, "--level", "compact", "-o", output)["total"] == answer["total"]
    assert [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()] == answer["prompts"]
    assert command.json("prompt", "--from", folder, "-o", output, status=1)["error"]["code"] == "output_exists"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), "invalid_option"),
        (("a man", "--from", "there.txt"), "invalid_option"),
        (("a man", "--level", "ruthless"), "invalid_option"),
        (("a man", "--negative", "nothing"), "invalid_option"),
        (("a man", "--template", "nothing"), "invalid_option"),
        (("--from", "nowhere.txt"), "prompts_unreadable"),
    ],
)
def test_what_is_wrong(command: Command, arguments: tuple[str, ...], code: str) -> None:
    assert command.json("prompt", *arguments, status=1)["error"]["code"] == code


def test_a_sentence_model_only_adds_a_hint(command: Command, sentence_folder: Path) -> None:
    plain, hinted = command.json("prompt", LONG), command.json("prompt", LONG, FUSION_STUDIO_SENTENCE_MODEL=str(sentence_folder))
    similarity = hinted.pop("similarity")
    assert hinted == plain
    assert -1 <= similarity["value"] <= 1
    assert similarity["model"] == sentence_folder.name
