"""From pixels to what a network is fed, as its entry in models.toml says."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engines.errors import SessionContract
from engines.model_entry import ModelEntry, ModelInput
from engines.runtime.session import Session


def feed(stack: NDArray[np.uint8], given: ModelInput) -> NDArray[np.float32]:
    """(B, H, W, 3) uint8 RGB → float32 in the layout, order of channels and range that `given` names.

    Subtraction and division are done in float32, as OpenCV's `blobFromImage` does them: with a mean of 127.5 and a deviation of 128 the
    result is the same to the last bit.
    """
    low, high = given.range
    values = (stack if given.colour == "RGB" else stack[..., ::-1]).astype(np.float32)
    if (low, high) != (0.0, 255.0):
        values = values * np.float32((high - low) / 255) + np.float32(low)
    if any(given.mean):
        values = values - np.asarray(given.mean, np.float32)
    if given.std != (1.0, 1.0, 1.0):
        values = values * (np.float32(1) / np.asarray(given.std, np.float32))
    return np.ascontiguousarray(values.transpose(0, 3, 1, 2) if given.layout == "NCHW" else values)


def input_of(entry: ModelEntry) -> ModelInput:
    """The entry's input. Raises `SessionContract` where it has none: a table of numbers is no network."""
    if entry.input is None:
        raise SessionContract(graph=entry.file, detail="its entry names no input")
    return entry.input


def expect(entry: ModelEntry, session: Session, inputs: int, outputs: Sequence[int]) -> None:
    """Raises `SessionContract` where a graph hasn't as many inputs and outputs as its contract."""
    found = len(session.inputs), len(session.outputs)
    if found[0] != inputs or found[1] not in outputs:
        wanted = " or ".join(map(str, outputs))
        raise SessionContract(
            graph=entry.file, detail=f"{entry.contract} has {inputs} inputs and {wanted} outputs, this graph {found[0]} and {found[1]}"
        )
