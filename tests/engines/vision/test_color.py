"""Colour and texture statistics: what is equal already isn't changed, what is asked for is reached."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.vision import color
from tests.strategies import picture


def floats(width: int, height: int, seed: int = 0, kind: str = "soft") -> np.ndarray:
    return picture(width, height, kind, seed).astype(np.float32)


def ones(image: np.ndarray) -> np.ndarray:
    return np.ones(image.shape[:2], np.float32)


def test_lab_and_back() -> None:
    image = floats(40, 30, 1)
    np.testing.assert_allclose(color.to_rgb(color.to_lab(image)), image, atol=1)  # the worst of OpenCV's tables


@pytest.mark.parametrize(("rgb", "lab"), [((255, 255, 255), (100, 0, 0)), ((0, 0, 0), (0, 0, 0)), ((255, 0, 0), (53.24, 80.09, 67.20))])
def test_known_colours_in_lab(rgb: tuple[float, ...], lab: tuple[float, ...]) -> None:
    np.testing.assert_allclose(color.to_lab(np.full((1, 1, 3), rgb, np.float32))[0, 0], lab, atol=0.2)


def test_statistics_count_by_weight() -> None:
    image = np.zeros((4, 4, 3), np.float32)
    image[0] = (10, 20, 30)
    weight = np.zeros((4, 4), np.float32)
    weight[0], weight[1] = 1, 1
    found = color.statistics(image, weight)
    np.testing.assert_allclose(found.mean, (5, 10, 15))
    np.testing.assert_allclose(found.deviation, (5, 10, 15))


def test_statistics_of_nothing_are_zero() -> None:
    found = color.statistics(floats(4, 4), np.zeros((4, 4), np.float32))
    assert not found.mean.any()
    assert not found.deviation.any()


@given(st.integers(0, 99))
def test_transfer_to_its_own_statistics_is_the_identity(seed: int) -> None:
    image = floats(20, 16, seed)
    own = color.statistics(image, ones(image))
    np.testing.assert_allclose(color.transfer(image, own, own), image, atol=1e-3)


def test_transfer_reaches_the_wanted_statistics() -> None:
    image, other = floats(32, 32, 1), floats(32, 32, 2) * 0.9 + 10
    wanted = color.statistics(other, ones(other))
    found = color.statistics(color.transfer(image, color.statistics(image, ones(image)), wanted, 0.1, 10), ones(image))
    np.testing.assert_allclose(found.mean, wanted.mean, atol=1e-2)
    np.testing.assert_allclose(found.deviation, wanted.deviation, rtol=1e-3)


def test_transfer_holds_the_contrast_within_its_limits() -> None:
    image = floats(32, 32, 1)
    own = color.statistics(image, ones(image))
    flat = color.Statistics(own.mean, own.deviation * 0)
    steep = color.Statistics(own.mean, own.deviation * 9)
    for wanted, factor in ((flat, 0.7), (steep, 1.4)):
        found = color.statistics(color.transfer(image, own, wanted), ones(image))
        np.testing.assert_allclose(found.deviation, own.deviation * factor, rtol=1e-3)


@pytest.mark.parametrize("sigma", [1.0, 5.0, 20.0])
def test_low_pass_sees_the_weighted_pixels_only(sigma: float) -> None:
    image = np.full((64, 96, 3), 50, np.float32)
    image[:, 48:] = 200
    weight = np.zeros((64, 96), np.float32)
    weight[:, :40] = 1
    np.testing.assert_allclose(color.low_pass(image, weight, sigma)[:, :40], 50, rtol=0.01)


def test_low_pass_takes_one_channel_too() -> None:
    image = floats(32, 32)[..., 0]
    out = color.low_pass(image, ones(image), 3)
    assert out.shape == image.shape
    assert out.std() < image.std() + 1e-3


def test_luma_of_grey_is_grey() -> None:
    np.testing.assert_allclose(color.luma(np.full((3, 3, 3), 77, np.float32)), 77, rtol=1e-5)


@given(st.integers(0, 99), st.floats(0.5, 2), st.floats(-30, 30))
def test_an_affine_map_is_found_again(seed: int, gain: float, shift: float) -> None:
    before = np.random.default_rng(seed).uniform(0, 255, (400, 3)).astype(np.float32)
    mix = np.eye(3) * gain + np.random.default_rng(seed + 1).uniform(-0.1, 0.1, (3, 3))
    after = (before @ mix.T + shift).astype(np.float32)
    found = cv2.transform(before[None], color.affine_fit(before, after, np.ones(400, np.float32)))[0]
    np.testing.assert_allclose(found, after, atol=0.5)


def test_an_affine_map_of_one_colour_or_of_nothing_is_defined() -> None:
    flat = np.full((50, 3), 80, np.float32)
    moved = cv2.transform(flat[None], color.affine_fit(flat, flat + 20, np.ones(50, np.float32)))[0]
    np.testing.assert_allclose(moved, 100, atol=0.5)
    empty = np.zeros((0, 3), np.float32)
    assert np.isfinite(color.affine_fit(empty, empty, np.zeros(0, np.float32))).all()


@pytest.mark.parametrize("count", [1, 2])
def test_bands_and_the_rest_make_the_picture(count: int) -> None:
    image = floats(64, 64, 3, "noise")[..., 0]
    rest = cv2.GaussianBlur(image, (0, 0), 0.8 * 2 ** (count - 1))
    np.testing.assert_allclose(sum(color.bands(image, count)) + rest, image, atol=1e-3)


def test_coarse_bands_come_at_half_size_and_hold_coarse_structure() -> None:
    coarse = np.tile(40 * np.sin(np.arange(128) / 5), (128, 1)).astype(np.float32)  # a period of 31 px
    found = color.bands(coarse, 4)
    assert [band.shape for band in found] == [(128, 128), (128, 128), (64, 64), (64, 64)]
    energy = [float(band[8:-8, 8:-8].std()) for band in found]
    assert energy == sorted(energy)


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.0])
def test_energies_scale_with_the_structure(factor: float) -> None:
    band = np.random.default_rng(0).normal(0, 4, (64, 64)).astype(np.float32)
    weight = np.ones((64, 64), np.float32)
    assert color.quiet_energy(band * factor, weight, 6) == pytest.approx(factor * color.quiet_energy(band, weight, 6), rel=1e-3)
    assert color.edge_energy(band, weight) == pytest.approx(4, rel=0.1)


def test_quiet_energy_doesnt_hear_the_loud_places() -> None:
    band = np.random.default_rng(0).normal(0, 2, (96, 96)).astype(np.float32)
    loud = band.copy()
    loud[:24] *= 20
    weight = np.ones((96, 96), np.float32)
    assert color.quiet_energy(loud, weight, 4) == pytest.approx(color.quiet_energy(band, weight, 4), rel=0.15)
    assert color.quiet_energy(band, weight * 0, 4) == 0


def test_grain_is_even_fixed_and_cannot_be_written() -> None:
    grain = color.noise_bands(3, 128)
    for band in grain:
        assert float(band.mean()) == pytest.approx(0, abs=1e-3)
        assert float(band.std()) == pytest.approx(1, rel=1e-3)
        assert not band.flags.writeable
    assert color.noise_bands(3, 128) is grain
