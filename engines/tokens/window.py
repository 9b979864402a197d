"""What a model with a fixed window reads of a text: `split` at the window, and `chunks` that fit into it.

CLIP reads 77 tokens, two of them its own start and end; Stable Diffusion's pipelines cut the rest off without a word. The usual way round
is to encode chunks of 75 one after another and to lay their embeddings end to end; the word BREAK in capitals begins a new chunk.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engines.tokens.text import LONGEST, Piece, TextTokenizer

BREAK = re.compile(r"\s*\bBREAK\b\s*")  # as AUTOMATIC1111's web UI reads it


@dataclass(frozen=True, slots=True)
class Window:
    """A text at the edge of a window: the pieces that are read, and those that fall off."""

    read: tuple[Piece, ...]
    lost: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text that fits into the window.

    Attributes:
        start, end: of its characters in the text. pieces: its tokens, without the wrapping; their places are those in the text.
    """

    start: int
    end: int
    pieces: tuple[Piece, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token for piece in self.pieces for token in piece.ids)


def split(pieces: Sequence[Piece], tokenizer: TextTokenizer) -> Window:
    """Which pieces the model reads. A piece whose tokens don't all fit is lost: the model would read half a character.

    A tokenizer without a window reads everything.
    """
    room = tokenizer.window - tokenizer.around
    if tokenizer.window == 0:
        return Window(tuple(pieces), ())
    for i, piece in enumerate(pieces):
        room -= len(piece.ids)
        if room < 0:
            return Window(tuple(pieces[:i]), tuple(pieces[i:]))
    return Window(tuple(pieces), ())


def chunks(text: str, tokenizer: TextTokenizer, pieces: Sequence[Piece] | None = None) -> tuple[Chunk, ...]:
    """The text in parts that each fit into the window, cut before a word where there is one, and at BREAK, which is in none of them.

    The ids are those of the part between two BREAKs, encoded as a whole: a word that had to be cut isn't encoded anew. One chunk, whatever
    its length, where the tokenizer has no window; a part without a token is left out, but for a text that has none at all.

    Args:
        pieces: of the whole text, where they are known: a text without BREAK isn't encoded again.
    """
    room = tokenizer.window - tokenizer.around if tokenizer.window else LONGEST
    found: list[Chunk] = []
    start = 0
    breaks = [match.span() for match in BREAK.finditer(text)]
    for end, after in [*breaks, (len(text), len(text))]:
        part = text[start:end]
        found += _cut(part, start, room, tokenizer.encode(part) if breaks or pieces is None else pieces)
        start = after
    return tuple(found) or (Chunk(0, len(text), ()),)


def _cut(part: str, offset: int, room: int, pieces: Sequence[Piece]) -> list[Chunk]:
    found: list[Chunk] = []
    first = 0
    while first < len(pieces):
        last, tokens = first, len(pieces[first].ids)
        while last + 1 < len(pieces) and tokens + len(pieces[last + 1].ids) <= room:
            last += 1
            tokens += len(pieces[last].ids)
        following = last + 1
        if following < len(pieces):
            following = next((i for i in range(following, first, -1) if _begins_word(part, pieces, i)), following)
        begin = pieces[first].start if first else 0
        end = pieces[following].start if following < len(pieces) else len(part)
        placed = tuple(replace(each, start=each.start + offset, end=each.end + offset) for each in pieces[first:following])
        found.append(Chunk(offset + begin, offset + end, placed))
        first = following
    return found


def _begins_word(part: str, pieces: Sequence[Piece], i: int) -> bool:
    return part[pieces[i].start].isspace() or pieces[i].start > pieces[i - 1].end
