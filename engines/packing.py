"""Values made of arrays ↔ bytes, without pickle: what is read back can only be numbers, words, arrays and the dataclasses that are named.

    4 bytes, little-endian: length of the JSON | JSON | the arrays' bytes, one after another

The JSON is `{"tree": …, "arrays": [[dtype, shape, filter, length], …]}`. In the tree a number, a word, a truth value and null stand for
themselves; the rest is an object with one of the keys `array` (its number), `tuple`, `dict`, `kind` with `fields` (a dataclass), and
`half` (in a tuple of pictures: the one before it, reduced by half).
Arrays are little-endian, deflated (RFC 1951, in zlib's frame). Filters, before that: `plain`; `shuffled` (all first bytes of the
elements, then all second ones, …); `rows`, `columns` (a picture's planes one after another, red and blue less green, each value less
the one above or to the left, modulo 256). Measured on faces: 578 KB in place of 682 KB, lzma would save another 4 % at twice the time.
"""

import dataclasses
import hashlib
import json
import math
import struct
import zlib
from collections.abc import Iterable
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LONGEST_JSON = 1 << 20
LONGEST_SIDE = 1 << 20  # elements along one axis
DEEPEST = 24
MOST_HALVES = 24  # each is computed on reading: thousands would be a bomb too
_LENGTH = struct.Struct("<I")


def pack(value: object) -> bytes:
    """Bytes of a tree of None, bool, int, float, str, tuples, dicts with words for keys, NumPy arrays (bool, integers, floats) and
    dataclasses; of these a field whose name begins with "_" stays out: it holds what can be computed anew. The same value gives the
    same bytes.

    Raises:
        TypeError: another type. ValueError: a number that isn't finite (inside an array it may be).
    """
    arrays: list[Array] = []
    tree = _tree(value, arrays)
    deflated = [_deflated(array) for array in arrays]
    described = {"tree": tree, "arrays": [[*facts, len(data)] for facts, data in deflated]}
    text = json.dumps(described, allow_nan=False, separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *(data for _, data in deflated)])


def digest(value: object) -> str:
    """SHA-256 (hex) of such a tree: equal values have equal digests. Raises as `pack` does."""
    arrays: list[Array] = []
    tree = _tree(value, arrays)
    described = [tree, [[array.dtype.str, array.shape] for array in arrays]]
    found = hashlib.sha256(json.dumps(described, allow_nan=False).encode())
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def unpack(data: bytes, kinds: Iterable[type], limit: int) -> Any:
    """The value that `pack` was given.

    Args:
        kinds: the dataclasses that may occur. A field that the bytes lack takes its default.
        limit: bytes that all arrays together may take; held against their declared sizes before anything is inflated.

    Raises:
        ValueError: the bytes say something else than `pack` writes, or too much. LookupError: a dataclass that isn't among `kinds`, a
            field that its class hasn't, or one that is missing and has no default: another version wrote them.
    """
    if len(data) < _LENGTH.size:
        raise ValueError("cut off")
    (length,) = _LENGTH.unpack_from(data)
    start = _LENGTH.size + length
    if length > LONGEST_JSON or start > len(data):
        raise ValueError("cut off")
    if data.count(b'"half"', _LENGTH.size, start) > MOST_HALVES:
        raise ValueError("more than the limit")
    try:
        described = json.loads(data[_LENGTH.size : start])
    except (UnicodeDecodeError, RecursionError) as fault:
        raise ValueError("no JSON") from fault
    if not isinstance(described, dict) or not isinstance(described.get("arrays"), list) or "tree" not in described:
        raise ValueError("not what was packed")
    arrays, left = [], limit
    for entry in described["arrays"]:
        dtype, shape, filter, size = _checked(entry)
        left -= math.prod(shape) * dtype.itemsize
        if left < 0 or start + size > len(data):
            raise ValueError("more than the limit")
        arrays.append(_inflated(data[start : start + size], dtype, shape, filter))
        start += size
    if start != len(data):
        raise ValueError("something follows")
    return _value(described["tree"], arrays, {kind.__name__: kind for kind in kinds}, 0)


def _tree(value: object, arrays: list[Array]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, tuple):
        kept: list[Any] = []
        for index, each in enumerate(value):
            halved = index > 0 and _is_half(value[index - 1], each)
            kept.append({"half": True} if halved else _tree(each, arrays))
        return {"tuple": kept}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _tree(each, arrays) for key, each in value.items()}}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        fields = {name: _tree(getattr(value, name), arrays) for name in names}
        return {"kind": type(value).__name__, "fields": fields}
    raise TypeError(f"a {type(value).__name__} can't be packed")


def _value(node: Any, arrays: list[Array], kinds: dict[str, type], depth: int) -> Any:
    if node is None or isinstance(node, bool | int | float | str):
        return node
    if not isinstance(node, dict) or depth > DEEPEST:
        raise ValueError("not what was packed")
    match node:
        case {"array": int(index), **rest} if not rest and 0 <= index < len(arrays):
            return arrays[index]
        case {"tuple": list(items), **rest} if not rest:
            values: list[Any] = []
            for item in items:
                if item == {"half": True}:
                    values.append(_halved(values[-1] if values else None))
                else:
                    values.append(_value(item, arrays, kinds, depth + 1))
            return tuple(values)
        case {"dict": dict(items), **rest} if not rest:
            return {str(key): _value(item, arrays, kinds, depth + 1) for key, item in items.items()}
        case {"kind": str(name), "fields": dict(items), **rest} if not rest:
            return _made(kinds[name], {str(key): _value(item, arrays, kinds, depth + 1) for key, item in items.items()})
    raise ValueError("not what was packed")


