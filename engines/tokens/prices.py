"""What tokens cost: dated list prices, each with its source. `assets/tokenizers/prices.toml`, and a person's own in the data folder."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engines.errors import InvalidOption
from engines.text import ASSETS
from engines.tokens.catalogue import read, rows
from engines.toml_table import Table

MOST = 100_000.0  # of a million tokens, in any currency: beyond it is a slip of the keyboard


@dataclass(frozen=True, slots=True)
class Price:
    """What a million input tokens of a model cost.

    Attributes:
        product: whose price it is: one row of `visual.toml` may stand for several products.
        source, date: where it was read, and when; "" of one that was typed in.
    """

    input: float
    currency: str
    product: str = ""
    source: str = ""
    date: str = ""

    def of(self, tokens: float) -> float:
        """The price of so many tokens."""
        return tokens * self.input / 1e6


def load(data_dir: Path | None = None, typed_in: Mapping[str, float] | None = None) -> dict[str, Price]:
    """Prices by the model's name.

    Args:
        data_dir: whose `tokenizers/prices.toml`, where there is one, adds prices and replaces those of the same name.
        typed_in: prices of a million tokens that somebody typed, in the table's currency; they come before both.

    Raises:
        ManifestInvalid: a table is wrong, and where. InvalidOption: as `typed`.
    """
    own = data_dir / "tokenizers" / "prices.toml" if data_dir else None
    known = dict(_shipped()) | (_read(own) if own is not None and own.is_file() else {})
    currency = next((price.currency for price in known.values()), "USD")
    return known | {name: typed(price, currency) for name, price in (typed_in or {}).items()}


def typed(input: float, currency: str) -> Price:
    """A price that somebody typed in. Raises `InvalidOption`: negative, not a number, or beyond `MOST`."""
    if not math.isfinite(input) or not 0 <= input <= MOST:
        raise InvalidOption(name="price", value=input, allowed=f"0..{MOST:.0f}")
    return Price(float(input), currency)


@cache
def _shipped() -> Mapping[str, Price]:
    return _read(ASSETS / "tokenizers" / "prices.toml")


def _read(path: Path) -> dict[str, Price]:
    top = read(path)
    currency = top.text("currency", r"[A-Z]{3}")
    return rows(top, "prices", lambda _, row: _price(row, currency))


def _price(row: Table, currency: str) -> Price:
    return Price(row.number("input", 0, MOST), currency, row.text("for"), row.text("source"), row.text("date", r"\d{4}-\d{2}-\d{2}"))
