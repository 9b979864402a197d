"""What in a prompt is a program's and not a person's: weights, networks, choices, breaks. It is never touched, byte for byte.

Syntaxes: AUTOMATIC1111's emphasis `(x)`, `(x:1.2)`, `[x]`, `[a:b:0.5]`, `\\(`, networks `<lora:name:1>`, `BREAK`, `AND`; dynamic prompts'
`{a|b}` and `__wildcard__`; ComfyUI's `embedding:name`; Midjourney's `--ar 3:4` and `::2`; words in quotation marks, which are to be
written in the picture.
"""

import re
from functools import lru_cache

KEPT = "\ue000"  # stands for one protected character; a private-use code point, so no word and no space
_PAIRS = {")": "(", "]": "[", "}": "{", "）": "（", "】": "【"}
_QUOTES = r"\"[^\"\n]*\"|“[^”\n]*”|‘[^’\n]*’|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|(?<![^\W_])'[^'\n]*'(?![^\W_])|`[^`\n]*`"
_BRACKET = re.compile("[" + re.escape("".join((*_PAIRS, *_PAIRS.values()))) + "]")
_SYNTAX = re.compile(
    rf"\\.|<[^<>\n]*>|{_QUOTES}|__[^\s,]+?__|\bembedding:[^\s,]+|https?://\S+|(?<!\S)--\w[\w-]*(?:[ =](?!--)[\w:./-]+)?"
    rf"|::-?\d*\.?\d*|\bBREAK\b|\bAND\b|\$\w+|[{KEPT}]",
    re.S,
)


@lru_cache(maxsize=512)
def mask(text: str) -> str | None:
    """The text with a `KEPT` for each character that stays as it is; the same length. None where brackets don't close: then nothing
    can be said about what belongs together."""
    found = _SYNTAX.sub(lambda match: KEPT * len(match[0]), text)
    kept, open_at = found, list[int]()
    for bracket in _BRACKET.finditer(found):
        at, opener = bracket.start(), _PAIRS.get(bracket[0])
        if opener is None:
            open_at.append(at)
            continue
        if not open_at or found[open_at[-1]] != opener:
            return None
        begun = open_at.pop()
        if not open_at:
            kept = kept[:begun] + KEPT * (at + 1 - begun) + kept[at + 1 :]
    return None if open_at else kept


def protected(text: str) -> list[str]:
    """The parts that stay, in order: what touches counts as one part."""
    masked = mask(text)
    return [text] if masked is None else [text[part.start() : part.end()] for part in re.finditer(f"{KEPT}+", masked)]
