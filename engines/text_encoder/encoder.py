"""`ClipEncoder`: prompts in, embeddings out; what prompts have in common is computed once.

Two things are kept under one limit of bytes, least recently used first out: keys and values of the words of every prompt, in a tree by
their tokens, and the finished embedding of every prompt, for the next time that the very same one comes. The end token and the padding
behind it belong to no prefix (a longer prompt has words there), so they aren't in the tree.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from engines.errors import InvalidOption
from engines.text_encoder.clip_text import ClipText, Computed, joined, row, stacked
from engines.text_encoder.policy import Counters, Policy
from engines.text_encoder.radix import RadixTree, common_prefix

if TYPE_CHECKING:
    import torch

Ids = tuple[int, ...]
SHARED = 8  # tokens that rows of one batch must have in common before a pass of its own computes them: one costs as much as some 6 tokens
CACHE_BYTES = 256 << 20  # 3,600 tokens of CLIP L/14 in fp32, 72 KiB each


@dataclass(frozen=True, slots=True)
class Encoded:
    """One prompt.

    Attributes:
        hidden: (T, width), of the layer that was asked for. pooled: (width,) or, where the model projects, (projection,): the last
            layer's, normed, at the end token.
        reused: how many of its tokens, from the first on, came from the cache.
    """

    hidden: "torch.Tensor"
    pooled: "torch.Tensor"
    reused: int


@dataclass(slots=True)
class _Namespace:
    policy: Policy
    tree: RadixTree[Computed] = field(default_factory=RadixTree)
    recent: deque[tuple[int, int]] = field(default_factory=deque)


@dataclass(slots=True)
class _Row:
    """A prompt on its way: its ids, how many of them are words, what is known of them, and the answer."""

    ids: Ids
    words: int
    known: int = 0
    parts: list[Computed] = field(default_factory=list)
    hidden: "torch.Tensor | None" = None  # (outputs, T, width)


class ClipEncoder:
    """May be used by several threads at once.

    Args:
        model: see `ClipText`. cache_bytes: most that is kept, of keys, values and embeddings together; 0 keeps nothing.
        skips: see `ClipText`; the last layer's output is always kept.
        policies: by namespace; others have the plain `Policy`.
    """

    def __init__(
        self, model: Any, cache_bytes: int = CACHE_BYTES, skips: Sequence[int] = (), policies: Mapping[str, Policy] | None = None
    ) -> None:
        self.skips, self._model = tuple(dict.fromkeys((0, *skips))), model
        self.text = ClipText(model, self.skips)
        self._limit, self._policies = cache_bytes, dict(policies or {})
        self._spaces: dict[str, _Namespace] = {}
        self._whole: OrderedDict[tuple[str, Ids], tuple[int, torch.Tensor]] = OrderedDict()  # oldest first: when used, hidden
        self._whole_bytes, self._clock = 0, 0
        self._counters = Counters()
        self._lock = threading.Lock()  # over the trees and the counters, never while the model runs

    @property
    def counters(self) -> Counters:
        return self._counters

    @property
    def nbytes(self) -> int:
        """What is kept now."""
        with self._lock:
            return self._bytes()

    def clear(self) -> None:
        """Forgets all prompts; the counters stay."""
        with self._lock:
            self._spaces.clear()
            self._whole.clear()
            self._whole_bytes = 0

    def known(self, rows: Sequence[Sequence[int]], namespace: str = "") -> list[int]:
        """How many of each row's tokens `encode` would take from the cache now. Nothing is counted. Raises as `encode`."""
        pending = [_Row(tuple(ids), self._end(tuple(ids))) for ids in rows]
        with self._lock:
            for each in pending:
                if (namespace, each.ids) in self._whole:
                    each.known = len(each.ids)
                else:
                    self._known(each, self._space(namespace))
        return [each.known for each in pending]

    def primed(self, rows: Sequence[Sequence[int]], known: Sequence[int], namespace: str = "") -> "ClipEncoder":
        """Another one that knows as many tokens of these rows as `known` says, and nothing else: to do over again, for a clock, what this
        one has done."""
        other = ClipEncoder(self._model, self._limit, self.skips, self._policies)
        with self._lock:
            for ids, count in zip(map(tuple, rows), known, strict=True):
                if count == len(ids):
                    whole = self._whole.get((namespace, ids))
                    if whole is not None:
                        other._whole[namespace, ids] = whole
                    continue
                found, parts = self._space(namespace).tree.match(ids[:count], self._clock)
                if (past := joined(parts)) is not None:
                    other._space(namespace).tree.insert(ids[:found], 0, past.cut(0, found), 0)
        return other

    def encode(self, rows: Sequence[Sequence[int]], namespace: str = "", skip: int = 0, norm: bool = True) -> list[Encoded]:
        """Args:
            rows: of each prompt the token ids, start and end token among them, padded or not, at most as many as the window.
            skip: of the last layers, one of `skips`. norm: whether the final norm goes over `hidden` (Stable Diffusion: yes; SDXL: no).

        Raises:
            InvalidOption: a row without an end token, empty or too long; a skip that isn't kept.
        """
        import torch

        if skip not in self.skips:
            raise InvalidOption(name="skip", value=skip, allowed=", ".join(map(str, self.skips)))
        pending = [_Row(tuple(ids), self._end(tuple(ids))) for ids in rows]
        with torch.no_grad():
            self._find(pending, namespace)
            todo = [each for each in pending if each.hidden is None]
            if len(todo) > 1:
                self._share(todo, namespace)
            for group in _groups(todo):
                self._compute(group, namespace)
            return [self._finish(each, skip, norm) for each in pending]

    def _end(self, ids: Ids) -> int:
        """Where the end token is. Configurations from before 2023 say 2 and mean the largest id of all."""
        end = int(self.text.config.eos_token_id)
        end = max(ids, default=-1) if end == 2 else end
        if not 1 <= len(ids) <= self.text.window or end not in ids:
            raise InvalidOption(name="ids", value=len(ids), allowed=f"1..{self.text.window}, with the end token {end}")
        return ids.index(end)

    def _find(self, pending: Sequence[_Row], namespace: str) -> None:
        """Fills in what is known, and counts it."""
        with self._lock:
            space = self._space(namespace)
            for each in pending:
                self._clock += 1
                whole = self._whole.pop((namespace, each.ids), None)
                if whole is not None:
                    self._whole[namespace, each.ids] = (self._clock, whole[1])
                    each.hidden, each.known = whole[1], len(each.ids)
                else:
                    self._known(each, space)
                self._count(each, space)

    def _known(self, each: _Row, space: _Namespace) -> None:
        words = each.words - each.words % space.policy.granularity
        each.known, each.parts = space.tree.match(each.ids[:words], self._clock)
        if spare := each.known % space.policy.granularity:  # the tree was cut inside a block
            each.known -= spare
            whole = joined(each.parts)
            each.parts = [whole.cut(0, each.known)] if whole is not None and each.known else []

    def _count(self, each: _Row, space: _Namespace) -> None:
        now = self._counters
        kind = "hits" if each.hidden is not None else "partial" if each.known else "misses"
        counted = {kind: getattr(now, kind) + 1, "reused": now.reused + each.known, "computed": now.computed + len(each.ids) - each.known}
        self._counters = replace(now, **counted)
        policy = space.policy
        if not policy.window:
            return
        space.recent.append((each.known, len(each.ids)))
        if len(space.recent) > policy.window:
            space.recent.popleft()
        reused, total = (sum(column) for column in zip(*space.recent, strict=True))
        if len(space.recent) == policy.window and reused < policy.threshold * total:
            space.tree.clear()
            space.recent.clear()
            self._counters = replace(self._counters, rebuilt=self._counters.rebuilt + 1)

    def _share(self, todo: Sequence[_Row], namespace: str) -> None:
        """Computes what all rows of a batch begin with, once."""
        first = min(todo, key=lambda each: each.known)
        common = min(common_prefix(first.ids[: first.words], each.ids[: each.words]) for each in todo)
        common -= common % self._policies.get(namespace, Policy()).granularity
        if common - first.known < SHARED:
            return
        found = self._run([first.ids[first.known : common]], joined(first.parts), common - first.known)
        with self._lock:
            self._space(namespace).tree.insert(first.ids[:common], first.known, found, self._clock)
            self._evict()
            saved = sum(max(0, common - each.known) for each in todo if each is not first)
            now = self._counters
            self._counters = replace(now, reused=now.reused + saved, computed=now.computed - saved)
        parts = [*first.parts, found]
        for each in todo:
            if each.known < common:
                each.known, each.parts = common, parts

    def _compute(self, group: Sequence[_Row], namespace: str) -> None:
        """Rows of one length, with prefixes of one length."""
        known = group[0].known
        same = all(each.parts is group[0].parts or list(map(id, each.parts)) == list(map(id, group[0].parts)) for each in group)
        past = joined(group[0].parts) if same else stacked([part for each in group if (part := joined(each.parts)) is not None])
        found = self._run([each.ids[known:] for each in group], past, max(each.words for each in group) - known)
        import torch

        for i, each in enumerate(group):
            new = row(found, i)
            hidden = torch.cat([*(part.hidden for part in each.parts), new.hidden], 2)[:, 0]
            each.hidden = hidden
            with self._lock:
                space = self._space(namespace)
                words = each.words - each.words % space.policy.granularity
                if words > known:
                    space.tree.insert(each.ids[:words], known, new.cut(0, words - known), self._clock)
                if (namespace, each.ids) not in self._whole:
                    self._whole[namespace, each.ids] = (self._clock, hidden)
                    self._whole_bytes += hidden.nbytes
                self._evict()

    def _run(self, rows: Sequence[Ids], past: Computed | None, keep: int) -> Computed:
        import torch

        return self.text.run(torch.tensor([list(each) for each in rows], device=self.text.device), past, keep)

    def _finish(self, each: _Row, skip: int, norm: bool) -> Encoded:
        assert each.hidden is not None
        last = self.text.final_norm(each.hidden[0])
        pooled = last[each.words]
        if self.text.projection is not None:
            pooled = self.text.projection(pooled)
        if skip == 0 and norm:
            return Encoded(last, pooled, each.known)
        hidden = each.hidden[self.skips.index(skip)]
        return Encoded(self.text.final_norm(hidden) if norm else hidden, pooled, each.known)

    def _space(self, name: str) -> _Namespace:
        return self._spaces.setdefault(name, _Namespace(self._policies.get(name, Policy())))

    def _bytes(self) -> int:
        return self._whole_bytes + sum(space.tree.nbytes for space in self._spaces.values())

    def _evict(self) -> None:
        """Down to the limit; the older of the oldest embedding and the oldest leaf goes first."""
        while self._bytes() > self._limit:
            leaves = [(used, space.tree) for space in self._spaces.values() if (used := space.tree.oldest()) is not None]
            oldest = min(leaves, key=lambda leaf: leaf[0], default=None)
            key = next(iter(self._whole), None)
            if key is not None and (oldest is None or self._whole[key][0] <= oldest[0]):
                self._whole_bytes -= self._whole.pop(key)[1].nbytes
            elif oldest is not None:
                oldest[1].evict()
            else:
                return
            self._counters = replace(self._counters, evicted=self._counters.evicted + 1)


def _groups(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Rows that one pass can take together."""
    found: dict[tuple[int, int], list[_Row]] = {}
    for each in rows:
        found.setdefault((each.known, len(each.ids)), []).append(each)
    return list(found.values())
