"""Models of transformers that a setting names: a folder, or a name on the hub, opened with typed errors and never from a pickle."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engines.errors import ExtraMissing, FusionError, WeightsUnusable
from engines.timing import Run

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
ROUNDS = 3  # of each way that is timed, of which the median counts


@dataclass(frozen=True, slots=True)
class Opened:
    """Attributes:
    model: of transformers, ready. name: of the folder or on the hub; "" of a seeded one.
    """

    model: Any
    name: str

    @property
    def seeded(self) -> bool:
        return not self.name

    @property
    def parameters(self) -> int:
        return sum(int(each.numel()) for each in self.model.parameters())

    @property
    def device(self) -> "torch.device":
        device: torch.device = next(self.model.parameters()).device
        return device


def frameworks() -> tuple[Any, Any]:
    """torch and transformers. Raises `ExtraMissing`: one of them isn't installed."""
    try:
        import torch
        import transformers
    except ImportError as missing:
        raise ExtraMissing(packages="torch, transformers", extra="portrait") from missing
    transformers.utils.logging.disable_progress_bar()  # a server's terminal isn't its place
    return torch, transformers


def device_or_best(device: str) -> str:
    """That one, or "" = CUDA where there is any, else the CPU. Raises as `frameworks`."""
    return device or ("cuda" if frameworks()[0].cuda.is_available() else "cpu")


def place_of(where: str, inner: str = "") -> tuple[str, str]:
    """What transformers is to open, and what people call it.

    Args:
        inner: a folder in that folder which is taken where it has a configuration (a pipeline's `text_encoder`).
    """
    folder = Path(where).expanduser()
    if not folder.exists():
        return where, where  # a name on the hub, perhaps
    within = folder / inner
    return str(within if inner and (within / "config.json").is_file() else folder), folder.name


@contextmanager
def opening(where: str, setting: str) -> Iterator[None]:
    """Around everything that reads files of a model.

    Args:
        setting: names the setting in the error.

    Raises:
        WeightsUnusable: for whatever goes wrong inside.
    """
    try:
        yield
    except FusionError:
        raise
    except Exception as fault:  # transformers raises whatever its parts do: OSError, ValueError, KeyError, safetensors' and the hub's own
        detail = (str(fault).split("\n")[0] or type(fault).__name__)[:200]
        raise WeightsUnusable("unreadable", name=where, setting=setting, detail=detail) from fault


class Once(Generic[T]):
    """A model that is opened when it is first asked for, on whatever thread: a download mustn't hold the desk up."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: T | None = None
        self._lock = threading.Lock()

    def get(self) -> T:
        """Raises what making it does; the next time it is tried again."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made


def in_turns(opened: Opened, ways: Callable[[], Sequence[Callable[[], object]]], run: Run) -> list[float]:
    """Median milliseconds of several ways to one result, done in turns: a machine's moods then meet all of them.

    Args:
        opened: on whose device they work. ways: called for each round, outside the clock.

    Raises:
        Cancelled.
    """
    torch = frameworks()[0]
    rounds = []
    for _ in range(ROUNDS):
        times = []
        for work in ways():
            run.check()
            begun = time.perf_counter()
            work()
            if opened.device.type == "cuda":
                torch.cuda.synchronize()
            times.append(1000 * (time.perf_counter() - begun))
        rounds.append(times)
    return [statistics.median(values) for values in zip(*rounds, strict=True)]
