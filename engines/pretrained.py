"""Models of transformers that a setting names: a folder, or a name on the hub, opened with typed errors and never from a pickle."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engines.errors import ExtraMissing, FusionError, WeightsUnusable

if TYPE_CHECKING:
    import torch


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
