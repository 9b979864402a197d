"""The Swap tab's face map: which faces show the person of a reference picture."""

from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.timing import Run
from studio.context import Context, visitor_of
from studio.i18n import both
from studio.media import Gone
from studio.presenters import notice_lines, told

Value = dict[str, Any]


class FaceMapHandlers:
    """What the face map's own events do. The page names files by token; whose they are, the cookie says."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def match(self, value: Value | None, request: gr.Request) -> Value:
        """The same map, its reference with how far each face is from the person in it (`away`), or with the two lines of an error."""
        given = value or {}
        asked = given.get("reference")
        named: Value = asked if isinstance(asked, dict) else {}
        ctx, visitor = self._ctx, visitor_of(request.cookies)
        try:
            shown, target = (ctx.shelf.get(visitor, str(named.get(name, ""))) for name in ("token", "target"))
        except Gone:
            return {**given, "reference": {**named, "error": both(lambda language: notice_lines("gone", language))}}

        def work(run: Run) -> dict[int, float]:
            studio = ctx.studio
            reference, changed = (studio.read(item.path.read_bytes(), item.name, run) for item in (shown, target))
            return studio.likeness(reference, changed, run)

        try:
            away = await ctx.desk.run(str(request.session_hash), work)
        except FusionError as fault:
            return {**given, "reference": {**named, "error": told(fault)}}
        return {**given, "reference": {**named, "away": {str(index): round(far, 3) for index, far in away.items()}}}