def _made(kind: type, values: dict[str, Any]) -> Any:
    fields = {field.name: field for field in dataclasses.fields(kind)}
    strange = {name for name in values if name not in fields or name.startswith("_")}
    optional = {name for name, field in fields.items() if field.default is not dataclasses.MISSING}
    optional |= {name for name, field in fields.items() if field.default_factory is not dataclasses.MISSING}
    missing = fields.keys() - values.keys() - optional
    if strange or missing:
        raise LookupError(f"{kind.__name__}: {', '.join(sorted(strange | missing))}")
    return kind(**values)


def _is_picture(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 3 and 1 <= value.shape[2] <= 4 and value.size > 0


def _is_half(whole: Any, part: Any) -> bool:
    """Whether `part` is what `_halved` makes of `whole`, bit for bit: then it needn't be kept."""
    if not (_is_picture(whole) and _is_picture(part)) or part.shape != (whole.shape[0] // 2, whole.shape[1] // 2, whole.shape[2]):
        return False
    return min(part.shape) > 0 and np.array_equal(_halved(whole), part)


def _halved(whole: Any) -> Array:
    if not _is_picture(whole) or min(whole.shape[:2]) < 2:
        raise ValueError("nothing to halve")
    sides = whole.shape[1] // 2, whole.shape[0] // 2
    return np.asarray(cv2.resize(whole, sides, interpolation=cv2.INTER_AREA), np.uint8).reshape(sides[1], sides[0], whole.shape[2])


def _deflated(array: Array) -> tuple[list[Any], bytes]:
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"an array of {array.dtype} can't be packed")
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    if _is_picture(array):
        filter, data = min(((name, _filtered(plain, name)) for name in ("rows", "columns")), key=lambda found: len(found[1]))
    else:
        filter = "shuffled" if plain.dtype.itemsize > 1 else "plain"
        data = _filtered(plain, filter)
    return [plain.dtype.str, list(array.shape), filter], data


def _filtered(plain: Array, filter: str) -> bytes:
    if filter in ("rows", "columns"):
        planes = np.moveaxis(plain, 2, 0).copy()
        if len(planes) >= 3:
            planes[[0, 2]] -= planes[1]
        first, rest = (np.s_[:, 1:], np.s_[:, :-1]) if filter == "rows" else (np.s_[:, :, 1:], np.s_[:, :, :-1])
        out = planes.copy()
        out[first] -= planes[rest]
        return zlib.compress(out.tobytes(), 6)
    data = plain.tobytes()
    if filter == "shuffled":
        data = np.frombuffer(data, np.uint8).reshape(-1, plain.dtype.itemsize).T.tobytes()
    return zlib.compress(data, 6)


def _checked(entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], str, int]:
    match entry:
        case [str(name), list(shape), str(filter), int(size)] if size >= 0 and len(shape) <= 8:
            if all(type(side) is int and 0 <= side <= LONGEST_SIDE for side in shape) and len(name) == 3:
                try:
                    dtype = np.dtype(name)
                except (TypeError, ValueError) as fault:
                    raise ValueError("no such dtype") from fault
                if dtype.kind in "biuf" and dtype.itemsize <= 8 and dtype.str == name:
                    return dtype, tuple(shape), filter, size
    raise ValueError("not what was packed")


def _inflated(data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...], filter: str) -> Array:
    expected = math.prod(shape) * dtype.itemsize
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(data, expected + 1)  # never more than was declared, whatever the bytes would inflate to
    except zlib.error as fault:
        raise ValueError("damaged") from fault
    if len(plain) != expected or not stream.eof or stream.unused_data:
        raise ValueError("not as long as it says")
    if filter in ("rows", "columns"):
        if dtype != np.uint8 or len(shape) != 3 or not 1 <= shape[2] <= 4 or expected == 0:
            raise ValueError("not a picture")
        planes = np.frombuffer(plain, np.uint8).reshape(shape[2], shape[0], shape[1])
        planes = np.cumsum(planes, axis=1 if filter == "rows" else 2, dtype=np.uint8)
        if len(planes) >= 3:
            planes[[0, 2]] += planes[1]
        array: Array = np.ascontiguousarray(np.moveaxis(planes, 0, 2))
    elif filter == "shuffled":
        array = np.frombuffer(np.frombuffer(plain, np.uint8).reshape(dtype.itemsize, -1).T.tobytes(), dtype).reshape(shape)
    elif filter == "plain":
        array = np.frombuffer(plain, dtype).reshape(shape)
    else:
        raise ValueError("no such filter")
    array = array.astype(dtype.newbyteorder("="), copy=False)
    array.setflags(write=False)
    return array
