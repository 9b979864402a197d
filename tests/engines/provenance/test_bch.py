"""The code corrects what it promises and never more than it can tell."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.provenance import bch

DATA = st.integers(0, (1 << bch.DATA_BITS) - 1)


def flipped(word: int, positions: set[int]) -> int:
    for position in positions:
        word ^= 1 << position
    return word


def soft(word: int) -> np.ndarray:
    return np.array([1.0 if word >> (bch.CODE_BITS - 1 - bit) & 1 else -1.0 for bit in range(bch.CODE_BITS)], np.float32)


@given(DATA, st.sets(st.integers(0, bch.CODE_BITS - 1), max_size=bch.CORRECTABLE), st.integers(0, 2**32 - 1))
def test_wrong_bits_that_are_less_sure_are_corrected(data: int, wrong: set[int], seed: int) -> None:
    received = soft(flipped(bch.encode(data), wrong)) * np.random.default_rng(seed).uniform(0.8, 1.2, bch.CODE_BITS)
    received[[bch.CODE_BITS - 1 - bit for bit in wrong]] *= 0.5
    assert bch.nearest(received, 0.7)[0] == data


def test_of_noisy_words_those_are_read_that_agree_enough() -> None:
    """Noise as loud as the word itself: 20 of 126 bits are wrong, and a word that agrees with 0.73 or more is found 49 times of 50."""
    random = np.random.default_rng(1)
    read = agree = 0
    for _ in range(150):
        data = int(random.integers(1 << bch.DATA_BITS))
        received = soft(bch.encode(data)) + random.normal(0, 1, bch.CODE_BITS)
        enough = received @ soft(bch.encode(data)) > 0.73 * np.linalg.norm(received) * bch.CODE_BITS**0.5
        agree += enough
        read += bool(enough) and bch.nearest(received, 0.73)[:1] == [data]
    assert agree > 20
    assert read >= 0.94 * agree


@given(DATA, st.integers(0, 2**32 - 1))
def test_what_is_found_agrees_and_the_best_comes_first(data: int, seed: int) -> None:
    received = soft(bch.encode(data)) + np.random.default_rng(seed).normal(0, 1, bch.CODE_BITS)
    agreements = [
        float(received @ soft(bch.encode(one))) / np.linalg.norm(received) / bch.CODE_BITS**0.5 for one in bch.nearest(received, 0.6)
    ]
    assert all(later <= one + 1e-5 for one, later in pairwise(agreements))
    assert all(one >= 0.6 - 1e-5 for one in agreements)


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
