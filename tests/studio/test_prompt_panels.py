"""The Prompt tab's answer, and what its handlers make of what a page sends."""

from pathlib import Path
from typing import Any

import pytest

from engines.prompts.library import template
from engines.prompts.optimise import optimise
from engines.prompts.vocabulary import vocabulary
from engines.settings import Settings
from engines.text import LANGUAGES, has
from studio.context import Context
from studio.prompt_panels import prompt_panel
from studio.tabs.prompt import PromptHandlers
from tests.studio.test_panels import HOSTILE, Balanced

SOURCE = "a man, no glasses, 8k, 4k"


@pytest.fixture
def handlers(tmp_path: Path) -> PromptHandlers:
    return PromptHandlers(Context(Settings(data_dir=tmp_path, provider="cpu")))


def shorten(handlers: PromptHandlers, words: str, shown: Any = None, level: str = "compact", template: str = "") -> dict[str, Any]:
    return handlers.shorten(words, level, True, template, "photo", 2.5, 1_000_000, shown)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("level", ["safe", "compact", "strict"])
def test_whole_and_escaped(level: str, language: str) -> None:
    for source in (HOSTILE, f"a man, no glasses, 8k, 4k, {HOSTILE}, very detailed", "8k, a man, " * 9, "a", ""):
        found = optimise(source, level, {"<b>": len})
        html = prompt_panel(found, [(0, 1)], None, HOSTILE, {}, 10, 1, language)
        assert "img" not in [tag for tag, _ in Balanced(html).tags]


def test_the_shorter_prompt_and_each_word_with_its_reason(handlers: PromptHandlers) -> None:
    html = shorten(handlers, SOURCE)["en"]
    assert ">man, 8k</pre>" in html
    assert ">glasses</pre>" in html
    assert "blurry" in html  # the negative prompt that was chosen, apart
    offered = {given["data-span"] for tag, given in Balanced(html).tags if tag == "button" and "data-span" in given}
    assert {SOURCE[slice(*map(int, str(span).split("-")))] for span in offered} == {"a", "no glasses", "4k"}
    assert "says the same as another tag" in html


def test_money(handlers: PromptHandlers) -> None:
    html = shorten(handlers, SOURCE)["en"]
    assert "<td>11</td><td><b>5</b></td><td>55 %</td><td>15.00</td>" in html  # 6 tokens of CLIP × 1,000,000 × 2.50 ÷ 1,000,000


def test_what_is_put_back_counts_for_this_prompt_alone(handlers: PromptHandlers) -> None:
    at = SOURCE.index("4k")
    shown = {"kept": [[at, at + 2]], "source": SOURCE}
    answer = shorten(handlers, SOURCE, shown)
    assert ">man, 8k, 4k</pre>" in answer["en"]
    assert 'class="fs-back"' in answer["en"]
    assert answer["kept"] == [[at, at + 2]]
    assert shorten(handlers, SOURCE + "!", shown)["kept"] == []


@pytest.mark.parametrize("kept", [None, "x", [1], [[1]], [["a", "b"]], [[3, 1]], [[0, 999]], [[True, 2]], [[-1, 2]], {}])
def test_whatever_a_page_sends(handlers: PromptHandlers, kept: Any) -> None:
    assert shorten(handlers, SOURCE, {"kept": kept, "source": SOURCE})["kept"] == []


def test_an_error_stands_where_the_answer_would(handlers: PromptHandlers) -> None:
    assert "fs-error" in shorten(handlers, SOURCE, level="ruthless")["en"]
    assert "fs-error" in shorten(handlers, SOURCE, template="nothing")["en"]
    assert "fs-empty" in shorten(handlers, "  ")["en"]


def test_a_template_stands_first_and_a_broken_one_is_told(handlers: PromptHandlers) -> None:
    words = handlers.begin("a man", "studio")
    assert words == template("studio") + "a man"
    assert handlers.begin(words, "street") == template("street") + "a man"
    assert handlers.begin(words, "") == "a man"
    assert "leaves its fixed beginning" not in shorten(handlers, words, template="studio")["en"]
    assert "leaves its fixed beginning at character 7" in shorten(handlers, words.replace("studio ", "studio; "), template="studio")["en"]


def test_every_slot_and_level_has_its_words() -> None:
    keys = [f"slot_{slot}" for slot in vocabulary().slots] + [f"level_{level}" for level in ("none", "safe", "compact", "strict")]
    assert all(has(f"page.prompt.{key}", language) for key in keys for language in LANGUAGES)
