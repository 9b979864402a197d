"""The HTML of the Tokens tab's text half: a table of tokenizers, and the text as coloured tokens with their ids."""

from collections.abc import Sequence
from html import escape

from engines.tokens.text import Piece
from studio.i18n import say
from studio.text_counts import TextCount

SHOWN = 1_500  # pieces; a browser lays out that many in some 30 ms, and nobody reads more
HUES = 5
VISIBLE = str.maketrans({" ": "·", "\n": "⏎", "\t": "⇥", "\r": "⏎", "\u3000": "□"})


def text_panel(found: Sequence[TextCount], chosen: TextCount, calls: float, price: float, language: str) -> str:
    """Args: chosen: whose tokens are shown. calls, price: what costs are reckoned for, price that of a million tokens, 0 for unknown."""
    return (
        f'<div class="fs-text-answer">{_table(found, calls, price, language)}{_window(chosen, language)}{_pieces(chosen, language)}</div>'
    )


def _table(found: Sequence[TextCount], calls: float, price: float, language: str) -> str:
    def number(value: int) -> str:
        return say("text.number", language, value=value)

    heads = [say(f"text.{key}", language) for key in ("tokenizer", "tokens", "sent")] + [say("text.cost", language, calls=calls)]
    rows = "".join(
        f"<tr><th scope='row' title='{escape(each.tokenizer.models, quote=True)}'>{escape(each.tokenizer.title)}"
        f"<small>{escape(each.tokenizer.licence or '–')}</small></th>"
        f"<td><b>{number(each.tokens)}</b></td>"
        f"<td title='{escape(each.tokenizer.wrapping, quote=True)}'>{number(each.sent)}</td>"
        f"<td>{say('text.money', language, value=each.cost(calls, price)) if price > 0 else '–'}</td></tr>"
        for each in found
    )
    head = "".join(f"<th scope='col'>{each}</th>" for each in heads)
    note = f'<p class="fs-hint">{say("text.formula", language)}</p>'
    return f'<div class="fs-scroll"><table class="fs-grid-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}'


def _window(chosen: TextCount, language: str) -> str:
    """What falls off, and the way round it; nothing where all is read."""
    if not chosen.lost:
        return ""
    facts = {"title": chosen.tokenizer.title, "window": chosen.tokenizer.window, "lost": chosen.lost_tokens}
    sizes = " + ".join(str(len(chunk.ids)) for chunk in chosen.chunks)
    return (
        f'<div class="fs-aside" role="status"><p class="fs-what">{say("text.lost", language, **facts)}</p>'
        f'<p class="fs-hint">{say("text.chunks", language, count=len(chosen.chunks), sizes=sizes)}</p></div>'
    )


def _pieces(chosen: TextCount, language: str) -> str:
    if not chosen.pieces:
        return ""
    read = len(chosen.pieces) - chosen.lost
    begins = {chunk.start for chunk in chosen.chunks[1:]}
    shown = "".join(_piece(piece, i, i >= read, piece.start in begins) for i, piece in enumerate(chosen.pieces[:SHOWN]))
    more = len(chosen.pieces) - SHOWN
    rest = f'<p class="fs-hint">{say("text.more", language, count=more)}</p>' if more > 0 else ""
    head = f'<h3 class="fs-key">{say("text.pieces", language, title=chosen.tokenizer.title)}</h3>'
    return f'{head}<div class="fs-tokens" lang="und" dir="auto">{shown}</div>{rest}'


def _piece(piece: Piece, i: int, lost: bool, begins: bool) -> str:
    letters = escape(piece.text.translate(VISIBLE)) or "∅"
    words = f"<s>{letters}</s>" if lost else letters
    ids = "+".join(map(str, piece.ids))
    return f'<span class="fs-token{" fs-begins" if begins else ""}" data-hue="{i % HUES}">{words}<small>{ids}</small></span>'
