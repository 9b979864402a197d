"""Whether a shorter prompt still says the same: equal slots, nothing new, and enough of the content words.

Similarity of sentence embeddings can't tell: "light left" and "light right" are at 0.95, "glasses" and "no glasses" at 0.70.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache

from engines.prompts import chinese, english
from engines.prompts.clauses import words_of
from engines.prompts.slots import AGES, keys_of, without_seeming
from engines.prompts.vocabulary import find, has_cjk, has_latin, vocabulary

LEAST_RECALL = 0.95  # of the content words; level safe asks for all of them
_NOT = "¬"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`recall` 0..1; `lost` slots whose values changed; `added` words that the source doesn't have; `missing` content words."""

    recall: float
    lost: tuple[str, ...]
    added: tuple[str, ...]
    missing: tuple[str, ...]

    def passes(self, least: float = LEAST_RECALL) -> bool:
        return not self.lost and not self.added and self.recall >= least


def judge(source: str, text: str, negative: str = "", distinct: bool = False) -> Verdict:
    """Compares a shorter prompt, and its negative prompt, with the source.

    Args:
        distinct: a word that is said several times counts once: where the slots say whose it is.
    """
    before, after = keys_of(source), keys_of(text, negative)
    lost = tuple(slot for slot in dict.fromkeys((*before, *after)) if before.get(slot) != after.get(slot))
    wanted, said = content(source, once=True), content(text) + content(negative)
    added = said - content(source)
    got = said + Counter({_NOT: len([part for part in negative.split(",") if part.strip()])})
    if distinct:
        wanted = Counter(wanted.keys())
    missing, total = wanted - got, sum(wanted.values())
    recall = 1 - sum(missing.values()) / total if total else 1.0
    del added[_NOT]
    return Verdict(recall, lost, tuple(added), tuple(missing.elements()))


@lru_cache(maxsize=512)
def content(text: str, once: bool = False) -> Counter[str]:
    """The content words with their counts: without function words, requests and hedges; ages as their number; tags that say the same
    as one word; negators as one sign. Chinese is counted by the character. The counter is shared: nobody changes it.

    Args:
        once: a clause that stands there twice counts once, and a tag of a group too.
    """
    counted: Counter[str] = Counter()
    seen: set[str] = set()
    for tokens, groups in clauses_said(text):
        key = " ".join(sorted(tokens))
        if not (once and key in seen):
            counted.update(tokens)
        seen.add(key)
        counted.update(groups)
    for word in [word for word in counted if once and word.startswith("=")]:
        counted[word] = 1
    return counted


@lru_cache(maxsize=512)  # a source is asked for twice, counted both ways
def clauses_said(text: str) -> tuple[tuple[list[str], list[str]], ...]:
    """Of each clause its content words, negators among them as signs, and the groups of its tags."""
    stop = vocabulary().words["stop"]
    clean = english.strip_fillers(text) if has_latin(text) else text
    clean = chinese.strip_fillers(clean) if has_cjk(text) else clean
    clean = AGES.sub(lambda found: f" {next(part for part in found.groups() if part)} ", clean)
    clauses = []
    for clause in re.split(r"[,;，；。！？\n]|[.!?](?=\s|$)", clean):
        groups = [found for found in find(clause) if found.phrase.group]
        for found in reversed(groups):
            clause = clause[: found.start] + " " + clause[found.end :]
        said = _negators().sub(_NOT, without_seeming(clause))
        tokens = [word for word in words_of(said.replace(_NOT, " ")) if word not in stop] + [_NOT] * said.count(_NOT)
        clauses.append((tokens, [f"={found.phrase.group}" for found in groups]))
    return tuple(clauses)


@cache
def _negators() -> re.Pattern[str]:
    negators = sorted(vocabulary().words["negators"], key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in negators if word.isascii() or "’" in word)
    other = "|".join(word for word in negators if not word.isascii() and "’" not in word)
    return re.compile(rf"(?<!\w)(?:{latin})(?!\w)|(?:{other})", re.I)
