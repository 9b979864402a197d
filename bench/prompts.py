"""What the prompt optimiser saves, and what it loses, beside plain deletion.

    python -m bench.prompts

The corpus is `bench/prompts.txt`, written for this; its kinds are wordy sentences, tag lists, Chinese, mixed. Beside the three levels:

- article: what articles on cheap prompts do: subject, age, expression and glasses stay, a fixed tail of quality words is added;
- stop words: every function word is deleted, "no" and "not" among them;
- compression-prompt: that package (PyPI, statistical), where it is installed.

`recall` is the gate's: content words, tags that say the same counted as one. `plain recall` shares nothing with the optimiser: all words
but a dozen articles and prepositions, each as often as it stands there. `facts changed`: prompts of which a slot has another value
afterwards, in percent. `as asked`: prompts for which the gate let the level through that was asked for. Tokens count the negative prompt
too. Times are of the optimiser alone, on a prompt that it has never seen.
"""

import importlib.util
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.report import show
from engines.prompts.clauses import clauses
from engines.prompts.gate import clauses_said, content, judge
from engines.prompts.optimise import LEVELS, optimise, shortened
from engines.prompts.people import several
from engines.prompts.protect import mask
from engines.prompts.slots import mentions, slots_of
from engines.prompts.vocabulary import CJK, find, vocabulary
from engines.tokens.text import load

CORPUS = Path(__file__).with_suffix(".txt")
COUNTED = ("clip", "o200k", "qwen")
PLAIN_STOP = frozenset(("a", "an", "the", "of", "in", "on", "at", "to", "with", "and", "is", "are", "的", "一", "着"))
Way = Callable[[str], tuple[str, str]]


@dataclass
class Sums:
    """Of one way on one kind of prompt."""

    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    recall: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    changed: int = 0
    times: list[float] = field(default_factory=list)
    asked: int = 0  # of our levels: how often the gate let through what was asked for


def corpus() -> Iterator[tuple[str, str]]:
    """Kind and prompt."""
    kind = ""
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            kind = line[3:]
        elif line and not line.startswith("# "):
            yield kind, line


def words(text: str) -> Counter[str]:
    return Counter(word for word in re.findall(rf"[{CJK}]|[^\W{CJK}]+", text.lower()) if word not in PLAIN_STOP)


def plain_recall(source: str, text: str) -> float:
    wanted = words(source)
    return 1 - (wanted - words(text)).total() / wanted.total()


def article(text: str) -> tuple[str, str]:
    slots = slots_of(text)
    base = " ".join((*slots.get("ethnicity", ())[:1], *slots.get("subject", ("person",))[:1]))
    told = [f"age:{age}" for age in slots.get("age", ())[:1]]
    told += [f"{expression} expression" for expression in slots.get("expression", ())[:1]]
    told += ["wearing glasses"] if "glasses" in slots else []
    return ", ".join((base, *told, "photorealistic, 4K UHD, sharp focus")), ""


def without_stop_words(text: str) -> tuple[str, str]:
    gone = vocabulary().words["stop"] | vocabulary().words["negators"]
    latin = re.sub(r"[A-Za-z'’]+", lambda word: "" if word[0].lower() in gone else word[0], text)
    chinese = re.sub("|".join(sorted((word for word in gone if not word.isascii() and "’" not in word), key=len, reverse=True)), "", latin)
    return re.sub(r"\s+", " ", chinese).strip(), ""


def peers() -> dict[str, Way]:
    if importlib.util.find_spec("compression_prompt") is None:
        return {}
    from compression_prompt import StatisticalFilter  # type: ignore[import-not-found, unused-ignore]

    return {"compression-prompt": lambda text: (StatisticalFilter().compress(text), "")}


def main() -> None:
    counters = {name: each.count for name, each in load().items() if name in COUNTED}

    def ours(level: str) -> Way:
        def way(text: str) -> tuple[str, str]:
            found = optimise(text, level, counters)
            return found.text, found.negative

        return way

    ways = {level: ours(level) for level in LEVELS} | {"article": article, "stop words": without_stop_words} | peers()
    sums: dict[tuple[str, str], Sums] = {}
    for level in LEVELS:
        optimise("a man，男人", level)  # words and rules are read once
    for kind, text in corpus():
        for name, way in ways.items():
            for cached in (mentions, several, mask, content, clauses_said, clauses, find, shortened):  # as for a prompt that was never seen
                cached.cache_clear()
            begun = time.thread_time()
            optimise(text, name) if name in LEVELS else way(text)  # without counters: counting is the tokenizers' time
            took = (time.thread_time() - begun) * 1e3
            short, negative = way(text)
            verdict = judge(text, short, negative, distinct=name == "strict")
            for each in (sums.setdefault((kind, name), Sums()), sums.setdefault(("all", name), Sums())):
                each.before.update({counter: count(text) for counter, count in counters.items()})
                each.after.update({counter: count(short) + (count(negative) if negative else 0) for counter, count in counters.items()})
                each.recall.append(verdict.recall)
                each.plain.append(plain_recall(text, f"{short}, {negative}"))
                each.changed += bool(verdict.lost)
                each.times.append(took)
                each.asked += name in LEVELS and optimise(text, name, counters).level == name
    rows = []
    for (kind, name), each in sums.items():
        saved = {f"{counter} saved %": 100 * (1 - each.after[counter] / each.before[counter]) for counter in counters}
        recall = {"recall": statistics.mean(each.recall), "least": min(each.recall), "plain recall": statistics.mean(each.plain)}
        changed = {"facts changed %": 100 * each.changed / len(each.times)}
        asked = {"as asked %": 100 * each.asked / len(each.times) if name in LEVELS else None}
        times = {
            "ms median": statistics.median(each.times),
            "ms 95 %": statistics.quantiles(each.times, n=20)[-1],
            "ms most": max(each.times),
        }
        rows.append({"prompts": kind, "n": len(each.times), "way": name} | saved | recall | changed | asked | times)
    show("prompts", rows)


if __name__ == "__main__":
    main()
