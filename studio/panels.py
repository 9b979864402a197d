"""Pieces of HTML for the page. Everything that comes from outside is escaped here, and nowhere else is HTML made."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from engines.provenance.mark import SMALLEST
from engines.results import FusedFace, FusionResult
from engines.text import text
from engines.timing import Timings
from engines.types import AlignedFace, Face, Matrix
from studio.i18n import say
from studio.lens import compare
from studio.media import Item
from studio.notes import note_sentences
from studio.options import option_words
from studio.presenters import (
    label_names,
    model_name,
    pose_facts,
    provider_name,
    stage_rows,
    verdict_colour,
    verdict_sentence,
)

if TYPE_CHECKING:
    from engines.provenance.labels import Labels
    from engines.provenance.mark import Mark


def empty(key: str, language: str) -> str:
    """What stands where a result will be."""
    return f'<div class="fs-stage fs-empty"><p>{say(key, language)}</p></div>'


def notice(lines: tuple[str, str], kind: str = "error") -> str:
    """Two lines where the result would stand: what happened, what to do. `kind`: error or info."""
    role = "alert" if kind == "error" else "status"
    message, hint = (escape(line) for line in lines)
    return f'<div class="fs-stage fs-notice fs-{kind}" role="{role}"><p class="fs-what">{message}</p><p class="fs-hint">{hint}</p></div>'


def progress(sentence: str) -> str:
    return f'<div class="fs-progress" role="status"><span class="fs-bar"></span><span>{escape(sentence)}</span></div>'


def result(
    done: FusionResult, timings: Timings, shown: tuple[Item, Item], downloads: Sequence[tuple[str, Item]], limit: float, language: str
) -> str:
    """A fused picture with everything that is known about it.

    Args:
        shown: before and after, as the page shows them.
        downloads: (format, file), in the order of the buttons.
        limit: of the safety check.
    """
    mark, labels = done.image.mark, done.image.labels
    parts = [
        compare(shown, done.target.width, done.target.height, _divider(done), language),
        '<div class="fs-facts">',
        "".join(_similarity(face, len(done.faces) > 1, language) for face in done.faces),
        f'<div class="fs-line fs-marked">{mark_chip(mark, language)}{download_row(downloads, language)}</div>',
        stage_bar(timings, language),
        _notes([*note_sentences(done.notes, language), *_reduced(shown[1], downloads, language)], language),
        fold("details", language, facts_table(_details(done, labels, limit, language))),
        "</div>",
    ]
    return "".join(parts)


def mark_chip(mark: "Mark", language: str) -> str:
    """The mark's id and that it read back; where there are labels only, why."""
    state = say("result.read_back" if mark.kind == "watermark" else "result.labels_only", language)
    reason = f"provenance.reason.{mark.reason}"
    why = f' title="{escape(text(reason, language, minimum=SMALLEST))}"' if mark.reason else ""
    key = f'<span class="fs-key">{say("result.mark", language)}</span>'
    return f'<span class="fs-mark"{why}>{key} <code>{escape(mark.id)}</code> {state}</span>'


def download_row(downloads: Sequence[tuple[str, Item]], language: str) -> str:
    links = "".join(
        f'<a class="fs-button" href="{item.address}" download="{escape(item.name)}" data-download '
        f'aria-label="{say("result.download_as", language, format=name)}">{escape(name)}</a>'
        for name, item in downloads
    )
    return f'<span class="fs-downloads"><span class="fs-key">{say("result.downloads", language)}</span>{links}</span>'


def stage_bar(timings: Timings, language: str) -> str:
    """A bar whose pieces are as wide as their milliseconds, with the figures in a fold below it."""
    rows = stage_rows(timings, language)
    pieces = "".join(
        f'<i class="fs-piece" style="flex-grow:{max(ms, 0.01):.2f}" data-stage="{stage}" title="{escape(name)} {_ms(ms, language)}">'
        f"<b>{escape(name)}</b></i>"
        for stage, name, ms in rows
    )
    named = [(name, _ms(ms, language)) for _, name, ms in rows]
    listed = facts_table([*named, (text("page.result.total", language), _ms(timings.total, language))])
    total = f'<span class="fs-total">{_ms(timings.total, language)}</span>'
    summary = f'<summary><span class="fs-key">{say("result.timings", language)}</span>{total}</summary>'
    bar = f'<div class="fs-stages" aria-hidden="true">{pieces}</div>'
    return f'<div class="fs-times">{bar}<details data-keep="timings">{summary}{listed}</details></div>'


def fold(key: str, language: str, body: str) -> str:
    return f'<details data-keep="{key}"><summary><span class="fs-key">{say(f"result.{key}", language)}</span></summary>{body}</details>'


def facts_table(rows: Iterable[tuple[str, str]]) -> str:
    """Name and value, a row each; both as plain text."""
    cells = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows)
    return f'<dl class="fs-table">{cells}</dl>'


