"""Fine structure matched on made-up skins: smooth, noisy, soft and compressed ones."""

import cv2
import numpy as np
import pytest

from engines.faces import texture
from engines.types import Floats
from engines.vision import color

SIDE, FACE = 384, 320.0


def skin(grain: float, seed: int, blur: float = 0.0) -> Floats:
    noise = np.random.default_rng(seed).normal(0, 1, (SIDE, SIDE)).astype(np.float32)
    if blur:
        noise = np.asarray(cv2.GaussianBlur(noise, (0, 0), blur), np.float32)
        noise = noise / noise.std()
    return np.asarray(np.clip(120 + grain * noise, 0, 255), np.float32)


def disc() -> Floats:
    rows, columns = np.mgrid[:SIDE, :SIDE]
    return np.clip(SIDE * 0.42 - np.hypot(rows - SIDE / 2, columns - SIDE / 2), 0, 1).astype(np.float32)


def energies(image: Floats) -> list[float]:
    return [float(band[140:240, 140:240].std()) for band in color.bands(image, 2)]


def matched(warp: Floats, target: Floats, features: Floats | None = None) -> Floats:
    none = np.zeros((SIDE, SIDE), np.float32) if features is None else features
    plain = disc() * (1 - none)
    return warp + texture.match(warp, texture.measure_target(target, lambda x: x, plain, none, FACE), plain, none, FACE)


@pytest.mark.parametrize(("mine", "theirs"), [(0.3, 6.0), (8.0, 0.8), (3.0, 3.0), (0.0, 4.0), (5.0, 0.0)])
def test_grain_comes_to_the_targets_both_ways(mine: float, theirs: float) -> None:
    target = skin(theirs, 2)
    for found, wanted in zip(energies(matched(skin(mine, 1), target)), energies(target), strict=True):
        assert found == pytest.approx(wanted, rel=0.25, abs=0.45)


def test_grain_has_the_targets_own_size() -> None:
    """Film's grain is coarser than a sensor's: both bands follow, not only their sum."""
    for blur in (0.0, 1.2):
        target = skin(5, 2, blur)
        own, out = energies(target), energies(matched(skin(0.5, 1), target))
        assert out[0] / out[1] == pytest.approx(own[0] / own[1], rel=0.25)


def test_compressed_and_soft_targets() -> None:
    _, data = cv2.imencode(".jpg", skin(6, 2).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 60])
    pressed = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE).astype(np.float32)
    soft = np.asarray(cv2.GaussianBlur(skin(12, 3), (0, 0), 3), np.float32)
    for target in (pressed, soft):
        for found, wanted in zip(energies(matched(skin(5, 1), target)), energies(target), strict=True):
            assert found == pytest.approx(wanted, rel=0.3, abs=0.5)


def test_what_resampling_takes_away_is_made_up_for() -> None:
    none, target = np.zeros((SIDE, SIDE), np.float32), skin(4, 2)
    worn = texture.measure_target(target, lambda x: np.asarray(cv2.GaussianBlur(x, (0, 0), 0.5), np.float32), disc(), none, FACE)
    out = skin(4, 1) + texture.match(skin(4, 1), worn, disc(), none, FACE)
    laid = np.asarray(cv2.GaussianBlur(out, (0, 0), 0.5), np.float32)
    assert energies(laid)[0] == pytest.approx(energies(target)[0], rel=0.3)


def test_edges_of_features_are_never_made_crisper_than_the_targets() -> None:
    rows, columns = np.mgrid[:SIDE, :SIDE]
    sharp = (120 + 60 * (np.abs(rows - 190) < 12)).astype(np.float32)
    soft = np.asarray(cv2.GaussianBlur(sharp, (0, 0), 3), np.float32)
    lips = (np.abs(rows - 190) < 30).astype(np.float32) * (np.abs(columns - 190) < 100)
    out = matched(sharp, soft, lips)
    assert np.abs(np.diff(out[150:230, 190])).max() < 0.8 * np.abs(np.diff(sharp[150:230, 190])).max()


def test_the_same_input_gives_the_same_bytes() -> None:
    one, two = (matched(skin(1, 1), skin(5, 2)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("width", [20.0, 60.0, 240.0, 900.0])
def test_any_size_of_face(width: float) -> None:
    none = np.zeros((SIDE, SIDE), np.float32)
    for where in (disc(), none):
        found = texture.measure_target(skin(4, 2), lambda x: x, where, none, width)
        out = texture.match(skin(1, 1), found, where, none, width)
        assert out.shape == (SIDE, SIDE)
        assert np.isfinite(out).all()


def test_noise_of_random_phase_has_the_patchs_strength_by_frequency_and_no_seam() -> None:
    patch = skin(5, 3, 1.5)[:64, :64] - 120
    tile = color.random_phase(patch, 256, 7)
    assert abs(float(tile.mean())) < 1e-3
    fine, coarse = (band.std() for band in color.bands(tile, 2))
    own_fine, own_coarse = (band.std() for band in color.bands(np.ascontiguousarray(patch), 2))
    assert fine / coarse == pytest.approx(own_fine / own_coarse, rel=0.2)
    steps = np.abs(np.diff(np.hstack([tile, tile]), axis=1)).mean(0)
    assert steps[255] < 1.3 * np.median(steps)
