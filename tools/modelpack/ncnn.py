"""Real-ESRGAN: ncnn's `.param` (text) and `.bin` (weights) → ONNX with free batch, height and width.

Only the layers that the two networks have. The formats are ncnn's: `kind name inputs outputs names… key=value…` a line, key
-23300-k holding an array for parameter k; weights follow in the order of the layers.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tools.modelpack.graph import Array, Graph, rename, serialise

MAGIC = "7767517"
HALF_FLAG = 0x01306B47  # before a weight blob that is float16, padded to four bytes
ARRAY_KEY = -23300
SUM = 1  # of Eltwise
ADD = 0  # of BinaryOp
RELU, LEAKY_RELU = 1, 2
RESIZE_MODES = {1: "nearest", 2: "linear", 3: "cubic"}


@dataclass(frozen=True, slots=True)
class Layer:
    """A line of the `.param` file; parameters by their number."""

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    numbers: dict[int, float]
    arrays: dict[int, tuple[float, ...]]

    def integer(self, key: int, default: int = 0) -> int:
        return int(self.numbers.get(key, default))


def layers(param: str) -> Iterator[Layer]:
    """Reads a `.param` file. Raises `ValueError` when it isn't one."""
    lines = param.split("\n")
    if lines[0].strip() != MAGIC:
        raise ValueError("not an ncnn parameter file")
    for words in (line.split() for line in lines[2:]):
        if not words:
            continue
        ins, outs = int(words[2]), int(words[3])
        numbers: dict[int, float] = {}
        arrays: dict[int, tuple[float, ...]] = {}
        for pair in words[4 + ins + outs :]:
            key, _, value = pair.partition("=")
            if int(key) <= ARRAY_KEY:
                arrays[ARRAY_KEY - int(key)] = tuple(float(x) for x in value.split(",")[1:])
            else:
                numbers[int(key)] = float(value)
        yield Layer(words[0], words[1], tuple(words[4 : 4 + ins]), tuple(words[4 + ins : 4 + ins + outs]), numbers, arrays)


class Weights:
    """A `.bin` file, read from front to back."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def plain(self, count: int) -> Array:
        """float32 without a flag: biases and slopes."""
        return self._take("<f4", count, 4 * count)

    def flagged(self, count: int) -> Array:
        """A weight blob: four bytes that tell its dtype, then float16 or float32."""
        flag = int(self._take("<u4", 1, 4)[0])
        if flag == HALF_FLAG:
            return self._take("<f2", count, (2 * count + 3) // 4 * 4)
        if flag:
            raise ValueError(f"weights of kind {flag:#x} are not handled")
        return self.plain(count)

    def close(self) -> None:
        """Raises `ValueError` unless every byte was read: only then was the layout understood."""
        if self._at != len(self._data):
            raise ValueError(f"{len(self._data) - self._at} bytes of weights were not read")

    def _take(self, dtype: str, count: int, size: int) -> Array:
        array = np.frombuffer(self._data, dtype, count, self._at)
        self._at += size
        return array


class Converter:
    """Turns layers into nodes; `convert` drives it."""

    def __init__(self, weights: Weights) -> None:
        self.graph, self.weights = Graph(), weights
        self.alias: dict[str, str] = {}  # what a Split, or the input, is really called
        self.last = ""

    def add(self, layer: Layer) -> None:
        """Adds one layer. Raises `ValueError` for a kind, or an option, that these networks don't have."""
        inputs = [self.alias.get(name, name) for name in layer.inputs]
        output = layer.outputs[0]
        match layer.kind:
            case "Input":
                self.alias[output] = "input"
            case "Split":
                self.alias.update(dict.fromkeys(layer.outputs, inputs[0]))
            case "Convolution":
                self._convolution(layer, inputs[0], output)
            case "PReLU":
                slopes = self.graph.constant(f"{layer.name}.s", self.weights.plain(layer.integer(0)).reshape(-1, 1, 1))
                self.graph.node("PRelu", [inputs[0], slopes], output)
            case "Concat":
                self.graph.node("Concat", inputs, output, axis=1)
            case "Eltwise" if layer.integer(0) == SUM:
                self._weighted_sum(layer, inputs, output)
            case "BinaryOp" if layer.integer(0) == ADD:
                self.graph.node("Add", inputs, output)
            case "Interp":
                self._resize(layer, inputs[0], output)
            case "PixelShuffle":
                self.graph.node("DepthToSpace", inputs, output, blocksize=layer.integer(0), mode="CRD")
            case _:
                raise ValueError(f"layer {layer.kind} is not handled")
        self.last = output

    def _convolution(self, layer: Layer, source: str, output: str) -> None:
        channels, kernel, dilation, stride, pad = (layer.integer(k, d) for k, d in ((0, 0), (1, 0), (2, 1), (3, 1), (4, 0)))
        weight = self.weights.flagged(layer.integer(6))
        inputs = [source, self.graph.half(f"{layer.name}.w", weight.reshape(channels, -1, kernel, kernel))]
        if layer.integer(5):
            inputs.append(self.graph.constant(f"{layer.name}.b", self.weights.plain(channels)))
        activation = layer.integer(9)
        raw = f"{layer.name}.c" if activation else output
        shape = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "dilations": [dilation] * 2, "pads": [pad] * 4}
        self.graph.node("Conv", inputs, raw, name=layer.name, **shape)
        if activation == RELU:
            self.graph.node("Relu", [raw], output)
        elif activation == LEAKY_RELU:
            self.graph.node("LeakyRelu", [raw], output, alpha=layer.arrays[10][0])
        elif activation:
            raise ValueError(f"activation {activation} is not handled")

    def _weighted_sum(self, layer: Layer, inputs: list[str], output: str) -> None:
        terms = []
        for i, (term, factor) in enumerate(zip(inputs, layer.arrays.get(1, (1.0,) * len(inputs)), strict=True)):
            if factor != 1.0:
                scale = self.graph.constant(f"{layer.name}.k{i}", np.array([factor], np.float32))
                term = self.graph.node("Mul", [term, scale], f"{layer.name}.t{i}")
            terms.append(term)
        self.graph.node("Add", terms, output)

    def _resize(self, layer: Layer, source: str, output: str) -> None:
        mode = RESIZE_MODES[layer.integer(0)]
        scale = self.graph.constant(f"{layer.name}.sc", np.array([1, 1, layer.numbers[1], layer.numbers[2]], np.float32))
        options = {"coordinate_transformation_mode": "half_pixel", "cubic_coeff_a": -0.75}
        if mode == "nearest":
            options = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        self.graph.node("Resize", [source, "", scale], output, mode=mode, **options)


def convert(param: bytes, weights: bytes) -> bytes:
    """`input` (B, 3, H, W) RGB 0..1 → `output` (B, 3, 4H, 4W). Within 0.005 of 255 of what ncnn computes."""
    converter = Converter(Weights(weights))
    for layer in layers(param.decode()):
        converter.add(layer)
    converter.weights.close()
    graph = converter.graph
    if converter.last == "output":  # the network's own tensor has the name that the model's output gets
        rename(graph.nodes, {"output": "output_raw"})
        converter.last = "output_raw"
    graph.node("Identity", [converter.last], "output")
    return serialise(graph.model("ncnn", {"input": ("B", 3, "H", "W")}, {"output": ("B", 3, "Ho", "Wo")}, "ncnn_to_onnx"))
