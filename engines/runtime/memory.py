"""How much memory this process takes while something is done."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

EVERY = 0.01  # seconds between two looks: a graph's buffers live for tens of milliseconds at least


class Peak:
    """`bytes`: the most resident memory that was seen; final when the block has ended."""

    def __init__(self) -> None:
        self.bytes = 0


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Looks at the resident memory of the whole process from a thread of its own until the block ends."""
    process, peak, over = psutil.Process(), Peak(), threading.Event()

    def look() -> None:
        peak.bytes = max(peak.bytes, process.memory_info().rss)

    def watch() -> None:
        while not over.wait(EVERY):
            look()

    look()
    watcher = threading.Thread(target=watch, name="memory", daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()
        look()
