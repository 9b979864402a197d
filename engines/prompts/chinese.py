"""The same for Chinese: words without a break between them, so that a rule says exactly what may stand beside it."""

import re
from collections.abc import Iterator
from functools import cache

from engines.prompts.english import Edit, Rule, plain
from engines.prompts.slots import AGES, mentions
from engines.prompts.vocabulary import vocabulary

_END = r"(?=$|[，,。；;！\n])"
_START = r"(?:^\s*|(?<=[。！？\n]))"
_ASKED = (
    r"(?:请|麻烦)?[你您]?(?:能不能|能否|可以|可否)?(?:帮我|帮忙|给我|为我)?(?:生成|创建|制作|创作|来)(?=[一两三])"
    r"|(?:我想要看到|我想要|我需要|我要)(?=[一两三])"
)
_PICTURE = re.compile(
    rf"{_START}(?P<cut>(?:{_ASKED})?一[张幅])(?P<body>[^，,。；;！？\n]*[^上里中下，,。；;！？\n])(?P<tail>的(?:图片|图像|画面)){_END}"
)
_PHOTO = re.compile(
    rf"{_START}(?P<cut>(?:{_ASKED})?一[张幅])(?=[^，,。；;！？\n]*[^上里中下，,。；;！？\n](?:照片|肖像|油画|写真|插画){_END})"
)
_REQUEST = re.compile(rf"{_START}(?P<cut>{_ASKED}|请(?=，))")
_MEASURE = re.compile(r"(?:^\s*|(?<=[，,。；和与]))(?P<cut>一[位名个])(?!人(?![物像]))(?=[^，,。；\n]{1,24})")
_WORN = re.compile(r"(?<![一唯第只仅另同每某十百])(?P<cut>一[副顶件条双])(?=[^，,。；和与、\n]{1,10})")
_HEDGE = re.compile(r"(?P<cut>(?:看起来|看上去|年龄|大约|大概|约)+)(?=\d{1,3}岁(?!以|多|到|至|左右以))")
_ABOUT = re.compile(r"(?<=\d岁)(?P<cut>左右|上下)")
_ON_FACE = re.compile(r"(?P<cut>脸上(?:带着|挂着|露出|洋溢着))(?=[^，,。；\n]{0,6}(?:笑|微笑|笑容|表情))")


def strip_fillers(text: str) -> str:
    """See `english.strip_fillers`."""
    text = _PICTURE.sub(lambda found: " " + found["body"], text)
    for pattern in (_PHOTO, _REQUEST, _HEDGE, _ABOUT, _ON_FACE, _intensified()):
        text = pattern.sub(lambda found: found[0].replace(found["cut"], " ", 1), text)
    return text


def rules() -> tuple[Rule, ...]:
    """In the order in which they are tried."""
    return (
        Rule("request", False, _pictures),
        Rule("request", False, plain(_PHOTO)),
        Rule("request", False, plain(_REQUEST)),
        Rule("article", False, _measures),
        Rule("article", True, _worn),
        Rule("filler", True, _hedges),
        Rule("filler", True, plain(_ON_FACE)),
        Rule("intensifier", True, plain(_intensified())),
        Rule("filler", True, _particles),
    )


@cache
def _intensified() -> re.Pattern[str]:
    words = vocabulary().words
    strong = "|".join(sorted((w for w in words["intensifiers"] if not w.isascii()), key=len, reverse=True))
    praised = "|".join(sorted(word for word in words["before_intensified"] if not word.isascii()))
    return re.compile(rf"(?<![不没非是太])(?P<cut>(?:{strong})+)(?=(?:{praised}))")


def _pictures(text: str, one: bool) -> Iterator[Edit]:
    """“请生成一张…的图片”: its end first, so that its beginning is still where it was."""
    for found in _PICTURE.finditer(text):
        yield found.start("tail"), found.end("tail"), ""
        yield found.start("cut"), found.end("cut"), ""


def _measures(text: str, one: bool) -> Iterator[Edit]:
    """“一位…男人” where nobody else is spoken of; not "一个人", who is alone. Beside others the number counts: Chinese has no plural."""
    if not one:
        return
    for found in _MEASURE.finditer(text):
        clause = re.split(r"[，,。；\n]", text[found.end() :])[0]
        if any(mention.slot == "subject" and mention.value != "人" for mention in mentions(clause)):
            yield found.start("cut"), found.end("cut"), ""


def _worn(text: str, one: bool) -> Iterator[Edit]:
    for found in _WORN.finditer(text):
        near = re.split(r"[，,。；和与、\n]", text[found.end() : found.end() + 10])[0]
        if any(mention.slot in ("glasses", "clothing") for mention in mentions(near)):
            yield found.start("cut"), found.end("cut"), ""


def _hedges(text: str, one: bool) -> Iterator[Edit]:
    """“看起来约35岁” → “35岁”, where no other age is said: “看起来80岁，其实60岁”."""
    if len(AGES.findall(text)) == 1:
        for pattern in (_ABOUT, _HEDGE):
            yield from plain(pattern)(text, one)


def _particles(text: str, one: bool) -> Iterator[Edit]:
    """“黑色的头发" → "黑色头发": only between an adjective and what it describes; "男人的帽子" says whose hat it is."""
    adjectives = vocabulary().words["adjectives"]
    places = {
        mention.end: mention
        for mention in mentions(text)
        if mention.slot in ("hair", "eyes", "light", "clothing", "glasses", "expression", "place", "facial_hair")
    }
    for mention in places.values():
        for found in re.finditer("的", text[mention.start : mention.end]):
            at = mention.start + found.start()
            if any(text[max(0, at - n) : at] in adjectives for n in (2, 3, 4)):
                yield at, at + 1, ""
