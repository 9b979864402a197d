"""The comparison of models in the page: where a Stop and a fault of it are told."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from engines.errors import NoFace
from engines.settings import Settings
from engines.timing import Run
from studio.context import VISITOR, Context, new_visitor
from studio.tabs.fusion import FusionHandlers
from studio.tabs.models import ModelHandlers


class Slow:
    """In the place of the pipeline: begins with the first model, and goes on until it is stopped; or says `fault`."""

    fault: Exception | None = None

    def source(self, *_: Any, **__: Any) -> object:
        return object()

    read = source

    def compare(self, *given: Any) -> Any:
        run = next(each for each in given if isinstance(each, Run))
        if self.fault:
            raise self.fault
        with run.stage("compare", 0, 2):
            while True:
                run.check()
                time.sleep(0.01)


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[Context]:
    made = Context(Settings(data_dir=tmp_path))
    made._studio = Slow()  # type: ignore[assignment]
    yield made
    made._studio = None
    made.close()


def begun(ctx: Context, handlers: ModelHandlers) -> Any:
    visitor = new_visitor()
    boxes = [{"token": ctx.shelf.add(visitor, b"", name, "image/png").token} for name in ("a.png", "b.png")]
    request: Any = SimpleNamespace(cookies={VISITOR: visitor}, session_hash="tab")
    return handlers.compare(request, *boxes, 100, "none", None, None, False)


@pytest.mark.parametrize(("pressed", "place"), [("models", 2), ("fuse", 1), (None, 1), ({"html": "x"}, 1)])
def test_stop_says_so_in_the_place_of_what_was_asked_for(ctx: Context, pressed: Any, place: int) -> None:
    """Also of a job that waits for its turn, which none of the handlers has heard of; what comes from outside may be anything."""
    request: Any = SimpleNamespace(session_hash="tab")
    said: Any = asyncio.run(FusionHandlers(ctx).stop(pressed, request))
    assert "Stopped" in said[place]["en"]
    assert said[3 - place] == gr.skip()


@pytest.mark.parametrize("fault", [NoFace(role="target", minimum=32), RuntimeError("ours")])
def test_a_fault_is_told_once(ctx: Context, fault: Exception) -> None:
    ctx._studio.fault = fault  # type: ignore[union-attr]

    async def act() -> list[Any]:
        return [step async for step in begun(ctx, ModelHandlers(ctx))]

    (said,) = asyncio.run(act())
    assert "fs-error" in said[1]["en"]


def test_what_is_left_is_stopped(ctx: Context) -> None:
    """As Gradio ends an event: by Stop, or when its tab is closed."""

    async def act() -> None:
        steps = begun(ctx, ModelHandlers(ctx))
        await anext(steps)
        await steps.aclose()
        while ctx.desk.busy:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(act(), 10))
