"""`Run`: one job's stages, timed, reported and cancellable. The screen, the metrics and the benches read the same spans."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from engines.errors import Cancelled

A = TypeVar("A")
B = TypeVar("B")

STAGES = (
    "compare",
    "decode",
    "safety",
    "detect",
    "mesh",
    "align",
    "embed",
    "prepare",
    "fuse",
    "enhance",
    "blend",
    "mark",
    "encode",
    "sign",
    "verify",
    "save",
    "count",
)


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage begins: its name (`stages.<name>` in the locale files) and, where there are several of a kind, the count."""

    stage: str
    done: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds per stage, in the order in which the stages first ran, and in total (wall clock).

    Stages that ran beside each other share the time, so that all of them together never take more than the total.
    """

    stages: tuple[tuple[str, float], ...] = ()
    total: float = 0.0

    def as_dict(self) -> dict[str, float]:
        return {name: round(ms, 1) for name, ms in self.stages} | {"total": round(self.total, 1)}


class Run:
    """Carries a job through the pipeline. Thread-safe.

    Args:
        on_progress: called at the start of each stage, on the thread that works, by one thread at a time.
    """

    def __init__(self, on_progress: Callable[[Progress], None] | None = None) -> None:
        self._on_progress, self._cancelled = on_progress, threading.Event()
        self._stops: list[Callable[[], None]] = []
        self._lock, self._telling = threading.Lock(), threading.Lock()
        self._spans: dict[str, float] = {}
        self._nests: dict[int, list[str]] = {}  # of each thread that works: the stages that it is in, the innermost last
        self._start = self._charged = time.perf_counter()

    def cancel(self) -> None:
        """Stops the job at its next check, and what runs under `stopping` at once; the job then raises `Cancelled`."""
        with self._lock:
            self._cancelled.set()
            for stop in self._stops:
                stop()

    def check(self) -> None:
        """Raises `Cancelled` when the job was stopped. Call it inside every loop that can last over 100 ms."""
        if self._cancelled.is_set():
            raise Cancelled()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """For work that can't call `check`, as one long call into a library: while the block lasts, `cancel` calls `stop`.

        Args:
            stop: quick and safe on any thread. Whatever the block raises once the job was stopped is answered with `Cancelled`.
        """
        with self._lock:
            self.check()
            self._stops.append(stop)
        try:
            yield
        except Exception as fault:
            if self._cancelled.is_set():
                raise Cancelled() from fault
            raise
        finally:
            with self._lock:
                self._stops.remove(stop)

    @contextmanager
    def stage(self, name: str, done: int = 0, count: int = 1) -> Iterator[None]:
        """Times a stage; the same name adds up, and a stage within another counts for itself alone. `name` is one of `STAGES`."""
        if name not in STAGES:
            raise ValueError(f"unknown stage {name!r}")
        self.check()
        if self._on_progress is not None:
            with self._telling:
                self._on_progress(Progress(name, done, count))
        me = threading.get_ident()
        with self._lock:
            self._charge()
            self._nests.setdefault(me, []).append(name)
        try:
            yield
        finally:
            with self._lock:
                self._charge()
                self._nests[me].pop()
                if not self._nests[me]:
                    del self._nests[me]

    def both(self, first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
        """Two parts of the job beside each other, the second on a thread of its own.

        Both end before this returns or raises; where both fail, the first one's fault is raised.
        """
        with ThreadPoolExecutor(1, "beside") as beside:
            other = beside.submit(second)
            return first(), other.result()

    def timings(self) -> Timings:
        """What was spent up to now; of a stage that runs still, up to the last begin or end of another."""
        with self._lock:
            return Timings(tuple(self._spans.items()), (time.perf_counter() - self._start) * 1e3)

    def _charge(self) -> None:
        """Gives the time since the last change to the stages that ran, in equal parts."""
        now = time.perf_counter()
        for nest in self._nests.values():
            spent = (now - self._charged) * 1e3 / len(self._nests)
            self._spans[nest[-1]] = self._spans.get(nest[-1], 0.0) + spent
        self._charged = now
