"""dlib's face recognition network (ResNet with 29 convolutions, 128 values) → ONNX.

dlib writes a parameter tensor as: version 2, four sizes, raw float32. An integer is one length byte (bit 7 its sign), then that many
little-endian bytes. Parameters are one-dimensional, so a search for that header finds them all; layers stand from input to output,
each convolution (filters, then biases) followed by its affine layer (gamma, then beta), the fully connected layer last.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tools.modelpack.graph import Array, Graph, serialise

HEADER = b"\x01\x02"
LARGEST = 1e3  # no weight of the network comes near; a false header's "weights" do
MEAN = (122.782, 117.001, 104.298)  # of dlib's input layer for RGB, which then divides by 256
# Residual blocks: (channels, halves the size).
BLOCKS = (
    *[(32, False)] * 3, (64, True), *[(64, False)] * 3, (128, True), *[(128, False)] * 2, (256, True), *[(256, False)] * 2, (256, True),
)  # fmt: skip
SMALL = 64  # weights up to this many values stay float32


def tensors(data: bytes) -> Iterator[Array]:
    """Every parameter tensor in a serialised network, in file order, float32: vectors, and the (inputs, outputs) matrix at the end."""
    at = 0
    while (at := data.find(HEADER, at)) >= 0:
        found = _tensor(data, at + len(HEADER))
        if found is None:
            at += 1
        else:
            array, at = found
            yield array


def _tensor(data: bytes, at: int) -> tuple[Array, int] | None:
    sizes = []
    for _ in range(4):
        length = data[at] & 0x0F if at < len(data) else 0
        if not 1 <= length <= 8 or data[at] & 0xF0:  # a length of 1 to 8 bytes, no flags, no minus sign
            return None
        sizes.append(int.from_bytes(data[at + 1 : at + 1 + length], "little"))
        at += 1 + length
    rows, columns, *rest = sizes
    vector = columns == 1 and 32 <= rows <= 1 << 22
    matrix = columns > 1 and rows * columns > 1000
    end = at + 4 * rows * columns
    if rest != [1, 1] or not (vector or matrix) or end > len(data):
        return None
    array = np.frombuffer(data, "<f4", rows * columns, at)
    if not np.isfinite(array).all() or np.abs(array).max() >= LARGEST:
        return None
    return (array if vector else array.reshape(rows, columns)), end


@dataclass(frozen=True, slots=True)
class Convolution:
    """Filters (O, I, K, K) and biases (O,), with the affine layer behind them folded in."""

    filters: Array
    biases: Array


def convolutions(parameters: list[Array]) -> list[Convolution]:
    """Pairs each convolution with its affine layer. Raises `ValueError` when the sizes aren't the network's."""
    shapes, channels = [(32, 3, 7)], 32
    for wide, _ in BLOCKS:
        shapes += [(wide, channels, 3), (wide, wide, 3)]
        channels = wide
    layers = []
    for raw, affine, (out, into, kernel) in zip(parameters[0::2], parameters[1::2], shapes, strict=True):
        if affine.size != 2 * out or raw.size != out * into * kernel * kernel + out:
            raise ValueError(f"sizes {raw.size} and {affine.size} are not those of a {kernel}×{kernel} convolution {into}→{out}")
        gamma, beta = affine[:out], affine[out:]
        filters = raw[:-out].reshape(out, into, kernel, kernel) * gamma[:, None, None, None]
        layers.append(Convolution(filters.astype(np.float32), (raw[-out:] * gamma + beta).astype(np.float32)))
    return layers


class Network:
    """The graph under construction: the tensor that the next layer reads, its channels and its size."""

    def __init__(self, layers: list[Convolution]) -> None:
        self.graph, self._layers, self._count = Graph(), iter(layers), 0
        self.channels, self.size = 32, 35  # after the first convolution and the pooling: 150 → 72 → 35

    def add(self, operator: str, inputs: list[str], **attributes: object) -> str:
        return self.graph.node(operator, inputs, f"{operator}_{len(self.graph.nodes)}", **attributes)

    def convolution(self, source: str, stride: int, pad: int) -> str:
        layer = next(self._layers)
        self._count += 1
        inputs = [source, self._weight(f"w{self._count}", layer.filters), self._weight(f"b{self._count}", layer.biases)]
        shape = {"strides": [stride] * 2, "pads": [pad] * 4, "kernel_shape": list(layer.filters.shape[2:])}
        return self.add("Conv", inputs, **shape)

    def block(self, source: str, channels: int, halve: bool) -> str:
        inner = self.add("Relu", [self.convolution(source, 2 if halve else 1, 0 if halve else 1)])
        inner = self.convolution(inner, 1, 1)
        if halve:
            source = self.add("AveragePool", [source], kernel_shape=[2, 2], strides=[2, 2])
            convolved, pooled = (self.size - 3) // 2 + 1, (self.size - 2) // 2 + 1
            if pooled > convolved:  # dlib's add_prev pads the smaller operand with zeros, at its far edges and its last channels
                inner = self._padded(inner, "py", 0, pooled - convolved)
            if channels > self.channels:
                source = self._padded(source, "ps", channels - self.channels, 0)
            self.size, self.channels = max(convolved, pooled), channels
        return self.add("Relu", [self.add("Add", [inner, source])])

    def _padded(self, source: str, tag: str, channels: int, edge: int) -> str:
        return self.add("Pad", [source, self.graph.constant(f"{tag}{self._count}", np.array([0, 0, 0, 0, 0, channels, edge, edge]))])

    def _weight(self, name: str, array: Array) -> str:
        return self.graph.half(name, array) if array.size > SMALL else self.graph.constant(name, array)


def convert(source: bytes) -> bytes:
    """`input` (B, 3, 150, 150) RGB 0..255, mean and scale in the graph → `embedding` (B, 128), not normalised; within 2.2e-4 of dlib."""
    *parameters, dense = tensors(source)
    network = Network(convolutions(parameters))
    graph = network.graph
    x = network.add("Sub", ["input", graph.constant("mean", np.array(MEAN, np.float32).reshape(1, 3, 1, 1))])
    x = network.add("Mul", [x, graph.constant("inv", np.float32(1 / 256))])
    x = network.add("Relu", [network.convolution(x, 2, 0)])
    x = network.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2])
    for channels, halve in BLOCKS:
        x = network.block(x, channels, halve)
    x = network.add("Flatten", [network.add("GlobalAveragePool", [x])])
    graph.node("MatMul", [x, graph.half("fc", dense.reshape(256, 128))], "embedding")
    return serialise(graph.model("dlib_resnet29", {"input": ("B", 3, 150, 150)}, {"embedding": ("B", 128)}))
