"""Many prompts at once: a folder of text files, as captions are kept; JSON lines; or a text file with a prompt a line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engines.errors import PromptsUnreadable

KEYS = ("prompt", "text", "caption")  # the first that a JSON line has is its prompt
LARGEST = 256 << 20  # bytes of one file


@dataclass(frozen=True, slots=True)
class Entry:
    """A prompt and where it stands: "name.txt", "name.jsonl:3"."""

    place: str
    text: str


def entries(path: Path) -> Iterator[Entry]:
    """The prompts of a file or folder, in the order of names and lines; empty ones are left out.

    A folder's *.txt hold a prompt each; a *.txt by itself, or a *.jsonl, holds one a line.

    Raises:
        PromptsUnreadable: missing, none (nothing to read in a folder), too_large, encoding (no UTF-8), line (no JSON with a prompt).
    """
    if path.is_dir():
        paths = sorted(each for each in path.iterdir() if each.suffix.lower() in (".txt", ".jsonl"))
        if not paths:
            raise PromptsUnreadable("none", name=path)
        for each in paths:
            yield from _lines(each) if each.suffix.lower() == ".jsonl" else _whole(each)
    else:
        yield from _lines(path)


def _whole(path: Path) -> Iterator[Entry]:
    text = _read(path).strip()
    if text:
        yield Entry(path.name, text)


def _lines(path: Path) -> Iterator[Entry]:
    for number, line in enumerate(_read(path).splitlines(), 1):
        if line.strip():
            text = _prompt(line, path, number) if path.suffix.lower() == ".jsonl" else line
            if text.strip():
                yield Entry(f"{path.name}:{number}", text.strip())


def _prompt(line: str, path: Path, number: int) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise PromptsUnreadable("line", name=path, line=number) from fault
    texts = [value[key] for key in KEYS if key in value] if isinstance(value, dict) else [value]
    if not texts or not isinstance(texts[0], str):
        raise PromptsUnreadable("line", name=path, line=number)
    return texts[0]


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise PromptsUnreadable("too_large", name=path, most=LARGEST >> 20)
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise PromptsUnreadable("encoding", name=path) from fault
    except OSError as fault:
        raise PromptsUnreadable("missing", name=path) from fault
