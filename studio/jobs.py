"""`Desk`: where the page's and the API's work is done, one job at a time, followed and stopped by those who asked for it."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from engines.errors import FusionError
from engines.timing import Progress, Run

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    """The last thing that `follow` yields."""

    value: T


class Desk:
    """Runs jobs on one thread of its own.

    Gradio's own cancel stops the wait and not the work: a plain function goes on to its end and keeps the device. Here a job is
    given a `Run`, and whatever ends the wait (Stop, a closed tab, a client that went away) cancels that `Run`; the job ends at its
    next check, and the one thread then takes the next job.
    """

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pipeline")
        self._runs: dict[str, set[Run]] = {}
        self._alive = 0
        self._lock = threading.Lock()

    async def follow(self, session: str, work: Callable[[Run], T]) -> AsyncGenerator[Progress | Finished[T], None]:
        """Yields each stage as it begins and at last `Finished`. Leaving early cancels it.

        Args:
            session: whose job it is, for `cancel`.
            work: called on the desk's thread.

        Raises:
            FusionError: what the work raises; its base, with the cause in the log, for anything that isn't of the tree.
        """
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[Progress | None] = asyncio.Queue()

        def tell(progress: Progress) -> None:
            loop.call_soon_threadsafe(steps.put_nowait, progress)

        run = Run(tell)
        self._enter(session, run)

        def job() -> T:
            run.check()  # cancelled while it waited
            try:
                return work(run)
            except FusionError:
                raise
            except Exception as fault:  # a fault of ours: a typed answer, or the page would wait for ever
                log.exception("a job broke off")
                raise FusionError() from fault

        future = self._worker.submit(job)
        with self._lock:
            self._alive += 1
        future.add_done_callback(self._ended)
        done = asyncio.wrap_future(future)
        done.add_done_callback(lambda each: each.cancelled() or each.exception())  # seen, also when nobody waits any more
        done.add_done_callback(lambda _: steps.put_nowait(None))
        try:
            while (step := await steps.get()) is not None:
                yield step
            yield Finished(done.result())
        finally:
            run.cancel()
            self._leave(session, run)

    async def run(self, session: str, work: Callable[[Run], T]) -> T:
        """The same without the stages."""
        async with aclosing(self.follow(session, work)) as steps:
            async for step in steps:
                if isinstance(step, Finished):
                    return step.value
        raise RuntimeError("a followed job always ends in Finished or an exception")

    def cancel(self, session: str) -> int:
        """Stops all jobs of a session, running or waiting, and tells how many there were."""
        with self._lock:
            runs = tuple(self._runs.get(session, ()))
        for run in runs:
            run.cancel()
        return len(runs)

    @property
    def busy(self) -> int:
        """Jobs that run or wait, also those that were cancelled and haven't noticed yet."""
        with self._lock:
            return self._alive

    def close(self) -> None:
        """Stops everything and waits for the thread."""
        with self._lock:
            sessions = tuple(self._runs)
        for session in sessions:
            self.cancel(session)
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _ended(self, _: Future[Any]) -> None:
        with self._lock:
            self._alive -= 1

    def _enter(self, session: str, run: Run) -> None:
        with self._lock:
            self._runs.setdefault(session, set()).add(run)

    def _leave(self, session: str, run: Run) -> None:
        with self._lock:
            runs = self._runs.get(session, set())
            runs.discard(run)
            if not runs:
                self._runs.pop(session, None)
