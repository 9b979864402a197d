from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.faces.batches import run_stack
from engines.runtime.fake import FakeSession
from engines.runtime.session import Array, TensorSpec


def doubling(batch: int | str, seen: list[int]) -> FakeSession:
    def run(feeds: Mapping[str, Array]) -> dict[str, Array]:
        seen.append(len(feeds["x"]))
        return {"twice": feeds["x"] * 2, "first": feeds["x"][:, 0]}

    outputs = (TensorSpec("twice", "float32", ("B", 3)), TensorSpec("first", "float32", ("B",)))
    return FakeSession((TensorSpec("x", "float32", (batch, 3)),), outputs, run)


@given(st.integers(1, 40), st.integers(1, 16))
def test_all_items_go_through_in_order_and_none_twice(count: int, most: int) -> None:
    seen: list[int] = []
    stack = np.arange(count * 3, dtype=np.float32).reshape(count, 3)
    found = run_stack(doubling("B", seen), "x", stack, most)
    assert np.array_equal(found["twice"], stack * 2)
    assert np.array_equal(found["first"], stack[:, 0])
    assert max(seen) <= most
    assert sum(seen) == count


def test_a_graph_for_one_item_gets_one_at_a_time() -> None:
    seen: list[int] = []
    run_stack(doubling(1, seen), "x", np.zeros((3, 3), np.float32))
    assert seen == [1, 1, 1]


def test_a_strided_stack_is_fed_in_one_piece() -> None:
    stack = np.arange(24, dtype=np.float32).reshape(3, 8).T
    assert run_stack(doubling("B", []), "x", stack)["twice"] == pytest.approx(stack * 2)
