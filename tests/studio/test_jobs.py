"""The desk: one job at a time, followed, and really stopped."""

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import aclosing

import numpy as np
import pytest

from engines.errors import Cancelled, FusionError, NoFace
from engines.timing import Progress, Run
from studio.jobs import Desk, Finished


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.close()


PATIENCE = 60  # s; a loaded machine, not a wish


class Endless:
    """Work that goes on until it is stopped; tells when it began and when it ended."""

    def __init__(self) -> None:
        self.began, self.ended = threading.Event(), threading.Event()

    def __call__(self, run: Run) -> str:
        self.began.set()
        try:
            while True:
                time.sleep(0.005)
                run.check()
        finally:
            self.ended.set()


async def idle(desk: Desk) -> bool:
    end = time.monotonic() + PATIENCE
    while desk.busy and time.monotonic() < end:
        await asyncio.sleep(0.005)
    return desk.busy == 0


def test_stages_come_in_order_and_the_value_last(desk: Desk) -> None:
    def work(run: Run) -> int:
        for number in range(3):
            with run.stage("fuse", number + 1, 3):
                pass
        return 42

    async def follow() -> list[Progress | Finished[int]]:
        return [step async for step in desk.follow("a", work)]

    assert asyncio.run(follow()) == [*(Progress("fuse", number, 3) for number in (1, 2, 3)), Finished(42)]


def test_an_error_of_the_work_is_the_followers(desk: Desk) -> None:
    def work(run: Run) -> None:
        raise NoFace(role="source", minimum=36)

    with pytest.raises(NoFace):
        asyncio.run(desk.run("a", work))
    assert desk.busy == 0


def test_a_fault_of_our_own_is_an_answer_too(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody waits for ever, nothing of its text is shown, and the log has the cause."""

    def work(run: Run) -> None:
        raise KeyError("secret")

    with pytest.raises(FusionError) as refused:
        asyncio.run(desk.run("a", work))
    assert type(refused.value) is FusionError
    assert "secret" not in refused.value.message() + refused.value.hint()
    assert "secret" in caplog.text
    assert desk.busy == 0


def test_stop_ends_the_work_and_not_only_the_wait(desk: Desk) -> None:
    endless = Endless()

    async def scene() -> None:
        waiting = asyncio.create_task(desk.run("a", endless))
        await asyncio.to_thread(endless.began.wait, PATIENCE)
        assert desk.cancel("b") == 0  # somebody else's Stop
        assert desk.cancel("a") == 1
        with pytest.raises(Cancelled):
            await waiting

    asyncio.run(scene())
    assert endless.ended.is_set()
    assert desk.cancel("a") == 0


def test_leaving_ends_the_work(desk: Desk) -> None:
    """A closed tab: the generator is closed, or its task cancelled, and nobody calls `cancel`."""
    for leave in ("close", "cancel"):
        endless = Endless()

        async def scene(leave: str = leave, endless: Endless = endless) -> None:
            if leave == "close":
                steps = desk.follow("a", endless)
                asyncio.get_running_loop().call_later(0.05, endless.began.wait)
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(steps), 0.2)
                await steps.aclose()
            else:
                task = asyncio.create_task(desk.run("a", endless))
                await asyncio.to_thread(endless.began.wait, PATIENCE)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert await idle(desk)

        asyncio.run(scene())
        assert endless.ended.is_set()


def test_the_next_job_starts_after_a_stop(desk: Desk) -> None:
    endless = Endless()

    async def scene() -> str:
        first = asyncio.create_task(desk.run("a", endless))
        await asyncio.to_thread(endless.began.wait, PATIENCE)
        second = asyncio.create_task(desk.run("b", lambda run: "done"))
        await asyncio.sleep(0.05)
        assert not second.done()  # one job at a time
        desk.cancel("a")
        with pytest.raises(Cancelled):
            await first
        return await second

    assert asyncio.run(scene()) == "done"


def test_a_job_that_still_waits_is_never_begun_once_stopped(desk: Desk) -> None:
    endless, begun = Endless(), []

    async def scene() -> None:
        first = asyncio.create_task(desk.run("a", endless))
        await asyncio.to_thread(endless.began.wait, PATIENCE)
        waiting = asyncio.create_task(desk.run("b", lambda run: begun.append(1)))
        await asyncio.sleep(0.02)
        desk.cancel("b")
        desk.cancel("a")
        for task in (first, waiting):
            with pytest.raises(Cancelled):
                await task

    asyncio.run(scene())
    assert begun == []


def test_a_hundred_stopped_jobs_leave_nothing(desk: Desk) -> None:
    """Neither runs, nor pictures, nor threads."""
    pictures: list[weakref.ref[np.ndarray]] = []

    async def one() -> None:
        picture, began = np.zeros((64, 64, 3), np.uint8), threading.Event()
        pictures.append(weakref.ref(picture))

        def work(run: Run) -> int:
            began.set()
            while True:
                time.sleep(0.001)
                run.check()
                picture.sum()

        async with aclosing(desk.follow("a", work)) as steps:
            waiting = asyncio.ensure_future(anext(steps))
            await asyncio.to_thread(began.wait, PATIENCE)
            desk.cancel("a")
            with pytest.raises(Cancelled):
                await waiting

    async def scene() -> None:
        for _ in range(100):
            await one()
        assert await idle(desk)
        await desk.run("a", lambda run: None)  # the desk's thread holds a job a moment longer than its answer: until the next

    before = threading.active_count()
    asyncio.run(scene())
    gc.collect()
    assert [reference for reference in pictures if reference() is not None] == []
    assert threading.active_count() <= before + 1  # the desk's own
    assert desk.cancel("a") == 0
