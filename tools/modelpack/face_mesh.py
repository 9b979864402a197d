"""MediaPipe's face meshes → ONNX: the plain one of 468 points, and the one with attention to eyes and lips, of 478.

The second network looks at lips and eyes a second time: it takes a box around each from its first mesh, cuts the feature map there, and
maps the finer points back. TFLite does that with three operators of MediaPipe's own; here they are standard ONNX:

    Landmarks2TransformMatrix   box of some points, in a frame turned so that two of them are level; grown by a scale
    TransformTensorBilinear     that box cut from a feature map: GridSample, and zero outside
    TransformLandmarks          points of the box back into the frame

The finer points are merged into the mesh inside the graph.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from flatbuffers import flexbuffers
from onnx import TensorProto

from tools.modelpack.graph import Graph, float_tensor, serialise
from tools.modelpack.tflite_graph import Operator, TfliteGraph

SURFACE, IRIS = 468, 5
HEADS = {"lips": 80, "left_eye": 71, "right_eye": 71, "left_iris": IRIS, "right_iris": IRIS}  # points that each adds, in order
EYE_RING = 16  # the first points of an eye's subset lie on its lids; their mean depth is the iris's


class AttentionGraph(TfliteGraph):
    """The network with attention; keeps which mesh points each second look replaces."""

    def __init__(self, source: bytes) -> None:
        super().__init__(source)
        self.subsets: list[list[int]] = []

    def operators(self) -> dict[str, Callable[[Operator], None]]:
        return super().operators() | {
            "STRIDED_SLICE": self._identity,
            "CUSTOM:Landmarks2TransformMatrix": self._box,
            "CUSTOM:TransformTensorBilinear": self._cut,
            "CUSTOM:TransformLandmarks": self._map_back,
        }

    def _add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self.graph.node(kind, inputs, f"n{len(self.graph.nodes)}", **attributes)

    def _ints(self, value: Any) -> str:
        return self.graph.constant(f"i_{len(self.graph.nodes)}_{len(self.graph.weights)}", np.asarray(value, np.int64))

    def _floats(self, value: Any) -> str:
        return self.weight(f"f_{len(self.graph.nodes)}_{len(self.graph.weights)}", np.asarray(value, np.float32))

    def _pick(self, source: str, index: Any, axis: int) -> str:
        return self._add("Gather", source, self._ints(index), axis=axis)

    def _identity(self, operator: Operator) -> None:
        """The one slice in the network takes everything."""
        self.graph.node("Identity", [self.value(operator.inputs[0])], self.value(operator.outputs[0]))

    def _box(self, operator: Operator) -> None:
        """Points (B, 468, 3) → matrix (B, 4, 4), box → frame."""
        settings = _settings(operator)
        if settings["target_rotation_radians"] != 0:
            raise ValueError("a turned box is not handled")
        add, floats = self._add, self._floats
        self.subsets.append(settings["subset_idxs"])
        points = add("Slice", self.value(operator.inputs[0]), self._ints([0]), self._ints([2]), self._ints([2]))
        left = self._pick(points, settings["left_rotation_idx"], 1)
        right = self._pick(points, settings["right_rotation_idx"], 1)
        line = add("Sub", right, left)
        length = add("Sqrt", add("ReduceSum", add("Mul", line, line), self._ints([1]), keepdims=1))
        unit = add("Div", line, length)
        cos, sin = self._pick(unit, [0], 1), self._pick(unit, [1], 1)
        subset = self._pick(points, settings["subset_idxs"], 1)
        x, y = self._pick(subset, 0, 2), self._pick(subset, 1, 2)
        turned_x = add("Add", add("Mul", cos, x), add("Mul", sin, y))
        turned_y = add("Sub", add("Mul", cos, y), add("Mul", sin, x))
        ends = [[add(kind, axis, axes=[1], keepdims=1) for kind in ("ReduceMax", "ReduceMin")] for axis in (turned_x, turned_y)]
        (width, middle_x), (height, middle_y) = [(add("Sub", high, low), self._half(high, low)) for high, low in ends]
        centre_x = add("Sub", add("Mul", cos, middle_x), add("Mul", sin, middle_y))
        centre_y = add("Add", add("Mul", sin, middle_x), add("Mul", cos, middle_y))
        step_x = add("Mul", width, floats(settings["scale_x"] / settings["output_width"]))
        step_y = add("Mul", height, floats(settings["scale_y"] / settings["output_height"]))
        m00, m01 = add("Mul", cos, step_x), add("Neg", add("Mul", sin, step_y))
        m10, m11 = add("Mul", sin, step_x), add("Mul", cos, step_y)
        half = floats(settings["output_width"] / 2)
        m03 = add("Sub", centre_x, add("Mul", half, add("Add", m00, m01)))
        m13 = add("Sub", centre_y, add("Mul", half, add("Add", m10, m11)))
        zero = add("Mul", cos, floats(0))  # (B, 1), so that the batch stays free
        one = add("Add", zero, floats(1))
        rows = (m00, m01, zero, m03, m10, m11, zero, m13, zero, zero, one, zero, zero, zero, zero, one)
        flat = add("Concat", *rows, axis=1)
        self.graph.node("Reshape", [flat, self._ints([-1, 4, 4])], self.value(operator.outputs[0]))

    def _half(self, high: str, low: str) -> str:
        return self._add("Mul", self._add("Add", high, low), self._floats(0.5))

    def _cut(self, operator: Operator) -> None:
        """Feature map and matrix → the box's features."""
        settings, add, floats = _settings(operator), self._add, self._floats
        height, width = settings["output_height"], settings["output_width"]
        features, matrix = operator.inputs
        side, across = self.shape(features)[1:3]
        if side != across:
            raise ValueError("only square feature maps are handled")
        cells = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 2) + 0.5
        cells = np.concatenate([cells, np.ones((len(cells), 1))], 1)
        affine = self._pick(self._pick(self.value(matrix), [0, 1], 1), [0, 1, 3], 2)
        # This order of nodes and weights is that of the file in the pack.
        grid = floats(cells[None])
        at = add("Sub", add("MatMul", grid, add("Transpose", affine, perm=[0, 2, 1])), floats(0.5))
        half = np.float32((side - 1) / 2)
        inside = add("Cast", add("LessOrEqual", add("Abs", add("Sub", at, floats(half))), floats(half)), to=TensorProto.FLOAT)
        mask = add("Reshape", add("ReduceMin", inside, axes=[2], keepdims=0), self._ints([-1, 1, height, width]))
        scaled = add("Sub", add("Mul", at, floats(2 / side)), floats(1 - 1 / side))  # pixels → −1..1, align_corners=0
        scaled = add("Reshape", scaled, self._ints([-1, height, width, 2]))
        sampled = add("GridSample", self.value(features), scaled, align_corners=0, mode="bilinear", padding_mode="zeros")
        self.graph.node("Mul", [sampled, mask], self.value(operator.outputs[0]))

    def _map_back(self, operator: Operator) -> None:
        """Points of a box (B, N, 2) and its matrix → points of the frame."""
        points, matrix = operator.inputs
        rows = self._pick(self.value(matrix), [0, 1], 1)
        turn = self._add("Transpose", self._pick(rows, [0, 1], 2), perm=[0, 2, 1])
        shift = self._add("Transpose", self._pick(rows, [3], 2), perm=[0, 2, 1])
        self.graph.node("Add", [self._add("MatMul", self.value(points), turn), shift], self.value(operator.outputs[0]))


