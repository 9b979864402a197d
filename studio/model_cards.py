"""One fusion by several models, a card for each: its picture, what it costs, what binds it; or what to do where it isn't there."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from engines.comparing import Compared
from engines.options import MESH
from engines.text import text
from studio.i18n import say
from studio.media import Item
from studio.panels import download_row, facts_table, use_key
from studio.presenters import error_lines, model_name


@dataclass(frozen=True, slots=True)
class Card:
    """A model, and where it fused its picture, small, and its files."""

    compared: Compared
    thumb: Item | None = None
    downloads: tuple[tuple[str, Item], ...] = ()


def cards(all_cards: Sequence[Card], language: str, several: bool = False) -> str:
    """Args: several: more targets were given than the one that this is of."""
    told = f'<p class="fs-hint">{say("models.hint", language)}{say("models.first", language) if several else ""}</p>'
    return f'<div class="fs-models">{told}<ul class="fs-cards">{"".join(_card(card, language) for card in all_cards)}</ul></div>'


def _card(card: Card, language: str) -> str:
    one = card.compared
    name = text("page.options.model_none", language) if one.name == MESH else model_name(one.name, language)
    kind = "" if one.face else " fs-absent"
    head = f'<li class="fs-card{kind}" data-model="{escape(one.name)}"><h3>{escape(name)}</h3>'
    limits = f'<p class="fs-hint">{say("models.limits_mesh" if one.name == MESH else "models.limits_swapper", language)}</p>'
    about = f"{facts_table(_facts(one, language))}{_absent(one, language)}{limits}"
    return f"{head}{_picture(card, name, language)}{about}{_ways(card, language)}</li>"


def _picture(card: Card, name: str, language: str) -> str:
    done = card.compared.result
    if done is None or card.thumb is None:
        return ""
    x, y = done.faces[0].box.centre
    at = f"{100 * float(x) / done.target.width:.0f}% {100 * float(y) / done.target.height:.0f}%"
    alt = say("models.alt", language, name=name)
    return f'<img class="fs-card-picture" src="{card.thumb.address}" alt="{alt}" style="object-position:{at}">'


def _facts(one: Compared, language: str) -> list[tuple[str, str]]:
    def said(key: str, **facts: object) -> str:
        return text(f"page.models.{key}", language, **facts)

    rows = []
    if face := one.face:
        memory = said("memory_unknown") if one.memory_mb is None else said("memory_value", rise=one.memory_mb, peak=one.peak_mb)
        rows = [
            (said("similarity"), said("similarity_value", before=face.similarity_before, after=face.similarity_after)),
            (said("time"), said("time_value", first=one.first_ms, warm=one.warm_ms)),
            (said("memory"), memory),
        ]
    use = text(f"page.header.{use_key(one.commercial)}", language)
    return [*rows, (text("page.result.licence", language), f"{one.licence} · {use}")]


def _absent(one: Compared, language: str) -> str:
    if one.fault is None:
        return ""
    what, todo = (escape(line) for line in error_lines(one.fault, language))
    return f'<p class="fs-what">{what}</p><p class="fs-todo">{todo}</p>'


def _ways(card: Card, language: str) -> str:
    return f'<div class="fs-line">{download_row(card.downloads, language)}</div>' if card.downloads else ""
