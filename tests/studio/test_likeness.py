"""The hint of a sentence model: off, opening, known, faulty; and the gate that doesn't ask it."""

from pathlib import Path
from typing import Any

import pytest

from engines.prompts.optimise import optimise
from engines.settings import Settings
from engines.text import LANGUAGES
from studio.context import Context
from studio.likeness import Likeness, Likenesses, likeness
from studio.prompt_panels import prompt_panel
from studio.tabs.prompt import PromptHandlers

FOUND = optimise("a man, no hat, 8k, 4k", "compact")


class Fixed:
    """A model that always says the same, and remembers what it was asked."""

    name = "fixed"

    def __init__(self, value: float) -> None:
        self.value, self.asked = value, list[tuple[str, str]]()

    def similarity(self, first: str, second: str) -> float:
        self.asked.append((first, second))
        return self.value


@pytest.mark.parametrize(("value", "warns"), [(0.69, True), (0.71, False)])
def test_a_low_likeness_warns_and_what_is_absent_counts(value: float, warns: bool) -> None:
    model: Any = Fixed(value)
    assert likeness(model, FOUND) == Likeness("known", value, warns)
    assert model.asked == [(FOUND.source, f"{FOUND.text}, no hat")]
    likeness(model, optimise("男人，不戴眼镜", "compact"))
    assert model.asked[-1][1] == "男人, 没有眼镜"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_panel_says_what_there_is_to_say(language: str) -> None:
    def panel(alike: Likeness) -> str:
        return prompt_panel(FOUND, [], None, "", {}, 0, 0, language, alike)

    assert "FUSION_STUDIO_SENTENCE_MODEL" in panel(Likeness("off"))
    assert "0.55" in panel(Likeness("known", 0.55, True))
    assert panel(Likeness("known", 0.55, True)).count("fs-aside") == 1 + panel(Likeness("known", 0.95)).count("fs-aside")


def test_without_a_model_or_with_a_faulty_one_the_answer_is_the_same(tmp_path: Path) -> None:
    plain, faulty = (
        PromptHandlers(Context(Settings(data_dir=tmp_path / name, provider="cpu", sentence_model=where)))
        for name, where in (("a", ""), ("b", str(tmp_path / "nowhere")))
    )

    def said(handlers: PromptHandlers) -> str:
        return str(handlers.shorten(FOUND.source, "compact", True, "", "", 0, 0, None)["en"])

    first = said(plain)
    said(faulty)
    faulty.likenesses.wait()
    second = said(faulty)
    assert 'data-likeness="off"' in first
    assert 'data-likeness="fault"' in second
    assert first.split("<pre")[1].split("</pre>")[0] == second.split("<pre")[1].split("</pre>")[0]


def test_a_model_that_was_opened_is_asked(sentence_folder: Path) -> None:
    known = Likenesses(str(sentence_folder))
    assert known.of(FOUND).state in ("opening", "known")
    known.wait()
    told = known.of(FOUND)
    assert told.state == "known"
    assert -1 <= told.value <= 1
