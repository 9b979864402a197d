"""Marks on drawn charts: spots, patches and make-up go, pores and the face's own form stay."""

import numpy as np
import pytest

from engines.faces.canonical import GRID, LIPS_OUTER, chart
from engines.faces.marks import unmarked
from engines.types import Floats, Pixels
from engines.vision.color import to_lab
from engines.vision.mask import disk, polygon, soften

SIDE = 512
NO_HAIR = np.zeros((GRID, GRID), np.float32)
TONES = [(225, 190, 170), (150, 110, 88), (84, 58, 46)]
LEFT_CHEEK, RIGHT_CHEEK = 50, 280


def place(vertex: int) -> Floats:
    return chart().pixels(SIDE)[vertex].astype(np.float32)


def skin(tone: tuple[int, int, int], noise: float = 3.0) -> Floats:
    rng = np.random.default_rng(5)
    return np.clip(np.array(tone, float) + rng.normal(0, noise, (SIDE, SIDE, 1)), 0, 255).astype(np.float32)


def with_spot(picture: Floats, vertex: int, radius: float, factor: tuple[float, float, float]) -> Pixels:
    share = soften(disk(place(vertex), radius, SIDE, SIDE), 1.2)[..., None]
    return np.clip(picture * (1 - share + share * np.array(factor, np.float32)), 0, 255).astype(np.uint8)


def off(picture: Pixels, vertex: int, radius: float) -> float:
    """Lab distance of a spot's middle from the ring round it."""
    lab = to_lab(picture.astype(np.float32))
    inner = disk(place(vertex), 0.6 * radius, SIDE, SIDE) > 0.5
    ring = (disk(place(vertex), 2.2 * radius, SIDE, SIDE) - disk(place(vertex), 1.6 * radius, SIDE, SIDE)) > 0.5
    return float(np.linalg.norm(lab[inner].mean(0) - lab[ring].mean(0)))


@pytest.mark.parametrize("tone", TONES)
@pytest.mark.parametrize(("radius", "factor"), [(4, (0.45, 0.4, 0.4)), (3, (1.15, 0.75, 0.75))])
def test_moles_and_pimples_go(tone: tuple[int, int, int], radius: float, factor: tuple[float, float, float]) -> None:
    picture = with_spot(skin(tone), LEFT_CHEEK, radius, factor)
    assert off(unmarked(picture, NO_HAIR), LEFT_CHEEK, radius) < 0.5 * off(picture, LEFT_CHEEK, radius)


@pytest.mark.parametrize("tone", TONES)
@pytest.mark.parametrize("both", [False, True])
def test_pale_and_pink_patches_go_on_one_side_and_on_both(tone: tuple[int, int, int], both: bool) -> None:
    picture = skin(tone)
    for vertex in (LEFT_CHEEK, RIGHT_CHEEK)[: 1 + both]:
        picture = with_spot(picture, vertex, 22, (1.12, 1.12, 1.25)).astype(np.float32)
    before = picture.astype(np.uint8)
    assert off(unmarked(before, NO_HAIR), LEFT_CHEEK, 22) < 0.7 * off(before, LEFT_CHEEK, 22)


def test_pores_and_a_form_that_both_halves_have_stay() -> None:
    rows, columns = np.mgrid[:SIDE, :SIDE] / SIDE
    form = 1 - 0.25 * np.abs(columns - 0.5) * 2 - 0.1 * (rows - 0.5)
    picture = np.clip(skin(TONES[0], 4.0) * form[..., None], 0, 255).astype(np.uint8)
    out = unmarked(picture, NO_HAIR)
    part = np.s_[270:300, 120:160]
    fine = [p[part].astype(float).mean(2) for p in (picture, out)]
    assert fine[1].std() > 0.8 * fine[0].std()
    assert np.abs(out.astype(float) - picture).mean() < 2.5


def test_red_lips_turn_to_the_skins_side_and_keep_some_red() -> None:
    lips = soften(polygon(chart().pixels(SIDE)[LIPS_OUTER], SIDE, SIDE), 1.5)[..., None]
    picture = np.asarray(skin(TONES[0]) * (1 - lips) + np.array([190, 20, 40], np.float32) * lips, np.uint8)
    inside = lips[..., 0] > 0.95
    red = [to_lab(p.astype(np.float32))[inside][:, 1].mean() for p in (picture, unmarked(picture, NO_HAIR))]
    bare = to_lab(skin(TONES[0]))[inside][:, 1].mean()
    assert bare + 5 < red[1] < red[0] - 8


@pytest.mark.parametrize("side", [256, 512, 1024])
def test_every_size_is_taken_and_a_beard_is_left_alone(side: int) -> None:
    rng = np.random.default_rng(1)
    picture = rng.integers(60, 200, (side, side, 3)).astype(np.uint8)
    hair = NO_HAIR.copy()
    hair[GRID * 3 // 4 :] = 1
    one, two = unmarked(picture, hair), unmarked(picture, hair)
    assert one.shape == picture.shape
    assert one.dtype == np.uint8
    np.testing.assert_array_equal(one, two)
    low = int(side * 0.85)
    np.testing.assert_array_equal(one[low:], picture[low:])
