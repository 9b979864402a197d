"""A canvas that lies a little off is moved to where the mark is."""

import numpy as np
import pytest

from engines.provenance import tracking
from engines.provenance.canvas import flattened
from engines.provenance.carrier import TILE, Carrier, carrier
from engines.provenance.keys import MarkKey
from engines.provenance.payload import encode
from engines.provenance.tracking import laid, track
from engines.types import Floats


@pytest.fixture(scope="module")
def kit() -> Carrier:
    return carrier(MarkKey(bytes(range(32))))


@pytest.fixture(scope="module")
def picture(kit: Carrier) -> Floats:
    """A marked canvas of 512 under noise."""
    tile = kit.tile(encode("7F3-A91-C04", MarkKey(bytes(range(32)))))
    return np.asarray(np.tile(tile, (4, 4)) + np.random.default_rng(2).normal(0, 2, (512, 512)), np.float32) * 3 + 128


def heard(rest: Floats, kit: Carrier) -> float:
    """The pilot's correlation at the offset at which it lies, per pixel."""
    rows, columns = rest.shape[0] // TILE * TILE, rest.shape[1] // TILE * TILE
    folded = rest[:rows, :columns].reshape(rows // TILE, TILE, columns // TILE, TILE).mean(axis=(0, 2))
    return float(np.fft.irfft2(np.fft.rfft2(folded) * kit.pilots[0], s=(TILE, TILE)).max() / TILE**2)


@pytest.mark.parametrize(
    "matrix",
    [
        np.array([[1.012, 0.0], [0.0, 1.012]]),
        np.array([[1.0, -0.012], [0.012, 1.0]]),
        np.array([[1.01, 0.006], [0.0, 0.992]]),
        np.array([[1.006, 0.0, 0.0], [0.0, 1.0, 0.0], [3e-5, -2e-5, 1.0]]),
    ],
    ids=["scale", "turn", "shear", "perspective"],
)
def test_it_finds_what_was_off(picture: Floats, kit: Carrier, matrix: Floats) -> None:
    canvas = laid(picture, matrix)
    assert canvas is not None
    off = heard(canvas.rest(), kit)
    right = heard(flattened(picture), kit)
    for _ in range(2):
        rest = canvas.rest()
        found = np.fft.irfft2(np.fft.rfft2(_tile(rest)) * kit.pilots[0], s=(TILE, TILE))
        down, across = np.unravel_index(int(found.argmax()), found.shape)
        canvas = canvas.moved(track(rest, kit.pilots[0], (int(down), int(across))))
    assert off < 0.6 * right
    assert heard(canvas.rest(), kit) > 0.85 * right


def _tile(rest: Floats) -> Floats:
    padded = np.zeros((-(-rest.shape[0] // TILE) * TILE, -(-rest.shape[1] // TILE) * TILE), np.float32)
    padded[: rest.shape[0], : rest.shape[1]] = rest
    return np.asarray(padded.reshape(padded.shape[0] // TILE, TILE, -1, TILE).sum(axis=(0, 2)), np.float32)


def test_what_lies_right_stays(picture: Floats, kit: Carrier) -> None:
    assert np.abs(track(flattened(picture), kit.pilots[0], (0, 0))).max() <= 0.5


def test_a_map_that_no_picture_went_through_is_refused(picture: Floats) -> None:
    assert laid(picture, np.eye(2) * 9) is None
    assert laid(picture, np.eye(2) * 0.001) is None
    assert laid(picture, np.array([[1.0, 0, 0], [0, 1, 0], [-0.003, 0, 1]])) is None


def test_outside_the_picture_is_nothing(picture: Floats) -> None:
    canvas = laid(picture, np.array([[0.7, -0.7], [0.7, 0.7]]))
    assert canvas is not None
    rest = canvas.rest()
    assert not rest[:40, :40].any()
    assert rest[rest.shape[0] // 2, rest.shape[1] // 2 - 20 :][:40].any()


def test_displacements_are_those_of_a_perspective() -> None:
    """To first order: what a small perspective does is among the freedoms."""
    across, down = (axis.ravel().astype(np.float64) for axis in np.meshgrid(np.arange(0, 512, 64), np.arange(0, 512, 64)))
    x, y = (across - 256) / 256, (down - 256) / 256
    small = 1e-4
    wanted = np.stack([x / (1 - small * x) - x, y / (1 - small * x) - y]) * 256
    freedoms = np.zeros((1, 8))
    freedoms[0, 6] = small * 256
    assert np.abs(tracking._displaced(freedoms, across, down, (512, 512))[0] - wanted).max() < 1e-4
