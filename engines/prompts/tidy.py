"""What is done to whole clauses: said twice → once; tags of quality and style behind the person; loose punctuation away."""

import re

from engines.prompts.clauses import Clause, clauses, words_of
from engines.prompts.draft import Draft
from engines.prompts.slots import mentions
from engines.prompts.vocabulary import vocabulary

OF_THE_PICTURE = frozenset(("quality", "style", "lens", "light", "framing", "colour_mode"))
LAST = ("lens", "style", "quality")  # what stands behind the person and the scene
_LOOSE = re.compile(
    r"^(?P<start>[\s,;，；]+)|(?P<end>(?:(?<![.\s])[\s]*[.。]|[\s,;，；])+)$"
    r"|(?P<space>(?<=[^\s])[ \t]{2,}(?=\S))|(?P<comma>(?<=[,，])(?:\s*[,，])+)|(?P<before> +(?=[,;，；]))"
)
_ABBREVIATED = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Jr|Sr|St|etc|vs|approx|a\.m|p\.m)|\b[A-Z]|\.\w+|\d)\.$")
_EMPTY = re.compile(r"(?:(?<=[,，;；\n])|^)\s*(?P<cut>(?:and|with)\s*(?:[,，;；]\s*|$))", re.I)


def drop_doubles(draft: Draft, masked: str, one: bool, compact: bool) -> bool:
    """Takes clauses that say again what one before them says. Tags of the picture always; others where one person alone is spoken of."""
    found, again = clauses(draft.text, masked), list[tuple[int, str, str]]()
    seen: dict[tuple[int, str], Clause] = {}
    groups: dict[tuple[int, str], Clause] = {}
    for number, clause in enumerate(found):
        text = draft.text[clause.start : clause.end]
        key = (clause.section, " ".join(re.sub(r"^(?:an?|the) ", "", text.lower()).split()))
        free = not (number + 1 < len(found) and found[number + 1].continues) and not clause.continues
        tag, twin, reason = clause.tag, seen.get(key), "double"
        may = (tag is not None and (tag.phrase.slot in OF_THE_PICTURE or one)) or (one and (len(words_of(text)) >= 3 or _denies(text)))
        if not (twin and may) and compact and tag and tag.phrase.group:
            twin, reason, may = groups.get((clause.section, tag.phrase.group)), "synonym", True
        if twin and may and free and masked[clause.start : clause.end] == text:
            again.append((number, reason, draft.text[twin.start : twin.end]))
        seen.setdefault(key, clause)
        if tag and tag.phrase.group:
            groups.setdefault((clause.section, tag.phrase.group), clause)
    # each with the separator before it: what it doubles stands before it, in the same section; from the end, so that places stay
    done = [draft.cut(found[n - 1].end, found[n].end, reason, "", twin) for n, reason, twin in reversed(again)]
    return any(done)


def order(draft: Draft, masked: str) -> bool:
    """Key facts first: tags of quality, style and lens that stand before the person go to the end of their section."""
    found = clauses(draft.text, masked)
    for section in {clause.section for clause in found}:
        own = [clause for clause in found if clause.section == section]
        if any(not re.fullmatch(r"[,，]?", clause.separator) for clause in own[:-1]):
            continue
        person = next((n for n, clause in enumerate(own) if _names_a_person(masked[clause.start : clause.end])), None)
        if not person:
            continue
        moved = [
            own[n] for n in range(person)
            if (tag := own[n].tag) and tag.phrase.slot in LAST and not own[n + 1].continues and not own[n].continues
        ]  # fmt: skip
        if not moved:
            continue
        comma = "，" if "，" in "".join(clause.separator for clause in own) else ", "
        pieces: list[tuple[int, int] | str] = [(0, own[0].start)]
        for clause in [*(clause for clause in own if clause not in moved), *moved]:
            pieces += [(clause.start, clause.end), comma]
        pieces[-1] = (own[-1].end, len(draft.text))
        return draft.reorder(pieces, [(clause.start, clause.end) for clause in moved])
    return False


def trim(draft: Draft, masked: str) -> bool:
    """Loose commas, doubled spaces, the full stop at the end."""
    changed = False
    for pattern in (_LOOSE, _EMPTY):
        for found in reversed([] if changed else list(pattern.finditer(masked))):
            start, end = found.span("cut" if pattern is _EMPTY else 0)
            if found.lastgroup == "end" and "." in found[0] and _ABBREVIATED.search(masked[: start + found[0].index(".") + 1]):
                continue
            changed |= start < end and draft.cut(start, end, "punctuation", " " if found.lastgroup == "space" else "")
    return changed


def _denies(text: str) -> bool:
    return any(each.negated for each in mentions(text))


def _names_a_person(text: str) -> bool:
    return any(mention.slot == "subject" for mention in mentions(text))


def known_slots() -> tuple[str, ...]:
    """The order of a template: who and how first, the picture's own qualities last."""
    return tuple(slot for slot in vocabulary().slots if slot not in LAST) + LAST
