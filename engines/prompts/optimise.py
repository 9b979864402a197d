"""A prompt made shorter without a change of what it says: free text → short form, key facts first, negations apart.

Everything is done in place, change by change, until nothing is left to do; then the gate compares the result with the source. Where the
gate says no, less is done, at last nothing, and the answer says why. What comes out is a fixed point: to shorten it again changes nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Literal, get_args

from engines.errors import InvalidOption
from engines.prompts import chinese, english
from engines.prompts.draft import Change, Draft, Span
from engines.prompts.english import Rule
from engines.prompts.gate import LEAST_RECALL, judge
from engines.prompts.negations import move_negations, said
from engines.prompts.people import several
from engines.prompts.protect import mask, protected
from engines.prompts.slots import slots_of
from engines.prompts.strict import to_template
from engines.prompts.tidy import drop_doubles, order, trim
from engines.prompts.vocabulary import CJK, has_cjk, has_latin

Level = Literal["safe", "compact", "strict"]
Delivered = Literal["none", "safe", "compact", "strict"]
LEVELS: tuple[Level, ...] = get_args(Level)
Count = Callable[[str], int]  # a text's own tokens, without the special ones round it
Held = tuple[str, str]  # why less was done: a key under `prompts.why.`, and the words that it is about
MOST_CHARACTERS = 4_000  # of what is looked at; a longer prompt comes back as it is
_ROUNDS = 40  # of changes to one prompt; people's need fewer than ten
_NAMED = 12  # words that an answer names
# What is given up, one after the other, where the whole of it isn't shorter for every tokenizer, or not settled.
_LADDER = (
    frozenset[str](),
    frozenset(("short_form",)),
    frozenset(("short_form", "moved")),
    frozenset(("short_form", "moved", "negation", "synonym", "article")),
)


@dataclass(frozen=True, slots=True)
class Optimised:
    """What became of a prompt.

    Attributes:
        level: what was done in the end: `asked`, or less where the gate said no.
        recall: share of the content words that text and negative prompt still have, 0..1.
        changes: in the order of the source; each can be taken back with its span.
        tokens: before and after, for each counter; after counts the negative prompt too.
        held: why less was done than asked.
    """

    source: str
    text: str
    negative: str
    asked: Level
    level: Delivered
    recall: float
    slots: Mapping[str, tuple[str, ...]]
    changes: tuple[Change, ...]
    tokens: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    held: tuple[Held, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The shape that the CLI answers with."""
        removed = [{"text": change.text, "reason": change.reason} for change in self.changes if change.reason != "moved"]
        return {
            "text": self.text,
            "negative": self.negative,
            "level": self.level,
            "recall": round(self.recall, 4),
            "slots": {slot: ", ".join(values) for slot, values in self.slots.items()},
            "removed": removed,
            "tokens": {name: {"before": before, "after": after} for name, (before, after) in self.tokens.items()},
        }


def pieces(text: str) -> int:
    """Words and signs: what stands for tokens where no tokenizer is at hand, to see that nothing got longer. It is never shown."""
    return len(re.findall(rf"[{CJK}]|[^\W{CJK}]+|[^\w\s]", text))


def optimise(
    source: str,
    level: str = "safe",
    counters: Mapping[str, Count] | None = None,
    kept: Sequence[Span] = (),
    negations: bool = True,
    prefix: str = "",
) -> Optimised:
    """Shortens a prompt.

    Args:
        level: safe (every content word stays), compact (hedges, intensifiers and tags that say the same go too), strict (only what the
            slots know, in their order).
        counters: tokenizers by name; the result is longer for none of them. Without any, by words and signs.
        kept: spans of the source that a person wants back: no change touches them.
        negations: what must be absent goes to the negative prompt; else it stays where it is.
        prefix: a fixed beginning; where the source begins with it, it stays byte for byte.

    Raises:
        InvalidOption: an unknown level.
    """
    if level not in LEVELS:
        raise InvalidOption(name="level", value=level, allowed=", ".join(LEVELS))
    if prefix and source.startswith(prefix):
        return _behind(
            prefix,
            optimise(source[len(prefix) :], level, counters, [(a - len(prefix), b - len(prefix)) for a, b in kept], negations),
            counters or {},
        )
    wish = _Wish(level, counters or {}, tuple(kept), frozenset() if negations else frozenset(("negation",)))
    for found in _candidates(source, wish):
        if kept or _settled(found) or next(_candidates(found.text, wish)).text == found.text:
            return found
    return found


def _settled(found: Optimised) -> bool:
    """Whether it is known without another try that to shorten it again changes nothing.

    What was wholly done is a fixed point by itself. Where something was given up, a second time might do more with what is left, but not
    where nothing changed, nor where level strict alone was given up and what came instead kept every word: the template would be made of
    the same text, and miss the same words of fewer.
    """
    strict_alone = found.asked == "strict" and found.level == "compact" and len(found.held) == 1
    return not found.held or found.text == found.source or (strict_alone and found.recall == 1.0)


@dataclass(frozen=True, slots=True)
class _Wish:
    """The arguments of `optimise`."""

    level: Level
    counters: Mapping[str, Count]
    kept: tuple[Span, ...]
    skip: frozenset[str]


