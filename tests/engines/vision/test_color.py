"""Colour, light and bands: what is equal already isn't changed, what is asked for is reached."""

import cv2
import numpy as np
import pytest

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
