"""What a prompt says, slot by slot: who, how old, with which hair, in which light. "no glasses" is another value than "glasses"."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from engines.prompts.vocabulary import CJK, Found, find, has_cjk, vocabulary

AGES = re.compile(
    r"(?<![\w-])(?:age ?: ?|aged? )(?P<said>\d{1,3})(?![\w%])|(?<![\w.])(?P<old>\d{1,3})[- ]years?[- ]old(?!\w)"
    r"|(?<![\w])(?P<decade>(?:(?:early|mid|late)[- ])?\d0s)(?!\w)|(?P<sui>\d{1,3}) ?岁",
    re.I,
)
_MODIFIED = frozenset(("expression", "eyes", "hair", "facial_hair", "glasses", "clothing", "makeup", "light", "place", "skin", "quality"))
_BEFORE = re.compile(rf"(?:([^\W\d_{CJK}][\w-]*) |([{CJK}]{{2,4}}?)的?)$")
_DIRECTION = re.compile(
    r"(?:\s+(?:coming |falling )?(?:from|on|at|to) (?:an? |the |his |her |their )?"
    r"(?:upper |lower )?(?:left|right|side|above|below|behind|front|top|window|back)\b(?: side)?)+",
    re.I,
)
_COLOUR = re.compile(r"(\w+) $")  # "Black man"
_NOT_SAID = frozenset(("a", "an", "the", "his", "her", "their", "coming", "falling"))
_FACE = re.compile(r"\s+(?:facial )?(?:expression|face|look|gaze)\b|的?(?:表情|神情)", re.I)
_BETWEEN = frozenset(("a", "an", "any", "the", "visible", "wearing", "having", "or", "his", "her", "their", "nor", "very", "really"))
_NETWORK = re.compile(r"<[^<>\n]*>")
_CLAUSE_ENDS = re.compile(r"[,;.，；。、！？!?\n]")
_NOT_WORN = re.compile(r"\s*of\b|\s*case", re.I)


@dataclass(frozen=True, slots=True)
class Mention:
    """A value at its place. `value` as counted, with its modifiers; `key` what the gate compares; `negated`: it is to be absent."""

    start: int
    end: int
    slot: str
    value: str
    key: str
    negated: bool


@lru_cache(maxsize=512)
def mentions(text: str) -> tuple[Mention, ...]:
    """All values of a text, in order."""
    quiet = _NETWORK.sub(lambda found: " " * len(found[0]), text)  # a network's name is no fact
    denied = _denies(quiet)
    found = [_age(quiet, age, denied) for age in AGES.finditer(quiet)]
    taken = [(mention.start, mention.end) for mention in found]
    for each in find(quiet):
        if any(each.start < end and start < each.end for start, end in taken):
            continue
        slot, value, start, end = each.phrase.slot, each.phrase.value, each.start, each.end
        if slot == "glasses" and _NOT_WORN.match(quiet, end):
            continue
        if slot in _MODIFIED:
            start, value = _with_modifiers(quiet, each, found)
        if slot == "subject" and (colour := _COLOUR.search(quiet, max(0, start - 12), start)):
            called = colour[1].lower()
            if called in vocabulary().words["before_person"]:
                start, value = colour.start(1), f"{called} {value}"
        if slot == "expression" and (face := _FACE.match(quiet, end)):
            end = face.end()
        if slot == "light" and (direction := _DIRECTION.match(quiet, end)):
            end = direction.end()
            value += " " + _plain(direction[0])
            taken.append((each.end, end))  # the window that it comes from is no place
        negated = denied and _negated(quiet, start)
        found.append(Mention(start, end, slot, value, each.phrase.group or value, negated))
    return tuple(sorted(found, key=lambda mention: mention.start))


def slots_of(text: str, negative: str = "") -> dict[str, tuple[str, ...]]:
    """The values of each slot that is spoken of, in the order of the vocabulary. What the negative prompt names is "no …"."""
    return _gathered(text, negative, "value")


def keys_of(text: str, negative: str = "") -> dict[str, frozenset[str]]:
    """What must be equal before and after: like `slots_of`, tags that say the same counted once."""
    return {slot: frozenset(values) for slot, values in _gathered(text, negative, "key").items()}


def _gathered(text: str, negative: str, part: str) -> dict[str, tuple[str, ...]]:
    said: dict[str, list[str]] = {}
    for each in mentions(text):
        said.setdefault(each.slot, []).append(f"no {getattr(each, part)}" if each.negated else getattr(each, part))
    for each in mentions(negative):
        said.setdefault(each.slot, []).append(f"no {getattr(each, part)}")
    return {slot: tuple(dict.fromkeys(said[slot])) for slot in vocabulary().slots if slot in said}


def _age(text: str, found: re.Match[str], denied: bool) -> Mention:
    value = next(part for part in found.groups() if part).lower()
    return Mention(found.start(), found.end(), "age", value, value, denied and _negated(text, found.start()))


def _with_modifiers(text: str, each: Found, found: list[Mention]) -> tuple[int, str]:
    """Where a value begins with its adjectives, and what it then is. Takes back values that are a part of it: "curly" of "curly hair"."""
    start, modifiers = _modifiers(text, each.start)
    while found and found[-1].slot == each.phrase.slot and found[-1].start >= start:
        found.pop()
    floor = max((mention.end for mention in found if start < mention.end <= each.start), default=start)
    if floor == start:
        return start, modifiers + each.phrase.value
    between = text[floor : each.start].lstrip()  # behind a value of another slot: "young, smiling eyes"
    return each.start - len(between), between.lower() + each.phrase.value


def _modifiers(text: str, start: int) -> tuple[int, str]:
    """Adjectives right before a value: where they begin, and they themselves in one writing."""
    adjectives, taken = vocabulary().words["adjectives"], ""
    while word := _BEFORE.search(text[max(0, start - 24) : start]):
        latin, chinese = word[1], word[2]
        if latin and latin.lower() in adjectives:
            taken, start = f"{latin.lower()} {taken}", start - len(word[0])
        elif chinese and (length := next((n for n in (4, 3, 2) if _chinese_tail(text[:start], n) in adjectives), 0)):
            tail = _chinese_tail(text[:start], length)
            taken, start = tail + taken, start - length - (text[start - 1] == "的")
        else:
            break
    return start, taken


def _chinese_tail(text: str, length: int) -> str:
    body = text[:-1] if text.endswith("的") else text
    return body[-length:] if len(body) >= length else ""


def _denies(text: str) -> bool:
    """Whether there is a negator anywhere, be it a part of a word: where there is none, nothing has to be asked for each value."""
    low = text.lower()
    return any(negator in low for negator in vocabulary().words["negators"])


def _negated(text: str, start: int) -> bool:
    """Whether a negator stands before a place: up to four words back in English, right before it in Chinese."""
    negators, chinese = vocabulary().words["negators"], _chinese_negator()
    before = _CLAUSE_ENDS.split(without_seeming(text[max(0, start - 60) : start]))[-1].lower()
    listed = False
    for word in reversed(before.split()[-8:]):
        if word in negators:
            return True
        if not listed and word not in _BETWEEN and word not in vocabulary().words["adjectives"]:
            break
        listed = word == "or"  # "no hat or glasses"
    return chinese.search(before.rstrip()) is not None


def without_seeming(text: str) -> str:
    """The text, of the same length, without words in which a negator is only a part: "特别", "非常"."""
    return _seeming().sub(lambda found: "〇" * len(found[0]), text) if has_cjk(text) else text


@cache
def _seeming() -> re.Pattern[str]:
    return re.compile("|".join(sorted(vocabulary().words["no_negators"], key=len, reverse=True)))


@cache
def _chinese_negator() -> re.Pattern[str]:
    """ "没", "没有", "没有戴任何" at the end of what stands before a value."""
    words = "|".join(sorted((word for word in vocabulary().words["negators"] if not word.isascii()), key=len, reverse=True))
    return re.compile(rf"(?:{words})(?:任何|明显的?|戴着?|佩戴|带|穿|有|要|留|化|再|太|很|在)*$")


def _plain(words: str) -> str:
    return " ".join(word for word in words.lower().split() if word not in _NOT_SAID)
