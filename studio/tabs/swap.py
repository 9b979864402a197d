"""The Swap tab: a source, a target, and the picture that comes of them."""

from typing import Any

import gradio as gr

from engines.provenance.visible import label_of
from studio.batches import MOST
from studio.context import Context
from studio.i18n import mark
from studio.mask_panel import mask_place
from studio.tabs.faces import FaceMapHandlers
from studio.tabs.fusion import PAIRS, FusionHandlers
from studio.tabs.masks import MaskHandlers
from studio.widgets import face_map as face_map_of_page
from studio.widgets import mask_layer, options_panel, panel, picture_box, static

PIPELINE = "pipeline"  # the concurrency_id that all events on the models share


def build(ctx: Context) -> gr.HTML:
    """Adds the tab to the open `gr.Blocks`; gives the source's box, for other tabs to fill."""
    with gr.Row(elem_id="swap", elem_classes="fs-grid"):
        with gr.Column(elem_classes="fs-area-source", min_width=0):
            source = picture_box("source", "swap.source", "swap.source_hint", "faces", points=True, people=True)
        with gr.Column(elem_classes="fs-area-target", min_width=0):
            target = picture_box("target", "swap.target", "swap.target_hint", "faces", points=True, many=MOST)
            mapped = face_map_of_page()
            static(mask_place(), None, "mask-place")
        with gr.Column(elem_classes="fs-area-controls", min_width=0):
            with gr.Row(elem_classes="fs-options"):
                strength = gr.Slider(
                    0, 100, 100, step=1, label=mark("swap.strength"), info=mark("swap.strength_info"), elem_id="strength", min_width=0
                )
                choices = [(mark(f"swap.enhance_{mode}"), mode) for mode in ("none", "fast", "full")]
                enhance = gr.Radio(
                    choices, value="none", label=mark("swap.enhance"), info=mark("swap.enhance_info"), elem_id="enhance", min_width=0
                )
                ruled = label_of(ctx.settings) is not None  # then nobody at the page can leave it out
                label = gr.Checkbox(
                    ruled, label=mark("swap.label"), info=mark("swap.label_info"), elem_id="label", min_width=0, interactive=not ruled
                )
            with gr.Row(elem_classes="fs-actions"):
                fuse = gr.Button(mark("swap.fuse"), variant="primary", elem_id="fuse", min_width=0)
                stop = gr.Button(mark("swap.stop"), elem_id="stop", min_width=0, interactive=False)  # the page opens it while a job runs
            options = options_panel(ctx.models_of_others())  # below the button, which stays where it is when the panel opens
            layer = mask_layer()
            static("", "fusionStudio.labels(element)")
            example = _examples()
        with gr.Column(elem_classes="fs-area-result", min_width=0):
            static(f'<header class="fs-head"><h2>{mark("swap.result")}</h2></header>')
            progress = panel("swap-progress")
            result = panel("swap-result", "swap.result_empty")
            static("<i data-off></i>" if ctx.settings.history == "off" else "", "fusionStudio.history(element)", "history")
            with gr.Column(elem_classes="fs-by-model", min_width=0):
                compare = gr.Button(mark("models.compare"), elem_id="models", size="sm", min_width=0)
                models = panel("models")

    handlers = FusionHandlers(ctx)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    queued: dict[str, Any] = {**private, "concurrency_id": PIPELINE, "concurrency_limit": 1}
    source.upload(handlers.look_source, source, source, trigger_mode="always_last", **queued)
    source.edit(handlers.people.gather, source, source, trigger_mode="always_last", **queued)
    source.submit(handlers.people.persona, source, source, **queued)
    target.upload(handlers.look, target, target, trigger_mode="always_last", **queued)
    for box in (source, target):
        box.release(handlers.look, box, box, trigger_mode="always_last", **queued)
    mapped.submit(FaceMapHandlers(ctx).match, mapped, mapped, trigger_mode="always_last", **queued)
    options.select(MaskHandlers(ctx).show, [options, target], layer, trigger_mode="always_last", **queued)
    example.select(handlers.example, example, [source, target], **queued)
    # A press between the last result and Gradio's own end of its job isn't lost: it is put off until then.
    pressed: dict[str, Any] = {**queued, "trigger_mode": "always_last"}
    sent = [source, target, strength, enhance, options, mapped, label]  # in the order of `given.Sent`
    job = fuse.click(handlers.fuse, sent, [progress, result], **pressed)
    others = compare.click(handlers.models.compare, sent, [progress, models], **pressed)
    which = "() => [document.body.dataset.running]"
    stop.click(handlers.stop, progress, [progress, result, models], cancels=[job, others], queue=False, js=which, **private)
    return source


def _examples() -> gr.HTML:
    def button(name: str, pair: tuple[str, str]) -> str:
        pictures = "".join(f'<img src="/examples/{file}" alt="" loading="lazy">' for file in pair)
        return (
            f'<button type="button" data-example="{name}" aria-label="{mark(f"swap.example_{name}_alt")}">'
            f'<span class="fs-pair">{pictures}</span><span>{mark(f"swap.example_{name}")}</span></button>'
        )

    buttons = "".join(button(name, pair) for name, pair in PAIRS.items())
    key = f'<span class="fs-key">{mark("swap.examples")}</span>'
    return gr.HTML(
        value={"example": ""},
        html_template=f'<div class="fs-examples">{key}<div class="fs-pairs">{buttons}</div></div>',
        js_on_load="fusionStudio.examples(element, props, trigger)",
        apply_default_css=False,
        elem_id="examples",
    )
