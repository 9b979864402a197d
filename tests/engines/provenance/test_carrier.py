"""The patterns behind the mark."""

import numpy as np
import pytest

from engines.provenance.carrier import BAND, TILE, TURNS, carrier, turn, unturn
from engines.provenance.keys import MarkKey


def test_patterns_are_orthogonal_and_keep_to_their_band(key: MarkKey) -> None:
    kit = carrier(key)
    rows = np.vstack([kit.pilot.ravel(), kit.patterns])
    assert np.abs(rows @ rows.T / TILE**2 - np.eye(len(rows))).max() < 1e-5
    energy = np.abs(np.fft.fft2(rows.reshape(-1, TILE, TILE))) ** 2
    radius = np.hypot(np.fft.fftfreq(TILE)[:, None], np.fft.fftfreq(TILE)[None])
    outside = (radius < BAND[0]) | (radius > BAND[1])
    assert energy[:, outside].sum() < 1e-9 * energy.sum()


def test_keys_share_nothing(key: MarkKey, other_key: MarkKey) -> None:
    one, other = carrier(key), carrier(other_key)
    assert abs(float((one.pilot * other.pilot).mean())) < 0.1
    assert carrier(MarkKey(key.secret)) is one


@pytest.mark.parametrize("way", TURNS)
def test_a_turn_is_undone(way: tuple[int, bool]) -> None:
    tile = np.arange(16, dtype=np.float32).reshape(4, 4)
    assert np.array_equal(unturn(turn(tile, *way), *way), tile)


def test_the_patterns_stay_what_they_are(key: MarkKey) -> None:
    """See `test_payload.test_the_bits_stay_what_they_are`: these values are a format."""
    kit = carrier(key)
    assert kit.pilot[0, :4] == pytest.approx([0.9407, 0.1439, 0.2013, 0.6487], abs=1e-3)
    assert kit.patterns[125, -4:] == pytest.approx([-1.1607, -0.9449, -0.8568, -1.0777], abs=1e-3)
