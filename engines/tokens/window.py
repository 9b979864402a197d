"""What a model with a fixed window reads of a text: `split` at the window, and `chunks` that fit into it.

CLIP reads 77 tokens, two of them its own start and end; Stable Diffusion's pipelines cut the rest off without a word. The usual way round
is to encode chunks of 75 one after another and to lay their embeddings end to end; the word BREAK in capitals begins a new chunk.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engines.tokens.text import LONGEST, Piece, TextTokenizer

BREAK = re.compile(r"\s*\bBREAK\b\s*")  # as AUTOMATIC1111's web UI reads it


@dataclass(frozen=True, slots=True)
class Window:
    """A text at the edge of a window: the pieces that are read, and those that fall off."""

    read: tuple[Piece, ...]
    lost: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text that fits into the window. start, end: of its characters in the text; ids: its tokens, without the wrapping."""

    start: int
    end: int
    ids: tuple[int, ...]


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


def chunks(text: str, tokenizer: TextTokenizer) -> tuple[Chunk, ...]:
    """The text in parts that each fit into the window, cut before a word where there is one, and at BREAK, which is in none of them.

    The ids are those of the part between two BREAKs, encoded as a whole: a word that had to be cut isn't encoded anew. One chunk, whatever
    its length, where the tokenizer has no window; a part without a token is left out, but for a text that has none at all.
    """
    room = tokenizer.window - tokenizer.around if tokenizer.window else LONGEST
    found: list[Chunk] = []
    start = 0
    for end, after in [*(match.span() for match in BREAK.finditer(text)), (len(text), len(text))]:
        found += _cut(text[start:end], start, room, tokenizer)
        start = after
    return tuple(found) or (Chunk(0, len(text), ()),)


def _cut(part: str, offset: int, room: int, tokenizer: TextTokenizer) -> list[Chunk]:
    pieces = tokenizer.encode(part)
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
        ids = tuple(token for piece in pieces[first:following] for token in piece.ids)
        found.append(Chunk(offset + begin, offset + end, ids))
        first = following
    return found


def _begins_word(part: str, pieces: Sequence[Piece], i: int) -> bool:
    return part[pieces[i].start].isspace() or pieces[i].start > pieces[i - 1].end
