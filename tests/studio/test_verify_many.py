"""What the page sends of many files, and the panel of what was found."""

from typing import Any

import pytest

from engines.errors import UnreadableImage
from engines.provenance.labels import FoundLabels, Labels
from engines.provenance.verify import VERDICTS, Verification
from studio.tabs.verify_many import _files
from studio.verify_panel import Answers, many_panel

EVIL = "<script>alert(1)</script>"


@pytest.mark.parametrize("given", [None, {}, {"files": None}, {"files": "abc"}, {"files": [None, 3, ["one"], ["a", "b", "c"], {}]}])
def test_what_is_no_list_of_files_is_none(given: Any) -> None:
    assert _files(given) == []


def test_tokens_and_names_are_words() -> None:
    assert _files({"files": [["t", "n"], [1, None]]}) == [("t", "n"), ("1", "None")]
    assert len(_files({"files": [["t", "n"]] * 700})) == 500


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_each_file_has_its_line_and_nothing_of_it_is_markup(language: str) -> None:
    nothing = FoundLabels(Labels("", "", "", "", ""))
    answers: Answers = [(f"{EVIL}{verdict}", Verification(verdict, None, 1.0, nothing)) for verdict in VERDICTS]
    answers.append((EVIL, UnreadableImage("unknown", name=EVIL)))
    half, whole = many_panel(answers[:2], 6, language), many_panel(answers, 6, language, over=True)
    assert "<script>" not in half + whole
    assert (half.count("<li"), whole.count("<li")) == (2, 6)
    assert ("<details" in half, whole.count("<details")) == (False, 5)
    assert all(f'data-verdict="{verdict}"' in whole for verdict in VERDICTS)
