"""PDQ against the digits of the reference implementation, and what it is for."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.provenance.pdq import BYTES, POSSIBLY, SAME, WORTH, distances, pdq
from engines.types import Pixels
from tests.engines.provenance.conftest import cropped, recoded, resized

# (height, width, seed) of `noise`, and what pdq-photo-hasher 1.0 (pdqhash 0.2.8) says of it: hash and quality.
REFERENCE = [
    (64, 64, 0, "96dfe07d6406601f029f1693552a676200df5aaadf6088dd8a95f92cdf68ff80", 100),
    (65, 129, 1, "49c3b3880663b7824c867a4db36b3df45a2a3df6a5d5c20b4cd485b2b37c4c75", 100),
    (512, 512, 2, "78d1915790f55f563b46d43fde9ced79f3b6c08ec0f8b3023ab30a2001b86ac9", 100),
    (300, 511, 3, "80d247c45879853895e643cac5e89dccacf63d3abab65a2141ecadaa4abd2af3", 100),
    (512, 77, 4, "df03031fa25dae457c616ce4de433871d64ad70b825e6d24d64aef05fe416934", 100),
    (50, 40, 5, "9b4474306d538f708dd8626ed4adf3e425da0ff8cc9bd8f813e4700778876493", 54),
    (128, 256, 7, "4310961968c468e6baed5b4d03bc348a0e3d86cbe702e26967c75bff1d0c59b7", 100),
]
ASTRONAUT = "2d6b1af3a956c529e79ca3d2526fa834d4196c81cedd04de0a26b855fc99b724"


def noise(height: int, width: int, seed: int) -> Pixels:
    coarse = np.random.default_rng(seed).integers(0, 256, (max(2, height // 9), max(2, width // 9), 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def apart(one: bytes, other: bytes) -> int:
    return int(distances(np.frombuffer(one, np.uint64)[None], other)[0])


@pytest.mark.parametrize(("height", "width", "seed", "digits", "quality"), REFERENCE)
def test_the_bits_are_the_reference_s(height: int, width: int, seed: int, digits: str, quality: int) -> None:
    look, worth = pdq(noise(height, width, seed))
    assert apart(look, bytes.fromhex(digits)) <= 2  # coefficients beside the median may fall to either side
    assert worth == quality


def test_the_bits_of_a_photograph(astronaut: Pixels) -> None:
    assert apart(pdq(astronaut)[0], bytes.fromhex(ASTRONAUT)) <= 2


@pytest.mark.parametrize(
    ("change", "least", "most"),
    [
        (recoded("JPEG", 40), 0, SAME),
        (recoded("WEBP", 60), 0, SAME),
        (resized(0.3), 0, SAME),
        (resized(3.0), 0, SAME),
        (cropped(0.03, 0.03, 0.97, 0.97), 0, POSSIBLY),
        (lambda pixels: np.ascontiguousarray(pixels[:, ::-1]), POSSIBLY + 1, 256),
    ],
)
def test_what_leaves_a_look_and_what_does_not(astronaut: Pixels, change: Callable[[Pixels], Pixels], least: int, most: int) -> None:
    assert least <= apart(pdq(astronaut)[0], pdq(change(astronaut))[0]) <= most


def test_two_photographs_are_far_apart(astronaut: Pixels, officer: Pixels) -> None:
    assert apart(pdq(astronaut)[0], pdq(officer)[0]) > POSSIBLY


@pytest.mark.parametrize("size", [(1, 1), (5, 5), (480, 640)])
def test_a_blank_picture_is_not_worth_a_hash(size: tuple[int, int]) -> None:
    look, quality = pdq(np.full((*size, 3), 200, np.uint8))
    assert len(look) == BYTES
    assert quality < WORTH


def test_transparency_is_white() -> None:
    pixels = noise(200, 200, 1)
    assert pdq(pixels, np.zeros((200, 200), np.uint8)) == pdq(np.full_like(pixels, 255))


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=20), st.binary(min_size=32, max_size=32))
def test_distances_count_bits(looks: list[bytes], wanted: bytes) -> None:
    found = distances(np.frombuffer(b"".join(looks), np.uint64).reshape(-1, 4), wanted)
    expected = [(int.from_bytes(look, "big") ^ int.from_bytes(wanted, "big")).bit_count() for look in looks]
    assert found.tolist() == expected
