"""What the Swap tab's events do: faces are found, faces are fused, a job is stopped."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import gradio as gr

from engines.errors import Cancelled, FusionError
from engines.options import FuseOptions
from engines.timing import Run
from studio import history, panels, pictures
from studio.comparing import shown_value
from studio.context import Context, visitor_of
from studio.downloads import Ready, downloads
from studio.face_maps import Row, wishes_of_rows
from studio.i18n import both
from studio.jobs import Finished
from studio.media import MEDIA_TYPES, Gone, Item, stem_of
from studio.painting import brush_among, brush_of, with_brush
from studio.routes import EXAMPLES
from studio.tabs.answers import bar_of, bar_of_target, fault_panel, notice_panel, over
from studio.tabs.batch import BatchHandlers
from studio.tabs.given import HINDRANCES, Sent, hindered, source_of, targets_of, wanted
from studio.tabs.models import ModelHandlers
from studio.tabs.people import PeopleHandlers

LIVE_MS = 400.0  # a fusion faster than this follows the sliders by itself
PAIRS = {
    "good": ("portrait_1.jpg", "portrait_2.jpg"),
    "hard": ("portrait_2.jpg", "portrait_turned.jpg"),
    "refused": ("portrait_2.jpg", "cat.jpg"),
}

Value = dict[str, Any]


class FusionHandlers:
    """What the tab's events do. A value that comes from the page names files by token; whose they are, the cookie says."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.people = PeopleHandlers(ctx)
        self.batch = BatchHandlers(ctx)
        self.models = ModelHandlers(ctx)

    async def look_source(self, value: Value | None, request: gr.Request) -> Value:
        """The same of the source, which may be a persona."""
        person = self.people.persona_of(value, request)
        return await (self.people.show(person, value, request) if person else self.look(value, request))

    async def look(self, value: Value | None, request: gr.Request) -> Value:
        """Finds the faces of a picture that was just given."""
        return pictures.answer(await look_at(self._ctx, value, request), value)

    async def example(self, value: Value | None, request: gr.Request) -> tuple[Value, Value]:
        pair = PAIRS.get(str((value or {}).get("example")), PAIRS["good"])
        looked = [await look_at(self._ctx, _shelved(self._ctx, request, EXAMPLES / name), request) for name in pair]
        return looked[0], looked[1]

    async def fuse(self, request: gr.Request, *sent: Any) -> AsyncIterator[tuple[Value, Value]]:
        """Yields (progress, result): each stage as it begins, then the picture or the two lines that say why there is none.

        Args:
            sent: as `Sent` has it.
        """
        ctx, session, visitor = self._ctx, str(request.session_hash), visitor_of(request.cookies)
        asked = Sent(*sent)
        try:
            if targets := targets_of(ctx, visitor, asked.target):
                given, options = source_of(ctx, visitor, asked.source), asked.options()
                painted = brush_among(asked.panel, targets, ctx.shelf, visitor)
                async with aclosing(self._many(visitor, session, given, targets, options, bool(asked.label), painted)) as lists:
                    async for shown in lists:
                        yield shown
                return
            changed, rows = wanted(ctx, visitor, asked.source, asked.target, asked.face_map)
            if not rows:
                rows = (Row(source_of(ctx, visitor, asked.source), asked.options()),)
            brush = brush_of(asked.panel, asked.target, ctx.shelf, visitor)
        except HINDRANCES as fault:
            yield over(), hindered(fault)
            return

        def work(run: Run) -> Value:
            return self._fused(changed, rows, brush, run, visitor, history.new_group(), bool(asked.label))

        try:
            async with aclosing(ctx.desk.follow(session, work)) as steps:
                async for step in steps:
                    if isinstance(step, Finished):
                        yield over(), step.value
                    else:
                        yield bar_of(step), gr.skip()
        except Cancelled:
            yield over(), notice_panel("stopped", "info")
        except FusionError as fault:
            yield over(), fault_panel(fault)

    async def _many(
        self,
        visitor: str,
        session: str,
        source: Sequence[Item],
        targets: Sequence[Item],
        options: FuseOptions,
        label: bool,
        brush: tuple[str, Item] | None,
    ) -> AsyncGenerator[tuple[Value, Value]]:
        """The same for several targets: the list of what is done so far, then all of it. Raises `FusionError`, of the source."""
        async with aclosing(self.batch.fuse(session, visitor, source, targets, options, label, brush)) as steps:
            async for name, number, lines in steps:
                yield (bar_of_target(number, len(targets), name) if number else over()), lines

    async def stop(self, pressed: Any, request: gr.Request) -> tuple[Value, Value, Value]:
        """(progress, result, cards of models): in the place of the job that is stopped, what it leaves.

        Args:
            pressed: the button that asked for the job, as the page has it: "fuse" or "models". A job that waits for its turn was
                heard of by nobody else.
        """
        session = str(request.session_hash)
        self._ctx.desk.cancel(session)
        if pressed == "models":
            return over(), gr.skip(), notice_panel("stopped", "info")
        lines = await self.batch.stopped(session)
        return over(), lines or notice_panel("stopped", "info"), gr.skip()

    def _fused(self, changed: Item, rows: tuple[Row, ...], brush: Item | None, run: Run, visitor: str, group: str, label: bool) -> Value:
        """On the desk's thread: reads, fuses, encodes what is shown, and promises the rest."""
        ctx = self._ctx
        studio = ctx.studio
        wishes = wishes_of_rows(studio, rows, run)
        if brush is not None:
            wishes = [(one, with_brush(studio, options, brush, run)) for one, options in wishes]
        target = studio.read(changed.path.read_bytes(), changed.name, run)
        done = studio.fuse_faces(wishes, target, run, label)
        whole, first = pictures.shown_whole(done.target.width, done.target.height)
        encoded = done.encode(first, run=run, signed=False)
        timings = run.timings()
        run.check()
        stem = f"{stem_of(changed.name)}-fused"
        ready = ctx.shelf.add(visitor, encoded.data, f"{stem}.{first}", MEDIA_TYPES[first], group)
        files = downloads(studio, ctx.shelf, visitor, done, stem, group, Ready(first, encoded, ready))
        before = pictures.preview(studio, ctx.shelf, visitor, done.target, group)
        after = ready if whole else pictures.fused_preview(studio, ctx.shelf, visitor, done.image, group)
        limit = ctx.settings.safety_limit
        live = timings.total < LIVE_MS
        names = [", ".join(item.name for item in each) for each in dict.fromkeys(row.files for row in rows)], changed.name
        small = pictures.fused_preview(studio, ctx.shelf, visitor, done.image, group, history.THUMB_SIDE)
        history.trim(ctx.shelf, visitor)
        shown = shown_value(done, (before, after), names, timings)
        return both(lambda language: panels.result(done, timings, (before, after), files, limit, language)) | {
            "live": live,
            "shown": shown,
            "entry": history.entry_value(done, changed.name, small),
        }


async def look_at(ctx: Context, value: Value | None, request: gr.Request) -> Value:
    """A picture box's value with its faces found; with the two lines instead where that can't be."""
    visitor, token, name = visitor_of(request.cookies), str((value or {}).get("token", "")), str((value or {}).get("name", ""))
    try:
        item = ctx.shelf.get(visitor, token)
    except Gone:
        return pictures.gone_value()

    def work(run: Run) -> Value:
        studio = ctx.studio
        seen = pictures.look(studio, item, value, run)
        return pictures.seen_value(studio, ctx.shelf, visitor, item, seen, layers=False)

    try:
        return await ctx.desk.run(str(request.session_hash), work)
    except FusionError as fault:
        return pictures.fault_value(token, name, fault)


def _shelved(ctx: Context, request: gr.Request, path: Path) -> Value:
    item = ctx.shelf.add(visitor_of(request.cookies), path.read_bytes(), path.name, MEDIA_TYPES["jpg"])
    return {"token": item.token, "name": item.name}
