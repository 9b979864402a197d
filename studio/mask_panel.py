"""The mask's part of the page's panel: chips for what is taken and left out, how far it reaches, and the way to the brush."""

from typing import Any

from engines.face_mask import AREAS, GROW, PADDING, REGIONS, SIDES
from studio.i18n import mark

LIMITS: dict[str, Any] = {"areas": AREAS, "regions": REGIONS, "grow": GROW, "padding": PADDING}  # for assets/theme/mask.js


def mask_field(name: str) -> str:
    """HTML of the option `name`; assets/theme/mask.js reads and fills it."""
    label = mark(f"options.{name}")
    reach = f"{_grow()}{_sides()}{_occlusion()}"
    ways = "".join(
        f'<button type="button" class="fs-button fs-small" data-mask-{way} aria-pressed="false">{mark(f"mask.{way}")}</button>'
        for way in ("show", "brush")
    )
    return (
        f'<div class="fs-option fs-mask" data-option="{name}" data-label="{label}"><span class="fs-option-head"><span>{label}</span></span>'
        f'<p class="fs-hint">{mark(f"options.{name}_help")}</p>'
        f"{_chips('areas', AREAS)}{_chips('leave_out', REGIONS)}"
        f'<div class="fs-mask-reach">{reach}</div><div class="fs-ways">{ways}</div><p class="fs-hint fs-mask-told" role="status"></p></div>'
    )


def mask_place() -> str:
    """HTML of the fold below the target, into which the page puts the field: there the target is seen with it."""
    summary = f'<span>{mark("options.mask")}</span><span class="fs-hint fs-said"></span>'
    return f'<details class="fs-mask-fold" data-keep="mask"><summary>{summary}</summary></details>'


def _chips(name: str, values: tuple[str, ...]) -> str:
    buttons = "".join(
        f'<button type="button" class="fs-tag-button" data-{name.replace("_", "-")}="{value}" aria-pressed="false">'
        f"{mark(f'mask.area_{value}')}</button>"
        for value in values
    )
    label = mark(f"mask.{name}")
    return f'<div class="fs-chips" role="group" aria-label="{label}"><span class="fs-key">{label}</span>{buttons}</div>'


def _grow() -> str:
    head = f'<label for="fs-mask-grow">{mark("mask.grow")}</label><output for="fs-mask-grow"></output>'
    field = f'<input id="fs-mask-grow" type="range" min="{-GROW:.0f}" max="{GROW:.0f}" step="1" {_data("grow")}>'
    return f'<div class="fs-option"><span class="fs-option-head">{head}</span>{field}{_hint("grow")}</div>'


def _sides() -> str:
    label, bounds = mark("mask.padding"), f'min="{PADDING[0]:.0f}" max="{PADDING[1]:.0f}"'
    fields = "".join(
        f'<label><span>{mark(f"mask.{side}")}</span><input type="number" {bounds} data-side="{n}"></label>' for n, side in enumerate(SIDES)
    )
    head = f'<span class="fs-option-head"><span>{label}</span></span>'
    ways = f'<div class="fs-ways">{fields}</div>'
    return f'<div class="fs-option fs-sides" role="group" aria-label="{label}" hidden>{head}{ways}{_hint("padding")}</div>'


def _occlusion() -> str:
    box = f'<label class="fs-check"><input type="checkbox" {_data("occlusion")}><span>{mark("mask.occlusion")}</span></label>'
    return f'<div class="fs-option">{box}{_hint("occlusion")}</div>'


def _data(name: str) -> str:
    return f'data-mask="{name}" aria-describedby="fs-mask-{name}-help"'


def _hint(name: str) -> str:
    return f'<p class="fs-hint" id="fs-mask-{name}-help">{mark(f"mask.{name}_help")}</p>'
