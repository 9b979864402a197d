"""The tokens of a text: `tokenizer("clip").encode(text)`, as the model's own tokenizer cuts it.

A tokenizer is a `tokenizer.json` of the `tokenizers` package with a row in `assets/tokenizers/text.toml`; a person's own files come from
the data folder. Files are opened when they are first needed, once in a process.
"""

import hashlib
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from engines.errors import InvalidOption, TokenizerUnusable
from engines.text import ASSETS
from engines.tokens.catalogue import chosen, read, rows
from engines.toml_table import Table

FOLDER = ASSETS / "tokenizers"
LONGEST = 2_000_000  # characters: 1 MB takes 0.1–2 s a tokenizer, whatever it is made of (runs of one letter, blanks, CJK, emoji)
LARGEST_FILE = 64 << 20  # bytes; the largest that is published, Gemma's, has 33 MB


@dataclass(frozen=True, slots=True)
class Piece:
    """Some characters of a text and the tokens that stand for them: one token, or several that share a character (an emoji's bytes).

    Attributes:
        start, end: of the characters in the text. text: these characters, as they were written.
        ids: of the tokens, in order.
    """

    start: int
    end: int
    text: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TextTokenizer:
    """What is known of a tokenizer. Attributes as the keys of `assets/tokenizers/text.toml`; `path` is where its file lies."""

    name: str
    title: str
    models: str
    path: Path
    sha256: str
    around: int
    wrapping: str
    window: int
    licence: str
    source: str
    date: str

    def count(self, text: str) -> int:
        """The tokens of a text, the wrapping left out. Raises as `encode`."""
        return len(_open(self.path, self.sha256).encode_batch_fast([_plain(text)], add_special_tokens=False)[0].ids)

    def encode(self, text: str) -> tuple[Piece, ...]:
        """The text's pieces in order; blanks that the tokenizer drops are in none.

        Raises:
            InvalidOption: the text is longer than `LONGEST`.
            TokenizerUnusable: its file is missing, was changed, or is no tokenizer.json.
        """
        text = _plain(text)
        found = _open(self.path, self.sha256).encode(text, add_special_tokens=False)
        pieces: list[tuple[int, int, list[int]]] = []
        for token, (start, end) in zip(found.ids, found.offsets, strict=True):
            if pieces and start < pieces[-1][1]:  # a further token of the same character
                before, until, ids = pieces[-1]
                pieces[-1] = (before, max(until, end), [*ids, token])
            else:
                pieces.append((start, end, [token]))
        return tuple(Piece(start, end, text[start:end], tuple(ids)) for start, end, ids in pieces)


def load(data_dir: Path | None = None) -> dict[str, TextTokenizer]:
    """All tokenizers by name: the table's in its order, then the `tokenizers/*.json` of a data folder by their files' names.

    Raises:
        ManifestInvalid: the table is wrong, and where.
    """
    found = dict(_shipped())
    for path in sorted((data_dir / "tokenizers").glob("*.json")) if data_dir else ():
        found[path.stem] = own(path)
    return found


def own(path: Path, title: str = "") -> TextTokenizer:
    """A person's own `tokenizer.json`; of what surrounds a text nothing is known. Nothing is opened yet. title: else the file's name."""
    return TextTokenizer(path.stem, title or path.stem, "", path, "", 0, "", 0, "", path.name, "")


def tokenizer(name: str, data_dir: Path | None = None) -> TextTokenizer:
    """The one of that name. Raises `InvalidOption`: there is none."""
    return chosen(load(data_dir), [name], "tokenizer")[0]


def count(text: str, name: str, data_dir: Path | None = None) -> int:
    """The tokens of a text by the tokenizer of that name, its wrapping left out. Raises as `tokenizer` and `TextTokenizer.encode`."""
    return tokenizer(name, data_dir).count(text)


@cache
def _shipped() -> Mapping[str, TextTokenizer]:
    return rows(read(FOLDER / "text.toml"), "tokenizers", _row)


def _row(name: str, row: Table) -> TextTokenizer:
    return TextTokenizer(
        name=name,
        title=row.text("title"),
        models=row.text("models"),
        path=FOLDER / row.text("file", r"[a-z0-9_]+\.json\.xz"),
        sha256=row.text("sha256", r"[0-9a-f]{64}"),
        around=row.whole("around"),
        wrapping=row.text("wrapping"),
        window=row.whole("window"),
        licence=row.text("licence"),
        source=row.text("source"),
        date=row.text("date", r"\d{4}-\d{2}-\d{2}"),
    )


def _plain(text: str) -> str:
    """The text as the model would get it: half a surrogate pair, which JSON can carry and UTF-8 can't, becomes U+FFFD."""
    if len(text) > LONGEST:
        raise InvalidOption(name="text", value=f"{len(text):,}", allowed=f"0..{LONGEST:,}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@lru_cache(maxsize=16)
def _open(path: Path, sha256: str) -> Any:
    """The `tokenizers.Tokenizer` of a file. Half a second to one and a half for the shipped ones."""
    from tokenizers import Tokenizer

    try:
        if path.stat().st_size > LARGEST_FILE:
            raise TokenizerUnusable("too_large", name=path.name, most=LARGEST_FILE >> 20)
        data = path.read_bytes()
    except OSError as fault:
        raise TokenizerUnusable("missing", name=path.name, path=path) from fault
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise TokenizerUnusable("changed", name=path.name, path=path)
    try:
        return Tokenizer.from_str((lzma.decompress(data) if path.suffix == ".xz" else data).decode())
    except Exception as fault:  # the Rust side raises a bare Exception for whatever it can't read
        raise TokenizerUnusable("damaged", name=path.name, detail=str(fault).splitlines()[0][:200]) from fault
