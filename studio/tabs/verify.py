"""The Verify tab: what a file says about itself."""

from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.timing import Run
from studio import pictures
from studio.context import Context, visitor_of
from studio.i18n import both
from studio.media import Gone
from studio.tabs import verify_many as many
from studio.tabs.answers import fault_panel
from studio.tabs.swap import PIPELINE
from studio.verify_files import report_files
from studio.verify_panel import verification
from studio.verify_report import heat_jpeg
from studio.widgets import blank, panel, picture_box

Value = dict[str, Any]


def build(ctx: Context) -> None:
    """Adds the tab to the open `gr.Blocks`."""
    with gr.Row(elem_id="verify", elem_classes="fs-grid fs-two"):
        with gr.Column(elem_classes="fs-area-photo", min_width=0):
            file = picture_box("file", "verify.file", "verify.file_hint", "file")
        with gr.Column(elem_classes="fs-area-face", min_width=0):
            result = panel("verify-result", "verify.empty")
    many.build(ctx)

    handlers = VerifyHandlers(ctx)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    file.upload(handlers.verify, file, [file, result], trigger_mode="always_last", concurrency_id=PIPELINE, concurrency_limit=1, **private)
    file.clear(handlers.clear, None, result, queue=False, **private)


class VerifyHandlers:
    """What the tab's events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def verify(self, value: Value | None, request: gr.Request) -> tuple[Value, Value]:
        ctx, visitor = self._ctx, visitor_of(request.cookies)
        token, name = str((value or {}).get("token", "")), str((value or {}).get("name", ""))
        try:
            item = ctx.shelf.get(visitor, token)
        except Gone:
            return pictures.gone_value(), blank("verify.empty")

        def work(run: Run) -> tuple[Value, Value]:
            data = item.path.read_bytes()
            found = ctx.studio.verify(data, item.name, run)
            frame = ctx.studio.read(data, item.name, run)
            shown = pictures.preview_value(ctx.studio, ctx.shelf, visitor, item, frame)
            heat = pictures.heat_preview(ctx.studio, ctx.shelf, visitor, frame, found) if found.heat else None
            small = {0: heat_jpeg(ctx.studio, data, found)} if found.heat else {}
            files = report_files(ctx, visitor, f"{request.session_hash}:verify", [(item.name, found)], small)
            return shown, both(lambda language: verification(found, item.name, len(data), language, heat, files[language]))

        try:
            return await ctx.desk.run(str(request.session_hash), work)
        except FusionError as fault:
            return {**pictures.empty(), "token": token, "name": name}, fault_panel(fault)

    def clear(self) -> Value:
        return blank("verify.empty")
