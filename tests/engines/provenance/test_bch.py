"""The code corrects what it promises and never more than it can tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.provenance import bch

DATA = st.integers(0, (1 << bch.DATA_BITS) - 1)


def flipped(word: int, positions: set[int]) -> int:
    for position in positions:
        word ^= 1 << position
    return word


@given(DATA, st.sets(st.integers(0, bch.CODE_BITS - 1), max_size=bch.CORRECTABLE))
def test_up_to_eleven_wrong_bits_are_corrected(data: int, wrong: set[int]) -> None:
    assert bch.decode(flipped(bch.encode(data), wrong)) == (data, len(wrong))


@given(DATA, st.sets(st.integers(0, bch.CODE_BITS - 1), min_size=12, max_size=40))
def test_more_are_refused_or_land_on_a_code_word_nearby(data: int, wrong: set[int]) -> None:
    received = flipped(bch.encode(data), wrong)
    found = bch.decode(received)
    if found is not None:
        assert (bch.encode(found[0]) ^ received).bit_count() == found[1] <= bch.CORRECTABLE


@given(DATA, DATA)
def test_the_code_is_linear_and_systematic_with_distance_23(one: int, two: int) -> None:
    first, second = bch.encode(one), bch.encode(two)
    assert first ^ second == bch.encode(one ^ two)
    assert first >> bch.PARITY_BITS == one
    assert one == two or (first ^ second).bit_count() >= 2 * bch.CORRECTABLE + 1


@pytest.mark.parametrize("data", [-1, 1 << 56])
def test_what_does_not_fit_is_refused(data: int) -> None:
    with pytest.raises(ValueError, match="56 bits"):
        bch.encode(data)
