"""The page's own elements: `gr.HTML` with a script of ours behind it (assets/theme/*.js)."""

from typing import Any, Literal

import gradio as gr

from studio.i18n import both, mark
from studio.panels import empty

BoxMode = Literal["faces", "layers", "file"]
_EMPTY_TEMPLATE = "<div></div>"  # the script draws; a template without placeholders is never drawn again by Gradio


def picture_box(slot: str, title: str, hint: str, mode: BoxMode) -> gr.HTML:
    """A place for one picture: drop, choose, paste, camera; then its preview and its faces to choose from.

    Its value is the JSON of `studio.pictures`. Events: `upload` (a new file), `select` (another face), `clear`.

    Args:
        slot: names it in the page, and what is kept of it over a reload.
        title, hint: keys under `page.`.
        mode: faces to choose from; `layers`: the Align tab's drawing too; `file`: any file, as it is.
    """
    return gr.HTML(
        value={"token": "", "faces": [], "chosen": None},
        html_template=_EMPTY_TEMPLATE,
        js_on_load="fusionStudio.picture(element, props, trigger, watch)",
        apply_default_css=False,
        elem_id=f"box-{slot}",
        slot=slot,
        title=mark(title),
        hint=mark(hint),
        mode=mode,
    )


def panel(slot: str, empty_key: str = "") -> gr.HTML:
    """A place for HTML from the server, in both languages: a result, an error, a progress line.

    Args:
        empty_key: what stands there at first, a key under `page.`.
    """
    return gr.HTML(
        value=blank(empty_key) if empty_key else {},
        html_template=_EMPTY_TEMPLATE,
        js_on_load="fusionStudio.panel(element, props, watch)",
        apply_default_css=False,
        elem_id=f"panel-{slot}",
        slot=slot,
    )


def blank(key: str) -> dict[str, Any]:
    """A panel's value when there is nothing to show yet."""
    return both(lambda language: empty(key, language))


def static(html: str, script: str | None = None, elem_id: str | None = None) -> gr.HTML:
    """HTML that stays as it is. `html` may hold marks; it must hold nothing that comes from outside.

    Args:
        script: run once the element is there; it sees `element`, `props` and `trigger`.
    """
    return gr.HTML(value=html, js_on_load=script, apply_default_css=False, elem_id=elem_id)


def overlay_switches(layers: tuple[str, ...], on: tuple[str, ...]) -> gr.HTML:
    """The Align tab's switches. They act in the page only."""
    boxes = "".join(
        f'<label><input type="checkbox" value="{name}"{" checked" if name in on else ""}><span>{mark(f"align.{name}")}</span></label>'
        for name in layers
    )
    return static(
        f'<fieldset class="fs-layers"><legend class="fs-key">{mark("align.overlays")}</legend>{boxes}</fieldset>',
        "fusionStudio.layers(element)",
    )
