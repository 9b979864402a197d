"""Ids, tags and soft bits."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.provenance import payload
from engines.provenance.keys import MarkKey

IDS = st.from_regex(r"[0-9A-F]{3}-[0-9A-F]{3}-[0-9A-F]{3}", fullmatch=True)
KEY, OTHER = MarkKey(bytes(range(32))), MarkKey(bytes(range(1, 33)))


def sent(mark_id: str) -> np.ndarray:
    return payload.encode(mark_id, KEY).astype(np.float32) * 2 - 1


def test_new_ids_have_one_shape_and_differ() -> None:
    made = {payload.new_id() for _ in range(300)}
    assert len(made) == 300
    assert all(re.fullmatch(r"[0-9A-F]{3}-[0-9A-F]{3}-[0-9A-F]{3}", one) for one in made)


@given(IDS)
def test_an_id_comes_back_under_its_key_and_under_no_other(mark_id: str) -> None:
    assert payload.decode(sent(mark_id), KEY) == payload.Message(mark_id, 0)
    assert payload.decode(sent(mark_id), OTHER) is None


@given(IDS, st.integers(0, 2**32 - 1), st.integers(12, 18))
def test_more_wrong_bits_than_the_code_corrects_are_mended_where_they_are_unsure(mark_id: str, seed: int, wrong: int) -> None:
    soft = sent(mark_id)
    hit = np.random.default_rng(seed).permutation(payload.BITS)[:wrong]
    soft[hit] *= np.where(np.arange(wrong) < wrong - 3, -0.3, -0.9)
    assert payload.decode(soft, KEY) == payload.Message(mark_id, wrong)


@given(IDS, st.integers(0, 2**32 - 1))
def test_what_agrees_less_than_is_asked_is_no_message(mark_id: str, seed: int) -> None:
    soft = sent(mark_id) + np.random.default_rng(seed).normal(0, 0.5, payload.BITS).astype(np.float32)
    agreement = float(soft @ sent(mark_id) / np.linalg.norm(soft) / payload.BITS**0.5)
    assert payload.decode(soft, KEY, agreement + 1e-4) is None
    assert payload.decode(soft, KEY, agreement - 1e-4) is not None


def test_noise_says_nothing() -> None:
    random = np.random.default_rng(3)
    assert all(payload.decode(random.normal(size=payload.BITS).astype(np.float32), KEY) is None for _ in range(40))


@pytest.mark.parametrize("wrong", ["", "7F3A91C04", "7f3-a91-c04", "7F3-A91-C0G", "7F3-A91-C04-1", "7F3-A91-C04\n"])
def test_another_shape_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        payload.encode(wrong, KEY)


def test_the_bits_stay_what_they_are() -> None:
    """A mark has to be read by every later release: whoever changes this number has made all earlier marks unreadable."""
    word = int("".join(map(str, payload.encode("7F3-A91-C04", KEY))), 2)
    assert word >> 86 == 0x17F3A91C04
    assert f"{word:032x}" == "05fcea47010fed134723ed58da7479a8"
