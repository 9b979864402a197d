"""A prompt through the cache and without it, in one run: what came from the cache, what that saved, and that it is the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engines.pretrained import in_turns
from engines.text_encoder.encoder import ClipEncoder
from engines.text_encoder.policy import Counters
from engines.text_encoder.weights import END, START, WINDOW, TextModel
from engines.timing import Run


@dataclass(frozen=True, slots=True)
class Compared:
    """Attributes:
    reused: of each row, how many of its 77 tokens came from the cache, from the first on.
    cached, plain: milliseconds through the cache and by the model itself, for all rows together; medians.
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
    """Encodes the rows (see `row_of`) with `encoder`, which keeps them, and by its model's own forward pass.

    Both are then done over again, in turns, for the clock: a first pass with a new number of tokens takes several times as long as the
    next. The encoder that is timed knows of the rows what `encoder` knew before, and nothing else.

    Raises:
        InvalidOption: as `ClipEncoder.encode`. Cancelled.
    """
    import torch

    run = run or Run()
    ids = torch.tensor([list(each) for each in rows], device=text.device)
    before = encoder.known(rows)

    def ways() -> list[Callable[[], object]]:
        again = encoder.primed(rows, before)
        return [lambda: again.encode(rows), lambda: text.model(ids)]

    with torch.no_grad(), run.stage("encode"):
        run.check()
        found = encoder.encode(rows)
        difference = float((torch.stack([each.hidden for each in found]) - text.model(ids).last_hidden_state).abs().max())
        cached, plain = in_turns(text, ways, run)
    return Compared(tuple(each.reused for each in found), cached, plain, difference, encoder.counters, encoder.nbytes)
