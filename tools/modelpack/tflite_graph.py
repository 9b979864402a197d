"""TFLite networks of MediaPipe (float, weights as float16) → ONNX: NHWC becomes NCHW, the batch is free.

The base class has what all four networks use; `hand.py` and `face_mesh.py` add their own operators.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import tflite

from tools.modelpack.graph import Array, Axes, Graph, rename

DTYPES = {tflite.TensorType.FLOAT32: np.float32, tflite.TensorType.FLOAT16: np.float16, tflite.TensorType.INT32: np.int32}
OPERATORS: dict[int, str] = {code: name for name, code in vars(tflite.BuiltinOperator).items() if isinstance(code, int)}
SMALL = 64  # float32 weights up to this many values are not looked at for being float16 in truth
PRODUCER = "tflite_to_onnx"


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of the network: its name (`CUSTOM:<name>` for MediaPipe's own), and the numbers of its tensors."""

    name: str
    raw: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def options(self, kind: type[Any]) -> Any:
        """The operator's settings as the flatbuffer class `kind`."""
        table, options = self.raw.BuiltinOptions(), kind()
        options.Init(table.Bytes, table.Pos)
        return options


class TfliteGraph:
    """Reads a `.tflite` file and writes each operator as ONNX nodes. Values are named `t<number of the tensor>`."""

    def __init__(self, source: bytes) -> None:
        self._model = tflite.Model.GetRootAs(source, 0)
        self._net = self._model.Subgraphs(0)
        self._constants: dict[int, Array | None] = {}
        self.graph = Graph()

    def operators(self) -> dict[str, Callable[[Operator], None]]:
        """What this class can write, by TFLite's names."""
        return {
            "DEQUANTIZE": self._dequantize,
            "CONV_2D": self._convolution,
            "DEPTHWISE_CONV_2D": self._convolution,
            "PRELU": self._prelu,
            "ADD": self._arithmetic,
            "MUL": self._arithmetic,
            "MAX_POOL_2D": self._max_pool,
            "PAD": self._pad,
            "RESHAPE": self._reshape,
        }

    def build(self, names: dict[str, str] | None = None) -> onnx.ModelProto:
        """The whole network: `input` (B, 3, H, W) → outputs flattened to (B, N).

        Args:
            names: new name for an output, by its name in the file.

        Raises:
            ValueError: an operator that isn't known.
        """
        handlers = self.operators()
        for i in range(self._net.OperatorsLength()):
            operator = self._operator(i)
            if operator.name not in handlers:
                raise ValueError(f"operator {operator.name} is not handled")
            handlers[operator.name](operator)
        outputs: dict[str, Axes] = {}
        for number in map(int, self._net.OutputsAsNumpy()):
            given = self._net.Tensors(number).Name().decode()
            name = (names or {}).get(given, given)
            self.graph.node("Flatten", [self.value(number)], name, axis=1)
            outputs[name] = ("B", int(np.prod(self.shape(number))))
        source = int(self._net.InputsAsNumpy()[0])
        _, height, width, channels = self.shape(source)
        rename(self.graph.nodes, {self.value(source): "input"})
        return self.graph.model("g", {"input": ("B", channels, height, width)}, outputs, PRODUCER)

    # -- tensors

    def value(self, number: int) -> str:
        return f"t{number}"

    def shape(self, number: int) -> list[int]:
        tensor = self._net.Tensors(number)
        return [int(axis) for axis in tensor.ShapeAsNumpy()] if tensor.ShapeLength() else []

    def constant(self, number: int) -> Array | None:
        """A tensor's content as in the file (NHWC), None for one that is computed."""
        if number not in self._constants:
            tensor = self._net.Tensors(number)
            buffer = self._model.Buffers(tensor.Buffer())
            raw = buffer.DataAsNumpy().tobytes() if buffer.DataLength() else None
            self._constants[number] = None if raw is None else np.frombuffer(raw, DTYPES[tensor.Type()]).reshape(self.shape(number))
        return self._constants[number]

    def known(self, number: int) -> Array:
        """The content of a tensor that must not be computed. Raises `ValueError` when it is."""
        array = self.constant(number)
        if array is None:
            raise ValueError(f"tensor {number} should be a constant")
        return array

    def weight(self, name: str, array: Array) -> str:
        """Stores a constant, as float16 where that loses nothing: the weights are float16 in the source."""
        halved = array.astype(np.float16) if array.dtype == np.float32 and array.size > SMALL else None
        if halved is not None and np.array_equal(halved.astype(np.float32), array):
            return self.graph.half(name, halved)
        return self.graph.constant(name, array)

    def pads(self, same: bool, sizes: list[int], kernel: tuple[int, int], stride: tuple[int, int]) -> list[int]:
        """ONNX pads (top, left, bottom, right) for TFLite's SAME (which puts the odd pixel last) or VALID."""
        if not same:
            return [0, 0, 0, 0]
        totals = [max(0, (-(-size // step) - 1) * step + window - size) for size, window, step in zip(sizes, kernel, stride, strict=True)]
        return [total // 2 for total in totals] + [total - total // 2 for total in totals]

    # -- operators

    def _operator(self, i: int) -> Operator:
        raw = self._net.Operators(i)
        code = self._model.OperatorCodes(raw.OpcodeIndex())
        name = OPERATORS[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
        if name == "CUSTOM":
            name += ":" + code.CustomCode().decode()
        return Operator(name, raw, tuple(map(int, raw.InputsAsNumpy())), tuple(map(int, raw.OutputsAsNumpy())))

    def _dequantize(self, operator: Operator) -> None:
        self._constants[operator.outputs[0]] = self.known(operator.inputs[0]).astype(np.float32)

    def _convolution(self, operator: Operator) -> None:
        depthwise = operator.name.startswith("DEPTHWISE")
        options = operator.options(tflite.DepthwiseConv2DOptions if depthwise else tflite.Conv2DOptions)
        source, weight, bias = operator.inputs
        output = operator.outputs[0]
        filters = self.known(weight).transpose((3, 0, 1, 2) if depthwise else (0, 3, 1, 2))
        kernel, stride = filters.shape[2:], (options.StrideH(), options.StrideW())
        inputs = [self.value(source), self.weight(f"w{output}", filters), self.weight(f"b{output}", self.known(bias))]
        self._activated(
            "Conv", inputs, output, options.FusedActivationFunction(),
            kernel_shape=list(kernel), strides=list(stride), dilations=[options.DilationHFactor(), options.DilationWFactor()],
            pads=self.pads(options.Padding() == tflite.Padding.SAME, self.shape(source)[1:3], kernel, stride),
            group=filters.shape[0] if depthwise else 1,
        )  # fmt: skip

    def _activated(self, kind: str, inputs: list[str], output: int, activation: int, **attributes: Any) -> None:
        """A node and the activation that TFLite fuses with it."""
        name = self.value(output)
        raw = f"{name}_p" if activation else name
        self.graph.node(kind, inputs, raw, **attributes)
        if activation == tflite.ActivationFunctionType.RELU6:
            limits = [self.weight(f"{name}_{end}", np.array(limit, np.float32)) for end, limit in (("lo", 0), ("hi", 6))]
            self.graph.node("Clip", [raw, *limits], name)
        elif activation:
            raise ValueError(f"activation {activation} is not handled")

    def _prelu(self, operator: Operator) -> None:
        source, slopes = operator.inputs
        output = operator.outputs[0]
        slope = self.weight(f"s{output}", self.known(slopes).astype(np.float32).reshape(-1, 1, 1))
        self.graph.node("PRelu", [self.value(source), slope], self.value(output))

    def _arithmetic(self, operator: Operator) -> None:
        output = operator.outputs[0]
        options = operator.options(tflite.AddOptions if operator.name == "ADD" else tflite.MulOptions)
        self._activated(operator.name.title(), [self._operand(i) for i in operator.inputs], output, options.FusedActivationFunction())

    def _operand(self, number: int) -> str:
        array = self.constant(number)
        if array is None:
            return self.value(number)
        if array.ndim == 4:  # it would need its channels moved; the networks have scalars, and matrices of points, which stay as they are
            raise ValueError(f"operand of shape {array.shape} is not handled")
        return self.weight(f"c{number}_{len(self.graph.nodes)}", array.astype(np.float32))

    def _max_pool(self, operator: Operator) -> None:
        options = operator.options(tflite.Pool2DOptions)
        source, output = operator.inputs[0], operator.outputs[0]
        kernel, stride = (options.FilterHeight(), options.FilterWidth()), (options.StrideH(), options.StrideW())
        pads = self.pads(options.Padding() == tflite.Padding.SAME, self.shape(source)[1:3], kernel, stride)
        self.graph.node("MaxPool", [self.value(source)], self.value(output), kernel_shape=list(kernel), strides=list(stride), pads=pads)

    def _pad(self, operator: Operator) -> None:
        source, amounts = operator.inputs
        output = operator.outputs[0]
        before, after = self.known(amounts)[[0, 3, 1, 2]].T
        pads = self.graph.constant(f"p{output}", np.concatenate([before, after]).astype(np.int64))
        self.graph.node("Pad", [self.value(source), pads], self.value(output), mode="constant")

    def _reshape(self, operator: Operator) -> None:
        source, output = operator.inputs[0], operator.outputs[0]
        axes, value, name = self.shape(source), self.value(source), self.value(output)
        if len(axes) == 4 and axes[1:3] != [1, 1]:  # a map is flattened with its channels last, as TFLite has it
            value = self.graph.node("Transpose", [value], f"{name}_t", perm=[0, 2, 3, 1])
        wanted = self.graph.constant(f"r{output}", np.array([-1, *self.shape(output)[1:]], np.int64))
        self.graph.node("Reshape", [value, wanted], name)
