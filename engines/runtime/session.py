"""The seam between a model and whatever runs it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engines.errors import InvalidOption, SessionContract
from engines.timing import Run

Array = NDArray[Any]
PROVIDERS = ("auto", "cpu", "cuda", "tensorrt", "tensorrt-rtx", "directml", "coreml", "openvino")

# `max_batch` of a graph whose batch axis is free. Measured on 2 cores per item, batch 1 = 1: at 8 dlib's network takes 1.2,
# the face mesh 0.7, CenterFace (320²) 1.1; at 16 they take 1.3, 1.1 and 1.4, for twice the memory. So larger never pays.
FREE_BATCH = 8


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A named tensor. `shape` holds sizes and, for free axes, names: `("B", 3, "H", "W")`. `dtype` is NumPy's name."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


class Session(Protocol):
    """A graph, ready to run. `run` may be called from several threads at once.

    `provider` is the one that really runs it ("cpu", "cuda", …), as the backend reports after creation; `tried` tells for
    `auto` which providers were passed over, each with the reason in one English sentence. `max_batch` is the longest first axis
    that one call should be given: the size itself where it is fixed, `FREE_BATCH` where it is free.
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

    def run(self, feeds: Mapping[str, Array], run: Run | None = None) -> dict[str, Array]:
        """Feeds by name → outputs by name.

        Args:
            run: breaks the graph off when it is cancelled. Worth giving to a graph that takes over a second.

        Raises:
            Cancelled: `run` was.
            SessionContract: a wrong name, dtype, rank or fixed axis, or the session was closed.
            RunFailed: the graph broke off while it ran.
        """
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
        ModelMissing, ModelCorrupt: no such file, or not a graph.
        SessionContract: a graph with operators, types or an opset that the backend doesn't know.
    """
    if provider not in PROVIDERS:
        raise InvalidOption(name="provider", value=provider, allowed=", ".join(PROVIDERS))
    from engines.runtime.ort import OrtSession

    return OrtSession.open(path, provider, threads)


def check_tensors(graph: str, specs: tuple[TensorSpec, ...], tensors: Mapping[str, Array]) -> None:
    """Compares tensors with their declaration: every backend's `run` begins with it.

    Checked: exactly the declared names; NumPy arrays; dtype with byte order (ONNX Runtime takes big-endian values for little-endian
    ones and answers NaN); rank; fixed axes. A free axis takes any size but 0: an empty one breaks off deep inside some graphs
    and passes through others.

    Raises:
        SessionContract: with all that doesn't fit, in one sentence.
    """
    by_name = {spec.name: spec for spec in specs}
    faults = [f"{name} is missing" for name in by_name if name not in tensors]
    faults += [f"there is no {name}, only {', '.join(by_name)}" for name in tensors if name not in by_name]
    for name, spec in by_name.items():
        fault = _mismatch(spec, tensors[name]) if name in tensors else ""
        if fault:
            faults.append(f"{name} {fault}")
    if faults:
        raise SessionContract(graph=graph, detail="; ".join(faults))


def batch_limit(inputs: Iterable[TensorSpec]) -> int:
    """`max_batch` of a graph: the smallest first axis among its inputs, `FREE_BATCH` where all are free, 1 without any axis."""
    firsts = [spec.shape[0] for spec in inputs if spec.shape]
    fixed = [size for size in firsts if isinstance(size, int)]
    return min(fixed) if fixed else FREE_BATCH if firsts else 1


def _mismatch(spec: TensorSpec, tensor: object) -> str:
    if not isinstance(tensor, np.ndarray):
        return f"is of the type {type(tensor).__name__}, not an array"
    if tensor.dtype != np.dtype(spec.dtype):
        return f"is {tensor.dtype}, not {spec.dtype}"
    fits = tensor.ndim == len(spec.shape) and all(
        size == wanted if isinstance(wanted, int) else size > 0 for size, wanted in zip(tensor.shape, spec.shape, strict=True)
    )
    return "" if fits else f"has the shape {tensor.shape}, not ({', '.join(map(str, spec.shape))})"
