"""The bench's corpus: prompts as people write them, at every level."""

from collections import Counter

import pytest

from bench.prompts import corpus, plain_recall
from engines.prompts.optimise import LEVELS, optimise
from tests.engines.prompts.test_optimise import holds

PROMPTS = list(corpus())


def test_it_is_large_and_each_is_another() -> None:
    assert len({text for _, text in PROMPTS}) == len(PROMPTS) >= 200
    assert Counter(kind for kind, _ in PROMPTS).keys() == {"wordy", "tags", "chinese", "mixed"}


@pytest.mark.parametrize("level", LEVELS)
def test_what_holds_for_each(level: str) -> None:
    for _, source in PROMPTS:
        holds(source, optimise(source, level))


def test_wordy_prompts_lose_a_fifth_and_no_content() -> None:
    wordy = [text for kind, text in PROMPTS if kind == "wordy"]
    found = [optimise(text, "safe", {"letters": len}) for text in wordy]
    before, after = (sum(each.tokens["letters"][side] for each in found) for side in (0, 1))
    assert after < 0.85 * before
    assert all(each.recall == 1.0 for each in found)


def test_plain_recall_shares_nothing_with_the_optimiser() -> None:
    assert plain_recall("no glasses, a red hat", "red hat") == 0.5
    assert plain_recall("戴眼镜的人", "眼镜") == 0.5
