"""What may be left out of, or said shorter in, an English prompt without a fact being lost. Each rule takes one place and says why."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from engines.prompts.ages import ages, without_hedges
from engines.prompts.slots import mentions
from engines.prompts.vocabulary import vocabulary

Edit = tuple[int, int, str]  # start, end, what stands there instead


@dataclass(frozen=True, slots=True)
class Rule:
    """Args of `edits`: the masked text, and whether one person alone is spoken of. `compact`: not at level safe."""

    reason: str
    compact: bool
    edits: Callable[[str, bool], Iterator[Edit]]


_START = r"(?:^\s*|(?<=[.!?。！？] )|(?<=\n))"
_POLITE = r"(?:(?:please|kindly|hi|hello),? )*"
_WISH = r"(?:i'd like|i would like|i want|i need|i wish)"
_ASK = (
    rf"{_POLITE}(?:(?:can|could|would|will) you (?:please |kindly )?"
    rf"|{_WISH} (?:you )?(?:to (?:see |have |get )?)?|help me (?:to )?|let's )?"
)
_VERB = r"(?:generate|create|make|produce|show|give|design)(?: me| us)? "
_MADE = r"(?:(?:generate|create|produce)(?: me| us)?|(?:make|show|give|design) (?:me|us)) "
_OBJECT = (
    r"(?:image|picture|pic|visual) (?:of|showing|depicting|that shows|which shows) "
    r"(?!(?:an? )?(?:\w+ )?(?:image|picture|photo|painting|drawing|portrait) of )"  # "a picture of a picture of a man"
)
_SOME = r"(?=(?:an?|the|one|two|three|some|portraits?|photos?|photographs?) )"
_REQUESTS = re.compile(
    rf"{_START}(?P<cut>{_ASK}{_VERB}(?:(?:an?|the|one) )?{_OBJECT}"
    rf"|{_ASK}(?:an?|the|one) {_OBJECT}"
    rf"|{_ASK}{_MADE}{_SOME}"
    rf"|{_WISH}(?: to (?:see|have|get))? (?=(?:an?|the|one|two|three) )"
    r"|(?:the|this) (?:image|picture) (?:should |must )?(?:shows?|depicts?|features?) "
    r"|please,? (?=\w))",
    re.I,
)
_PLEASE = re.compile(r"(?<!\bto)(?P<cut>[,.]? (?:please|thank you|thanks))(?=\s*[.!?]?\s*$)", re.I)
_ARTICLE = re.compile(r"(?:(?<=[\s，。])|^)(?P<cut>(?:an?|the) )(?=[\w'’])", re.I)
_ARTICLE_AFTER = frozenset(
    ("such", "what", "many", "quite", "half", "not", "all", "both", "twice", "once", "times", "per", "rather", "but", "only")
)
_DOING = r"(?:(?!k?ing\b|ring\b|string|spring|thing\b|wing\b)\w+ing|dressed|covered|seated|surrounded|lit)\b"
_RELATIVE = re.compile(rf"(?<=\w )(?P<cut>(?:who|that|which) (?:is|are) )(?={_DOING}|in (?:his|her|their) )", re.I)
_AND_IS = re.compile(rf"(?<=\band )(?P<cut>(?:is|are) )(?={_DOING})", re.I)
_THERE = re.compile(rf"{_START}(?P<cut>there (?:is|are) )(?=\w)", re.I)
_LOCATED = re.compile(r"(?<=\w )(?P<cut>(?:located|situated) )(?=(?:in|on|at|near|beside)\b)", re.I)
_TWICE = re.compile(r"\b(?P<cut>(very|really|extremely|so|highly|a|an|the|of|in|on|with|and) )(?=\2 )", re.I)
_ON_FACE = re.compile(
    r"(?<=\b)(?:smile|grin|smirk|frown|scowl|expression|freckles|wrinkles)(?P<cut> on (?:his|her|their|the) face)\b", re.I
)

_CUES = {
    _PLEASE: ("please", "thank"),
    _RELATIVE: (" is ", " are "),
    _AND_IS: (" is ", " are "),
    _THERE: ("there ",),
    _LOCATED: ("located ", "situated "),
    _ON_FACE: (" face",),
}


def strip_fillers(text: str) -> str:
    """A text without the phrases that say nothing, as the gate reads it: what a rule of level compact takes is no content."""
    text, low = without_hedges(text), text.lower()
    for pattern in (_REQUESTS, _PLEASE, _TWICE, _LOCATED, _ON_FACE, _THERE, _intensified(), _pairs()):
        if _cued(pattern, low):
            text = pattern.sub(lambda found: found[0].replace(found["cut"], " ", 1), text)
    return text


def _cued(pattern: re.Pattern[str], low: str) -> bool:
    """Whether a text in lower case has one of the words without which a pattern can't match: looking for them takes a tenth of its time."""
    cues = _CUES.get(pattern)
    return cues is None or any(cue in low for cue in cues)


