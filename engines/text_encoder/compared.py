"""A prompt through the cache and without it, in one run: what came from the cache, what that saved, and that it is the same."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engines.text_encoder.encoder import ClipEncoder, Counters
from engines.text_encoder.weights import END, START, WINDOW, TextModel
from engines.timing import Run


@dataclass(frozen=True, slots=True)
class Compared:
    """Attributes:
    reused: of each row, how many of its 77 tokens came from the cache, from the first on.
    cached, plain: milliseconds through the cache and by the model itself, for all rows together.
    difference: the largest between both embeddings, in their own units (they are of the order of 1).
    counters, nbytes: of the encoder, afterwards: since it was made.
    """

    reused: tuple[int, ...]
    cached: float
    plain: float
    difference: float
    counters: Counters
    nbytes: int

    @property
    def speedup(self) -> float:
        return self.plain / self.cached


def row_of(ids: Sequence[int]) -> list[int]:
    """Words' tokens as the model reads them: start, words, end, and ends up to 77, as Stable Diffusion pads them.

    Args:
        ids: at most 75.
    """
    return [START, *ids, *[END] * (WINDOW - 1 - len(ids))]


def warm(text: TextModel) -> None:
    """One pass that nobody times: the first takes several times as long as any other."""
    import torch

    with torch.no_grad():
        text.model(torch.tensor([row_of([])], device=text.device))


def compare(encoder: ClipEncoder, text: TextModel, rows: Sequence[Sequence[int]], run: Run | None = None) -> Compared:
    """Encodes the rows (see `row_of`) with `encoder`, which keeps them, then with its model's own forward pass.

    Raises:
        InvalidOption: as `ClipEncoder.encode`. Cancelled.
    """
    import torch

    run = run or Run()

    def timed(work: Callable[[], "torch.Tensor"]) -> "tuple[torch.Tensor, float]":
        begun = time.perf_counter()
        made = work()
        if text.device.type == "cuda":
            torch.cuda.synchronize()
        return made, 1000 * (time.perf_counter() - begun)

    with torch.no_grad():
        with run.stage("encode"):
            found = []

            def through_cache() -> "torch.Tensor":
                found.extend(encoder.encode(rows))
                return torch.stack([each.hidden for each in found])

            ours, cached = timed(through_cache)
        with run.stage("encode"):
            theirs, plain = timed(lambda: text.model(torch.tensor([list(each) for each in rows], device=text.device)).last_hidden_state)
    difference = float((ours - theirs).abs().max())
    return Compared(tuple(each.reused for each in found), cached, plain, difference, encoder.counters, encoder.nbytes)
