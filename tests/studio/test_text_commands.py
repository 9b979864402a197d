"""The command `text`, and the table that it shares with the page."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engines.tokens.catalogue import chosen
from engines.tokens.text import load, tokenizer
from studio.cli import app
from studio.text_counts import counted
from studio.text_panels import SHOWN, text_panel

RUN = CliRunner()


def answer(*arguments: str, given: str | None = None, status: int = 0) -> dict[str, object]:
    done = RUN.invoke(app, ["text", *arguments, "--json"], input=given)
    assert done.exit_code == status, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSION_STUDIO_DATA_DIR", str(tmp_path / "data"))


def test_every_tokenizer_counts_and_says_its_licence() -> None:
    found = answer("a photo of a cat")["tokenizers"]
    assert isinstance(found, dict)
    assert {name: (row["tokens"], row["sent"]) for name, row in found.items()} == {
        "clip": (5, 7),
        "o200k": (5, 12),
        "cl100k": (5, 12),
        "qwen": (5, 13),
    }
    assert all(row["licence"] in ("MIT", "Apache-2.0") and row["source"] and row["date"] for row in found.values())


def test_what_falls_off_clips_window_is_counted_and_chunked() -> None:
    row = answer("cat " * 90, "--tokenizer", "clip", "--pieces")["tokenizers"]["clip"]  # type: ignore[index]
    assert (row["lost"], row["window"], [chunk["tokens"] for chunk in row["chunks"]]) == (15, 77, [75, 15])
    assert len(row["pieces"]) == 90


@pytest.mark.parametrize("how", ["stdin", "file"])
def test_a_text_may_come_from_a_file_or_from_standard_input(how: str, tmp_path: Path) -> None:
    path = tmp_path / "提示.txt"
    path.write_text("\ufeff戴眼镜", encoding="utf-8")
    arguments, given = (["-"], "戴眼镜") if how == "stdin" else (["--file", str(path)], None)
    assert answer(*arguments, given=given)["characters"] == 3


@pytest.mark.parametrize("arguments", [[], ["a", "--file", "b.txt"], ["--file", "gone.txt"], ["a", "--tokenizer", "gpt-9"]])
def test_a_wrong_call_is_said(arguments: list[str]) -> None:
    assert answer(*arguments, status=1)["error"]["code"] == "invalid_option"  # type: ignore[index]


def test_a_file_that_is_no_text_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\xff\xfe")
    assert answer("--file", str(path), status=1)["error"]["code"] == "invalid_option"  # type: ignore[index]


def test_a_cost_is_tokens_as_sent_times_calls_times_price() -> None:
    found = counted("a photo of a cat", tokenizer("o200k"))
    assert found.cost(1_000, 2.5) == pytest.approx(12 * 1_000 * 2.5 / 1e6)


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_panel_escapes_the_text_and_strikes_out_what_is_lost(language: str) -> None:
    found = counted("<b>&" + " cat" * 80, tokenizer("clip"))
    html = text_panel([found], found, 1_000, 0, language)
    assert "<b>&" not in html
    assert "&lt;" in html
    assert html.count("<s>") == found.lost > 0


def test_a_long_text_shows_its_beginning_and_says_how_much_more_there_is() -> None:
    found = counted("cat " * (SHOWN + 7), tokenizer("o200k"))
    html = text_panel([found], found, 1, 0, "en")
    assert html.count('class="fs-token"') == SHOWN
    assert f"{len(found.pieces) - SHOWN:,} more" in html


def test_chosen_keeps_the_order_that_was_asked_for() -> None:
    assert [each.name for each in chosen(load(), ["qwen", "clip", "qwen"], "tokenizer")] == ["qwen", "clip"]
    assert len(chosen(load(), None, "tokenizer")) == len(load())
