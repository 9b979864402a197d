"""The Verify tab's answer: a verdict in words, where the mark answers, and the evidence layer by layer."""

from collections import Counter
from collections.abc import Sequence
from html import escape

from engines.errors import FusionError
from engines.provenance.verify import VERDICTS, Verification
from engines.text import text
from studio.i18n import say
from studio.media import Item
from studio.panels import facts_table, link, progress
from studio.presenters import error_lines, layers, verdict_of

Answers = list[tuple[str, Verification | FusionError]]  # name of each file, and what was found or why it can't be read


def verification(
    found: Verification, name: str, size: int, language: str, heat: Item | None = None, files: Sequence[tuple[str, Item]] = ()
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
    return f'<div class="fs-answer">{head}{shown}{evidence(found, language)}{rows}{_report_row(files, language)}{note}</div>'


def many_panel(answers: Answers, count: int, language: str, over: bool = False, files: Sequence[tuple[str, Item]] = ()) -> str:
    """How far it came, and a line for each file that opens to its evidence.

    Args:
        count: of all files. over: no more come. files: the report to download.
    """
    if over:
        counts = Counter("failed" if isinstance(answer, FusionError) else answer.verdict for _, answer in answers)
        known = dict.fromkeys((*VERDICTS, "failed"), 0) | counts
        head = f'<p class="fs-what" role="status">{say("verify.many_over", language, done=len(answers), count=count, **known)}</p>'
    else:
        head = progress(text("page.verify.many_at", language, done=len(answers) + 1, count=count))
    rows = "".join(_row(name, answer, language, over) for name, answer in answers)
    return f'<div class="fs-answer fs-verified">{head}{_report_row(files, language)}<ol class="fs-batch-lines">{rows}</ol></div>'


def _report_row(files: Sequence[tuple[str, Item]], language: str) -> str:
    if not files:
        return ""
    links = "".join(link(item, key, language) for key, item in files)
    return f'<div class="fs-line fs-downloads"><span class="fs-key">{say("verify.report", language)}</span>{links}</div>'


def _row(name: str, answer: Verification | FusionError, language: str, over: bool) -> str:
    """While files come, the verdict alone: the evidence of a hundred would be sent a hundred times."""
    named = f"<strong>{escape(name)}</strong>"
    if isinstance(answer, FusionError):
        what, todo = (escape(line) for line in error_lines(answer, language))
        return f'<li class="fs-failed"><div>{named}<p class="fs-what">{what}</p><p class="fs-hint">{todo}</p></div></li>'
    said = f'<p data-verdict="{answer.verdict}">{escape(verdict_of(answer, language))}</p>'
    more = f"<details><summary>{say('verify.many_why', language)}</summary>{evidence(answer, language)}</details>" if over else ""
    return f"<li><div>{named}{said}{more}</div></li>"


def heat_figure(address: str, language: str) -> str:
    """The picture of where the mark answers, with its legend. `address`: of the file, or the file itself as a data address."""
    alt, legend = (escape(text(f"provenance.heat.{key}", language)) for key in ("alt", "legend"))
    return f'<figure class="fs-heat"><img src="{escape(address)}" alt="{alt}"><figcaption>{legend}</figcaption></figure>'


def evidence(found: Verification, language: str) -> str:
    """What a verdict rests on, a part for each layer."""
    parts = []
    for title, rows in layers(found, language):
        plain = "".join(f"<p>{escape(value)}</p>" for name, value in rows if not name)
        named = [(name, value) for name, value in rows if name]
        parts.append(f'<section class="fs-layer"><h3>{escape(title)}</h3>{plain}{facts_table(named) if named else ""}</section>')
    return "".join(parts)
