"""The page's own elements: `gr.HTML` with a script of ours behind it (assets/theme/*.js)."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Literal

import gradio as gr

from engines.batch import SUFFIXES
from engines.faces.face_map import THRESHOLD
from engines.options import BOOSTS
from engines.presets import built_in
from engines.vision.geometry import ARCFACE_TEMPLATE
from studio.i18n import both, mark
from studio.mask_panel import LIMITS, mask_field
from studio.options import CONTROLS, GROUPS, Control, panel_controls, panel_defaults, shown_options
from studio.panels import empty
from studio.uploads import BATCH_BYTES, BATCH_PICTURES, HEAD_BYTES

MOST_VERIFIED = 500  # files that are verified one after the other
MOST_PICTURES = 10_000  # of which the sizes are asked for at once
TEMPLATE_SIDE = 112  # of the square that the ArcFace template is given in
BoxMode = Literal["faces", "layers", "file"]
_EMPTY_TEMPLATE = "<div></div>"  # the script draws; a template without placeholders is never drawn again by Gradio


def _drawn(call: str, elem_id: str, value: Any, **props: Any) -> gr.HTML:
    """An element that a script of ours draws. Args: call: of `window.fusionStudio`. props: what the script sees besides the value."""
    return gr.HTML(
        value=value,
        html_template=_EMPTY_TEMPLATE,
        js_on_load=f"fusionStudio.{call}",
        apply_default_css=False,
        elem_id=elem_id,
        **props,
    )


def picture_box(slot: str, title: str, hint: str, mode: BoxMode, points: bool = False, people: bool = False, many: int = 0) -> gr.HTML:
    """A place for one picture: drop, choose, paste, camera; then its preview and its faces to choose from.

    Its value is the JSON of `studio.pictures`. Events: `upload` (a new file), `select` (another face), `clear`.

    Args:
        slot: names it in the page, and what is kept of it over a reload.
        title, hint: keys under `page.`.
        mode: faces to choose from; `layers`: the Align tab's drawing too; `file`: any file, as it is.
        points: the five points of the chosen face can be moved by hand, or set where no face was found.
        people: several photos can be gathered for one person (`edit`) and made a persona (`submit`), and a persona's file be given.
        many: up to so many pictures can be gathered, to be changed one after the other.
    """
    return _drawn(
        "picture(element, props, trigger, watch)",
        f"box-{slot}",
        {"token": "", "faces": [], "chosen": None},
        slot=slot,
        title=mark(title),
        hint=mark(hint),
        mode=mode,
        template=(ARCFACE_TEMPLATE / TEMPLATE_SIDE).round(4).tolist() if points else None,
        people=people,
        many=many,
    )


def panel(slot: str, empty_key: str = "") -> gr.HTML:
    """A place for HTML from the server, in both languages: a result, an error, a progress line.

    Args:
        empty_key: what stands there at first, a key under `page.`.
    """
    return _drawn(
        "panel(element, props, watch)",
        f"panel-{slot}",
        blank(empty_key) if empty_key else {},
        slot=slot,
    )


def folder_box() -> gr.HTML:
    """Buttons for many pictures, or a folder of them. Its value: see `studio.tabs.folder.Given`. Event: `submit`, their sizes are known."""
    return _drawn(
        "folder(element, props, trigger)",
        "folder",
        {},
        suffixes=sorted(SUFFIXES),
        first=HEAD_BYTES,
        together=BATCH_PICTURES,
        batch=BATCH_BYTES,
        most=MOST_PICTURES,
    )


def check_box() -> gr.HTML:
    """Buttons for many files, or a folder of them, that are verified. Its value: see `studio.tabs.verify_many.Given`.

    Events: `submit` (all are here), `clear` (stop).
    """
    return _drawn(
        "check(element, props, trigger)",
        "check",
        {},
        most=MOST_VERIFIED,
    )


def prompt_answer() -> gr.HTML:
    """The Prompt tab's answer. Its value: HTML by language, `kept` (spans that were put back) in `source`. Event: `submit`, a word was."""
    return _drawn(
        "prompt(element, props, trigger, watch)",
        "panel-prompt",
        blank("prompt.empty") | {"kept": [], "source": ""},
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


def options_panel(models: Mapping[str, Sequence[str]] | None = None) -> gr.HTML:
    """What else may be turned, folded away: a line that says what differs from the standard, one button to go back to it.

    Its value is that of `studio.options.options_of_page`: the controls' names, shares in percent; and `paint`, of `studio.painting`.
    Event: `select` (the mask is to be shown on the target).

    Args:
        models: for the options `model` and `restore` the names that may be chosen here, besides the standard. Without any their group
            isn't shown.
    """
    named = {name: tuple(names) for name, names in (models or {}).items()}
    groups = "".join(
        f'<fieldset class="fs-group fs-group-{group}"{"" if group != "models" or any(named.values()) else " hidden"}>{_legend(group)}'
        f"{''.join(_control(control, named.get(control.name, ())) for control in panel_controls(group))}</fieldset>"
        for group in GROUPS
    )
    head = (
        '<div class="fs-more-head"><button type="button" class="fs-disclose" aria-expanded="false" aria-controls="fs-more-body">'
        f'<span>{mark("options.title")}</span><span class="fs-differs"></span></button>'
        f'<button type="button" class="fs-button fs-small" data-reset hidden>{mark("options.reset")}</button></div>'
    )
    return gr.HTML(
        value=panel_defaults(),
        html_template=f'<div class="fs-more">{head}<div id="fs-more-body" hidden><div class="fs-presets"></div>{groups}</div></div>',
        js_on_load="fusionStudio.options(element, props, trigger, watch)",
        apply_default_css=False,
        elem_id="options",
        defaults=panel_defaults(),
        presets=[{"name": mark(f"preset.{one.name}"), "options": shown_options(one.options)} for one in built_in().values()],
        mask=LIMITS,
        shares=[control.name for control in CONTROLS if control.kind == "share"],
        numbers=[control.name for control in CONTROLS if control.kind == "number"],
    )


def mask_layer() -> gr.HTML:
    """Takes the target with its mask tinted, as `studio.tabs.masks` answers; the page lays it over the target."""
    return _drawn(
        "masked(element, props, watch)",
        "mask-layer",
        {},
    )


def face_map() -> gr.HTML:
    """Which source each face of the target gets; hidden while the target has one face. Its value: see `studio.face_maps`.

    Event: `submit` (a reference picture was given).
    """
    return _drawn(
        "faceMap(element, props, trigger, watch)",
        "face-map",
        {"entries": []},
        threshold=THRESHOLD,
    )


def _legend(group: str) -> str:
    """None over a single control, which has its own name."""
    return f"<legend>{mark(f'options.group_{group}')}</legend>" if len(panel_controls(group)) > 1 else ""


def _control(control: Control, models: Sequence[str] = ()) -> str:
    if control.kind == "mask":
        return mask_field(control.name)
    name, label, field = control.name, mark(f"options.{control.name}"), f"fs-option-{control.name}"
    data = f'data-option="{name}" data-label="{label}" aria-describedby="{field}-help"'
    hint = f'<p class="fs-hint" id="{field}-help">{mark(f"options.{name}_help")}</p>'
    if control.kind == "share":
        head = f'<span class="fs-option-head"><label for="{field}">{label}</label><output for="{field}"></output></span>'
        return f'<div class="fs-option">{head}<input id="{field}" type="range" min="0" max="100" step="1" {data}>{hint}</div>'
    if control.kind == "switch":
        box = f'<label class="fs-check"><input id="{field}" type="checkbox" {data}><span>{label}</span></label>'
        return f'<div class="fs-option">{box}{hint}</div>'
    if control.kind in ("model", "number"):
        first = f'<option value="{control.default}">{mark(f"options.{name}_none") if control.kind == "model" else control.default}</option>'
        others = models if control.kind == "model" else [str(number) for number in BOOSTS if str(number) != control.default]
        listed = "".join(f'<option value="{escape(other)}">{escape(other)}</option>' for other in others)
        head = f'<span class="fs-option-head"><label for="{field}">{label}</label></span>'
        return f'<div class="fs-option">{head}<select id="{field}" class="fs-select" {data}>{first}{listed}</select>{hint}</div>'
    radios = "".join(
        f'<label><input type="radio" name="{field}" value="{choice}" {data}><span>{mark(f"options.{name}_{choice}")}</span></label>'
        for choice in control.choices
    )
    group = f'<div class="fs-segments" role="radiogroup" aria-label="{label}">{radios}</div>'
    return f'<div class="fs-option"><span class="fs-option-head"><span>{label}</span></span>{group}{hint}</div>'
