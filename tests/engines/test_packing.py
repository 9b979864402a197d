"""Trees of arrays to bytes and back: exact, and nothing else comes out of any bytes."""

import contextlib
import json
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from engines.packing import digest, pack, unpack

LIMIT = 1 << 20


@dataclass(frozen=True)
class Inner:
    table: Any
    word: str = "none"


@dataclass(frozen=True)
class Outer:
    inner: Inner
    pair: tuple[Any, ...]
    extra: int = 7
    _kept: dict[str, int] = field(default_factory=dict)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and bool(a == b)


dtypes = st.sampled_from([np.uint8, np.int32, np.uint16, np.float32, np.float64, np.bool_, np.int64])
values = dtypes.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)))
plain = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
trees = st.recursive(
    plain | values,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)


@given(trees)
def test_what_is_packed_comes_back_bit_for_bit(tree: Any) -> None:
    data = pack(tree)
    assert same(unpack(data, [], LIMIT), tree)
    assert pack(tree) == data


@pytest.mark.parametrize("shape", [(5, 7, 1), (1, 1, 4), (8, 3, 3), (16, 16, 4), (2, 2, 2)])
def test_pictures_come_back(shape: tuple[int, int, int]) -> None:
    picture = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    assert same(unpack(pack(picture), [], LIMIT), picture)


def test_dataclasses_come_back_without_what_can_be_computed_anew() -> None:
    value = Outer(Inner(np.arange(6.0).reshape(2, 3), "here"), (1, (2.5, None)), _kept={"a": 1})
    back = unpack(pack(value), [Outer, Inner], LIMIT)
    assert same(back.inner.table, value.inner.table)
    assert (back.inner.word, back.pair, back.extra, back._kept) == ("here", (1, (2.5, None)), 7, {})


def test_halved_pictures_are_not_kept_twice() -> None:
    whole = np.random.default_rng(0).integers(0, 256, (64, 64, 4), np.uint8)
    half = cv2.resize(whole, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    alone = len(pack((whole,)))
    assert len(pack((whole, half))) < alone + 40
    assert same(unpack(pack((whole, half)), [], LIMIT), (whole, half))
    other = half.copy()
    other[0, 0, 0] ^= 1
    assert len(pack((whole, other))) > alone + 1000
    assert same(unpack(pack((whole, other)), [], LIMIT), (whole, other))


@pytest.mark.parametrize("value", [object(), [1], {1: 2}, b"x", {"a": {3}}, np.array(["x"]), np.array([object()]), np.complex64(1)])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        pack(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_has_not_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        pack((value,))


def test_fields_of_another_version() -> None:
    data = pack(Inner(1, "x"))

    @dataclass(frozen=True)
    class Grown:
        table: Any
        word: str
        more: int

    Grown.__name__ = "Inner"
    with pytest.raises(LookupError, match="more"):
        unpack(data, [Grown], LIMIT)

    @dataclass(frozen=True)
    class Shrunk:
        table: Any

    Shrunk.__name__ = "Inner"
    with pytest.raises(LookupError, match="word"):
        unpack(data, [Shrunk], LIMIT)
    with pytest.raises(LookupError):
        unpack(data, [], LIMIT)


def forged(tree: Any, entries: list[Any], blobs: bytes = b"") -> bytes:
    text = json.dumps({"tree": tree, "arrays": entries}).encode()
    return struct.pack("<I", len(text)) + text + blobs


BLOB = zlib.compress(bytes(12))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xff\xff\x7f",
        struct.pack("<I", 4) + b"null",
        struct.pack("<I", 3) + b"\xff\xfe\xfd",
        struct.pack("<I", 400000) + b"[" * 400000,
        forged({"array": 0}, []),
        forged({"array": -1}, [["|u1", [12], "plain", len(BLOB)]], BLOB),
        forged({"tuple": 3}, []),
        forged([1], []),
        forged({"tuple": [{"half": True}]}, []),
        forged({"tuple": [1, {"half": True}]}, []),
        forged({"array": 0, "more": 1}, [["|u1", [12], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [["|O8", [1], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [["<U9", [1], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [[">f8", [1], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [["zzz", [1], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [["|u1", [-12], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [["|u1", [12.0], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [["|u1", [11], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [["|u1", [13], "plain", len(BLOB)]], BLOB),
        forged({"array": 0}, [["|u1", [12], "zipped", len(BLOB)]], BLOB),
        forged({"array": 0}, [["|u1", [12], "rows", len(BLOB)]], BLOB),
        forged({"array": 0}, [["|u1", [12], "plain", -1]], BLOB),
        forged({"array": 0}, [["|u1", [12], "plain", len(BLOB) + 1]], BLOB),
        forged({"array": 0}, [["|u1", [12], "plain", len(BLOB)]], BLOB + b"x"),
        forged({"array": 0}, [["|u1", [12], "plain", 12]], bytes(12)),
        forged({"array": 0}, [["|u1", [1 << 19, 1 << 19], "plain", len(BLOB)]], BLOB),
    ],
)
def test_forged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        unpack(data, [], LIMIT)
    assert not isinstance(caught.value, UnicodeError)


def test_a_bomb_is_not_inflated() -> None:
    bomb = zlib.compress(bytes(64 << 20), 9)
    assert len(bomb) < LIMIT
    for shape in ([64 << 20], [100]):  # more than the limit, or more than it says
        with pytest.raises(ValueError, match=r"limit|long|packed"):
            unpack(forged({"array": 0}, [["|u1", shape, "plain", len(bomb)]], bomb), [], LIMIT)
    for count in (1000, 20000):
        with pytest.raises(ValueError, match=r"limit|cut"):
            unpack(forged({"tuple": [{"array": 0}, {"half": True}] * count}, [["|u1", [256, 256, 4], "plain", 1]], b"x"), [], LIMIT)
    small = zlib.compress(bytes(LIMIT // 2), 9)
    several = [["|u1", [LIMIT // 2], "plain", len(small)]] * 3
    with pytest.raises(ValueError, match="limit"):
        unpack(forged({"array": 0}, several, small * 3), [], LIMIT)


@given(st.data())
def test_changed_bytes_give_a_value_or_one_of_two_errors(data: st.DataObject) -> None:
    whole = bytearray(pack({"a": np.arange(20, dtype=np.float32), "b": (1, "x"), "c": np.zeros((4, 4, 4), np.uint8)}))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ValueError, LookupError):
        unpack(bytes(whole), [], LIMIT)


def test_the_digest_is_of_the_values() -> None:
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    one = digest(Outer(Inner(table), (1,)))
    assert one == digest(Outer(Inner(np.asfortranarray(table)), (1,), _kept={"a": 1}))
    others = [
        Outer(Inner(table + 1), (1,)),
        Outer(Inner(table), (2,)),
        Outer(Inner(table.reshape(4, 3)), (1,)),
        Outer(Inner(table.astype(float)), (1,)),
    ]
    assert len({one, *map(digest, others)}) == 5
