"""Tiny networks, made here: each a few nodes, with seeded weights."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from engines.runtime.providers import probe

Shape = Sequence[int | str]


@pytest.fixture
def network(tmp_path: Path) -> Callable[..., Path]:
    """network(nodes, inputs, outputs, weights, opset) → file. Inputs and outputs: name → (ONNX type, shape)."""

    def build(
        nodes: Sequence[onnx.NodeProto],
        inputs: dict[str, tuple[int, Shape]],
        outputs: dict[str, tuple[int, Shape]],
        weights: dict[str, np.ndarray] | None = None,
        opset: int = 17,
    ) -> Path:
        graph = helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
            [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in outputs.items()],
            [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
        )
        path = tmp_path / "tiny.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), path)
        return path

    return build


@pytest.fixture
def dense(network: Callable[..., Path]) -> SimpleNamespace:
    """A layer `y = relu(x · w + b)`: `path`, and `reference(x)` in NumPy. x is ("B", 5) float32, y ("B", 3)."""
    rng = np.random.default_rng(7)
    weight, bias = rng.normal(size=(5, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
    path = network(nodes, {"x": (TensorProto.FLOAT, ("B", 5))}, {"y": (TensorProto.FLOAT, ("B", 3))}, {"w": weight, "b": bias})
    return SimpleNamespace(path=path, reference=lambda x: np.maximum(x @ weight + bias, 0))


@pytest.fixture(scope="session")
def gpu_provider() -> str:
    """The first usable NVIDIA provider; the test is skipped on a machine without one."""
    statuses = [probe(name) for name in ("cuda", "tensorrt", "tensorrt-rtx")]
    usable = [status.name for status in statuses if status.usable]
    if not usable:
        pytest.skip("; ".join(str(status.error()) for status in statuses))
    return usable[0]


class StandIn:
    """A module in ONNX Runtime's place that says of itself what a test wants, to play machines that this one isn't.

    Args:
        available: what it claims to have compiled in.
        active: what its sessions report; None for the provider that was asked for.
        nodes: provider → number of nodes in its assignment.
        fault: raised when a session is opened.
    """

    __version__, package_name = "9.9.9", "onnxruntime-stand-in"
    __file__ = str(Path("nowhere") / "onnxruntime" / "__init__.py")

    def __init__(
        self,
        available: Sequence[str],
        active: str | None = None,
        nodes: dict[str, int] | None = None,
        fault: Exception | None = None,
        devices: Sequence[str] = (),
    ) -> None:
        self.available, self.active, self.nodes, self.fault, self.devices = available, active, nodes or {}, fault, devices
        self.opened: list[dict[str, Any]] = []
        self.registered: list[str] = []
        self.GraphOptimizationLevel = SimpleNamespace(ORT_ENABLE_ALL=99)

    def get_available_providers(self) -> list[str]:
        return list(self.available)

    def set_default_logger_severity(self, level: int) -> None:
        self.severity = level

    def preload_dlls(self) -> None:
        print("Failed to load libnowhere.so")

    def get_ep_devices(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(ep_name=name) for name in self.devices] if self.registered else []

    def register_execution_provider_library(self, name: str, path: str) -> None:
        if self.fault:
            raise self.fault
        self.registered.append(path)

    def SessionOptions(self) -> Any:  # noqa: N802 – ONNX Runtime's name
        entries: dict[str, str] = {}
        chosen: list[Any] = []
        return SimpleNamespace(
            add_session_config_entry=entries.__setitem__,
            add_provider_for_devices=lambda devices, options: chosen.extend(devices),
            entries=entries,
            chosen=chosen,
        )

    def InferenceSession(self, path: str, options: Any, **keywords: Any) -> Any:  # noqa: N802 – ONNX Runtime's name
        self.opened.append({"path": path, "options": options, **keywords})
        if self.fault:
            raise self.fault
        asked = options.chosen[0].ep_name if options.chosen else keywords["providers"][0][0]
        parts = [SimpleNamespace(ep_name=name, get_nodes=lambda count=count: [None] * count) for name, count in self.nodes.items()]
        return SimpleNamespace(
            get_providers=lambda: [self.active or asked],
            get_inputs=lambda: [SimpleNamespace(name="x", type="tensor(float)", shape=["B", 5])],
            get_outputs=lambda: [],
            get_provider_graph_assignment_info=lambda: parts,
        )


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., StandIn]:
    """stand_in(available, …) puts a `StandIn` into ONNX Runtime's place for the test."""

    def put(*arguments: Any, **keywords: Any) -> StandIn:
        module = StandIn(*arguments, **keywords)
        monkeypatch.setitem(__import__("sys").modules, "onnxruntime", module)
        return module

    return put


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """machine(driver, devices, missing) plays the libraries of a machine; returns the names that were loaded.

    driver: whether there is an NVIDIA driver. devices: cards that it lists, or a negative error code of its start.
    missing: part of the name of a library that can't be loaded.
    """

    def play(driver: bool = True, devices: int = 1, missing: str = "") -> list[str]:
        loaded: list[str] = []

        def load(name: str, mode: int = 0) -> Any:
            loaded.append(name)
            is_driver = name in ("libcuda.so.1", "nvcuda.dll")
            if (is_driver and not driver) or (missing and missing in name):
                raise OSError(f"{name}: cannot open shared object file")
            if not is_driver:
                return SimpleNamespace()

            def count(reference: Any) -> int:
                reference._obj.value = devices
                return 0

            return SimpleNamespace(cuInit=lambda flags: -devices if devices < 0 else 0, cuDeviceGetCount=count)

        monkeypatch.setattr("engines.runtime.providers.ctypes.CDLL", load)
        return loaded

    return play
