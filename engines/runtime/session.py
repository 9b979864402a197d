"""The seam between a model and whatever runs it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engines.errors import InvalidOption

Array = NDArray[Any]
PROVIDERS = ("auto", "cpu", "cuda", "tensorrt", "tensorrt-rtx", "directml", "coreml", "openvino")


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A named tensor. `shape` holds sizes and, for free axes, names: `("B", 3, "H", "W")`. `dtype` is NumPy's name."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


class Session(Protocol):
    """A graph, ready to run.

    `provider` is the one that really runs it ("cpu", "cuda", …), as the backend reports after creation; `tried` tells for
    `auto` which providers were passed over, with the reason for each.
    """

    @property
    def inputs(self) -> tuple[TensorSpec, ...]: ...

    @property
    def outputs(self) -> tuple[TensorSpec, ...]: ...

    @property
    def provider(self) -> str: ...

    @property
    def tried(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def max_batch(self) -> int: ...

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Feeds by name → outputs by name. Raises `SessionContract` for a wrong name, dtype, rank or fixed axis."""
        ...

    def close(self) -> None: ...


def open_session(path: Path, provider: str = "auto", threads: int = 0) -> Session:
    """Opens an ONNX file on a provider.

    Args:
        path: a file whose hash was checked already (`engines.manifest.Manifest.resolve`).
        provider: one of `PROVIDERS`. `auto` tries what this machine may have, best first, and ends with the CPU.
        threads: of the CPU provider; 0 = all cores.

    Raises:
        ProviderUnavailable: the provider asked for isn't the one that would run, with the reason.
        InvalidOption: no such provider.
    """
    if provider not in PROVIDERS:
        raise InvalidOption(name="provider", value=provider, allowed=", ".join(PROVIDERS))
    from engines.runtime.ort import OrtSession

    return OrtSession.open(path, provider, threads)
