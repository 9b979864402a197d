"""Level strict: what the slots know, in their order, and nothing else. Only where one person is spoken of: else whose is what?"""

import re

from engines.prompts.draft import Draft, Span
from engines.prompts.people import several
from engines.prompts.protect import KEPT
from engines.prompts.slots import mentions
from engines.prompts.tidy import known_slots
from engines.prompts.vocabulary import CJK

_BETWEEN = re.compile(r"[ \t]*")  # "young Asian woman" is said in one go
_OF = re.compile(r"[ \t]*|的")  # and "年轻的女人"; not "眼镜的男人", who wears them
_OF_A_PERSON = frozenset(("age", "sex", "ethnicity", "expression"))


def to_template(draft: Draft) -> str:
    """Rewrites the draft in place. Says why it can't, or "": several people, sections, a negation that must stay where it is."""
    masked = draft.masked()
    if masked is None or re.search(r"\b(?:BREAK|AND)\b|\|", draft.text):
        return "brackets"
    if several(draft.text):
        return "several"
    units = _units(draft.text, masked)
    if units is None:
        return "negated"
    ordered = list({masked[start:end].lower(): (start, end) for _, start, end in sorted(units, reverse=True)}.values())[::-1]
    twice = [(start, end) for _, start, end in units if (start, end) not in ordered]
    outside = _outside(masked, [*ordered, *twice])
    if not outside and not twice and ordered == sorted(ordered):
        return ""
    if not all(draft.free(*draft.span(*span)) for span in (*outside, *twice)):
        return "kept"
    comma = "，" if "，" in draft.text and re.search(f"[{CJK}]", draft.text) else ", "
    pieces: list[Span | str] = []
    for span in [*ordered, *(found.span() for found in re.finditer(f"{KEPT}+", masked))]:
        pieces += [span, comma]
    for reason, spans in (("double", twice), ("outside", outside)):
        for span in spans:
            draft.note(*draft.span(*span), reason)
    draft.reorder(pieces[:-1], [])
    return ""


def _units(text: str, masked: str) -> list[tuple[int, int, int]] | None:
    """Values that stand together as one: rank of the most telling one, start, end. None where one is negated."""
    rank = {slot: number for number, slot in enumerate(known_slots())}
    units, last = list[tuple[int, int, int]](), ""
    for mention in mentions(text):
        if mention.negated:
            return None
        if KEPT in masked[mention.start : mention.end]:
            continue
        mine = rank[mention.slot]
        between = _OF if last in _OF_A_PERSON else _BETWEEN
        last = mention.slot
        if units and between.fullmatch(masked, units[-1][2], max(mention.start, units[-1][2])):
            before, start, _ = units.pop()
            units.append((min(before, mine), start, mention.end))
        else:
            units.append((mine, mention.start, mention.end))
    return units


def _outside(masked: str, inside: list[Span]) -> list[Span]:
    """The words that no slot knows, without the space and punctuation round them."""
    rest = list(masked)
    for start, end in inside:
        rest[start:end] = KEPT * (end - start)
    words = re.finditer(rf"[^\W{KEPT}][^{KEPT},;.，。；\n]*", "".join(rest))
    return [(found.start(), found.start() + len(found[0].rstrip())) for found in words]