def _behind(prefix: str, found: Optimised, counters: Mapping[str, Count]) -> Optimised:
    """The same behind a beginning that nothing touches."""
    n, source, text = len(prefix), prefix + found.source, prefix + found.text
    tokens = {name: (count(source), count(text) + (count(found.negative) if found.negative else 0)) for name, count in counters.items()}
    changes = tuple(replace(change, start=change.start + n, end=change.end + n) for change in found.changes)
    return replace(found, source=source, text=text, slots=slots_of(text, found.negative), changes=changes, tokens=tokens)


def _candidates(source: str, wish: _Wish) -> Iterator[Optimised]:
    """What may be answered, the best first, the prompt as it is last."""
    counters = wish.counters or {"": pieces}
    counted = {name: count(source) for name, count in counters.items()}
    held = list[Held]()

    def made(level: Delivered, draft: Draft, recall: float, negative: str, tokens: Mapping[str, int]) -> Optimised:
        pairs = {name: (counted[name], tokens[name]) for name in wish.counters}
        slots = slots_of(draft.text, negative)
        why = tuple(dict.fromkeys(held))
        return Optimised(source, draft.text, negative, wish.level, level, recall, slots, tuple(draft.changes), pairs, why)

    for level, skip in _attempts(source, wish, held):
        whole = shortened(source, level != "safe", wish.kept, skip)
        if whole is None:
            held.append(("steps", ""))
            break
        draft = whole.copy()
        if level == "strict" and (refused := _into_template(draft)):
            held.append((refused, ""))
            continue
        negative = ", ".join(said(draft))
        verdict = judge(source, draft.text, negative, distinct=level == "strict")
        tokens = {name: count(draft.text) + (count(negative) if negative else 0) for name, count in counters.items()}
        longer = [name for name, count in tokens.items() if count > counted[name]]
        if verdict.lost:
            held.append(("slots", _named(verdict.lost)))
        elif not verdict.passes(1.0 if level == "safe" else LEAST_RECALL):
            held.append(("recall", _named(verdict.missing or verdict.added)))
        elif protected(draft.text) != protected(source):
            held.append(("brackets", ""))
        elif not draft.text.strip():
            held.append(("empty", ""))
        elif longer:
            held.append(("longer", ", ".join(longer)))
        else:
            yield made("none" if draft.text == source and held else level, draft, verdict.recall, negative, tokens)
    yield made("none", Draft(source), 1.0, "", counted)


def _attempts(source: str, wish: _Wish, held: list[Held]) -> Iterator[tuple[Level, frozenset[str]]]:
    """The level asked for, then those below it; each whole, then with ever more given up. Goes on while nothing was good enough."""
    if len(source) > MOST_CHARACTERS:
        held.append(("long", str(MOST_CHARACTERS)))
    elif mask(source) is None:
        held.append(("brackets", ""))
    else:
        for level in LEVELS[LEVELS.index(wish.level) :: -1]:
            for skip in _LADDER if level != "strict" else _LADDER[:1]:
                yield level, skip | wish.skip


@cache
def _rules(compact: bool, latin: bool, cjk: bool) -> tuple[Rule, ...]:
    rules = (*(english.rules() if latin else ()), *(chinese.rules() if cjk else ()))
    return tuple(rule for rule in rules if compact or not rule.compact)


@lru_cache(maxsize=64)
def shortened(source: str, compact: bool, kept: tuple[Span, ...], skip: frozenset[str]) -> Draft | None:
    """The draft when nothing is left to do; None where that takes too many steps. Shared, so nobody changes it: level strict goes on with
    a copy of what compact comes to."""
    draft = Draft(source, kept, skip)
    return draft if _shorten(draft, compact) else None


def _shorten(draft: Draft, compact: bool) -> bool:
    """Whether it came to an end."""
    for _ in range(_ROUNDS):
        masked = draft.masked()
        if masked is None or not _step(draft, masked, not several(draft.text), compact):
            return True
    return False


def _into_template(draft: Draft) -> str:
    """Says why it can't, or ""."""
    for _ in range(_ROUNDS):
        before = draft.text
        refused = to_template(draft)
        if refused or draft.text == before:
            return refused
        if not _shorten(draft, True):  # what stood apart may be a double now
            break
    return "steps"


def _named(words: Sequence[str]) -> str:
    each = list(dict.fromkeys(words))
    return ", ".join(each[:_NAMED]) + (" …" if len(each) > _NAMED else "")


def _step(draft: Draft, masked: str, one: bool, compact: bool) -> bool:
    """One round: all that is done in place, or else the first kind of change to whole clauses that finds something."""
    changed = False
    for rule in _rules(compact, has_latin(masked), has_cjk(masked)):
        first = len(masked) + 1
        for start, end, instead in sorted(rule.edits(masked, one), reverse=True):
            if end <= first and masked[start:end] == draft.text[start:end] and draft.cut(start, end, rule.reason, instead):
                first, changed = start, True
        if first <= len(masked):
            masked = draft.masked() or ""
    return (
        changed
        or move_negations(draft, masked, one)
        or drop_doubles(draft, masked, one, compact)
        or order(draft, masked)
        or trim(draft, masked)
    )
