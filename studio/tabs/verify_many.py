"""The Verify tab's second half: many files, or a folder of them, one after the other."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, TypedDict

import gradio as gr

from engines.errors import Cancelled, FusionError
from engines.timing import Progress, Run
from studio.context import Context, visitor_of
from studio.i18n import both, mark
from studio.media import Gone, Item
from studio.tabs.swap import PIPELINE
from studio.verify_files import report_files
from studio.verify_panel import Answers, many_panel
from studio.verify_report import has_heat, heat_jpeg
from studio.widgets import MOST_VERIFIED, check_box, panel, static

Value = dict[str, Any]


class Given(TypedDict, total=False):
    """What the page sends: (token, name) of each file; "" for the token of one that didn't get here."""

    files: list[list[str]]


def build(ctx: Context) -> None:
    """Adds the section to the open tab."""
    static(f'<h2 class="fs-section">{mark("verify.many")}</h2><p class="fs-hint">{mark("verify.many_about")}</p>')
    box = check_box()
    answer = panel("verify-many")
    handlers = ManyHandlers(ctx)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    box.submit(handlers.verify, box, answer, concurrency_id=PIPELINE, concurrency_limit=1, **private)
    box.clear(handlers.stop, None, None, queue=False, **private)


class ManyHandlers:
    """What the section's events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def verify(self, given: Given, request: gr.Request) -> AsyncGenerator[Value, None]:
        """Yields the panel at each file; at last, also after a stop, with the report of those that were done."""
        ctx, visitor, session = self._ctx, visitor_of(request.cookies), str(request.session_hash)
        items = [self._item(visitor, *each) for each in _files(given)]
        told: Answers = []
        heats: dict[int, bytes] = {}

        def job(run: Run) -> None:
            for place, (name, item) in enumerate(items):
                with run.stage("verify", place, len(items)):
                    found = _answer(ctx, name, item, run)
                    if has_heat(found) and item is not None:
                        heats[place] = heat_jpeg(ctx.studio, item.path.read_bytes(), found)
                    told.append((name, found))

        with suppress(Cancelled):  # the panel says how far it came
            async with aclosing(ctx.desk.follow(session, job)) as steps:
                async for step in steps:
                    if isinstance(step, Progress) and step.count == len(items):
                        yield both(lambda language: many_panel(told, len(items), language))
        files = report_files(ctx, visitor, f"{session}:verify-many", told, heats) if told else {}
        yield both(lambda language: many_panel(told, len(items), language, over=True, files=files.get(language, ())))

    def stop(self, request: gr.Request) -> None:
        self._ctx.desk.cancel(str(request.session_hash))

    def _item(self, visitor: str, token: str, name: str) -> tuple[str, Item | None]:
        try:
            item = self._ctx.shelf.get(visitor, token)
        except Gone:
            return name, None
        return item.name, item


def _answer(ctx: Context, name: str, item: Item | None, run: Run) -> Any:
    if item is None:
        return FusionError()
    try:
        return ctx.studio.verify(item.path.read_bytes(), name, run)
    except Cancelled:
        raise
    except FusionError as fault:
        return fault


def _files(given: Given) -> list[tuple[str, str]]:
    """What comes from outside may be anything."""
    listed = (given or {}).get("files")
    pairs = listed[:MOST_VERIFIED] if isinstance(listed, list) else []
    return [(str(pair[0]), str(pair[1])) for pair in pairs if isinstance(pair, list) and len(pair) == 2]
