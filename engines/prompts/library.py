"""Texts with a name: negative prompts, and fixed beginnings of prompts, which a cache of an encoder's states finds again.

Only a *prefix* can be reused: what a causal encoder makes of a token depends on all tokens before it. So a persona's fixed words stand
first, what changes from picture to picture behind them, and an edit in the fixed words costs everything after it.
"""

from dataclasses import dataclass
from pathlib import Path

from engines.errors import InvalidOption
from engines.prompts.vocabulary import FOLDER
from engines.toml_table import Table


@dataclass(frozen=True, slots=True)
class Break:
    """Where a text leaves its template's prefix. at: the first character that differs; kept: share of the prefix before it, 0..1."""

    at: int
    kept: float


def negatives(data_dir: Path | None = None) -> dict[str, str]:
    """The negative prompts by name: those that come along, then those of `prompts/negatives.toml` in a data folder.

    Raises:
        ManifestInvalid: that file is wrong, and where.
    """
    return _texts("negatives.toml", "text", data_dir)


def templates(data_dir: Path | None = None) -> dict[str, str]:
    """The prefixes likewise, from `templates.toml`; each ends where the rest of a prompt goes on. Raises as `negatives`."""
    return {name: f"{prefix}, " for name, prefix in _texts("templates.toml", "prefix", data_dir).items()}


def negative(wanted: str, data_dir: Path | None = None) -> str:
    """A negative prompt by its name. Raises `InvalidOption`, and as `negatives`."""
    known = negatives(data_dir)
    if wanted not in known:
        raise InvalidOption(name="negative", value=wanted, allowed=", ".join(known))
    return known[wanted]


def template(wanted: str, data_dir: Path | None = None) -> str:
    """A prefix by its name. Raises `InvalidOption`, and as `negatives`."""
    known = templates(data_dir)
    if wanted not in known:
        raise InvalidOption(name="template", value=wanted, allowed=", ".join(known))
    return known[wanted]


def begun(prefix: str, text: str) -> str:
    """A text behind a prefix, where it doesn't begin with it already."""
    return text if text.startswith(prefix) else prefix + text


def broken(prefix: str, text: str) -> Break | None:
    """Where a text leaves the prefix that it is to have; None where it has the whole of it."""
    at = next((n for n, (one, other) in enumerate(zip(prefix, text, strict=False)) if one != other), min(len(prefix), len(text)))
    return None if at >= len(prefix) else Break(at, at / len(prefix))


def _texts(file: str, key: str, data_dir: Path | None) -> dict[str, str]:
    own = data_dir / "prompts" / file if data_dir else None
    return _read(FOLDER / file, key) | (_read(own, key) if own and own.is_file() else {})


def _read(path: Path, key: str) -> dict[str, str]:
    top = Table.read(path)
    found = {name: top.table(name).text(key) for name in top.names()}
    top.close()
    return found
