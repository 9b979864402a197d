"""The value of a mask: its form in JSON, its ranges, and what a painted picture says."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import InvalidOption
from engines.face_mask import AREAS, STANDARD, FaceMask, Paint, check
from engines.options import FuseOptions
from engines.types import Pixels
from tests.strategies import face_masks, pictures


@given(face_masks())
def test_json_gives_it_back(mask: FaceMask) -> None:
    check(mask)
    assert FaceMask.of_dict(json.loads(json.dumps(mask.as_dict()))) == mask


@given(face_masks())
def test_a_preset_says_what_differs_and_no_more(mask: FaceMask) -> None:
    told = mask.differing()
    again = FaceMask.of_dict(told)
    assert again.areas == mask.areas
    assert again.leave_out == mask.leave_out
    assert again.grow == pytest.approx(mask.grow, abs=0.06)
    assert again.padding == pytest.approx(mask.padding, abs=0.06)
    assert all(told[name] != STANDARD.as_dict()[name] for name in told)


def test_the_standard_says_nothing() -> None:
    assert STANDARD.differing() == {}
    assert FuseOptions().mask.standard
    assert not FaceMask(paint=Paint.of(np.full((2, 2), 128, np.uint8))).standard


def test_of_a_brush_json_says_only_that_there_was_one() -> None:
    mask = FaceMask(paint=Paint.of(np.zeros((4, 4), np.uint8)))
    assert mask.as_dict()["paint"] is True
    assert "paint" not in mask.differing()
    json.dumps(mask.as_dict())


@pytest.mark.parametrize(
    "given",
    [
        {"areas": "outline"},
        {"areas": ["ears"]},
        {"areas": [1]},
        {"areas": [["outline"]]},
        {"leave_out": ["outline"]},
        {"leave_out": {"eyes": 1}},
        {"padding": [1, 2, 3]},
        {"padding": [96, 0, 0, 0]},
        {"padding": [60, 0, 60, 0]},
        {"padding": [True, 0, 0, 0]},
        {"grow": 21},
        {"grow": float("nan")},
        {"grow": "2"},
        {"occlusion": 1},
        {"paint": True},
        {"wings": []},
        [],
        "outline",
    ],
)
def test_what_is_no_mask_is_refused(given: Any) -> None:
    with pytest.raises(InvalidOption) as told:
        FaceMask.of_dict(given)
    for language in ("en", "zh-CN"):
        assert told.value.message(language)


def test_without_an_area_a_brush_must_ask_for_something() -> None:
    assert FaceMask.of_dict({"areas": []}).areas == ()  # a brush may come to it
    check(FaceMask((), paint=Paint.of(np.full((2, 2), 255, np.uint8))))
    with pytest.raises(InvalidOption) as told:
        check(FaceMask((), paint=Paint.of(np.zeros((2, 2), np.uint8))))
    assert told.value.reason == "no_area"
    assert "outline" in told.value.hint()


@pytest.mark.parametrize(
    ("grey", "alpha", "fuse", "keep"),
    [
        (255, 255, 255, 0),
        (0, 255, 0, 255),
        (128, 255, 0, 0),
        (125, 255, 0, 0),  # a JPEG's mid-grey
        (133, 255, 0, 0),
        (255, 0, 0, 0),
        (0, 0, 0, 0),
        (255, 128, 128, 0),
        (0, 128, 0, 128),
        (196, 255, 129, 0),
    ],
)
def test_white_fuses_black_keeps_and_the_rest_says_nothing(grey: int, alpha: int, fuse: int, keep: int) -> None:
    for image in (np.full((3, 2), grey, np.uint8), np.full((3, 2, 3), grey, np.uint8)):
        paint = Paint.of(image, np.full((3, 2), alpha, np.uint8))
        assert paint.fuse.shape == paint.keep.shape == (3, 2)
        assert np.unique(paint.fuse).tolist() == [fuse]
        assert np.unique(paint.keep).tolist() == [keep]


def test_two_brushes_are_told_apart_by_one_pixel() -> None:
    grey = np.full((4, 6), 255, np.uint8)
    other = grey.copy()
    other[3, 5] = 0
    assert Paint.of(grey).digest == Paint.of(grey.copy()).digest
    assert len({Paint.of(each).digest for each in (grey, other, 255 - grey, grey.reshape(6, 4))}) == 4


@given(pictures(), st.booleans())
def test_a_place_is_never_both(image: Pixels, colourful: bool) -> None:
    paint = Paint.of(image if colourful else image[..., 0])
    assert not (paint.fuse.astype(bool) & paint.keep.astype(bool)).any()


@pytest.mark.parametrize(
    ("size", "fits"), [((100, 50), True), ((1000, 500), True), ((333, 167), True), ((100, 60), False), ((50, 100), False), ((10, 3), False)]
)
def test_it_may_be_painted_on_a_copy_of_the_same_proportions(size: tuple[int, int], fits: bool) -> None:
    assert Paint.of(np.zeros((size[1], size[0]), np.uint8)).fits(1000, 500) is fits


def test_every_area_has_its_name_once() -> None:
    assert len(set(AREAS)) == len(AREAS)
