"""When a source's face is said to be covered, and when it is refused."""

import pytest

from engines.faces.occlusion.as_source import REFUSE, SAY, judge
from engines.text import text


@pytest.mark.parametrize(
    ("found", "reason", "notes"),
    [
        ((), "", []),
        ((("lumps", SAY), ("glasses", 2.3)), "", []),
        ((("lumps", SAY + 0.01),), "", ["source_covered"]),
        ((("glasses", 3.0),), "", ["source_glasses"]),
        ((("lumps", 0.15), ("glasses", 3.0)), "", ["source_covered", "source_glasses"]),
        ((("lumps", REFUSE + 0.01), ("glasses", 3.0)), "hidden", []),
    ],
)
def test_a_covered_face_is_named_and_a_hidden_one_refused(found: tuple[tuple[str, float], ...], reason: str, notes: list[str]) -> None:
    verdict, said = judge(found)
    assert verdict.reason == reason
    assert [key for key, _ in said] == notes


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_sentences_have_their_facts(language: str) -> None:
    verdict, _ = judge((("lumps", 0.31),))
    assert "31" in text("verdicts.hidden", language, **dict(verdict.facts))
    _, notes = judge((("lumps", 0.14), ("glasses", 3.0)))
    assert "14" in text("notes.source_covered", language, **dict(notes[0][1]))
    assert text("notes.source_glasses", language)
