"""A small writer of ONNX graphs, shared by every converter.

Weights are kept as float16 followed by a Cast to float32: half the file, float32 maths. Names of tensors carry running numbers;
they are part of the bytes, so they must stay as they are for a rebuilt file to have the hash in models.toml.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[Any]
Axes = Sequence[int | str]

OPSET = 17
IR_VERSION = 8  # of ONNX 1.12, the first with opset 17; pinned, since the library would write its own newest


class Graph:
    """Nodes and weights in the order in which they were added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Adds a node with one output; gives the output's name back, so that calls can be nested."""
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(self, name: str, value: Any) -> str:
        """Adds a weight with the dtype that it has. Scalars stay scalars."""
        array = np.asarray(value)
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def half(self, name: str, value: Array) -> str:
        """Adds a weight as float16 (`<name>_h`) and a Cast to float32, whose output is `name`."""
        self.constant(f"{name}_h", value.astype(np.float16))
        return self.node("Cast", [f"{name}_h"], name, to=TensorProto.FLOAT)

    def model(self, name: str, inputs: dict[str, Axes], outputs: dict[str, Axes], producer: str = "") -> onnx.ModelProto:
        """The graph as a model; all inputs and outputs are float32.

        Args:
            name: of the graph.
            inputs, outputs: tensor name → axes, sizes or (for free axes) names.
            producer: recorded in the file.
        """
        ends = [[float_tensor(tensor, axes) for tensor, axes in group.items()] for group in (inputs, outputs)]
        graph = helper.make_graph(self.nodes, name, ends[0], ends[1], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        if producer:  # an empty name would be written too, as two bytes
            model.producer_name = producer
        return model


def float_tensor(name: str, axes: Axes) -> onnx.ValueInfoProto:
    """A float32 tensor that goes into a model or comes out of it."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(axes))


def rename(nodes: Sequence[onnx.NodeProto], names: dict[str, str]) -> None:
    """Renames tensors wherever nodes read or write them."""
    for node in nodes:
        for tensors in (node.input, node.output):
            for i, tensor in enumerate(tensors):
                tensors[i] = names.get(tensor, tensor)


def serialise(model: onnx.ModelProto) -> bytes:
    """Checks the model and gives its bytes. ONNX has no maps in its messages, so the order of the fields is fixed."""
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))
