"""Tiny seeded graphs with the inputs and outputs of networks that can't be shipped: same names of tensors, shapes, order and ranges."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engines.model_entry import ModelEntry, ModelInput, ModelOutput

Shape = Sequence[int | str]


def entry(
    contract: str, task: str, side: int | str, high: float = 255, mean: float = 0, std: float = 1, name: str = "tiny", identity: str = ""
) -> ModelEntry:
    """What a models.toml would say of a graph."""
    given = ModelInput("x", (1, 3, side, side), "NCHW", "RGB", (0.0, high), (mean,) * 3, (std,) * 3)
    outputs = (ModelOutput("y", (1,), "what the contract says"),)
    facts = ("LicenseRef-test", "research", False, "", 1, None, "", given, outputs, contract, identity, None, True)
    return ModelEntry(name, task, f"{name}.onnx", "0" * 64, 1, *facts)  # type: ignore[arg-type]


def write(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Shape],
    outputs: dict[str, Shape],
    numbers: dict[str, NDArray[np.generic]],
) -> Path:
    """Saves a graph; its initialisers stand in the order of `numbers`."""
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(values, name) for name, values in numbers.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path


def scrfd(
    path: Path, levels: int = 3, points: bool = True, batched: bool = False, side: int | str = "?", doubt: float = 5.0, seed: int = 1
) -> Path:
    """Scores, boxes and points of `levels` strides from 8 on; two anchors a cell for three levels, else one. `doubt`: lowers the scores."""
    random = np.random.default_rng(seed)
    strides, anchors = [8 << level for level in range(levels)], 2 if levels == 3 else 1
    nodes: list[onnx.NodeProto] = []
    numbers: dict[str, NDArray[np.generic]] = {}
    outputs: dict[str, Shape] = {}
    for kind, width in (("score", 1), ("box", 4), *((("points", 10),) if points else ())):
        for stride in strides:
            name, channels = f"{kind}{stride}", anchors * width
            scale = {"score": 5.0, "box": 3.0, "points": 3.0}[kind] / stride
            numbers[f"{name}_w"] = (random.normal(size=(channels, 3, stride, stride)) * scale).astype(np.float32)
            numbers[f"{name}_b"] = np.full(channels, {"score": -doubt, "box": 2.0, "points": 0.0}[kind], np.float32)
            numbers[f"{name}_s"] = np.array([1, -1, width] if batched else [-1, width], np.int64)
            nodes += [
                helper.make_node("Conv", ["input.1", f"{name}_w", f"{name}_b"], [f"{name}_c"], strides=[stride] * 2),
                helper.make_node("Transpose", [f"{name}_c"], [f"{name}_t"], perm=[0, 2, 3, 1]),
                helper.make_node("Reshape", [f"{name}_t", f"{name}_s"], [f"{name}_r"]),
                helper.make_node({"score": "Sigmoid", "box": "Relu", "points": "Identity"}[kind], [f"{name}_r"], [name]),
            ]
            outputs[name] = [1, f"n{stride}", width] if batched else [f"n{stride}", width]
    return write(path, nodes, {"input.1": [1, 3, side, side]}, outputs, numbers)


def arcface(path: Path, seed: int = 2) -> Path:
    """A crop of 112 px → 512 numbers."""
    weights = np.random.default_rng(seed).normal(size=(588, 512)).astype(np.float32)
    nodes = [
        helper.make_node("AveragePool", ["input.1"], ["pooled"], kernel_shape=[8, 8], strides=[8, 8]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["683"]),
    ]
    return write(path, nodes, {"input.1": ["None", 3, 112, 112]}, {"683": ["None", 512]}, {"w": weights})


def inswapper(path: Path, seed: int = 3) -> Path:
    """A crop of 128 px and 512 numbers → a crop. The last initialiser is the matrix of the latent; no node uses it, as in the original."""
    random = np.random.default_rng(seed)
    numbers: dict[str, NDArray[np.generic]] = {
        "w": (random.normal(size=(3, 3, 5, 5)) * 0.2).astype(np.float32),
        "to_colour": random.normal(size=(512, 3)).astype(np.float32),
        "as_picture": np.array([1, 3, 1, 1], np.int64),
        "emap": random.normal(size=(512, 512)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["target", "w"], ["c"], pads=[2] * 4),
        helper.make_node("MatMul", ["source", "to_colour"], ["m"]),
        helper.make_node("Reshape", ["m", "as_picture"], ["p"]),
        helper.make_node("Add", ["c", "p"], ["a"]),
        helper.make_node("Sigmoid", ["a"], ["output"]),
    ]
    return write(path, nodes, {"target": [1, 3, 128, 128], "source": [1, 512]}, {"output": [1, 3, 128, 128]}, numbers)


def restorer(path: Path, number: bool, seed: int = 4) -> Path:
    """A crop of 512 px → a crop; with `number`, a float64 beside it that the answer depends on, as CodeFormer's exports have it."""
    weights = np.random.default_rng(seed).normal(size=(3, 3, 3, 3)).astype(np.float32) * 0.3
    nodes = [
        helper.make_node("Conv", ["input", "w"], ["c"], pads=[1] * 4),
        helper.make_node("Add" if number else "Identity", ["c", "shift"] if number else ["c"], ["a"]),
        helper.make_node("Tanh", ["a"], ["output"]),
    ]
    inputs = [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 512, 512])]
    if number:
        nodes.insert(1, helper.make_node("Cast", ["weight"], ["shift"], to=TensorProto.FLOAT))
        inputs.append(helper.make_tensor_value_info("weight", TensorProto.DOUBLE, [1]))
    outputs = [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 3, 512, 512])]
    model = helper.make_model(
        helper.make_graph(nodes, "tiny", inputs, outputs, [numpy_helper.from_array(weights, "w")]),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    model.ir_version = 9
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path


def codeformer(path: Path) -> Path:
    return restorer(path, True)


def gfpgan(path: Path) -> Path:
    return restorer(path, False)


def landmarks_106(path: Path, seed: int = 5) -> Path:
    """A crop of 192 px, its own mean inside → 106 points."""
    weights = (np.random.default_rng(seed).normal(size=(432, 212)) * 2e-4).astype(np.float32)
    nodes = [
        helper.make_node("AveragePool", ["data"], ["pooled"], kernel_shape=[16, 16], strides=[16, 16]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["fc1"]),
    ]
    return write(path, nodes, {"data": ["None", 3, 192, 192]}, {"fc1": ["None", 212]}, {"w": weights})


def yolo_face(path: Path, seed: int = 6) -> Path:
    """A picture → (1, 20, N): each cell of 32 px proposes one face."""
    random = np.random.default_rng(seed)
    scale = np.repeat([60.0, 60, 60, 60, 4, 60], [1, 1, 1, 1, 1, 15]).astype(np.float32)
    weights = (random.normal(size=(20, 3, 32, 32)) / 32).astype(np.float32) * scale[:, None, None, None]
    bias = np.repeat([160.0, 80, -1, 160], [2, 2, 1, 15]).astype(np.float32)
    numbers: dict[str, NDArray[np.generic]] = {"w": weights, "b": bias, "flat": np.array([1, 20, -1], np.int64)}
    nodes = [
        helper.make_node("Conv", ["images", "w", "b"], ["c"], strides=[32, 32]),
        helper.make_node("Reshape", ["c", "flat"], ["output0"]),
    ]
    return write(path, nodes, {"images": [1, 3, "H", "W"]}, {"output0": [1, 20, "n"]}, numbers)


def face_parser(path: Path, side: int = 128, seed: int = 6) -> Path:
    """A picture on FFHQ's template → a score for each of 19 classes, at half its side."""
    weights = np.random.default_rng(seed).normal(size=(19, 3, 8, 8)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["input", "w"], ["output"], strides=[2, 2], pads=[3] * 4)]
    return write(path, nodes, {"input": [1, 3, side, side]}, {"output": [1, 19, side // 2, side // 2]}, {"w": weights})


def face_occluder(path: Path, side: int = 128, seed: int = 7) -> Path:
    """The same → the face's visible share, one channel behind, as XSeg has it."""
    weights = (np.random.default_rng(seed).normal(size=(1, 3, 5, 5)) * 0.5).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["input", "w"], ["c"], pads=[2] * 4),
        helper.make_node("Sigmoid", ["c"], ["s"]),
        helper.make_node("Transpose", ["s"], ["output"], perm=[0, 2, 3, 1]),
    ]
    return write(path, nodes, {"input": [1, 3, side, side]}, {"output": [1, side, side, 1]}, {"w": weights})
