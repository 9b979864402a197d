"""`last_initialiser`: one tensor out of an ONNX file, without the onnx package and without loading the rest of it.

An ONNX file is a protocol buffer (https://protobuf.dev/programming-guides/encoding/): fields of a number, a kind and a value. Of onnx.proto
this needs: ModelProto.graph = 7, GraphProto.initializer = 5, and of TensorProto dims = 1, data_type = 2, float_data = 4, raw_data = 9,
data_location = 14. The file is mapped into memory and stepped through; only the wanted tensor's bytes are read.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engines.errors import ModelCorrupt, ModelMissing

_GRAPH, _INITIALISER = 7, 5
_DIMS, _KIND, _FLOATS, _RAW, _LOCATION = 1, 2, 4, 9, 14
_DTYPES: dict[int, Any] = {1: np.dtype("<f4"), 10: np.dtype("<f2"), 11: np.dtype("<f8")}  # TensorProto.DataType: FLOAT, FLOAT16, DOUBLE
_EXTERNAL = 1

Value = int | memoryview


def last_initialiser(path: Path) -> NDArray[np.float32]:
    """The last initialiser of the main graph as float32, in its own shape: where inswapper keeps the matrix of its latent.

    Args:
        path: an ONNX file whose hash was checked already.

    Raises:
        ModelMissing: no such file. ModelCorrupt (reason graph): no ONNX file, none in it, or not of floats that stand in the file itself.
    """
    facts: dict[str, Any] = {"name": path.stem, "file": path.name, "folder": path.parent}
    try:
        with path.open("rb") as file:
            whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))  # unmapped when the last view of it goes
        return _last(whole)
    except FileNotFoundError as fault:
        raise ModelMissing(**facts) from fault
    except (OSError, ValueError, IndexError) as fault:
        raise ModelCorrupt("graph", **facts, detail=fault) from fault


def _last(whole: memoryview) -> NDArray[np.float32]:
    last: memoryview | None = None
    for number, graph in _fields(whole):
        if number == _GRAPH and isinstance(graph, memoryview):
            for inner, value in _fields(graph):
                if inner == _INITIALISER and isinstance(value, memoryview):
                    last = value
    if last is None:
        raise ValueError("no initialisers")
    return _tensor(last)


def _tensor(message: memoryview) -> NDArray[np.float32]:
    shape: list[int] = []
    kind = 0
    data = b""
    for number, value in _fields(message):
        if number == _DIMS:
            shape += [value] if isinstance(value, int) else list(_packed(value))
        elif number == _KIND and isinstance(value, int):
            kind = value
        elif number == _LOCATION and value == _EXTERNAL:
            raise ValueError("the last initialiser's numbers are in another file")
        elif number in (_FLOATS, _RAW) and isinstance(value, memoryview):
            data += bytes(value)
    if kind not in _DTYPES:
        raise ValueError(f"the last initialiser is of the type {kind}, not of floats")
    numbers: NDArray[np.float32] = np.frombuffer(data, dtype=_DTYPES[kind]).reshape(shape).astype(np.float32)
    return numbers


def _fields(message: memoryview) -> Iterator[tuple[int, Value]]:
    """Number and value of each field: whole numbers of kind 0, bytes of the kinds 1, 2 and 5."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            number, at = _varint(message, at)
            yield tag >> 3, number
            continue
        if kind == 2:
            length, at = _varint(message, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of the kind {kind}")
        if at + length > len(message):
            raise ValueError("cut off")
        yield tag >> 3, message[at : at + length]
        at += length


def _packed(message: memoryview) -> Iterator[int]:
    at = 0
    while at < len(message):
        number, at = _varint(message, at)
        yield number


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A whole number of seven bits a byte, the low ones first, and where the next field begins."""
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise ValueError("a number of over 64 bits")
