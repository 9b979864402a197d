"""The page's text encoder: one model for all, and for each visitor a cache of his own, so that nobody learns what another wrote."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engines.pretrained import Once
from engines.timing import Run
from engines.tokens.text import Piece, TextTokenizer
from engines.tokens.window import chunks
from studio.visitors import PerVisitor

if TYPE_CHECKING:
    from engines.text_encoder.compared import Compared
    from engines.text_encoder.encoder import ClipEncoder
    from engines.text_encoder.weights import TextModel

CACHE_BYTES = 64 << 20  # of each visitor; 280 prompts of L/14


@dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt that was encoded. parts: its pieces by the rows of 77 that it took, a row for each of `compared.reused`."""

    text: str
    parts: tuple[tuple[Piece, ...], ...]
    compared: "Compared"
    model: "TextModel"


class Encoders:
    """Used by one thread at a time, the desk's, but for `open`.

    Args:
        where: see `engines.text_encoder.weights.opened`.
    """

    def __init__(self, where: str) -> None:
        self._model: Once[TextModel] = Once(lambda: _opened(where))
        self._of: PerVisitor[ClipEncoder] = PerVisitor()

    def encode(self, visitor: str, text: str, tokenizer: TextTokenizer, run: Run) -> Encoded:
        """With the visitor's cache and without, in one run.

        Args:
            tokenizer: CLIP's.

        Raises:
            ExtraMissing, WeightsUnusable: as `opened`. Cancelled; and as `TextTokenizer.encode`.
        """
        from engines.text_encoder import compared

        parts = tuple(chunk.pieces for chunk in chunks(text, tokenizer))
        model = self.open()
        run.check()
        rows = [compared.row_of([token for piece in part for token in piece.ids]) for part in parts]
        return Encoded(text, parts, compared.compare(self._encoder(visitor, model), model, rows, run), model)

    def forget(self, visitor: str) -> None:
        """The visitor's prompts, and what was counted of them."""
        self._of.forget(visitor)

    def open(self) -> "TextModel":
        """The model, on any thread. Raises as `opened`."""
        return self._model.get()

    def _encoder(self, visitor: str, model: "TextModel") -> "ClipEncoder":
        from engines.text_encoder.encoder import ClipEncoder

        return self._of.of(visitor, lambda: ClipEncoder(model.model, CACHE_BYTES))


def _opened(where: str) -> "TextModel":
    from engines.text_encoder import compared, weights

    model = weights.opened(where)
    compared.warm(model)
    return model
