"""The Swap tab with several targets."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from html import escape
from typing import Any

from engines.errors import Cancelled
from engines.options import FuseOptions
from engines.timing import Progress, Run
from studio import history, panels
from studio.batches import Batch, Line, batch_of, key_of, work
from studio.context import Context
from studio.i18n import both, say
from studio.media import Item
from studio.painting import with_brush, without_brush
from studio.people import read_sources
from studio.presenters import error_lines

Value = dict[str, Any]
_BLANK = '<span class="fs-thumb"></span>'
STOPS_WITHIN = 3.0  # seconds; a job that waits for its turn still is shown as it is
_KEPT = 32  # batches of the sessions that were seen last


class BatchHandlers:
    """Keeps each session's last batch, so that Fuse goes on where Stop or a fault ended it."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._batches: dict[str, Batch] = {}
        self._working: dict[str, threading.Event] = {}  # set when the session's job has ended

    async def fuse(
        self,
        session: str,
        visitor: str,
        sources: Sequence[Item],
        targets: Sequence[Item],
        options: FuseOptions,
        label: bool = False,
        brush: tuple[str, Item] | None = None,
    ) -> AsyncGenerator[tuple[str, int, Value], None]:
        """Yields (name of the target that is being fused, its number from 1, the panel with the lines so far); "" and 0 at the end.

        Args:
            brush: what was painted, and the token of the target that it was painted on.

        Raises:
            FusionError: of the source, or of the brush.
        """
        ctx = self._ctx
        key = key_of(sources, targets, options, label, brush[1].token if brush else "")
        batch = self._batch(session, visitor, key, targets)
        ended = self._working[session] = threading.Event()

        def job(run: Run) -> None:
            try:
                given = read_sources(ctx.studio, sources, run)
                own = {brush[0]: with_brush(ctx.studio, options, brush[1], run)} if brush else {}
                work(batch, ctx.studio, given, without_brush(options), ctx.shelf, visitor, run, label, own)
            finally:
                ended.set()

        try:
            async with aclosing(ctx.desk.follow(session, job)) as steps:
                async for step in steps:
                    if isinstance(step, Progress) and step.stage == "fuse":
                        yield batch.lines[step.done].target.name, step.done + 1, panel_of(batch)
        except Cancelled:
            pass  # the panel says how far it came
        history.trim(ctx.shelf, visitor)
        yield "", 0, panel_of(batch)

    async def stopped(self, session: str) -> Value | None:
        """How far a batch came that was just cancelled; None where there was none at work."""
        ended = self._working.get(session)
        if ended is None or ended.is_set():
            return None
        await asyncio.to_thread(ended.wait, STOPS_WITHIN)
        return panel_of(self._batches[session])

    def _batch(self, session: str, visitor: str, key: str, targets: Sequence[Item]) -> Batch:
        known = self._batches.pop(session, None)
        if known is None or known.key != key or not known.whole:
            known = batch_of(key, targets, self._ctx.shelf, visitor, history.new_group())
        self._batches[session] = known
        while len(self._batches) > _KEPT:
            oldest = next(iter(self._batches))
            del self._batches[oldest]
            self._working.pop(oldest, None)
        return known


def panel_of(batch: Batch) -> Value:
    """How far it came, a line for each target, and everything that is done as a ZIP; with its place in the row of earlier results."""
    shown = both(lambda language: _panel(batch, language))
    if batch.thumb is None:
        return shown
    done = batch.saved
    return shown | {"entry": history.batch_value(done[0].faces, [line.target.name for line in done], len(batch.lines), batch.thumb)}


def _panel(batch: Batch, language: str) -> str:
    facts = {"done": len(batch.saved), "count": len(batch.lines), "failed": len(batch.failed)}
    head = f'<p class="fs-what" role="status">{say("batch.failed" if batch.failed else "batch.done", language, **facts)}</p>'
    ways = panels.link(batch.archive, "batch.zip", language) if batch.archive else ""
    if facts["done"] < facts["count"]:
        key = "batch.retry" if facts["done"] + facts["failed"] == facts["count"] else "batch.go_on"
        ways += f'<button type="button" class="fs-button" data-fuse>{say(key, language)}</button>'
    rows = "".join(_line(line, language) for line in batch.lines)
    return f'<div class="fs-batch">{head}<div class="fs-line fs-ways">{ways}</div><ol class="fs-batch-lines">{rows}</ol></div>'


def _line(line: Line, language: str) -> str:
    name = f"<strong>{escape(line.target.name)}</strong>"
    if line.fault:
        what, todo = (escape(part) for part in error_lines(line.fault, language))
        return f'<li class="fs-failed">{_BLANK}<div>{name}<p class="fs-what">{what}</p><p class="fs-hint">{todo}</p></div></li>'
    if not line.saved or not line.thumb:
        return f'<li>{_BLANK}<div>{name}<p class="fs-hint">{say("batch.waiting", language)}</p></div></li>'
    alt = say("batch.alt", language, name=line.target.name)
    thumb = f'<img class="fs-thumb" src="{line.thumb.address}" alt="{alt}">'
    told = "".join(
        f"{say('batch.similarity', language, index=face.index, before=face.similarity_before, after=face.similarity_after)} · "
        for face in line.faces
    )
    about = f'<p class="fs-hint">{told}<code>{escape(line.saved.mark.id)}</code></p>'
    file = panels.link(line.output, "batch.jpg", language)
    return f'<li><a href="{line.output.address}" target="_blank">{thumb}</a><div>{name}{about}</div>{file}</li>'
