"""One text by every tokenizer: what the command `text` answers and what the Tokens tab's table shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engines.tokens.counters import COUNTERS
from engines.tokens.text import Piece, TextTokenizer
from engines.tokens.window import Chunk, chunks, split


@dataclass(frozen=True, slots=True)
class TextCount:
    """A text as one tokenizer cuts it.

    Attributes:
        pieces: see `Piece`. lost: how many of the last ones fall off the model's window.
        chunks: the same text in parts that fit into the window; one where there is none.
    """

    tokenizer: TextTokenizer
    pieces: tuple[Piece, ...]
    lost: int
    chunks: tuple[Chunk, ...]

    @property
    def tokens(self) -> int:
        return _tokens(self.pieces)

    @property
    def lost_tokens(self) -> int:
        return _tokens(self.pieces[len(self.pieces) - self.lost :])

    @property
    def sent(self) -> int:
        """With the model's own wrapping."""
        return self.tokens + self.tokenizer.around

    def cost(self, calls: float, price: float) -> float:
        """Of that many calls, at a price a million tokens."""
        return self.sent * calls * price / 1e6

    def as_dict(self, pieces: bool = False) -> dict[str, Any]:
        """For JSON; `pieces`: each with its text and ids."""
        values: dict[str, Any] = {
            "tokens": self.tokens,
            "sent": self.sent,
            "window": self.tokenizer.window or None,
            "lost": self.lost_tokens,
        }
        values["chunks"] = [{"start": chunk.start, "end": chunk.end, "tokens": len(chunk.ids)} for chunk in self.chunks]
        if pieces:
            values["pieces"] = [{"text": piece.text, "ids": list(piece.ids)} for piece in self.pieces]
        return values | {"licence": self.tokenizer.licence, "source": self.tokenizer.source, "date": self.tokenizer.date}


def counted(text: str, tokenizer: TextTokenizer) -> TextCount:
    """Raises as `TextTokenizer.encode`."""
    pieces = tokenizer.encode(text)
    return TextCount(tokenizer, pieces, len(split(pieces, tokenizer).lost), chunks(text, tokenizer, pieces) if tokenizer.window else ())


def counts(text: str, tokenizers: Iterable[TextTokenizer]) -> list[TextCount]:
    """By each of them, in order, told to the counters of this process. Raises as `counted`."""
    found = [counted(text, each) for each in tokenizers]
    for each in found:
        COUNTERS.text(each.tokenizer.name, each.sent)
    return found


def _tokens(pieces: Iterable[Piece]) -> int:
    return sum(len(piece.ids) for piece in pieces)
