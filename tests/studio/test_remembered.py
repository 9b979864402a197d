"""What a browser kept is believed as far as it can be true."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.settings import Settings
from engines.tokens.prices import MOST
from engines.tokens.prices import load as prices
from studio.context import Context
from studio.remembered import LARGEST, cleaned, cleaned_prices
from studio.tabs.token_pictures import PictureHandlers

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(ANYTHING)
def test_numbers_are_numbers_whatever_was_kept(kept: Any) -> None:
    found = cleaned(kept, [0, 1000])
    assert len(found) == 2
    assert all(math.isfinite(number) and 0 <= number <= LARGEST for number in found)


@pytest.mark.parametrize(
    ("kept", "found"), [([2.5, 30], [2.5, 30]), ([2.5], [0, 1000]), ([-1, 30], [0, 30]), ([None, True], [0, 1000]), (None, [0, 1000])]
)
def test_each_number_that_can_be_true_stays(kept: Any, found: list[float]) -> None:
    assert cleaned(kept, [0, 1000]) == found


@given(ANYTHING | st.dictionaries(st.text(max_size=5), ANYTHING, max_size=4))
def test_kept_prices_are_always_prices(kept: Any) -> None:
    found = cleaned_prices(kept)
    assert all(0 < price <= MOST for price in found.values())
    prices(None, found)  # raises for one that is none


def test_prices_are_typed_restored_and_reset(tmp_path: Path) -> None:
    handlers = PictureHandlers(Context(Settings(data_dir=tmp_path, provider="cpu")))
    typed, told = handlers.type_price("pixtral", 2.5, {"claude": 9.0})
    assert typed == {"claude": 9.0, "pixtral": 2.5}
    assert "2" in told["en"]
    assert handlers.restore("pixtral", {**typed, "bad": -1})[:2] == (typed, 2.5)
    assert handlers.restore("claude")[:2] == ({}, prices()["claude"].input)
    assert handlers.type_price("pixtral", None, typed)[0] == {"claude": 9.0}
