"""The comparison of models in the page: what is remembered of a session while it is at work, and no longer."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engines.errors import NoFace
from engines.settings import Settings
from engines.timing import Run
from studio.context import VISITOR, Context, new_visitor
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


def closed(ctx: Context, handlers: ModelHandlers) -> None:
    """As Gradio ends an event: by Stop, or when its tab is closed."""

    async def act() -> None:
        steps = begun(ctx, handlers)
        await anext(steps)
        await steps.aclose()

    asyncio.run(act())


def test_stop_says_so_in_the_place_of_the_cards_once(ctx: Context) -> None:
    handlers = ModelHandlers(ctx)
    closed(ctx, handlers)
    said = handlers.stopped("tab")
    assert said is not None
    assert "Stopped" in said["en"]
    assert handlers.stopped("tab") is None


def test_a_closed_tab_is_forgotten(ctx: Context) -> None:
    handlers = ModelHandlers(ctx)
    closed(ctx, handlers)
    assert handlers._at_work == {"tab"}
    ctx.left("tab")
    assert handlers._at_work == set()


@pytest.mark.parametrize("fault", [NoFace(role="target", minimum=32), RuntimeError("ours")])
def test_a_fault_leaves_nothing_behind(ctx: Context, fault: Exception, caplog: pytest.LogCaptureFixture) -> None:
    handlers = ModelHandlers(ctx)
    ctx._studio.fault = fault  # type: ignore[union-attr]

    async def act() -> list[Any]:
        return [step async for step in begun(ctx, handlers)]

    assert len(asyncio.run(act())) == 1
    assert handlers.stopped("tab") is None
