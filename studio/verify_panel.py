"""The Verify tab's answer: a verdict in words, where the mark answers, and the evidence layer by layer."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from engines.text import text
from studio.i18n import say
from studio.media import Item
from studio.panels import facts_table, link
from studio.presenters import layers, verdict_of

if TYPE_CHECKING:
    from engines.provenance.verify import Verification


def verification(
    found: "Verification", name: str, size: int, language: str, heat: Item | None = None, files: Sequence[tuple[str, Item]] = ()
) -> str:
    """A file's verdict in words, then the mark and the labels as they stand in it.

    Args:
        heat: the picture of where the mark answers. files: the report to download, (key of its name under `page.`, file).
    """
    kind = "found" if found.verdict in ("made_here", "marked") else "info"
    head = f'<div class="fs-stage fs-notice fs-{kind}" role="status"><p class="fs-what">{escape(verdict_of(found, language))}</p></div>'
    rows = facts_table(
        [(text("page.verify.name", language), name), (text("page.verify.size", language), text("page.verify.bytes", language, bytes=size))]
    )
    note = f'<p class="fs-hint">{escape(text("provenance.note", language))}</p>'
    shown = heat_figure(heat.address, language) if heat else ""
    links = "".join(link(item, key, language) for key, item in files)
    buttons = (
        f'<div class="fs-line fs-downloads"><span class="fs-key">{say("verify.report", language)}</span>{links}</div>' if links else ""
    )
    return f'<div class="fs-answer">{head}{shown}{evidence(found, language)}{rows}{buttons}{note}</div>'


def heat_figure(address: str, language: str) -> str:
    """The picture of where the mark answers, with its legend. `address`: of the file, or the file itself as a data address."""
    alt, legend = (escape(text(f"provenance.heat.{key}", language)) for key in ("alt", "legend"))
    return f'<figure class="fs-heat"><img src="{escape(address)}" alt="{alt}"><figcaption>{legend}</figcaption></figure>'


def evidence(found: "Verification", language: str) -> str:
    """What a verdict rests on, a part for each layer."""
    parts = []
    for title, rows in layers(found, language):
        plain = "".join(f"<p>{escape(value)}</p>" for name, value in rows if not name)
        named = [(name, value) for name, value in rows if name]
        parts.append(f'<section class="fs-layer"><h3>{escape(title)}</h3>{plain}{facts_table(named) if named else ""}</section>')
    return "".join(parts)
