"""The Swap tab's source as a person: several photos gathered, a persona made of them, a persona's file given."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.timing import Run
from studio import people, pictures
from studio.context import Context, visitor_of
from studio.media import Gone, Item
from studio.presenters import told

Value = dict[str, Any]


class PeopleHandlers:
    """What the source box's own events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def persona_of(self, value: Value | None, request: gr.Request) -> Item | None:
        """The file that was just given, where it is a persona; None for anything else."""
        try:
            item = self._ctx.shelf.get(visitor_of(request.cookies), str((value or {}).get("token", "")))
        except Gone:
            return None
        with item.path.open("rb") as file:
            return item if people.is_person(item, file.read(16)) else None

    async def show(self, item: Item, value: Value | None, request: gr.Request) -> Value:
        """A persona's file as the source; the two lines where it can't be."""

        def work(run: Run) -> Value:
            run.check()
            return people.persona_value(item, self._ctx.studio.load_persona(item.path.read_bytes(), item.name))

        return await self._work(
            {**pictures.empty(), "token": item.token, "name": item.name, "ask": (value or {}).get("ask")}, request, work
        )

    async def gather(self, value: Value | None, request: gr.Request) -> Value:
        """Looks at photos that are to become one person."""
        ctx, visitor, given = self._ctx, visitor_of(request.cookies), value or {}
        return await self._work(given, request, lambda run: people.gathered_value(ctx.studio, ctx.shelf, visitor, given, run))

    async def persona(self, value: Value | None, request: gr.Request) -> Value:
        """Makes a persona of the gathered photos."""
        ctx, visitor, given = self._ctx, visitor_of(request.cookies), value or {}
        try:
            items = [ctx.shelf.get(visitor, token) for token in people.gathered_tokens(given)]
        except Gone:
            return pictures.gone_value()

        def work(run: Run) -> Value:
            frames = [ctx.studio.read(item.path.read_bytes(), item.name, run) for item in items]
            made = ctx.studio.persona(frames, str(given.get("person", "")), run=run)
            return people.made_value(ctx.studio, ctx.shelf, visitor, made, f"{request.session_hash}:persona")

        return await self._work(given, request, work)

    async def _work(self, value: Value, request: gr.Request, work: Callable[[Run], Value]) -> Value:
        try:
            return pictures.answer(await self._ctx.desk.run(str(request.session_hash), work), value)
        except FusionError as fault:
            return {**value, "pending": False, "error": told(fault)}
