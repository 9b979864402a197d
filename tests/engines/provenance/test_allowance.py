"""The bound on false ids, computed anew from the geometry that it claims."""

import numpy as np
import pytest

from engines.provenance import allowance, payload
from engines.provenance.allowance import LEAST, LOUD, Allowance
from engines.provenance.carrier import TILE, TURNS, carrier
from engines.provenance.keys import MarkKey


def share(least: float) -> float:
    """Of all directions in 126 dimensions, those that agree so much with a given one."""
    steps = np.linspace(-1, 1, 2_000_001)
    density = (1 - steps**2) ** ((payload.BITS - 3) / 2)
    return float(density[steps >= least].sum() / density.sum())


def test_all_that_a_picture_may_cost_is_less_than_one_in_a_thousand_million() -> None:
    ids, places = 2.0**payload.ID_BITS, len(TURNS) * TILE * TILE
    whole = Allowance()
    chance = whole.messages * ids * share(LEAST)
    for loud, least in LOUD:
        chance += whole.looks * places * np.exp(-(loud**2) / 2) * ids * share(least)
    assert 6e-10 < chance < 8.1e-10
    assert all(ids * share(least) < 3.4e-8 for _, least in LOUD)


def test_directions_are_shared_out_as_the_bound_has_it() -> None:
    """The part of the claim that can be sampled: 200,000 random directions beside an angle that a hundredth of them are in."""
    random = np.random.default_rng(0).normal(size=(200_000, payload.BITS))
    agreement = random[:, 0] / np.linalg.norm(random, axis=1)
    assert np.mean(agreement >= 0.2065) == pytest.approx(share(0.2065), rel=0.05)


def test_what_a_picture_says_to_many_keys_points_anywhere() -> None:
    """A stripe, as unlike noise as a picture can be: over keys its 126 numbers agree with a word as random directions do."""
    tile = np.sign(np.sin(np.arange(TILE) * 0.7))[:, None] * np.ones(TILE)
    agreements, pilots = [], []
    for number in range(24):
        kit = carrier(MarkKey(bytes([number] * 32)))
        said = kit.patterns @ tile.ravel()
        said /= np.linalg.norm(said)
        signs = np.random.default_rng(number).choice([-1, 1], (400, payload.BITS)) / payload.BITS**0.5
        agreements.append(signs @ said)
        answers = np.fft.irfft2(np.fft.rfft2(tile) * kit.pilots, s=(TILE, TILE))
        pilots.append(answers.max() / answers.std())
    assert np.std(agreements) == pytest.approx(payload.BITS**-0.5, rel=0.05)
    assert np.abs(agreements).max() < 0.5
    assert max(pilots) < allowance.LOUD[-1][0]


def test_a_loud_pilot_is_evidence_once_a_look_and_never_where_it_was_fitted() -> None:
    left = Allowance(looks=3)
    assert left.least(5.0, False) == LEAST
    assert left.least(9.0, True) == LEAST
    assert left.least(9.0, False) == LOUD[0][1] < left.least(6.6, False) == LOUD[1][1] < LEAST
    assert left.least(9.0, False) == LEAST