def rules() -> tuple[Rule, ...]:
    """In the order in which they are tried."""
    return (
        Rule("request", False, plain(_REQUESTS)),
        Rule("request", False, plain(_PLEASE)),
        Rule("double", False, plain(_TWICE)),
        Rule("filler", False, plain(_RELATIVE)),
        Rule("filler", True, plain(_AND_IS)),
        Rule("filler", True, plain(_THERE)),
        Rule("filler", True, plain(_LOCATED)),
        Rule("filler", True, plain(_ON_FACE)),
        Rule("filler", True, plain(_pairs())),
        Rule("intensifier", True, plain(_intensified())),
        Rule("short_form", False, lambda text, one: ages(text, one, hedged=False)),
        Rule("short_form", True, lambda text, one: ages(text, one, hedged=True)),
        Rule("article", False, _articles),
    )


def plain(pattern: re.Pattern[str]) -> Callable[[str, bool], Iterator[Edit]]:
    """A rule that takes the group "cut" of every match."""

    def edits(text: str, one: bool) -> Iterator[Edit]:
        for found in pattern.finditer(text) if _cued(pattern, text.lower()) else ():
            if found["cut"].strip():
                yield found.start("cut"), found.end("cut"), ""

    return edits


@cache
def _intensified() -> re.Pattern[str]:
    words = vocabulary().words
    strong = "|".join(sorted(word for word in words["intensifiers"] if word.isascii()))
    praised = "|".join(sorted(word for word in words["before_intensified"] if word.isascii()))
    return re.compile(rf"(?<!\bnot )(?<!n't )(?<!\bno )(?<!\bless )\b(?P<cut>(?:{strong}) )(?=(?:{praised})\b)", re.I)


@cache
def _pairs() -> re.Pattern[str]:
    words = vocabulary().words
    worn, adjectives = "|".join(sorted(words["worn_in_pairs"])), "|".join(sorted(word for word in words["adjectives"] if word.isascii()))
    return re.compile(rf"(?<!\w)(?P<cut>(?:a |the )?pair of )(?=(?:(?:{adjectives}) )*(?:{worn})\b)", re.I)


def _articles(text: str, one: bool) -> Iterator[Edit]:
    words = vocabulary().words
    for found in _ARTICLE.finditer(text):
        article, before, after = found["cut"].strip(), text[: found.start()], text[found.end() :]
        fresh = not before.strip() or before.rstrip()[-1] in ".!?\n。，,;"
        following = re.match(r"[\w'’-]+", after)
        if not following or (article[0].isupper() and not fresh) or (article.lower() == "the" and following[0][0].isupper()):
            continue  # "Vitamin A", "the Rock"
        joined = re.search(r"([\w-]+),? (?:and|or) $", before)
        if (
            _means(article.lower(), after)
            or _word_before(before) in _ARTICLE_AFTER
            or (joined and joined[1].lower() in words["adjectives"])
        ):
            continue
        yield found.start("cut"), found.end("cut"), ""


def _word_before(text: str) -> str:
    found = re.search(r"([\w'’-]+)\W*$", text)
    return found[1].lower() if found else ""


def _means(article: str, after: str) -> bool:
    """Whether an article is a part of what is said: "a few"; "a little", unless it is a little somebody; beside a lone adjective: "a black
    and a white cat" is two cats, "the proud" are people."""
    word = re.split(r"[^\w'’-]", after, maxsplit=1)[0].lower()
    if word == "little":
        return not any(each.slot == "subject" and each.start <= len("little ") for each in mentions(after[:40]))
    alone = re.split(r"[,.;]|\b(?:and|or)\b", after)[0].lower().split()
    lone = article == "the" and len(alone) == 1 and any(each.slot in ("age", "expression", "ethnicity") for each in mentions(word))
    known = vocabulary().words
    return lone or word in known["article_stays"] or (bool(alone) and all(each in known["adjectives"] for each in alone))
