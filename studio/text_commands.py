"""`fusion-studio text`: the tokens of a text, by each model's own tokenizer."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from engines.errors import InvalidOption
from studio.fuse_options import Json, help_of
from studio.terminal import Terminal
from studio.text_counts import TextCount, counts


def text(
    words: Annotated[str | None, typer.Argument(metavar="[TEXT]", help=help_of("text_words"))] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help=help_of("text_file"))] = None,
    tokenizer: Annotated[list[str] | None, typer.Option("--tokenizer", help=help_of("text_tokenizer"))] = None,
    pieces: Annotated[bool, typer.Option("--pieces", help=help_of("text_pieces"))] = False,
    as_json: Json = False,
) -> None:
    """See `cli.help.text`."""
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.tokens.catalogue import chosen
        from engines.tokens.text import load

        read = _read(words, file)
        found = counts(read, chosen(load(terminal.settings().data_dir), tokenizer, "tokenizer"))
        values = {each.tokenizer.name: each.as_dict(pieces) for each in found}
        lines = [line for each in found for line in _lines(terminal, each, pieces)]
        terminal.answer({"characters": len(read), "tokenizers": values}, lines)


def _read(words: str | None, file: Path | None) -> str:
    """The text that was given: as an argument, as a file, or on standard input as `-`. Exactly one of them."""
    if (words is None) == (file is None):
        raise InvalidOption(name="TEXT", value=words or "", allowed="TEXT, -, --file")
    if words is not None and words != "-":
        return words
    try:
        data = sys.stdin.buffer.read() if file is None or str(file) == "-" else file.read_bytes()
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise InvalidOption(name="TEXT", value=str(file or "-"), allowed="UTF-8") from fault


def _lines(terminal: Terminal, found: TextCount, pieces: bool) -> list[str]:
    kind = found.tokenizer
    lines = [terminal.say("text_line", title=kind.title, tokens=found.tokens, sent=found.sent, licence=kind.licence or "–")]
    if found.lost:
        lost = "".join(piece.text for piece in found.pieces[len(found.pieces) - found.lost :])
        lines.append(terminal.say("text_lost", tokens=found.lost_tokens, window=kind.window, chunks=len(found.chunks), start=lost[:60]))
    if pieces:
        lines.append("  " + " ".join(f"{piece.text!r}:{'+'.join(map(str, piece.ids))}" for piece in found.pieces))
    return lines
