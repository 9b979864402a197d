"""The gate's own judgement, on rewrites that it must refuse."""

import pytest

from engines.prompts.gate import judge
from engines.prompts.slots import slots_of


@pytest.mark.parametrize(
    ("source", "text", "negative", "lost"),
    [
        ("man with glasses", "man", "", {"glasses"}),
        ("man with no glasses", "man with glasses", "", {"glasses"}),
        ("man, no glasses", "man", "", {"glasses"}),
        ("man, glasses", "man", "glasses", {"glasses"}),
        ("35-year-old man", "age:75 man", "", {"age"}),
        ("man, light from the left", "man, light from the right", "", {"light"}),
        ("man, red hat", "man, blue hat", "", {"clothing"}),
        ("smiling man", "frowning man", "", {"expression"}),
        ("young man", "man", "", {"age"}),
        ("Asian man", "man", "", {"ethnicity"}),
        ("Black man", "man", "", {"subject"}),
        ("man", "man, smiling", "", {"expression"}),
        ("男人，不戴眼镜", "男人，戴眼镜", "", {"glasses"}),
        ("35岁的男人", "53岁的男人", "", {"age"}),
        ("黑色头发的女人", "白色头发的女人", "", {"hair"}),
    ],
)
def test_a_changed_fact_is_seen(source: str, text: str, negative: str, lost: set[str]) -> None:
    verdict = judge(source, text, negative)
    assert set(verdict.lost) == lost
    assert not verdict.passes()


@pytest.mark.parametrize(
    ("source", "text", "negative"),
    [
        ("man with no glasses", "man", "glasses"),
        ("a man who looks about 35 years old", "man age:35", ""),
        ("man, 8k, 4k, ultra HD", "man, 8k", ""),
        ("please create a picture of a man", "man", ""),
        ("男人，不戴眼镜", "男人", "眼镜"),
    ],
)
def test_the_same_said_shorter_passes(source: str, text: str, negative: str) -> None:
    assert judge(source, text, negative).passes(1.0)


def test_recall_counts_the_words_that_no_slot_knows() -> None:
    verdict = judge("man playing chess with death", "man with death")
    assert (verdict.recall, verdict.missing) == (0.5, ("playing", "chess"))
    assert judge("man", "man playing").added == ("playing",)


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("a smiling 35-year-old man", {"subject": ("man",), "age": ("35",), "expression": ("smiling",)}),
        ("woman with long curly red hair", {"subject": ("woman",), "hair": ("long curly red hair",)}),
        ("no hat or glasses", {"glasses": ("no glasses",), "clothing": ("no hat",)}),
        ("warm light from the left side", {"light": ("warm light from left side",)}),
        ("case of glasses, a glasses case", {"glasses": ("glasses",)}),
        ("man-made lake, <lora:smile:1>", {"place": ("lake",)}),
        ("戴着黑色的眼镜", {"glasses": ("黑色眼镜",)}),
        ("没有戴任何眼镜", {"glasses": ("no 眼镜",)}),
    ],
)
def test_what_a_prompt_says(text: str, slots: dict[str, tuple[str, ...]]) -> None:
    assert slots_of(text) == slots
