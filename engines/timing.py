"""`Run`: one job's stages, timed, reported and cancellable. The screen, the metrics and the benches read the same spans."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from engines.errors import Cancelled

STAGES = ("decode", "safety", "detect", "mesh", "align", "embed", "prepare", "fuse", "enhance", "blend", "mark", "encode", "verify", "save")


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage begins: its name (`stages.<name>` in the locale files) and, where there are several of a kind, the count."""

    stage: str
    done: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds per stage, in the order in which the stages first ran, and in total (wall clock)."""

    stages: tuple[tuple[str, float], ...] = ()
    total: float = 0.0

    def as_dict(self) -> dict[str, float]:
        return {name: round(ms, 1) for name, ms in self.stages} | {"total": round(self.total, 1)}


class Run:
    """Carries a job through the pipeline. Thread-safe to cancel; stages are entered by the one thread that works.

    Args:
        on_progress: called at the start of each stage, on the working thread.
    """

    def __init__(self, on_progress: Callable[[Progress], None] | None = None) -> None:
        self._on_progress, self._cancelled = on_progress, threading.Event()
        self._stops: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._spans: dict[str, float] = {}
        self._within = [0.0]  # for each stage that runs: seconds spent in stages inside it
        self._start = time.perf_counter()

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
            self._on_progress(Progress(name, done, count))
        self._within.append(0.0)
        begun = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - begun
            self._spans[name] = self._spans.get(name, 0.0) + (spent - self._within.pop()) * 1e3
            self._within[-1] += spent

    def timings(self) -> Timings:
        """What was spent up to now."""
        return Timings(tuple(self._spans.items()), (time.perf_counter() - self._start) * 1e3)