def _settings(operator: Operator) -> Any:
    return flexbuffers.Loads(operator.raw.CustomOptionsAsNumpy().tobytes())


def _merge(model: onnx.ModelProto, subsets: list[list[int]]) -> onnx.ModelProto:
    """Replaces the seven outputs by `landmarks` (B, 478, 3) and `flag` (B, 1)."""
    tail = Graph()
    ints = {name: np.array(value, np.int64) for name, value in {"k3": [-1, SURFACE, 3], "k0": [0], "k2": [2], "kax": [2]}.items()}
    tail.node("Reshape", ["output_mesh_identity", tail.constant("k3", ints["k3"])], "mesh")
    tail.node("Slice", ["mesh", *(tail.constant(name, ints[name]) for name in ("k0", "k2", "kax"))], "mesh_xy")
    finer = []
    for head, count in HEADS.items():
        wanted = tail.constant(f"s_output_{head}", np.array([-1, count, 2], np.int64))
        finer.append(tail.node("Reshape", [f"output_{head}", wanted], f"output_{head}_xy"))
    tail.node("Concat", ["mesh_xy", *finer], "all_xy", axis=1)
    tail.node("Gather", ["all_xy", tail.constant("idx", _sources(subsets))], "lm_xy", axis=1)
    depths = [tail.node("Slice", ["mesh", "k2", tail.constant("k3e", np.array([3], np.int64)), "kax"], "mesh_z")]
    for tag, subset in (("a", subsets[1]), ("b", subsets[2])):
        ring = tail.node("Gather", ["mesh_z", tail.constant(f"ez{tag}", np.array(subset[:EYE_RING], np.int64))], f"ezg{tag}", axis=1)
        mean = tail.node("ReduceMean", [ring], f"ezm{tag}", axes=[1], keepdims=1)
        depths.append(tail.node("Concat", [mean] * IRIS, f"z5{tag}", axis=1))
    tail.node("Concat", depths, "lm_z", axis=1)
    tail.node("Concat", ["lm_xy", "lm_z"], "landmarks", axis=2)
    tail.node("Identity", ["conv_faceflag"], "flag")
    model.graph.node.extend(tail.nodes)
    model.graph.initializer.extend(tail.weights)
    del model.graph.output[:]
    model.graph.output.extend([float_tensor("landmarks", ("B", SURFACE + 2 * IRIS, 3)), float_tensor("flag", ("B", 1))])
    return model


def _sources(subsets: list[list[int]]) -> Any:
    """For each of the 478 points: where it lies among the mesh's points, followed by those of the heads."""
    source, end = np.arange(SURFACE + 2 * IRIS), SURFACE
    for subset in subsets:  # in the order of the heads
        source[subset] = end + np.arange(len(subset))
        end += len(subset)
    source[SURFACE:] = end + np.arange(2 * IRIS)
    return source.astype(np.int64)


def convert_plain(source: bytes) -> bytes:
    """`input` (B, 3, 192, 192) RGB 0..1 → `landmarks` (B, 1404) in crop pixels, `flag` (B, 1) logit. Within 1.5e-4 px of TFLite."""
    return serialise(TfliteGraph(source).build({"conv2d_21": "landmarks", "conv2d_31": "flag"}))


def convert_attention(source: bytes) -> bytes:
    """`input` (B, 3, 192, 192) RGB 0..1 → `landmarks` (B, 478, 3) in crop pixels, `flag` (B, 1) logit. Within 0.03 px of MediaPipe."""
    network = AttentionGraph(source)
    return serialise(_merge(network.build(), network.subsets))
