"""What the watermark is measured against: every attack gives a picture, does something, and does it twice alike."""

import numpy as np
import pytest

from bench.attacks import ATTACKS
from bench.varied import varied
from engines.types import Pixels


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_changes_a_picture_and_twice_alike(astronaut: Pixels, name: str) -> None:
    before = np.ascontiguousarray(astronaut[:300, :400])
    given = before.copy()
    after = ATTACKS[name](given)
    assert (after.dtype, after.ndim, after.shape[2]) == (np.uint8, 3, 3)
    assert np.array_equal(given, before)
    assert np.array_equal(after, ATTACKS[name](before))
    assert np.array_equal(after, before) == (name == "none")


def test_the_pictures_are_ten_and_differ() -> None:
    pictures = dict(varied())
    assert len(pictures) == 10
    assert all(pixels.dtype == np.uint8 and pixels.shape[2] == 3 and max(pixels.shape) >= 450 for pixels in pictures.values())
    assert len({(*pixels.shape, int(pixels.sum())) for pixels in pictures.values()}) == 10
