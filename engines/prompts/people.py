"""Whether a prompt speaks of one person alone: only then is clear of whom "no glasses" or "35 years old" is said."""

import re
from functools import cache, lru_cache
from itertools import pairwise

from engines.prompts.slots import mentions
from engines.prompts.vocabulary import folded, vocabulary

_ANYBODY = frozenset(("person", "human", "individual", "model", "character", "persona", "人", "人物", "人像"))
_ALSO = re.compile(r"\b(?:who|he|she|and) is (?:also )?(?:an? |the )?(?:\w+ )?$", re.I)  # "a woman who is a doctor" is one
# "portrait of" begins most prompts; behind another word than its own adjectives it is a second picture, with somebody in it
_PICTURE_IN_PICTURE = (
    r"\b(?:with|of|in|on|at|by|beside|behind|near|before|and|holding|showing)\b"
    r"[^,.;\n]*\b(?:portrait|photo|picture|painting|drawing) of\b"
)
# "a lady and her maid": a word that nobody here knows may be somebody. Not a verb: "and thinking", "and holds"
_AND_SOMEBODY = re.compile(
    r"\band (?!\w+(?:ing|ed)\b|is\b|are\b|has\b|wears\b|no\b|not\b|with|in\b|on\b|at\b|who\b)([\w'’-]+(?: [\w'’-]+)*?)"
    r"(?= (?:in|on|at|with|without|of|from|to|for|under|over|behind|and|who|is|are)\b|[^\w'’ -]|$)"
)
_HE, _SHE = re.compile(r"\b(?:he|his|him)\b|他"), re.compile(r"\b(?:she|hers?)\b|她")


@lru_cache(maxsize=128)
def several(text: str) -> bool:
    """Whether more than one person, or an animal or a picture besides, is spoken of: then nothing can be told apart from its owner."""
    low = folded(text)
    if (
        _crowd().search(low)
        or (_HE.search(low) and _SHE.search(low))
        or any(not mentions(found[1]) for found in _AND_SOMEBODY.finditer(low))
    ):
        return True
    people = [mention for mention in mentions(text) if mention.slot == "subject"]
    named = [mention for mention in people if mention.value not in _ANYBODY and not _ALSO.search(text[: mention.start])]
    return len({mention.value for mention in named}) > 1 or any(
        one.value == other.value and one.end < other.start for one, other in pairwise(named)
    )


@cache
def _crowd() -> re.Pattern[str]:
    words = sorted(vocabulary().words["many"] | vocabulary().words["companions"], key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in words if word.isascii())
    return re.compile(rf"\b(?:{latin})\b|{_PICTURE_IN_PICTURE}|{'|'.join(word for word in words if not word.isascii())}")
