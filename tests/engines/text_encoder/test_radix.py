"""The tree of prefixes against a plain list of what was put in; no network, no torch."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.text_encoder.radix import RadixTree

IDS = st.lists(st.integers(0, 2), min_size=1, max_size=12)


@dataclass(frozen=True)
class Letters:
    """A span's value that shows which tokens it is of."""

    of: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return len(self.of)

    def cut(self, start: int, end: int) -> "Letters":
        return Letters(self.of[start:end])


def put(tree: RadixTree[Letters], ids: list[int], now: int = 0) -> int:
    known, _ = tree.match(ids, now)
    return tree.insert(ids, known, Letters(tuple(ids[known:])), now)


def test_the_longest_prefix_is_found_and_its_values_are_in_order() -> None:
    tree: RadixTree[Letters] = RadixTree()
    put(tree, [1, 2, 3, 4])
    put(tree, [1, 2, 5])
    assert tree.match([1, 2, 5, 9], 1) == (3, [Letters((1, 2)), Letters((5,))])
    assert tree.match([7], 1) == (0, [])
    assert (tree.nodes, tree.nbytes) == (3, 5)


def test_what_is_known_already_isnt_kept_twice() -> None:
    tree: RadixTree[Letters] = RadixTree()
    assert put(tree, [1, 2, 3]) == 3
    assert tree.insert([1, 2, 3, 4], 0, Letters((1, 2, 3, 4)), 0) == 1
    assert tree.insert([1, 2], 0, Letters((1, 2)), 0) == 0


def test_nothing_is_hung_on_a_prefix_that_is_gone() -> None:
    tree: RadixTree[Letters] = RadixTree()
    assert tree.insert([1, 2, 3], 2, Letters((3,)), 0) == 0
    assert tree.nodes == 0


def test_the_leaf_that_was_used_longest_ago_goes_first() -> None:
    tree: RadixTree[Letters] = RadixTree()
    for now, ids in enumerate(([1, 1], [1, 2], [2])):
        put(tree, ids, now)
    tree.match([1, 1], 9)
    assert (tree.oldest(), tree.evict()) == (1, 1)
    assert tree.match([1, 2], 10)[0] == 1
    for _ in range(9):
        tree.evict()
    assert (tree.nbytes, tree.nodes, tree.oldest(), tree.evict()) == (0, 0, None, 0)


@given(rows=st.lists(IDS, max_size=12), wanted=IDS, dropped=st.integers(0, 4))
@settings(max_examples=200, deadline=None)
def test_it_is_a_set_of_prefixes(rows: list[list[int]], wanted: list[int], dropped: int) -> None:
    tree: RadixTree[Letters] = RadixTree()
    for now, ids in enumerate(rows):
        put(tree, ids, now)
    prefixes = {tuple(ids[:n]) for ids in rows for n in range(1, len(ids) + 1)}
    known, values = tree.match(wanted, 99)
    assert known == max((n for n in range(len(wanted) + 1) if tuple(wanted[:n]) in prefixes), default=0)
    assert tuple(token for value in values for token in value.of) == tuple(wanted[:known])
    assert tree.nbytes == len(prefixes)
    for _ in range(dropped):
        before = tree.nbytes
        assert tree.evict() == before - tree.nbytes
    assert tree.match(wanted, 100)[0] <= known


def test_a_cut_never_shares_memory_with_the_rest() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    from engines.text_encoder.clip_text import Computed

    whole = Computed(torch.zeros(2, 1, 4, 10, 8), torch.zeros(2, 1, 4, 10, 8), torch.zeros(1, 1, 10, 32))
    part = whole.cut(2, 5)
    assert part.keys.shape[3] == 3
    assert part.keys.untyped_storage().nbytes() == part.keys.numel() * 4
    assert whole.cut(0, 2).nbytes + part.nbytes + whole.cut(5, 10).nbytes == whole.nbytes
