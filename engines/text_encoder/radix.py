"""`RadixTree`: what is kept for spans of tokens, found again by the longest prefix.

Every node owns a span of tokens and one value for it; a child's span follows its parent's. Where two sequences part, the node is split, so
nothing is kept twice. The idea is that of SGLang's RadixAttention (Zheng et al. 2023, arXiv:2312.07104), on token ids and never on strings:
"smil" isn't a prefix of "smiling" for a tokenizer that knows the whole word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar


class Span(Protocol):
    """A value for some consecutive tokens."""

    @property
    def nbytes(self) -> int: ...

    def cut(self, start: int, end: int) -> Self:
        """The value for the tokens start..end of these, as a copy: it holds no memory of the rest."""
        ...


S = TypeVar("S", bound=Span)


@dataclass(slots=True, eq=False)
class _Node(Generic[S]):
    ids: tuple[int, ...]
    value: S | None  # None in the root alone
    parent: "_Node[S] | None"
    used: int = 0
    children: "dict[int, _Node[S]]" = field(default_factory=dict)


class RadixTree(Generic[S]):
    """Not safe for threads by itself: its owner locks.

    Attributes:
        nbytes: of all values. nodes: how many hold them.
    """

    def __init__(self) -> None:
        self._root: _Node[S] = _Node((), None, None)
        self.nbytes = 0
        self.nodes = 0

    def match(self, ids: Sequence[int], now: int) -> tuple[int, list[S]]:
        """How many of the first tokens are known, and their values in order. What was found counts as used `now`, by its owner's clock."""
        node, known, values = self._root, 0, list[S]()
        while known < len(ids) and (child := node.children.get(ids[known])) is not None:
            common = common_prefix(child.ids, ids[known:])
            if common < len(child.ids):
                child = self._split(child, common)
            child.used = now
            assert child.value is not None
            values.append(child.value)
            node, known = child, known + common
        return known, values

    def insert(self, ids: Sequence[int], start: int, value: S, now: int) -> int:
        """Keeps a value for `ids[start:]`, where `ids[:start]` are known; what is known already of the rest stays as it is.

        Returns:
            The bytes that were added; 0 when all was known, or when `ids[:start]` isn't known any more.
        """
        known, _ = self.match(ids, now)
        if known >= len(ids) or known < start:
            return 0
        added = value.cut(known - start, len(ids) - start) if known > start else value
        parent = self._reached(ids[:known])
        node = _Node(tuple(ids[known:]), added, parent, now)
        parent.children[ids[known]] = node
        self.nbytes += added.nbytes
        self.nodes += 1
        return added.nbytes

    def oldest(self) -> int | None:
        """When the least recently used leaf was used; None when the tree is empty."""
        leaf = self._oldest_leaf()
        return leaf.used if leaf else None

    def evict(self) -> int:
        """Drops the least recently used leaf, and tells its bytes; 0 when the tree is empty."""
        leaf = self._oldest_leaf()
        if leaf is None:
            return 0
        assert leaf.parent is not None
        assert leaf.value is not None
        del leaf.parent.children[leaf.ids[0]]
        self.nbytes -= leaf.value.nbytes
        self.nodes -= 1
        return leaf.value.nbytes

    def clear(self) -> None:
        self._root.children.clear()
        self.nbytes = self.nodes = 0

    def _reached(self, ids: Sequence[int]) -> _Node[S]:
        node, known = self._root, 0
        while known < len(ids):
            node = node.children[ids[known]]
            known += len(node.ids)
        return node

    def _split(self, node: _Node[S], at: int) -> _Node[S]:
        """Cuts a node in two, and gives the first."""
        assert node.value is not None
        assert node.parent is not None
        before = node.value.nbytes
        first: _Node[S] = _Node(node.ids[:at], node.value.cut(0, at), node.parent, node.used)
        node.parent.children[node.ids[0]] = first
        node.value = node.value.cut(at, len(node.ids))
        node.ids, node.parent = node.ids[at:], first
        first.children[node.ids[0]] = node
        assert first.value is not None
        self.nbytes += first.value.nbytes + node.value.nbytes - before
        self.nodes += 1
        return first

    def _oldest_leaf(self) -> _Node[S] | None:
        return min((node for node in self._all(self._root) if not node.children), key=lambda node: node.used, default=None)

    def _all(self, node: _Node[S]) -> Iterator[_Node[S]]:
        for child in node.children.values():
            yield child
            yield from self._all(child)


def common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many of the first tokens are the same."""
    return next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
