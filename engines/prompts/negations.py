"""What is to be absent goes to the negative prompt, where that says the same: of one person, a thing that can be left out."""

import re
from collections.abc import Iterator

from engines.prompts.draft import Draft
from engines.prompts.slots import mentions
from engines.prompts.vocabulary import vocabulary

_END = r"(?=\s*(?:[,;.，。；\n]|$)|\s+(?:holding|standing|sitting|smiling|looking|walking|reading|posing|laughing|wearing)\b)"
_WORD = r"(?!(?:and|no|not|with|without|but)\b)[\w-]+"
_ENGLISH = re.compile(
    r"(?:(?<=[\s,;.\n])|^)(?P<cut>(?:(?:and|,) )?(?:(?:who|that) )?(?:(?:is|are|has|have|having|with|wearing|wears) )?"
    r"(?:no|without|not wearing|not having) (?:any |an? )?"
    rf"(?P<what>(?:{_WORD} ){{0,3}}?{_WORD}(?: or (?:an? |any )?(?:[\w-]+ ){{0,1}}?[\w-]+)*))(?P<end>{_END})",
    re.I,
)
_WITHOUT = r"(?:不要有?|没有戴|没有|没戴|不戴|不带|未戴|不佩戴|无)(?:任何)?"
_CHINESE = re.compile(rf"(?:^|(?<=[，,。；;\n]))\s*(?P<cut>{_WITHOUT}(?P<what>[^\W\d_]{{1,8}}?))(?P<end>(?=\s*(?:[，,。；\n]|$)))")
_CHINESE_BEFORE = re.compile(rf"(?P<cut>{_WITHOUT}(?P<what>[^\W\d_]{{1,6}}?)的)(?P<end>(?=[^，,。；\n]))")
_BUT = re.compile(r"\s*[,，]?\s*(?:but|just|only|except|instead|yet|rather|但|而|却|只|除了|或|和)", re.I)
_JOINING = frozenset(("or", "and", "any", "an", "a"))
_NOT_AFTER = re.compile(
    r"(?:\b(?:not|never|or|either|whether|says?|saying|reading|written|called|named|titled|labell?ed|but|nor|if)|写着|是否|不是|并非|有)\s*$",
    re.I,
)


def move_negations(draft: Draft, masked: str, one: bool) -> bool:
    """Takes the last negation that may go, and names it in `draft.negative`. False where there is none."""
    found = [*_ENGLISH.finditer(masked), *_CHINESE.finditer(masked), *(_CHINESE_BEFORE.finditer(masked) if one else ())]
    for match in sorted(found, key=lambda match: -match.start()):
        names = [re.sub(r"^(?:an?|any) ", "", part) for part in re.split(r" or ", match["what"])]
        if not all(_may_go(name, one) for name in names) or not _free(draft.text, masked, match, names):
            continue
        place = draft.span(match.start("cut"), match.end("cut"))
        before, after = masked[: match.start("cut")], masked[match.end("cut") :]
        start = len(before.rstrip().rstrip(",，;；").rstrip()) if before.rstrip().endswith((",", "，", ";", "；")) else match.start("cut")
        end = len(masked) - len(after.lstrip(" ,，;；.。")) if not before.strip() else match.end("cut")
        if draft.cut(start, end, "negation"):
            draft.negative += [(place, name) for name in names]
            return True
    return False


def _may_go(name: str, one: bool) -> bool:
    """Whether a thing can be left out of the whole picture: with several people "no glasses" may be said of one of them."""
    words, low = vocabulary().words, name.lower()
    for listed in (words["absent_anywhere"], words["absent"] if one else frozenset()):
        for entry in listed:
            if low == entry or (low.endswith(" " + entry) and all(word in words["adjectives"] for word in low[: -len(entry)].split())):
                return True
    return False


def _free(text: str, masked: str, match: re.Match[str], names: list[str]) -> bool:
    """Whether nothing round a negation says more of it: "but with", "or a beard", the same thing elsewhere."""
    before, after = masked[: match.start("cut")], masked[match.end("cut") :]
    if _NOT_AFTER.search(before) or _BUT.match(after):
        return False
    # "without glasses, hat or beard": what follows may be denied as well
    following = re.split(r"[,，;；.。\n、]", after.lstrip(" ,，、"), maxsplit=1)[0].lower()
    known = vocabulary().words["absent"] | vocabulary().words["absent_anywhere"]
    listed = following.split()
    if following.startswith("or ") or (listed and all(word in known or word in _JOINING for word in listed)):
        return False
    if any(following == word or following.startswith(("和" + word, "或" + word)) for word in known):
        return False
    rest = (text[: match.start("cut")] + "\n" + text[match.end("cut") :]).lower()
    return not any(_named(name.lower(), rest) for name in names)


def _named(name: str, rest: str) -> bool:
    """Whether a thing is spoken of in the rest of the text, in whatever form: "no smile, smiling eyes"."""
    if not name.isascii():
        return name in rest or any(mention.value in name for mention in mentions(rest) if len(mention.value) > 1)
    stem = re.escape(re.sub(r"e?s?$", "", name.split()[-1]))
    return re.search(stem if len(stem) > 3 else rf"\b{stem}", rest.replace("sunglasses", "")) is not None


def said(draft: Draft) -> Iterator[str]:
    """What the negative prompt says, in the order of the source, each once."""
    yield from dict.fromkeys(" ".join(name.split()) for _, name in sorted(draft.negative, key=lambda each: each[0]))