def face_panel(face: Face, count: int, shown: tuple[AlignedFace, Item], template: str, png: Item, archive: Item, language: str) -> str:
    """The Align tab's right side: the crop beside its template, what was measured, and the matrices.

    Args:
        shown: the crop and its file. template: SVG of the template over the crop.
        png: the crop as a download. archive: all crops as a ZIP.
    """
    aligned, picture = shown
    alt = say("align.alt_crop", language, index=face.index, size=aligned.size)
    drawn = say("align.alt_template", language)
    figures = (
        f'<div class="fs-crops"><figure><div class="fs-crop"><img src="{picture.address}" alt="{alt}"></div>'
        f"<figcaption>{say('align.crop', language)} · {aligned.size} × {aligned.size}</figcaption></figure>"
        f'<figure><div class="fs-crop fs-template" role="img" aria-label="{drawn}">{template}</div>'
        f"<figcaption>{say('align.template', language)}</figcaption></figure></div>"
    )
    pose = pose_facts(face.mesh.pose)
    rows = [
        (text(f"page.align.{name}", language), text("page.align.degrees", language, angle=pose[name])) for name in ("yaw", "pitch", "roll")
    ]
    rows += [
        (text("page.align.score", language), text("page.align.number", language, value=face.detection.score)),
        (text("page.align.sharpness", language), text("page.align.number_short", language, value=face.sharpness)),
        (text("page.align.face_size", language), text("page.align.pixels", language, size=face.mesh.size)),
    ]
    verdict = (
        f'<p class="fs-verdict"><i class="fs-dot fs-{verdict_colour(face)}" aria-hidden="true"></i>'
        f"<span>{say('align.face', language, index=face.index, count=count, verdict=verdict_sentence(face, language))}</span></p>"
    )
    matrices = matrix_box("matrix", aligned.matrix, language) + matrix_box("inverse", aligned.inverse, language)
    buttons = f'<div class="fs-line fs-downloads">{link(png, "align.crop_png", language)}{link(archive, "align.zip", language)}</div>'
    return f'<div class="fs-face">{figures}{verdict}{facts_table(rows)}{matrices}{buttons}</div>'


def matrix_box(key: str, matrix: Matrix, language: str) -> str:
    """A 2 × 3 matrix as text, with a button that copies it."""
    copy = f'<button type="button" class="fs-button fs-small" data-copy>{say("align.copy", language)}</button>'
    return (
        f'<div class="fs-matrix"><div class="fs-line"><span class="fs-key">{say(f"align.{key}", language)}</span>{copy}</div>'
        f'<pre tabindex="0">{escape(matrix_text(matrix))}</pre></div>'
    )


def matrix_text(matrix: Matrix) -> str:
    """JSON that `json.loads` takes back to within a billionth."""
    return "[[" + "],\n [".join(", ".join(f"{value:.9g}" for value in row) for row in matrix.tolist()) + "]]"


def link(item: Item, key: str, language: str) -> str:
    """A file to download; `page.<key>` is what the button says."""
    return f'<a class="fs-button" href="{item.address}" download="{escape(item.name)}" data-download>{say(key, language)}</a>'


def _similarity(face: FusedFace, several: bool, language: str) -> str:
    before, after = face.similarity_before, face.similarity_after
    spoken = say("result.similarity_face", language, index=face.index, before=before, after=after)
    name = say("result.similarity_one_of", language, index=face.index) if several else say("result.similarity", language)
    words = f'aria-label="{say("history.leave_face", language, index=face.index)}">{say("history.leave", language)}'
    leave = f'<button type="button" class="fs-button fs-small" data-leave="{face.index}" {words}</button>' if several else ""
    return (
        f'<div class="fs-similarity" title="{say("result.similarity_tip", language)}">'
        f'<span class="fs-key">{name}</span>'
        f'<span class="fs-score" role="img" aria-label="{spoken}"><span>{before:.0f}</span> → <strong>{after:.0f}</strong></span>'
        f'<span class="fs-gauge" aria-hidden="true"><i style="left:{before:.1f}%"></i><b style="width:{after:.1f}%"></b></span>'
        f'<span class="fs-key">{say("result.similarity_of", language)}</span>{leave}</div>'
    )


def _details(done: FusionResult, labels: "Labels", limit: float, language: str) -> list[tuple[str, str]]:
    def name(key: str) -> str:
        return text(f"page.result.{key}", language)

    *sources, target = done.safety
    rows = [
        (
            text("page.result.distance", language, index=face.index),
            text("page.result.distance_value", language, before=face.identity_before, after=face.identity_after),
        )
        for face in done.faces
    ]
    return [
        *rows,
        *_persona(done, language),
        (name("options"), option_words(done.options, language)),
        (name("model"), model_name(done.model.name, language)),
        (name("licence"), f"{done.model.licence} · {text(f'page.header.{use_key(done.model.commercial)}', language)}"),
        (name("provider"), provider_name(done.provider)),
        (name("size"), text("page.result.size_value", language, width=done.target.width, height=done.target.height)),
        (
            name("safety"),
            text("page.result.safety_value", language, source=max(score.score for score in sources), target=target.score, limit=limit),
        ),
        (name("labels"), label_names(labels.names(), language)),
    ]


def _persona(done: FusionResult, language: str) -> list[tuple[str, str]]:
    from engines.personas import Persona

    source = done.source
    if not isinstance(source, Persona):
        return []
    about = text("page.persona.about", language, photos=source.photos, created=source.created[:10])
    return [(text("page.persona.row", language), f"{source.name} · {about}")]


def _divider(done: FusionResult) -> float:
    """Through the first fused face, so that both halves of it are seen."""
    share = done.faces[0].box.centre[0] / done.target.width if done.faces else 0.5
    return 100 * min(max(share, 0.02), 0.98)


def use_key(commercial: bool) -> str:
    return "commercial" if commercial else "no_commercial"


def _notes(sentences: Sequence[str], language: str) -> str:
    if not sentences:
        return ""
    return f'<ul class="fs-notes" aria-label="{say("result.notes", language)}">{"".join(f"<li>{escape(s)}</li>" for s in sentences)}</ul>'


def _reduced(shown: Item, downloads: Sequence[tuple[str, Item]], language: str) -> list[str]:
    """Where the page doesn't show the finished file itself."""
    return [] if shown in [item for _, item in downloads] else [text("page.result.reduced", language)]


def _ms(value: float, language: str) -> str:
    return text("page.result.ms" if value >= 10 else "page.result.ms_fine", language, ms=value)
