"""The HTML of the Prompt tab: the shorter prompt, what was taken from the source and why, what that saves."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from engines.prompts.draft import Change, Span
from engines.prompts.library import Break
from engines.prompts.optimise import Optimised
from engines.text import text
from studio.i18n import say
from studio.likeness import Likeness
from studio.panels import facts_table, fold

NOT_OFFERED = ("moved", "punctuation")  # what nobody would want back by itself


def prompt_panel(
    found: Optimised,
    kept: Sequence[Span],
    gone: Break | None,
    preset: str,
    titles: Mapping[str, str],
    calls: float,
    price: float,
    language: str,
    alike: Likeness = Likeness("off"),  # noqa: B008  # frozen
) -> str:
    """Args: kept: spans that were put back. gone: where the prompt leaves its template. preset: a negative prompt of a person's choice.
    titles: of the tokenizers. alike: what a sentence model says. calls, price: a month's, and that of a million tokens, 0 for unknown."""
    state = say("prompt.state", language, level=say(f"prompt.level_{found.level}", language), percent=100 * found.recall)
    parts = [
        *(_aside(sentence) for sentence in _warnings(found, gone, alike, language)),
        _said("prompt.result", found.text, state, language),
        f'<p class="fs-hint" data-likeness="{alike.state}">{_alike(alike, language)}</p>',
        _said("prompt.negative", found.negative, "", language) if found.negative else "",
        _said("prompt.preset", preset, "", language) if preset else "",
        _difference(found, kept, language),
        _tokens(found, titles, calls, price, language),
        fold(
            "slots",
            language,
            facts_table((say(f"prompt.slot_{slot}", language), ", ".join(values)) for slot, values in found.slots.items()),
        ),
    ]
    return f'<div class="fs-text-answer">{"".join(parts)}</div>'


def _warnings(found: Optimised, gone: Break | None, alike: Likeness, language: str) -> Iterator[str]:
    if gone is not None:
        yield text("page.prompt.broken", language, at=gone.at + 1, percent=100 * gone.kept)
    for reason, words in found.held:
        yield text(f"prompts.why.{reason}", language, words=words)
    if alike.warns:
        yield text("page.prompt.unlike", language, value=alike.value)


def _alike(alike: Likeness, language: str) -> str:
    said = say(f"prompt.likeness_{alike.state}", language, value=alike.value)
    return f"{said} {escape(alike.fault.message(language))}" if alike.fault else said


def _aside(sentence: str) -> str:
    return f'<div class="fs-aside" role="status"><p>{escape(sentence)}</p></div>'


def _said(key: str, words: str, state: str, language: str) -> str:
    copy = f'<button type="button" class="fs-button fs-small" data-copy>{say("align.copy", language)}</button>'
    head = f'<div class="fs-line"><h3 class="fs-key">{say(key, language)}</h3>{copy}</div>'
    note = f'<p class="fs-hint">{state}</p>' if state else ""
    return f'<div class="fs-matrix fs-said">{head}<pre tabindex="0" dir="auto">{escape(words)}</pre>{note}</div>'


def _difference(found: Optimised, kept: Sequence[Span], language: str) -> str:
    """The source with its changes where they are, then each with its reason; what is put back can be taken out again."""
    marks: list[tuple[int, int, Change | None]] = [(change.start, change.end, change) for change in found.changes]
    marks += [(start, end, None) for start, end in kept if not any(change.start < end and start < change.end for change in found.changes)]
    shown, at = "", 0
    for start, end, change in sorted(marks, key=lambda mark: mark[:2]):
        shown += escape(found.source[at:start]) + _changed(found.source[start:end], start, end, change, language)
        at = end
    if not marks:
        return f'<p class="fs-hint">{say("prompt.nothing", language)}</p>'
    reasons = "".join(f"<li>{row}</li>" for row in _reasons(found.changes, language))
    head = f'<h3 class="fs-key">{say("prompt.difference", language)}</h3><p class="fs-hint">{say("prompt.put_back_hint", language)}</p>'
    return f'<div>{head}<p class="fs-diff" dir="auto">{shown}{escape(found.source[at:])}</p><ul class="fs-reasons">{reasons}</ul></div>'


def _changed(words: str, start: int, end: int, change: Change | None, language: str) -> str:
    said = escape(words)
    if change is None:
        label = say("prompt.take_out", language, text=words)
        return f'<button type="button" class="fs-back" data-span="{start}-{end}" aria-pressed="true" title="{label}">{said}</button>'
    why = escape(text(f"prompts.reason.{change.reason}", language), quote=True)
    if change.reason == "moved":
        return f'<span class="fs-moved" title="{why}">{said}</span>'
    more = f"<ins>{escape(change.instead)}</ins>" if change.instead else ""
    if change.reason in NOT_OFFERED:
        return f'<del title="{why}">{said}</del>{more}'
    label = say("prompt.put_back", language, text=words)
    return (
        f'<button type="button" class="fs-out" data-span="{start}-{end}" aria-pressed="false" aria-label="{label}" title="{why}">'
        f"<del>{said}</del>{more}</button>"
    )


def _reasons(changes: Sequence[Change], language: str) -> Iterator[str]:
    """A row a reason, with the words that went for it, each to be put back."""
    for reason in dict.fromkeys(change.reason for change in changes if change.reason != "punctuation"):
        mine = [change for change in changes if change.reason == reason]
        why = escape(text(f"prompts.reason.{reason}", language))
        yield f'<span class="fs-hint">{why}</span> {" ".join(_word(change, language) for change in mine)}'


def _word(change: Change, language: str) -> str:
    said = escape(change.text) + (f" → {escape(change.instead)}" if change.instead and change.instead != change.text else "")
    if change.twin:
        said += f" ({escape(change.twin)})"
    if change.reason in NOT_OFFERED:
        return f'<span class="fs-word">{said}</span>'
    label = say("prompt.put_back", language, text=change.text)
    button = f'<button type="button" class="fs-word" data-span="{change.start}-{change.end}" aria-label="{label}">'
    return f'{button}{said} <b aria-hidden="true">↩</b></button>'


def _tokens(found: Optimised, titles: Mapping[str, str], calls: float, price: float, language: str) -> str:
    keys = ("tokenizer", "before", "after", "saved")
    heads = [say(f"prompt.{key}", language) for key in keys] + [say("prompt.month", language, calls=calls)]
    rows = ""
    for name, (before, after) in found.tokens.items():
        share = 100 * (before - after) / before if before else 0.0
        money = say("prompt.money", language, value=(before - after) * calls * price / 1e6) if price > 0 else "–"
        cells = (f"{before:,}", f"<b>{after:,}</b>", say("prompt.percent", language, value=share), money)
        rows += f"<tr><th scope='row'>{escape(titles.get(name, name))}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    head = "".join(f"<th scope='col'>{each}</th>" for each in heads)
    note = f'<p class="fs-hint">{say("prompt.formula", language)}</p>'
    return f'<div class="fs-scroll"><table class="fs-grid-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}'
