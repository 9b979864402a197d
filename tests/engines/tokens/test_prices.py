"""Prices as data: dated, with a source, and a person's own before ours."""

import math
from pathlib import Path

import pytest

from engines.errors import InvalidOption, ManifestInvalid
from engines.tokens.prices import MOST, Price, load, typed
from engines.tokens.visual import load as models

ROW = 'format = 1\ncurrency = "EUR"\n[prices.{name}]\ninput = {input}\nfor = "Mine"\nsource = "a contract"\ndate = "{date}"\n'


def own(folder: Path, name: str = "claude", input: str = "7.5", date: str = "2026-01-31") -> Path:
    (folder / "tokenizers").mkdir()
    (folder / "tokenizers" / "prices.toml").write_text(ROW.format(name=name, input=input, date=date), encoding="utf-8")
    return folder


def test_each_price_is_of_a_model_and_says_where_it_stands() -> None:
    assert set(load()) <= set(models())
    for price in load().values():
        assert price.source
        assert price.product
        assert price.date < "2027"


def test_a_million_tokens_cost_the_price() -> None:
    assert Price(2.5, "USD").of(1_000_000) == 2.5
    assert Price(2.5, "USD").of(765) == pytest.approx(0.0019125)


def test_ones_own_price_replaces_ours(tmp_path: Path) -> None:
    prices = load(own(tmp_path))
    assert prices["claude"] == Price(7.5, "EUR", "Mine", "a contract", "2026-01-31")
    assert prices["openai_tile"] == load()["openai_tile"]


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"input": "-1"}, "prices.claude.input"),
        ({"input": "true"}, "prices.claude.input"),
        ({"input": "1e9"}, "prices.claude.input"),
        ({"input": "nan"}, "prices.claude.input"),
        ({"date": "May"}, "prices.claude.date"),
    ],
)
def test_a_price_that_is_wrong_says_where(tmp_path: Path, given: dict[str, str], where: str) -> None:
    with pytest.raises(ManifestInvalid) as fault:
        load(own(tmp_path, **given))
    assert fault.value.facts["where"] == where


@pytest.mark.parametrize("value", [-0.01, math.nan, math.inf, MOST + 1])
def test_a_typed_price_is_checked(value: float) -> None:
    with pytest.raises(InvalidOption):
        typed(value, "USD")
    assert typed(0, "USD").of(5) == 0
