"""Laying a crop back: exactly nothing where the mask is 0, exactly the crop where it is 255, at any place and scale."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.types import FusedCrop, Matrix, Pixels
from engines.vision import blend
from tests.strategies import picture, similarities

WIDTH, HEIGHT = 90, 70


def round_mask(size: int) -> Pixels:
    rows, columns = np.mgrid[:size, :size]
    distance = np.hypot(rows - size / 2 + 0.5, columns - size / 2 + 0.5) / (size / 2)
    return np.clip((0.95 - distance) * 3 * 255, 0, 255).astype(np.uint8)


def shifted(x: float, y: float, scale: float = 1.0) -> Matrix:
    """Picture → crop: the crop's corner lies at (x, y)."""
    return np.array([[scale, 0, -x * scale], [0, scale, -y * scale]], np.float64)


def crop_at(matrix: Matrix, size: int = 32, seed: int = 1) -> FusedCrop:
    return FusedCrop(picture(size, size, "noise", seed), round_mask(size), matrix)


@given(similarities(150.0, 0.2, 4.0), st.integers(8, 64))
def test_nothing_changes_where_the_mask_is_zero_and_the_patch_stays_inside(matrix: Matrix, size: int) -> None:
    pixels = picture(WIDTH, HEIGHT, "noise")
    kept = pixels.copy()
    patch = blend.paste(pixels, crop_at(matrix, size))
    height, width = patch.mask.shape
    assert 0 <= patch.left <= patch.left + width <= WIDTH
    assert 0 <= patch.top <= patch.top + height <= HEIGHT
    assert patch.pixels.shape == (height, width, 3)
    out = blend.apply(pixels, patch)
    np.testing.assert_array_equal(pixels, kept)
    untouched = np.ones((HEIGHT, WIDTH), bool)
    untouched[patch.top : patch.top + height, patch.left : patch.left + width] = patch.mask == 0
    np.testing.assert_array_equal(out[untouched], pixels[untouched])


@given(similarities(150.0, 0.2, 4.0), similarities(150.0, 0.2, 4.0), st.integers(8, 64))
def test_crops_laid_in_place_give_what_their_patches_give(first: Matrix, second: Matrix, size: int) -> None:
    pixels, crops = picture(WIDTH, HEIGHT, "noise"), [crop_at(first, size), crop_at(second, 24, 7)]
    expected = pixels
    for crop in crops:
        expected = blend.apply(expected, blend.paste(expected, crop))
    blend.lay(pixels, crops)
    np.testing.assert_array_equal(pixels, expected)


@given(st.integers(-40, 100), st.integers(-40, 80))
def test_whole_pixel_places_blend_exactly(x: int, y: int) -> None:
    pixels, crop = picture(WIDTH, HEIGHT, "noise"), crop_at(shifted(x, y))
    out = blend.apply(pixels, blend.paste(pixels, crop)).astype(float)
    expected = pixels.astype(float)
    for row in range(max(0, y), min(HEIGHT, y + 32)):
        for column in range(max(0, x), min(WIDTH, x + 32)):
            share = crop.mask[row - y, column - x] / 255
            expected[row, column] += (crop.pixels[row - y, column - x] - expected[row, column]) * share
    assert np.abs(out - expected).max() <= 2  # two roundings of 8 bits


def test_a_full_mask_puts_the_crop_in_byte_for_byte() -> None:
    pixels, face = picture(WIDTH, HEIGHT, "noise"), picture(24, 24, "noise", 9)
    patch = blend.paste(pixels, FusedCrop(face, np.full((24, 24), 255, np.uint8), shifted(20, 30)))
    out = blend.apply(pixels, patch)
    np.testing.assert_array_equal(out[30:54, 20:44], face)
    out[30:54, 20:44] = pixels[30:54, 20:44]
    np.testing.assert_array_equal(out, pixels)


def test_an_empty_mask_gives_an_empty_patch() -> None:
    pixels = picture(WIDTH, HEIGHT)
    patch = blend.paste(pixels, FusedCrop(picture(24, 24), np.zeros((24, 24), np.uint8), shifted(20, 30)))
    assert patch.mask.size == 0
    np.testing.assert_array_equal(blend.apply(pixels, patch), pixels)


@pytest.mark.parametrize("place", [(-200, 0), (200, 0), (0, -200), (0, 200)])
def test_a_crop_beside_the_picture_gives_an_empty_patch(place: tuple[int, int]) -> None:
    assert blend.paste(picture(WIDTH, HEIGHT), crop_at(shifted(*place))).mask.size == 0


def test_a_finer_crop_is_averaged_not_sampled() -> None:
    """A checker of single pixels, four times as fine as the picture, comes out as its mean."""
    rows, columns = np.mgrid[:128, :128]
    checker = np.repeat(((rows + columns) % 2 * 255).astype(np.uint8)[..., None], 3, 2)
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    patch = blend.paste(pixels, FusedCrop(checker, np.full((128, 128), 255, np.uint8), shifted(20, 20, 4.0)))
    inside = blend.apply(pixels, patch)[24:48, 24:48].astype(float)
    assert inside.mean() == pytest.approx(127.5, abs=2)
    assert inside.std() < 3


@given(similarities(20.0, 0.4, 3.0))
def test_a_flat_crop_keeps_its_colour_up_to_its_edge(matrix: Matrix) -> None:
    """Nothing from outside the mask bleeds in: a grey crop on the same grey stays grey, whatever stands outside the mask."""
    middle = np.array([WIDTH / 2, HEIGHT / 2])
    matrix = np.column_stack([matrix[:, :2], np.array([15.5, 15.5]) - matrix[:, :2] @ middle])
    face = np.full((32, 32, 3), 120, np.uint8)
    face[round_mask(32) == 0] = 255
    pixels = np.full((HEIGHT, WIDTH, 3), 120, np.uint8)
    out = blend.apply(pixels, blend.paste(pixels, FusedCrop(face, round_mask(32), matrix))).astype(int)
    assert np.abs(out - 120).max() <= 3


def test_a_turned_crop_lands_where_its_matrix_says() -> None:
    angle = 0.4
    linear = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) * 1.3
    matrix = np.column_stack([linear, np.array([31.5, 31.5]) - linear @ [45, 35]])
    face = np.zeros((64, 64, 3), np.uint8)
    cv2.circle(face, (40, 20), 4, (255, 255, 255), -1)
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    out = blend.apply(pixels, blend.paste(pixels, FusedCrop(face, np.full((64, 64), 255, np.uint8), matrix)))[..., 0].astype(float)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    found = np.array([(out * columns).sum(), (out * rows).sum()]) / out.sum()
    np.testing.assert_allclose(linear @ found + matrix[:, 2], (40, 20), atol=0.2)
