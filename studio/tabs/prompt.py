"""The Prompt tab: a prompt said shorter, what was left out and why, and what that saves."""

from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.prompts import library
from engines.prompts.draft import Span
from engines.prompts.optimise import LEVELS, Optimised, optimise
from engines.text import has
from engines.tokens.counters import COUNTERS
from engines.tokens.text import load
from studio import remembered
from studio.context import Context
from studio.i18n import both, mark
from studio.likeness import Likenesses
from studio.prompt_panels import prompt_panel
from studio.tabs import encoding
from studio.tabs.answers import fault_panel
from studio.widgets import blank, prompt_answer

Value = dict[str, Any]
CALLS = 100_000  # a month


def build(ctx: Context, page: gr.Blocks) -> None:
    """Adds the tab to the open page."""
    none = (mark("prompt.none"), "")
    templates = [none, *((_called("template", name), name) for name in library.templates(ctx.settings.data_dir))]
    presets = [none, *((_called("preset", name), name) for name in library.negatives(ctx.settings.data_dir))]
    levels = [(mark(f"prompt.level_{level}"), level) for level in LEVELS]
    with gr.Row(elem_id="prompt", elem_classes="fs-grid fs-two"):
        with gr.Column(elem_classes="fs-area-photo", min_width=0):
            words = gr.Textbox(
                label=mark("prompt.words"), placeholder=mark("prompt.placeholder"), lines=7, max_lines=16, elem_id="prompt-words"
            )
            level = gr.Radio(
                levels, value="compact", label=mark("prompt.level"), info=mark("prompt.level_hint"), elem_id="prompt-level", min_width=0
            )
            negations = gr.Checkbox(
                value=True, label=mark("prompt.negations"), info=mark("prompt.negations_hint"), elem_id="prompt-negations"
            )
            with gr.Row(elem_classes="fs-options"):
                template = gr.Dropdown(
                    templates,
                    value="",
                    label=mark("prompt.template"),
                    info=mark("prompt.template_hint"),
                    elem_id="prompt-template",
                    min_width=0,
                )
                preset = gr.Dropdown(
                    presets, value="", label=mark("prompt.preset"), info=mark("prompt.preset_hint"), elem_id="prompt-preset", min_width=0
                )
            with gr.Row(elem_classes="fs-options"):
                price = gr.Number(label=mark("prompt.price"), value=0, minimum=0, elem_id="prompt-price", min_width=0)
                calls = gr.Number(label=mark("prompt.calls"), value=CALLS, minimum=0, precision=0, elem_id="prompt-calls", min_width=0)
            reset = remembered.numbers(page, "prompt-price", [price, calls])
        with gr.Column(elem_classes="fs-area-face", min_width=0):
            answer = prompt_answer()

    handlers = PromptHandlers(ctx)
    given = [words, level, negations, template, preset, price, calls, answer]
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "concurrency_id": "text", "concurrency_limit": 1}
    # A text box's `input` is told of keys alone, not of what is pasted or comes from an input method. While one is done, the last waits.
    for event in (words.change, level.input, negations.input, preset.input, price.input, calls.input, answer.submit):
        event(handlers.shorten, given, answer, trigger_mode="always_last", **private)
    reset.then(handlers.shorten, given, answer, trigger_mode="always_last", **private)
    template.input(handlers.begin, [words, template], words, **private)  # the text box then tells of its change
    encoding.build(ctx, [words, level, negations, template, answer], handlers.shortened)


class PromptHandlers:
    """What the tab's events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx, self.likenesses = ctx, Likenesses(ctx.settings.sentence_model)

    def shorten(
        self,
        words: str,
        level: str,
        negations: bool,
        template: str,
        preset: str,
        price: float | None,
        calls: float | None,
        shown: Value | None,
    ) -> Value:
        """The panel for a prompt. Not at the desk: it needs no model, and a fusion that runs mustn't hold a keystroke up."""
        if not words.strip():
            return blank("prompt.empty") | {"kept": [], "source": ""}
        kept = _kept(shown, words)
        try:
            negative = library.negative(preset, self._ctx.settings.data_dir) if preset else ""
            found = self._optimised(words, level, negations, template, kept)
            COUNTERS.prompt(found.tokens)
            gone = library.broken(self._prefix(template), words)
        except FusionError as fault:
            return fault_panel(fault)
        titles = {name: each.title for name, each in load(self._ctx.settings.data_dir).items()}
        alike = self.likenesses.of(found)
        panel = both(lambda language: prompt_panel(found, kept, gone, negative, titles, calls or 0, price or 0, language, alike))
        return {**panel, "kept": [list(span) for span in kept], "source": words}

    def shortened(self, words: str, level: str, negations: bool, template: str, shown: Value | None) -> str:
        """The shorter prompt alone, as the panel has it. Raises as `optimise`."""
        return self._optimised(words, level, negations, template, _kept(shown, words)).text

    def _optimised(self, words: str, level: str, negations: bool, template: str, kept: list[Span]) -> Optimised:
        counters = {name: each.count for name, each in load(self._ctx.settings.data_dir).items()}
        return optimise(words, level, counters, kept, negations, self._prefix(template))

    def _prefix(self, template: str) -> str:
        return library.template(template, self._ctx.settings.data_dir) if template else ""

    def begin(self, words: str, template: str) -> str:
        """The prompt behind the template that was chosen, instead of behind the one before."""
        known = library.templates(self._ctx.settings.data_dir)
        for prefix in known.values():
            words = words.removeprefix(prefix)
        return library.begun(known[template], words) if template in known else words


def _called(kind: str, name: str) -> str:
    """The words for one that comes along; a person's own have the name that they gave it."""
    return mark(f"prompt.{kind}_{name}") if has(f"page.prompt.{kind}_{name}") else name


def _kept(shown: Value | None, words: str) -> list[Span]:
    """What was put back on the page, where it was put back in this very prompt. Comes from outside, so that anything may stand there."""
    shown = shown or {}
    spans = shown.get("kept")
    if shown.get("source") != words or not isinstance(spans, list):
        return []
    pairs = [tuple(span) for span in spans if isinstance(span, list) and len(span) == 2 and all(type(at) is int for at in span)]
    return sorted({(start, end) for start, end in pairs if 0 <= start < end <= len(words)})
