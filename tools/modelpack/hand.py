"""MediaPipe's palm detector and hand landmarks → ONNX."""

from collections.abc import Callable

import numpy as np
import tflite

from tools.modelpack.graph import serialise
from tools.modelpack.tflite_graph import Operator, TfliteGraph

PALM_OUTPUTS = {"Identity": "boxes", "Identity_1": "scores"}
HAND_OUTPUTS = {"Identity": "landmarks", "Identity_1": "present", "Identity_2": "right", "Identity_3": "world"}


class HandGraph(TfliteGraph):
    """What the two networks have besides the common operators."""

    def operators(self) -> dict[str, Callable[[Operator], None]]:
        return super().operators() | {
            "CONCATENATION": self._concatenation,
            "RESIZE_BILINEAR": self._resize,
            "MEAN": self._mean,
            "FULLY_CONNECTED": self._dense,
            "LOGISTIC": self._sigmoid,
        }

    def _concatenation(self, operator: Operator) -> None:
        axis = operator.options(tflite.ConcatenationOptions).Axis()
        self.graph.node("Concat", [self.value(i) for i in operator.inputs], self.value(operator.outputs[0]), axis=axis)

    def _resize(self, operator: Operator) -> None:
        options = operator.options(tflite.ResizeBilinearOptions)
        source, output = operator.inputs[0], operator.outputs[0]
        if self.shape(output)[1:3] != [2 * side for side in self.shape(source)[1:3]]:
            raise ValueError("only doubling is handled")
        mode = "align_corners" if options.AlignCorners() else "half_pixel" if options.HalfPixelCenters() else "asymmetric"
        scale = self.graph.constant(f"z{output}", np.array([1, 1, 2, 2], np.float32))
        self.graph.node("Resize", [self.value(source), "", scale], self.value(output), mode="linear", coordinate_transformation_mode=mode)

    def _mean(self, operator: Operator) -> None:
        self.graph.node("ReduceMean", [self.value(operator.inputs[0])], self.value(operator.outputs[0]), axes=[2, 3], keepdims=1)

    def _dense(self, operator: Operator) -> None:
        source, weight, bias = operator.inputs
        output = operator.outputs[0]
        flat = self.graph.node("Flatten", [self.value(source)], f"{self.value(output)}_f", axis=1)
        weights = [self.weight(f"w{output}", self.known(weight)), self.weight(f"b{output}", self.known(bias).astype(np.float32))]
        self.graph.node("Gemm", [flat, *weights], self.value(output), transB=1)

    def _sigmoid(self, operator: Operator) -> None:
        self.graph.node("Sigmoid", [self.value(operator.inputs[0])], self.value(operator.outputs[0]))


def convert_palm(source: bytes) -> bytes:
    """`input` (B, 3, 192, 192) RGB 0..1 → `boxes` (B, 36288), `scores` (B, 2016) logits. Within 9e-4 px of TFLite."""
    return serialise(HandGraph(source).build(PALM_OUTPUTS))


def convert_hand(source: bytes) -> bytes:
    """`input` (B, 3, 224, 224) RGB 0..1 → `landmarks` (B, 63), `present`, `right` (B, 1), `world` (B, 63). Within 1e-4 px of TFLite."""
    return serialise(HandGraph(source).build(HAND_OUTPUTS))
