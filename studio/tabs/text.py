"""The text half of the Tokens tab: what a prompt costs while it is typed."""

from pathlib import PurePath
from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.tokens.text import TextTokenizer, load, own
from studio import pictures, remembered
from studio.context import Context, visitor_of
from studio.i18n import both, mark
from studio.media import Gone
from studio.tabs.answers import fault_panel
from studio.text_counts import counts
from studio.text_panels import text_panel
from studio.widgets import blank, panel, picture_box

Value = dict[str, Any]
CALLS = 1_000
OWN = "own"  # the file that was dropped, among the choices


def build(ctx: Context, page: gr.Blocks) -> None:
    """Adds the section to the open tab of the page."""
    shipped = load(ctx.settings.data_dir)
    choices = [(each.title, name) for name, each in shipped.items()] + [(mark("text.own"), OWN)]
    with gr.Row(elem_id="text", elem_classes="fs-grid fs-two"):
        with gr.Column(elem_classes="fs-area-photo", min_width=0):
            words = gr.Textbox(label=mark("text.prompt"), placeholder=mark("text.placeholder"), lines=6, max_lines=14, elem_id="text-words")
            kind = gr.Radio(choices, value=next(iter(shipped)), label=mark("text.tokenizer"), elem_id="text-tokenizer", min_width=0)
            with gr.Row(elem_classes="fs-options"):
                price = gr.Number(label=mark("text.price"), value=0, minimum=0, elem_id="text-price", min_width=0)
                calls = gr.Number(label=mark("text.calls"), value=CALLS, minimum=0, precision=0, elem_id="text-calls", min_width=0)
            reset = remembered.numbers(page, "text-price", [price, calls])
            dropped = picture_box("tokenizer", "text.own_file", "text.own_hint", "file")
        with gr.Column(elem_classes="fs-area-face", min_width=0):
            answer = panel("text-result", "text.empty")

    handlers = TextHandlers(ctx)
    given = [words, kind, price, calls, dropped]
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "concurrency_id": "text", "concurrency_limit": 1}
    # A text box's `input` is told of keys alone, not of what is pasted or comes from an input method. While one is counted, the last waits.
    for event in (words.change, kind.input, price.input, calls.input):
        event(handlers.count, given, answer, trigger_mode="always_last", **private)
    reset.then(handlers.count, given, answer, trigger_mode="always_last", **private)
    dropped.upload(handlers.drop, given, [dropped, kind, answer], trigger_mode="always_last", **private)
    dropped.clear(handlers.drop, given, [dropped, kind, answer], trigger_mode="always_last", **private)


class TextHandlers:
    """What the section's events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def count(self, words: str, kind: str, price: float | None, calls: float | None, dropped: Value | None, request: gr.Request) -> Value:
        """The panel for a text. Not at the desk: it needs no model, and a fusion that runs mustn't hold a keystroke up."""
        if not words:
            return blank("text.empty")
        try:
            known = load(self._ctx.settings.data_dir)
            theirs = self._own(dropped, request)
            if theirs is not None:
                known[OWN] = theirs
            found = counts(words, known.values())
        except FusionError as fault:
            return fault_panel(fault)
        chosen = found[list(known).index(kind)] if kind in known else found[0]
        return both(lambda language: text_panel(found, chosen, calls or 0, price or 0, language))

    def drop(
        self, words: str, kind: str, price: float | None, calls: float | None, dropped: Value | None, request: gr.Request
    ) -> tuple[Value, str, Value]:
        """A tokenizer.json was given or taken away: the box, the choice and the panel."""
        token, name = str((dropped or {}).get("token", "")), str((dropped or {}).get("name", ""))
        try:
            theirs = self._own(dropped, request)
            if theirs is not None:
                theirs.count("")
        except Gone:
            return pictures.gone_value(), kind, blank("text.empty")
        except FusionError as fault:
            return {**pictures.empty(), "token": token, "name": name}, kind, fault_panel(fault)
        kind = OWN if theirs is not None else next(iter(load(self._ctx.settings.data_dir))) if kind == OWN else kind
        return {**pictures.empty(), "token": token, "name": name}, kind, self.count(words, kind, price, calls, dropped, request)

    def _own(self, dropped: Value | None, request: gr.Request) -> TextTokenizer | None:
        """The visitor's own tokenizer, None without one. Raises `Gone`: its file was deleted since."""
        token = str((dropped or {}).get("token", ""))
        if not token:
            return None
        item = self._ctx.shelf.get(visitor_of(request.cookies), token)
        return own(item.path, PurePath(item.name).stem)
