"""Sessions on ONNX Runtime: one provider, the CPU behind it, and no silent change of either.

ONNX Runtime falls back without failing: asked for CUDA on a machine without a card it gives a session on the CPU and a line on stderr,
whatever its options say. Here a session is opened on exactly one provider (the CPU last, for the few nodes that it must run), its
own fall-back is off, and the provider that it reports afterwards is compared with the one that was asked for.
"""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from engines.errors import FusionError, ModelCorrupt, ModelMissing, ProviderUnavailable, RunFailed, SessionContract
from engines.runtime.cores import usable_cores
from engines.runtime.providers import AUTO_ORDER, ORT_NAMES, first_line, load_onnxruntime, plugin_devices, probe
from engines.runtime.session import Array, TensorSpec, batch_limit, check_tensors
from engines.timing import Run

_DTYPES = {
    "float": "float32", "double": "float64", "float16": "float16", "bool": "bool", "string": "object",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
    "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
}  # fmt: skip

# The default, EXHAUSTIVE, times every cuDNN algorithm again for each new picture size.
_PROVIDER_OPTIONS: dict[str, dict[str, str]] = {"cuda": {"cudnn_conv_algo_search": "HEURISTIC"}}


class OrtSession:
    """Implements `engines.runtime.session.Session`; made by `OrtSession.open`."""

    def __init__(self, raw: Any, graph: str, provider: str, tried: tuple[tuple[str, str], ...]) -> None:
        self._raw, self._graph, self._provider, self._tried = raw, graph, provider, tried
        self._inputs = tuple(_spec(graph, tensor) for tensor in raw.get_inputs())
        self._outputs = tuple(_spec(graph, tensor) for tensor in raw.get_outputs())
        self._output_names = [spec.name for spec in self._outputs]

    @classmethod
    def open(cls, path: Path, provider: str = "auto", threads: int = 0) -> Self:
        """Opens a graph. See `engines.runtime.session.open_session` for the arguments and the errors."""
        if provider != "auto":
            return cls._open_on(path, provider, threads, ())
        tried: list[tuple[str, str]] = []
        for each in AUTO_ORDER[:-1]:
            try:
                return cls._open_on(path, each, threads, tuple(tried))
            except ProviderUnavailable as fault:
                tried.append((each, fault.message()))
        return cls._open_on(path, AUTO_ORDER[-1], threads, tuple(tried))

    @classmethod
    def _open_on(cls, path: Path, provider: str, threads: int, tried: tuple[tuple[str, str], ...]) -> Self:
        if not path.is_file():
            raise ModelMissing(name=path.stem, file=path.name, folder=path.parent)
        ort = load_onnxruntime()
        status = probe(provider)
        if not status.usable:
            raise status.error()
        try:
            raw = _create(ort, path, provider, threads)
        except FusionError:
            raise
        except Exception as fault:  # the boundary: ONNX Runtime's own classes share no base but Exception
            raise _open_fault(fault, path, provider) from fault
        active = raw.get_providers()[0]
        if active != ORT_NAMES[provider]:
            raise ProviderUnavailable("silent", provider=provider, why=active)
        return cls(raw, path.name, provider, tried)

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        return self._inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        return self._outputs

    @property
    def provider(self) -> str:
        return self._provider

    @property
    def tried(self) -> tuple[tuple[str, str], ...]:
        return self._tried

    @property
    def max_batch(self) -> int:
        return batch_limit(self._inputs)

    def run(self, feeds: Mapping[str, Array], run: Run | None = None) -> dict[str, Array]:
        """See `Session.run`. The outputs are new arrays. A cancelled `run` is noticed between two nodes of the graph."""
        raw = self._open_raw()
        check_tensors(self._graph, self._inputs, feeds)
        options = load_onnxruntime().RunOptions()
        try:
            with (run or Run()).stopping(lambda: setattr(options, "terminate", True)):
                answers = raw.run(self._output_names, dict(feeds), options)
        except FusionError:
            raise
        except Exception as fault:  # the boundary, as in `_open_on`
            raise _run_fault(fault, self._graph, self._provider) from fault
        return dict(zip(self._output_names, answers, strict=True))

    def node_share(self) -> float:
        """How many of the graph's nodes run on `provider`, 0..1; the rest runs on the CPU. 1 for a graph without nodes.

        A session can be on a provider that took not a single node.
        """
        parts = [(part.ep_name, len(part.get_nodes())) for part in self._open_raw().get_provider_graph_assignment_info()]
        total = sum(count for _, count in parts)
        return sum(count for name, count in parts if name == ORT_NAMES[self._provider]) / total if total else 1.0

    def close(self) -> None:
        """Gives the memory back as soon as no call is running."""
        self._raw = None

    def _open_raw(self) -> Any:
        raw = self._raw
        if raw is None:
            raise SessionContract(graph=self._graph, detail="the session was closed")
        return raw


