"""When a source's face is said to be covered, when it is refused, and when its glasses come along."""

import pytest

from engines.faces.occlusion.as_source import BEARD, GLASSES, REFUSE, SAY, judge, judge_glasses
from engines.text import text

Found = tuple[tuple[str, float], ...]
WEARS: Found = (("glasses", 3.0),)
THIN: Found = (("glasses", 3.0), ("glasses_left", GLASSES))
THICK: Found = (("glasses", 3.0), ("glasses_left", GLASSES + 0.1))


@pytest.mark.parametrize(
    ("found", "reason", "notes"),
    [
        ((), "", []),
        ((("lumps", SAY),), "", []),
        ((("lumps", SAY + 0.01),), "", ["source_covered"]),
        ((("lumps", REFUSE + 0.01), ("glasses", 3.0)), "hidden", []),
        ((("beard", BEARD),), "", []),
        ((("beard", BEARD + 0.01),), "bearded", []),
    ],
)
def test_a_covered_face_is_named_and_a_hidden_one_refused(found: Found, reason: str, notes: list[str]) -> None:
    verdict, said = judge(found)
    assert verdict.reason == reason
    assert [key for key, _ in said] == notes


@pytest.mark.parametrize(
    ("source", "target", "asked", "reason", "notes"),
    [
        ((("glasses", 2.3),), (), False, "", []),
        ((("glasses", 2.3),), (), True, "", ["no_glasses"]),
        ((), WEARS, True, "", ["no_glasses"]),
        (THIN, (), False, "", ["source_glasses"]),
        (THIN, (), True, "", []),
        (THIN, WEARS, True, "", ["target_glasses"]),
        (THICK, (), False, "", ["glasses_kept"]),
        (THICK, (), True, "", []),
        (THICK, WEARS, False, "glasses", []),
        (THICK, WEARS, True, "glasses", []),
    ],
)
def test_glasses_come_off_whole_or_come_along(source: Found, target: Found, asked: bool, reason: str, notes: list[str]) -> None:
    verdict, said = judge_glasses(source, target, asked)
    assert verdict.reason == reason
    assert [key for key, _ in said] == notes


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_sentences_have_their_facts(language: str) -> None:
    verdict, _ = judge((("lumps", 0.31),))
    assert "31" in text("verdicts.hidden", language, **dict(verdict.facts))
    _, notes = judge((("lumps", 0.14),))
    assert "14" in text("notes.source_covered", language, **dict(notes[0][1]))
    verdict, _ = judge_glasses((("glasses", 3.0), ("glasses_left", 0.42)), WEARS, False)
    assert "42" in text("verdicts.glasses", language, **dict(verdict.facts))
    assert text("page.verdict.glasses", language)
    for key in ("source_glasses", "glasses_kept", "no_glasses", "target_glasses"):
        assert text(f"notes.{key}", language)


@pytest.mark.parametrize(("asked", "note"), [(True, "persona_glasses"), (False, "source_glasses")])
@pytest.mark.parametrize("found", [THIN, THICK])
def test_a_source_without_a_layer_of_glasses_never_says_that_they_came_along(found: Found, asked: bool, note: str) -> None:
    verdict, said = judge_glasses(found, (), asked, layer=False)
    assert verdict.usable
    assert [key for key, _ in said] == [note]
    assert text(f"notes.{note}", "zh-CN") != text(f"notes.{note}", "en")
