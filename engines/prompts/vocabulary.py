"""The words that a portrait's prompt is made of, read from `assets/prompts/<language>.toml`, and where they stand in a text.

Both languages are looked for at once: a prompt may mix them, and their scripts don't meet.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache

from engines.text import ASSETS, LANGUAGES

FOLDER = ASSETS / "prompts"
CJK = "一-鿿"
_TOKEN = re.compile(rf"[^\W_{CJK}]+|[{CJK}]")
_LATIN, _CJK = re.compile(rf"[^\W_{CJK}]"), re.compile(f"[{CJK}]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """One line's entry. `value` is what it counts as; `group` names the tags that say the same, or is ""."""

    text: str
    slot: str
    value: str
    group: str


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase at a place, in code points."""

    start: int
    end: int
    phrase: Phrase


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Everything of both files. `words` are the lists of `[words]`, lower case, both languages together."""

    slots: tuple[str, ...]
    phrases: dict[str, tuple[Phrase, ...]]  # by their first token, longest first
    words: dict[str, frozenset[str]]


@lru_cache(maxsize=4096)  # the clauses of a prompt are asked about in every round
def find(text: str) -> tuple[Found, ...]:
    """The phrases in a text, from left to right, the longest at each place; they don't overlap."""
    low, at, phrases = folded(text), 0, vocabulary().phrases
    found = []
    for token in _TOKEN.finditer(low):
        if token.start() < at:
            continue
        for phrase in phrases.get(token[0], ()):
            end = token.start() + len(phrase.text)
            if low.startswith(phrase.text, token.start()) and _stands_alone(low, token.start(), end):
                found.append(Found(token.start(), end, phrase))
                at = end
                break
    return tuple(found)


@cache
def vocabulary() -> Vocabulary:
    """Read once."""
    phrases: dict[str, list[Phrase]] = {}
    words: dict[str, set[str]] = {}
    slots: dict[str, None] = {}
    for language in LANGUAGES:
        read = tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
        groups = {member: f"{name}" for name, listed in read["groups"].items() for member in _entries(listed)}
        for slot, listed in read["slots"].items():
            slots[slot] = None
            for entry in _entries(listed):
                text, _, value = entry.partition(" = ")
                first = _TOKEN.match(text)
                assert first, f"{language}.toml: {entry!r} begins with no word"
                phrases.setdefault(first[0], []).append(Phrase(text, slot, value or text, groups.get(text, "")))
        for name, listed in read["words"].items():
            words.setdefault(name, set()).update(_entries(listed))
    return Vocabulary(
        tuple(slots),
        {first: tuple(sorted(found, key=lambda phrase: -len(phrase.text))) for first, found in phrases.items()},
        {name: frozenset(found) for name, found in words.items()},
    )


def has_latin(text: str) -> bool:
    return _LATIN.search(text) is not None


def has_cjk(text: str) -> bool:
    return _CJK.search(text) is not None


def folded(text: str) -> str:
    """Lower case of the same length: a place in it is a place in the text (`İ` alone would become two)."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _entries(listed: str) -> list[str]:
    return [entry for part in folded(listed).split(",") if (entry := " ".join(part.split()))]


def _stands_alone(low: str, start: int, end: int) -> bool:
    """Whether a phrase isn't a part of a longer word. A Chinese one may stand anywhere; "man's" and "man-made" are no man."""
    if _LATIN.match(low[start]) and start and (_LATIN.match(low[start - 1]) or low[start - 1] in "-_'’"):
        return False
    if not _LATIN.match(low[end - 1]) or end == len(low):
        return True
    return not (_LATIN.match(low[end]) or low[end] in "-_" or low[end : end + 2] in ("'s", "’s"))
