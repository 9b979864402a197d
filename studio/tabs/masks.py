"""The Swap tab's mask: the target with the part tinted in which a fusion may show."""

from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.timing import Run
from studio.context import Context, visitor_of
from studio.i18n import both
from studio.media import MEDIA_TYPES, Gone
from studio.options import options_of_page
from studio.painting import brush_of, with_brush
from studio.pictures import PREVIEW_QUALITY, PREVIEW_SIDE
from studio.presenters import notice_lines, told

Value = dict[str, Any]  # for assets/theme/mask.js: {"token": of the target, "address"} or {"token", "error": the two lines}


class MaskHandlers:
    """What the panel's event does. The page names files by token; whose they are, the cookie says."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def show(self, panel: Value | None, target: Value | None, request: gr.Request) -> Value:
        ctx, visitor, session = self._ctx, visitor_of(request.cookies), str(request.session_hash)
        token = str((target or {}).get("token", ""))
        try:
            item, brush = ctx.shelf.get(visitor, token), brush_of(panel, target, ctx.shelf, visitor)
        except Gone:
            return {"token": token, "error": both(lambda language: notice_lines("gone", language))}

        def work(run: Run) -> Value:
            studio = ctx.studio
            options = with_brush(studio, options_of_page(panel, 100, "none", None, target), brush, run)
            frame = studio.read(item.path.read_bytes(), item.name, run)
            shown = studio.mask(frame, options, run, PREVIEW_SIDE)
            data = studio.encode(shown, "jpg", PREVIEW_QUALITY, run).data
            group = f"{session}:mask"
            ctx.shelf.clear(visitor, group)
            return {"token": token, "address": ctx.shelf.add(visitor, data, "mask.jpg", MEDIA_TYPES["jpg"], group).address}

        try:
            return await ctx.desk.run(session, work)
        except FusionError as fault:
            return {"token": token, "error": told(fault)}
