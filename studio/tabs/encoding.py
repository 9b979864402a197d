"""The prefix cache under the Prompt tab: the shorter prompt, encoded as CLIP would, with what is known of earlier ones and without."""

import asyncio
from collections.abc import Callable
from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.timing import Run
from engines.tokens.text import tokenizer
from studio.context import Context
from studio.encoding import Encoders
from studio.encoding_panels import encoding_panel
from studio.i18n import both, mark
from studio.tabs.answers import fault_panel
from studio.visitors import whose
from studio.widgets import blank, panel, static

Value = dict[str, Any]
EMPTY = "encode.empty"


def build(ctx: Context, given: list[Any], shortened: Callable[..., str]) -> None:
    """Adds the section to the open tab.

    Args:
        given: the Prompt tab's fields. shortened: their values → the prompt that is to be encoded. Raises `FusionError`.
    """
    static(f'<h2 class="fs-section">{mark("encode.title")}</h2><p class="fs-hint">{mark("encode.about")}</p>')
    with gr.Row(elem_id="encode", elem_classes="fs-line"):
        go = gr.Button(mark("encode.go"), elem_id="encode-go", variant="secondary", min_width=112, scale=0)
        forget = gr.Button(mark("encode.forget"), elem_id="encode-forget", variant="secondary", min_width=112, scale=0)
    answer = panel("encode", EMPTY)

    handlers = EncodingHandlers(ctx, shortened)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "concurrency_id": "caches", "concurrency_limit": 1}
    go.click(handlers.waiting, None, answer, queue=False, api_visibility="private", show_progress="hidden").then(
        handlers.encode, given, answer, **private
    )
    forget.click(handlers.forget, None, answer, **private)


class EncodingHandlers:
    """What the section's events do."""

    def __init__(self, ctx: Context, shortened: Callable[..., str]) -> None:
        self._ctx, self._shortened = ctx, shortened
        self._encoders = Encoders(ctx.settings.text_model)

    def waiting(self) -> Value:
        """The first time a model has to be opened, which takes seconds."""
        return blank("encode.waiting")

    async def encode(self, words: str, level: str, negations: bool, template: str, shown: Value | None, request: gr.Request) -> Value:
        """The panel; at the desk, since a model runs, but for opening it."""
        try:
            text = self._shortened(words, level, negations, template, shown)
            if not text.strip():
                return blank(EMPTY)
            await asyncio.to_thread(self._encoders.open)
            clip = tokenizer("clip", self._ctx.settings.data_dir)

            def work(run: Run) -> Value:
                found = self._encoders.encode(whose(request), text, clip, run)
                return both(lambda language: encoding_panel(found, language))

            return await self._ctx.desk.run(str(request.session_hash), work)
        except FusionError as fault:
            return fault_panel(fault)

    async def forget(self, request: gr.Request) -> Value:
        """Begins the visitor's cache and its counters anew."""
        await self._ctx.desk.run(str(request.session_hash), lambda _: self._encoders.forget(whose(request)))
        return blank(EMPTY)
