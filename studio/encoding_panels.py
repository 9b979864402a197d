"""The HTML of the prefix cache: which tokens came from it, the time with and without it, and what it did so far."""

from collections.abc import Iterator
from html import escape

from engines.text import text
from engines.text_encoder.weights import WINDOW
from engines.tokens.text import Piece
from studio.encoding import CACHE_BYTES, Encoded
from studio.i18n import say
from studio.panels import facts_table
from studio.text_panels import VISIBLE


def encoding_panel(found: Encoded, language: str) -> str:
    """See this module."""
    done = found.compared
    head = f'<h3 class="fs-key">{say("encode.pieces", language, reused=sum(done.reused), total=WINDOW * len(done.reused))}</h3>'
    key = "".join(f'<span class="fs-token" data-known="{known}">{say(f"encode.{known}", language)}</span>' for known in ("yes", "no"))
    rows = "".join(_row(part, reused, language) for part, reused in zip(found.parts, done.reused, strict=True))
    parts = [
        f'<div class="fs-aside" role="status"><p>{say("encode.seeded", language)}</p></div>' if found.model.seeded else "",
        f'<div>{head}<p class="fs-tokens fs-legend">{key}</p>{rows}</div>',
        facts_table(_facts(found, language)),
        f'<p class="fs-hint">{say("encode.formula", language)}</p>',
    ]
    return f'<div class="fs-text-answer">{"".join(parts)}</div>'


def _row(part: tuple[Piece, ...], reused: int, language: str) -> str:
    """One row of 77: the start, the words, and the end with its padding as one chip."""
    chips, at = [_chip(say("encode.start", language), reused > 0)], 1
    for piece in part:
        at += len(piece.ids)
        chips.append(_chip(escape(piece.text.translate(VISIBLE)) or "∅", at <= reused))
    chips.append(_chip(say("encode.end", language, count=WINDOW - at), reused >= WINDOW))
    return f'<div class="fs-tokens" lang="und" dir="auto">{"".join(chips)}</div>'


def _chip(words: str, known: bool) -> str:
    return f'<span class="fs-token" data-known="{"yes" if known else "no"}">{words}</span>'


def _facts(found: Encoded, language: str) -> Iterator[tuple[str, str]]:
    def said(key: str, **facts: object) -> str:
        return text(f"page.encode.{key}", language, **facts)

    done, model = found.compared, found.model
    now = done.counters
    name = model.name or said("seeded_name")
    yield said("model"), said("model_value", name=name, millions=model.parameters / 1e6, device=str(model.device).upper())
    yield said("with"), said("ms", value=done.cached)
    yield said("without"), said("ms", value=done.plain)
    yield said("speedup"), said("times", value=done.speedup)
    yield said("difference"), f"{done.difference:.1e}" if done.difference else "0"
    yield said("rate"), said("rate_value", rate=now.hit_rate, reused=now.reused, total=now.reused + now.computed)
    yield said("prompts"), said("prompts_value", hits=now.hits, partial=now.partial, misses=now.misses)
    yield said("bytes"), said("bytes_value", value=done.nbytes / 2**20, most=CACHE_BYTES >> 20, evicted=now.evicted)
