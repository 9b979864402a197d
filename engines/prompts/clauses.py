"""A prompt cut into sections (between BREAKs) and clauses (between commas, sentence ends and lines)."""

import re
from dataclasses import dataclass
from functools import lru_cache

from engines.prompts.protect import KEPT
from engines.prompts.vocabulary import CJK, Found, find

# A full stop ends a clause only before a space or the end: "f/1.8" and "3.5" are words.
_SEPARATOR = re.compile(r"[,;，；。、！？\n]+|[.!?](?=\s|$)")
_SECTION = re.compile(r"\b(?:BREAK|AND)\b|\|")
_CONTINUES = re.compile(
    r"(?:(?:and|or|but|with|without|of|in|on|at|to|from|by|for|under|over|above|below|behind|beside|between|near|against|through|across|around|into|like|as|"
    r"who|which|that|whose|where|while|coming|falling|shining|left|right|top|bottom|side|one|both|each|his|her|their|its)\b"
    r"|[并且但而从在和与或由])",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause without the space round it.

    Attributes:
        start, end: in the text, code points.
        separator: what stands after it, as it is; "" at the end.
        section: its number; nothing moves from one to another.
        tag: the phrase that it wholly is, if it is one. continues: it says more about the clause before it.
    """

    start: int
    end: int
    separator: str
    section: int
    tag: Found | None
    continues: bool


@lru_cache(maxsize=512)  # of each round they are asked for twice
def clauses(text: str, masked: str) -> tuple[Clause, ...]:
    """All clauses in order, empty ones left out. `masked` is `protect.mask(text)`."""
    cuts: list[tuple[int, int, bool]] = [(found.start(), found.end(), False) for found in _SEPARATOR.finditer(masked)]
    for word in _SECTION.finditer(text):
        if masked[word.start()] in (KEPT, "|") and not _inside(masked, word.start(), word.end()):
            cuts.append((word.start(), word.end(), True))
    found, begun, section = [], 0, 0
    for start, end, breaks in [*sorted(cuts), (len(text), len(text), False)]:
        inner = text[begun:start]
        a, b = begun + len(inner) - len(inner.lstrip()), start - len(inner) + len(inner.rstrip())
        if inner.strip():
            found.append(Clause(a, b, text[start:end], section, _tag(text[a:b], masked[a:b]), bool(_CONTINUES.match(masked, a))))
        begun, section = end, section + breaks
    return tuple(found)


def words_of(text: str) -> list[str]:
    """The words of a clause in lower case; Chinese by the character."""
    return re.findall(rf"[^\W_{CJK}]+(?:['’/.-][^\W_{CJK}]+)*|[{CJK}]", text.lower())


def _tag(text: str, masked: str) -> Found | None:
    if KEPT in masked:
        return None
    found = next(iter(find(text)), None)
    return found if found and found.start == 0 and found.end == len(text) else None


def _inside(masked: str, start: int, end: int) -> bool:
    """Whether a BREAK is a part of something larger that is protected: `(a BREAK b)`."""
    return masked[start] == KEPT and (masked[max(0, start - 1) : start] == KEPT or masked[end : end + 1] == KEPT)
