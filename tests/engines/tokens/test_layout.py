"""Cells over a picture, and those that an outline touches."""

import numpy as np
import pytest

from engines.tokens.layout import Layout, Sheet
from engines.tokens.visual import load

MODELS = load()


def square(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    """The outline of the pixels `left` … `right - 1`, `top` … `bottom - 1`: the centre of the first pixel is (0, 0)."""
    edges = np.array([(left, top), (right, top), (right, bottom), (left, bottom)], np.float64)
    return edges - 0.5 + np.array([(0.25, 0.25), (-0.25, 0.25), (-0.25, -0.25), (0.25, -0.25)])


@pytest.mark.parametrize(
    ("outline", "cells"),
    [
        (square(0, 0, 10, 10), [(0, 0)]),
        (square(10, 0, 20, 10), [(0, 1)]),
        (square(5, 5, 15, 15), [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (square(39, 19, 40, 20), [(1, 3)]),
        (square(-30, -30, -1, -1), []),
    ],
)
def test_an_outline_touches_the_cells_that_it_overlaps(outline: np.ndarray, cells: list[tuple[int, int]]) -> None:
    touched = Sheet(4, 2, (0, 0, 40, 20)).touched(outline)
    assert touched.shape == (2, 4)
    assert [tuple(map(int, cell)) for cell in np.argwhere(touched)] == cells


def test_a_sheet_that_leaves_some_of_the_picture_out_touches_nothing_there() -> None:
    middle = MODELS["clip_l14"].layout(400, 200).sheets[0]
    assert middle.box == (100, 0, 200, 200)
    assert not middle.touched(square(0, 0, 99, 200)).any()
    assert middle.touched(square(0, 0, 400, 200)).all()


def test_an_empty_sheet_has_no_cell() -> None:
    assert Sheet(0, 3, (0, 0, 10, 10)).touched(square(0, 0, 10, 10)).size == 0


@pytest.mark.parametrize("name", ["qwen2_5_vl", "internvl", "openai_tile", "llava_next"])
def test_the_whole_picture_is_useful_but_for_what_has_no_place(name: str) -> None:
    layout = MODELS[name].layout(1920, 1080)
    assert layout.useful(square(0, 0, 1920, 1080)) == pytest.approx(layout.tokens - layout.placeless)
    assert 0 < layout.useful(square(900, 500, 1000, 600)) < layout.tokens / 2


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("clip_l14", "16 × 16"),
        ("pixtral", "64 × 36 + 36"),
        ("llava_next", "48 × 28 + 24 × 24 + 28"),
        ("openai_tile", "3 × 2 × 170 + 85"),
        ("openai_patch", "⌈52 × 29 × 1.62⌉"),
    ],
)
def test_a_number_is_told_as_its_sum(name: str, told: str) -> None:
    assert MODELS[name].layout(1920, 1080).sum == told


def test_tokens_without_a_place_are_the_rest() -> None:
    assert Layout(10, (20, 20), (Sheet(3, 2, (0, 0, 20, 20)),)).placeless == 4
