"""The Swap tab's comparison of models: the same fusion by each, on the pictures that are given."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import gradio as gr

from engines.errors import Cancelled, FusionError
from engines.timing import Run
from studio import pictures
from studio.context import Context, visitor_of
from studio.downloads import downloads
from studio.i18n import both
from studio.jobs import Finished
from studio.media import stem_of
from studio.model_cards import Card, cards
from studio.painting import brush_of, with_brush
from studio.people import read_sources
from studio.tabs.answers import bar_of, fault_panel, notice_panel, over
from studio.tabs.given import HINDRANCES, Sent, hindered, source_of, targets_of, wanted

Value = dict[str, Any]
THUMB_SIDE = 720  # twice the width of a card, for dense screens


class ModelHandlers:
    """What the button does. The page names files by token; whose they are, the cookie says."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def compare(self, request: gr.Request, *sent: Any) -> AsyncIterator[tuple[Value, Value]]:
        """Yields (progress, cards): which model it is at, then a card for each, or the two lines that say why there are none.

        Args:
            sent: as `Sent` has it; each model fuses one face, so the face map isn't asked.
        """
        ctx, session, visitor = self._ctx, str(request.session_hash), visitor_of(request.cookies)
        asked = Sent(*sent)
        try:
            given, several = source_of(ctx, visitor, asked.source), targets_of(ctx, visitor, asked.target)
            item = several[0] if several else wanted(ctx, visitor, asked.source, asked.target, None)[0]
            brush = None if several else brush_of(asked.panel, asked.target, ctx.shelf, visitor)
            options = asked.options()
        except HINDRANCES as fault:
            yield over(), hindered(fault)
            return

        def work(run: Run) -> Value:
            studio, group = ctx.studio, f"{session}:models"
            frame = studio.read(item.path.read_bytes(), item.name, run)
            wish = with_brush(studio, options, brush, run)
            done = studio.compare(read_sources(studio, given, run), frame, None, wish, run, bool(asked.label))
            ctx.shelf.clear(visitor, group)
            shown = []
            for one in done:
                if one.result is None:
                    shown.append(Card(one))
                    continue
                small = pictures.fused_preview(studio, ctx.shelf, visitor, one.result.image, group, THUMB_SIDE)
                stem = f"{stem_of(item.name)}-{one.name}"
                shown.append(Card(one, small, tuple(downloads(studio, ctx.shelf, visitor, one.result, stem, group))))
            return both(lambda language: cards(shown, language, bool(several)))

        try:
            async with aclosing(ctx.desk.follow(session, work)) as steps:
                async for step in steps:
                    if isinstance(step, Finished):
                        yield over(), step.value
                    elif step.stage == "compare":
                        yield bar_of(step), gr.skip()
        except Cancelled:
            yield over(), notice_panel("stopped", "info")
        except FusionError as fault:
            yield over(), fault_panel(fault)
