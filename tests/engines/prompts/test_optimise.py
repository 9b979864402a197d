"""What holds for every prompt: what comes out is a fixed point, never longer, adds nothing, keeps a program's words byte for byte."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.errors import InvalidOption
from engines.prompts.gate import judge
from engines.prompts.optimise import LEVELS, MOST_CHARACTERS, Optimised, optimise, pieces
from engines.prompts.protect import protected

SAID = (
    *("a man", "an old woman", "two men", "a smiling Asian woman", "the boy", "a 35-year-old man", "who is 35 years old", "no glasses"),
    *("without a beard", "not smiling but happy", "wearing a pair of glasses", "a red hat", "the left light", "light from the right"),
    *("very very detailed", "8k", "4k", "sharp focus", "masterpiece", "photorealistic", "a dog", "with a smile on his face", "no text"),
    *(
        "please",
        "A photo of a king",
        "(smile:1.2)",
        "[hat]",
        "<lora:a the:0.8>",
        "{a man|a woman}",
        "BREAK",
        "embedding:a_the",
        "“the end”",
    ),
    *("一位男人", "不戴眼镜", "黑色的头发", "非常清晰", "高清", "请生成一张女人的图片", "两个女孩", "大约35岁", "没有文字"),
)
PROMPTS = st.lists(st.sampled_from(SAID), min_size=1, max_size=8).flatmap(
    lambda parts: st.lists(st.sampled_from((", ", " ", "，", ". ", " and ", " with ", "\n")), min_size=len(parts), max_size=len(parts)).map(
        lambda between: "".join(part + sep for part, sep in zip(parts, between, strict=True))
    )
)
ANY = st.text(st.sampled_from("aehtnomw ,.()[]{}<>|:;\"'\\的一不无人，。é👩\n1"), max_size=40) | st.text(max_size=40)


def holds(source: str, found: Optimised) -> None:
    assert optimise(found.text, found.asked).text == found.text
    assert pieces(found.text) + pieces(found.negative) <= pieces(source)
    assert protected(found.text) == protected(source)
    assert all(source[change.start : change.end] == change.text for change in found.changes)
    verdict = judge(source, found.text, found.negative, distinct=found.level == "strict")
    assert not verdict.lost
    assert not verdict.added
    assert found.recall == verdict.recall >= (1.0 if found.level in ("safe", "none") else 0.95)
    if found.level == "none":
        assert (found.text, found.negative, found.changes) == (source, "", ())


@settings(max_examples=150, deadline=None)
@given(PROMPTS, st.sampled_from(LEVELS))
def test_what_holds_for_sentences(source: str, level: str) -> None:
    holds(source, optimise(source, level))


@settings(max_examples=150, deadline=None)
@given(ANY, st.sampled_from(LEVELS))
def test_what_holds_for_any_text(source: str, level: str) -> None:
    holds(source, optimise(source, level))


@settings(max_examples=80, deadline=None)
@given(PROMPTS, st.data())
def test_what_a_person_takes_back_stands_again(source: str, data: st.DataObject) -> None:
    changes = [change for change in optimise(source, "compact").changes if change.reason not in ("moved", "punctuation")]
    kept = data.draw(st.lists(st.sampled_from(changes), unique=True)) if changes else []
    found = optimise(source, "compact", kept=[(change.start, change.end) for change in kept])
    assert all(change.text in found.text for change in kept)


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("safe", "man, very sharp, sharp focus, crisp"),
        ("compact", "man, sharp"),
        ("strict", "man, sharp"),
    ],
)
def test_levels_differ(level: str, text: str) -> None:
    found = optimise("a man, very sharp, sharp focus, crisp", level)
    assert (found.text, found.level, found.recall) == (text, level, 1.0)


def test_an_unknown_level() -> None:
    with pytest.raises(InvalidOption):
        optimise("a man", "ruthless")


@pytest.mark.parametrize(
    ("source", "level", "delivered", "why"),
    [
        ("a man playing chess", "strict", "compact", "recall"),
        ("a man and a woman", "strict", "compact", "several"),
        ("a man, not smiling but happy", "strict", "compact", "negated"),
        ("a man BREAK a hat", "strict", "compact", "brackets"),
        ("a (man", "compact", "none", "brackets"),
        (",", "compact", "none", "empty"),
        ("please " * 200 + "x", "compact", "none", "steps"),
        ("a man, " * MOST_CHARACTERS, "compact", "none", "long"),
    ],
)
def test_why_less_was_done(source: str, level: str, delivered: str, why: str) -> None:
    found = optimise(source, level)
    assert found.level == delivered
    assert found.held[0][0] == why


def test_the_words_that_strict_would_lose_are_named() -> None:
    assert optimise("a man playing chess", "strict").held == (("recall", "playing, chess"),)


def letters(text: str) -> int:
    return len(text)


def few_for_a_sentence(text: str) -> int:
    """A tokenizer for which "35-year-old" is one token, and the short form three."""
    return pieces(text.replace("35-year-old", "x"))


def test_no_counter_may_count_more() -> None:
    counters = {"letters": letters, "few": few_for_a_sentence}
    found = optimise("a 35-year-old man", "compact", counters)
    assert found.text == "35-year-old man"
    assert found.tokens == {"letters": (17, 15), "few": (3, 2)}
    assert found.held == (("longer", "few"),)


def test_the_negative_prompt_counts_too() -> None:
    found = optimise("a man, no glasses", "safe", {"letters": letters})
    assert (found.negative, found.tokens["letters"]) == ("glasses", (17, 10))
    assert optimise("a man, no glasses", "safe", negations=False).text == "man, no glasses"


def test_a_prefix_stays_byte_for_byte() -> None:
    found = optimise("the very same  beginning, a man", "compact", prefix="the very same  beginning, ")
    assert found.text == "the very same  beginning, man"


def reasons(found: Optimised) -> Sequence[tuple[str, str, str]]:
    return [(change.text, change.instead, change.reason) for change in found.changes]


def test_each_change_says_what_and_why() -> None:
    found = optimise("Please create a picture of a man who is 35 years old, no glasses, 8k, 4k", "compact")
    assert (found.text, found.negative) == ("man age:35, 8k", "glasses")
    assert reasons(found) == [
        ("Please create a picture of", "", "request"),
        ("a", "", "article"),
        ("who is 35 years old", "age:35", "short_form"),
        ("no glasses", "", "negation"),
        ("4k", "", "synonym"),
    ]


def test_as_a_program_reads_it() -> None:
    values = optimise("a smiling 35-year-old man, no glasses", "compact", {"letters": letters}).as_dict()
    assert values == {
        "text": "smiling age:35 man",
        "negative": "glasses",
        "level": "compact",
        "recall": 1.0,
        "slots": {"subject": "man", "age": "35", "expression": "smiling", "glasses": "no glasses"},
        "removed": [
            {"text": "a", "reason": "article"},
            {"text": "35-year-old", "reason": "short_form"},
            {"text": "no glasses", "reason": "negation"},
        ],
        "tokens": {"letters": {"before": 37, "after": 25}},
    }