def _create(ort: ModuleType, path: Path, provider: str, threads: int) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4  # fatal only
    options.intra_op_num_threads = threads or usable_cores()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    # Threads that wait by spinning keep a core from whoever works next. Measured on 2 cores with three sessions (detector, mesh,
    # identity), spinning against not, four runs: run one after the other and nothing between 0.7–1.3 × the time, with OpenCV between
    # them as in the pipeline 1.3–2.3 ×, from three threads at once 1.3–3.0 ×; 1.3–1.7 × the processor time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # For `node_share`. No cost could be measured: CenterFace opens in 28 ms with it and in 29 ms without.
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if provider == "tensorrt-rtx":
        options.add_provider_for_devices(plugin_devices(ort), {})
        return ort.InferenceSession(str(path), options, enable_fallback=0)
    wanted: list[Any] = [(ORT_NAMES[provider], _PROVIDER_OPTIONS.get(provider, {}))]
    if provider != "cpu":
        wanted.append((ORT_NAMES["cpu"], {}))
    return ort.InferenceSession(str(path), options, providers=wanted, enable_fallback=0)


def _spec(graph: str, tensor: Any) -> TensorSpec:
    kind = tensor.type.removeprefix("tensor(").removesuffix(")")
    if kind not in _DTYPES:
        raise SessionContract(graph=graph, detail=f"{tensor.name} is a {tensor.type}, which NumPy doesn't have")
    shape = tuple(size if isinstance(size, int | str) else f"axis{axis}" for axis, size in enumerate(tensor.shape))
    return TensorSpec(tensor.name, _DTYPES[kind], shape)


def _open_fault(fault: Exception, path: Path, provider: str) -> FusionError:
    """Whose fault it is that a session didn't open: the file's, the machine's, or the provider's."""
    kind, detail = type(fault).__name__, first_line(fault)
    # An empty file is an InvalidArgument ("No graph was found"), unlike all other bytes that are no graph.
    if kind in ("InvalidProtobuf", "InvalidGraph") or "No graph was found" in str(fault):
        return ModelCorrupt("graph", name=path.stem, file=path.name, folder=path.parent, detail=detail)
    if provider != "cpu":
        return ProviderUnavailable("session", provider=provider, why=detail)
    if _is_memory(fault):
        return RunFailed("memory", graph=path.name, provider=provider, detail=detail)
    return SessionContract(graph=path.name, detail=detail)


def _run_fault(fault: Exception, graph: str, provider: str) -> FusionError:
    detail = first_line(fault)
    if _is_memory(fault):
        return RunFailed("memory", graph=graph, provider=provider, detail=detail)
    if type(fault).__name__ == "InvalidArgument":
        return SessionContract(graph=graph, detail=detail)
    return RunFailed(graph=graph, provider=provider, detail=detail)


def _is_memory(fault: Exception) -> bool:
    """ONNX Runtime has no class for it: its arena says "Failed to allocate memory", CUDA "out of memory", C++ "bad_alloc"."""
    said = str(fault).lower()
    return isinstance(fault, MemoryError) or any(words in said for words in ("allocate memory", "out of memory", "bad_alloc"))
