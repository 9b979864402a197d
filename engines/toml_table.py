"""`Table`: values out of a TOML file, each checked when it is taken, each fault with the key where it is."""

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from engines.errors import ManifestInvalid


def is_number(value: object) -> bool:
    """A whole or broken number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_axis(value: object) -> bool:
    """A size, or the name of a free axis."""
    return (isinstance(value, str) and bool(value)) or (isinstance(value, int) and not isinstance(value, bool) and value > 0)


class Table:
    """One table of the file. Takes values out by key and checks them; `close` refuses what was never asked for."""

    def __init__(self, path: Path, where: str, values: object) -> None:
        self._path, self._where, self._taken = path, where, set[str]()
        if not isinstance(values, dict):
            raise self.fault("", "a table is needed")
        self._values: dict[str, Any] = values

    @classmethod
    def read(cls, path: Path) -> "Table":
        """The whole of a file. Raises `ManifestInvalid`: it can't be read, or isn't TOML."""
        try:
            return cls(path, "", tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
            raise ManifestInvalid(path=path, where="the file", detail=fault) from fault

    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    def values(self) -> dict[str, Any]:
        """All of it as it is, for somebody else to check; counts as taken."""
        self._taken.update(self._values)
        return dict(self._values)

    def fault(self, key: str, detail: str) -> ManifestInvalid:
        return ManifestInvalid(path=self._path, where=self._at(key), detail=detail)

    def close(self) -> None:
        for key in self._values:
            if key not in self._taken:
                raise self.fault(key, "no such key")

    def table(self, key: str, optional: bool = False) -> Any:
        """A table inside; None when it is optional and missing."""
        value = self._take(key, optional)
        return None if value is None else Table(self._path, self._at(key), value)

    def tables(self, key: str) -> "list[Table]":
        values = self._take(key, optional=True) or []
        if not isinstance(values, list):
            raise self.fault(key, "a list of tables is needed")
        return [Table(self._path, f"{self._at(key)}[{i}]", value) for i, value in enumerate(values)]

    def text(self, key: str, pattern: str = r".+", optional: bool = False) -> str:
        """Text that matches `pattern` as a whole; "" when it is optional and missing."""
        value = self._take(key, optional)
        if value is None:
            return ""
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise self.fault(key, f"{value!r} doesn't have the form {pattern}")
        return value

    def positive(self, key: str) -> int:
        return self._count(key, 1, "a positive whole number")

    def whole(self, key: str) -> int:
        return self._count(key, 0, "a whole number from 0")

    def number(self, key: str, least: float, most: float) -> float:
        """A whole or broken number in a range, both ends allowed."""
        value = self._take(key)
        if not is_number(value) or not least <= value <= most:
            raise self.fault(key, f"{value!r} isn't a number from {least:g} to {most:g}")
        return float(value)

    def choice(self, key: str, allowed: Iterable[Any]) -> Any:
        value, allowed = self._take(key), tuple(allowed)
        if not any(type(value) is type(choice) and value == choice for choice in allowed):
            raise self.fault(key, f"{value!r} is none of {', '.join(map(str, allowed))}")
        return value

    def array(self, key: str, good: Callable[[Any], bool], length: int | None = None) -> list[Any]:
        values = self._take(key)
        if not isinstance(values, list) or not values or len(values) != (length or len(values)) or not all(map(good, values)):
            raise self.fault(key, f"{values!r} isn't a list of {length or 'one or more'} good values")
        return values

    def _count(self, key: str, least: int, wanted: str) -> int:
        value = self._take(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.fault(key, f"{value!r} isn't {wanted}")
        return value

    def _take(self, key: str, optional: bool = False) -> Any:
        self._taken.add(key)
        if key not in self._values and not optional:
            raise self.fault(key, "it is missing")
        return self._values.get(key)

    def _at(self, key: str) -> str:
        return ".".join(part for part in (self._where, key) if part)
