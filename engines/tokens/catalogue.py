"""What the tables of `assets/tokenizers/` have in common: a format, rows by name, and a choice among them by name."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from engines.errors import InvalidOption
from engines.toml_table import Table

FORMAT = 1
T = TypeVar("T")


def read(path: Path) -> Table:
    """The whole of a file of our format. Raises `ManifestInvalid`: it can't be read, or is of another."""
    top = Table.read(path)
    top.choice("format", (FORMAT,))
    return top


def rows(top: Table, key: str, row: Callable[[str, Table], T]) -> dict[str, T]:
    """The rows under `key`, in the table's order; each is closed once `row` has taken what it knows, and then the whole.

    Raises:
        ManifestInvalid: a key that nobody knows, and where.
    """
    listed = top.table(key)
    found = {}
    for name in listed.names():
        values = listed.table(name)
        found[name] = row(name, values)
        values.close()
    top.close()
    return found


def chosen(known: Mapping[str, T], names: Iterable[str] | None, what: str) -> list[T]:
    """Those of the names, each once, or all. Raises `InvalidOption`, which calls them `what`: there is none of that name."""
    wanted = list(dict.fromkeys(names or known))
    for name in wanted:
        if name not in known:
            raise InvalidOption(name=what, value=name, allowed=", ".join(known))
    return [known[name] for name in wanted]
