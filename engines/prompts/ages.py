"""Ages in their short form where they stand: "35-year-old man", "man who is 35 years old" → `age:35`; beside its person, of nobody else."""

import re
from collections.abc import Iterator, Sequence

from engines.prompts.slots import AGES, Mention, mentions
from engines.prompts.vocabulary import vocabulary

OLDEST = 120
_YEARS = re.compile(r"(?<![\w.-])(?P<years>\d{1,3})[- ]years?[- ]old\b", re.I)
_SEEM, _ABOUT = r"\b(?:looks?|looking|appears?|seems?)(?: to be)?(?: like)?", r"\b(?:about|around|approximately|roughly) "
# What introduces an age: "who is", ", and looks about"; the hedge is what level safe keeps.
_LEAD = re.compile(
    rf"(?:(?P<link>,? ?\b(?:and|who|that) )?(?P<seems>{_SEEM} ?)|(?P<who>,? ?\b(?:who|that) )is )?(?P<about>{_ABOUT})?$", re.I
)
_SEEMS = re.compile(rf"(?:{_SEEM} )?(?:{_ABOUT})?(?=\b\d{{1,3}}[- ]years?[- ]old)", re.I)
_RANGE_BEFORE = re.compile(r"[-–:/]$")
_RANGE_AFTER = re.compile(r"\s*(?:or|to|-|–|and (?:older|up|above))\b")
_ENDS = re.compile(r"\s*(?:$|[,;.!?，。\n]|(?:with|and|in|on|at|by|who|wearing|\w+ing)\b)", re.I)  # "20-year-old car" is a car's age
_CLAUSE_ENDS = re.compile(r"\s*(?:[,;.\n]|$)")
_BEFORE_PERSON = ("ethnicity", "sex", "expression", "age", "hair", "facial_hair")


def without_hedges(text: str) -> str:
    """As the gate reads it: "looks about" before an age is no content."""
    return _SEEMS.sub(" ", text)


def ages(text: str, one: bool, hedged: bool) -> Iterator[tuple[int, int, str]]:
    """Places and what may stand there instead.

    Args:
        one: one person alone is spoken of. hedged: those that are said with a hedge, else those without.
    """
    if not _YEARS.search(text) or (hedged and len(AGES.findall(text)) > 1):
        return  # most prompts; "looks 35, is 50"
    people = tuple(mention for mention in mentions(text) if mention.slot == "subject")
    for found in _YEARS.finditer(text):
        lead = _LEAD.search(text[: found.start()])
        assert lead  # all of it is optional
        before, after = text[: lead.start()].rstrip(), text[found.end() :]
        if bool(lead["seems"] or lead["about"]) != hedged or not 1 <= int(found["years"]) <= OLDEST or _of_a_range(before, after):
            continue
        link = (lead["link"] or lead["who"] or "").strip(" ,")
        owner = len(before.rstrip(" ,"))
        front = not link and _before_person(after, found.end(), people)
        beside = any(person.end == owner for person in people) and _ENDS.match(after)
        alone = one and (not before or before[-1] in ",;.\n") and _CLAUSE_ENDS.match(after)
        joined = one and link == "and"  # "wearing glasses and looks about 35 years old"
        if front or beside or alone or joined:
            start = owner if joined and not front else lead.start() + len(lead[0]) - len(lead[0].lstrip(" ,"))
            yield start, found.end(), f"{', ' if joined and not front else ''}age:{found['years']}"


def _of_a_range(before: str, after: str) -> bool:
    """ "30 to 35 years old", "over 35 years old", "35 years old or older"."""
    word = re.search(r"([\w'’-]+)\W*$", before)
    hedged = word is not None and word[1].lower() in vocabulary().words["hedges"]
    return hedged or _RANGE_BEFORE.search(before) is not None or _RANGE_AFTER.match(after) is not None


def _before_person(after: str, offset: int, people: Sequence[Mention]) -> bool:
    """Whether an age stands right before its person, with nothing but adjectives between them."""
    known = vocabulary().words["adjectives"]
    for person in people:
        place = person.start - offset
        if 0 < place <= 40:
            said = {each.value for each in mentions(after[:place]) if each.slot in _BEFORE_PERSON}
            return all(word.lower() in known or any(word.lower() in value for value in said) for word in after[:place].split())
    return False
