"""One table of what may be turned: the page, the commands and the endpoints all follow it."""

import inspect
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from engines.errors import InvalidOption
from engines.face_mask import FaceMask, Paint
from engines.options import FuseOptions, check
from engines.text import LANGUAGES, has
from studio import options, widgets
from studio.api import Endpoints
from studio.cli import fuse
from studio.options import CONTROLS, GROUPS, options_of, options_of_page, points_of

FIELDS = tuple(field.name for field in fields(FuseOptions))
PAIRS = ((1.0, 2.0), (3.0, 4.5), (5.0, 6.0), (7.0, 8.0), (9.0, 10.0))
FLAT = [1, 2, 3, 4.5, 5, 6, 7, 8, 9, 10]
ELSEWHERE = {
    "face",
    "source_face",
    "points",
    "source_points",
    "strength",
    "enhance",
}  # the boxes, Gradio's own two fields
TURNED: dict[str, Any] = {
    "face": 2, "source_face": 1, "strength": 0.4, "enhance": "fast", "shape": 0.1, "colour": 0.2, "texture": 0.3, "feather": 0.45,
    "keep_mouth": True, "keep_eyes": True, "beard": "source", "marks": False, "glasses": True, "mode": "live", "points": PAIRS,
    "source_points": PAIRS, "model": "inswapper_128", "boost": 2, "restore": "codeformer", "restore_share": 0.6, "fidelity": 0.7,
    "mask": FaceMask(("oval", "nose"), ("eyes",), (1.0, 2.0, 3.0, 4.0), 2.0, False),
}  # fmt: skip


def test_every_option_has_one_control() -> None:
    assert sorted(control.name for control in CONTROLS) == sorted(FIELDS)
    assert set(TURNED) == set(FIELDS)


@pytest.mark.parametrize("name", FIELDS)
def test_a_command_and_an_endpoint_take_it_and_have_its_default(name: str) -> None:
    for function in (fuse, Endpoints.fuse):
        parameter = inspect.signature(function).parameters[name]
        assert parameter.default == (None if name == "mask" else getattr(FuseOptions(), name))


@pytest.mark.parametrize("name", sorted(set(FIELDS) - ELSEWHERE))
def test_the_page_has_a_field_with_words_for_it(name: str) -> None:
    html = widgets.options_panel().html_template
    assert html.count(f'data-option="{name}"') == max(1, len(next(c for c in CONTROLS if c.name == name).choices))
    assert all(has(f"page.options.{name}{part}", language) for part in ("", "_help") for language in LANGUAGES)


def test_models_of_others_are_offered_where_there_are_some() -> None:
    assert 'fs-group-models" hidden' in widgets.options_panel({"model": (), "restore": ()}).html_template
    html = widgets.options_panel({"model": ("inswapper_128", "<odd>"), "restore": ()}).html_template
    assert 'fs-group-models" hidden' not in html
    assert '<option value="inswapper_128">' in html
    assert "<odd>" not in html


@pytest.mark.parametrize(
    ("mask", "english"),
    [
        (FaceMask(leave_out=("eyes", "brows")), "Mask: whole face, without eyes + brows"),
        (FaceMask(("skin",), grow=-2, occlusion=False), "Mask: skin, -2 %, over what lies before the face"),
        (FaceMask(("box",), padding=(20, 0, 0, 0)), "Mask: box, padding 20 0 0 0 %"),
        (FaceMask((), paint=Paint.of(np.full((2, 2), 255, np.uint8))), "Mask: with a brush"),
    ],
)
def test_a_mask_is_told(mask: FaceMask, english: str) -> None:
    assert options.option_words(FuseOptions(mask=mask), "en").split(" · ")[-1] == english
    assert options.option_words(FuseOptions(mask=mask), "zh-CN").split(" · ")[-1].startswith("遮罩")


@pytest.mark.parametrize("value", ["skin", {"areas": ["ears"]}, {"paint": "x"}, 3])
def test_what_is_no_mask_of_the_page_is_refused(value: Any) -> None:
    with pytest.raises(InvalidOption):
        options_of_page({"mask": value}, 100, "none", {}, {})


@pytest.mark.parametrize("value", ["many", None, [2]])
def test_a_number_of_the_page_is_one(value: Any) -> None:
    with pytest.raises(InvalidOption) as refused:
        options_of_page({"boost": value}, 100, "none", {}, {})
    assert refused.value.facts["name"] == "boost"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_was_asked_for_is_told(language: str) -> None:
    told = options.option_words(FuseOptions(model="inswapper_128", boost=2), language)
    assert "inswapper_128" in told
    assert "2" in told.split(" · ")[-1]


def test_only_what_the_page_has_elsewhere_is_in_no_group() -> None:
    assert {control.name for control in CONTROLS if control.group not in GROUPS} == ELSEWHERE


@pytest.mark.parametrize("name", FIELDS)
def test_each_value_arrives_in_its_own_field(name: str) -> None:
    want = replace(FuseOptions(), **{name: TURNED[name]})
    assert options_of(**{name: TURNED[name]}) == want
    check(want)


@pytest.mark.parametrize("name", FIELDS)
def test_each_value_of_the_page_arrives_in_its_own_field(name: str) -> None:
    """The boxes give faces and points, two fields stand by themselves, the rest is the panel's; shares are in percent."""
    value = TURNED[name]
    given = round(100 * value) if isinstance(value, float) else value.as_dict() if isinstance(value, FaceMask) else value
    source = {"source_face": {"chosen": given}, "source_points": {"hand": given}}.get(name, {})
    target = {"face": {"chosen": given}, "points": {"hand": given}}.get(name, {})
    strength, enhance = (given if name == "strength" else 100), (given if name == "enhance" else "none")
    made = options_of_page({name: given, "unknown": 1}, strength, enhance, source, target)
    assert made == replace(FuseOptions(), **{name: value})


def test_the_page_starts_with_the_defaults() -> None:
    assert options_of_page(None, 100, "none", None, None) == FuseOptions()
    assert options_of_page(options.panel_defaults(), 100, "none", {}, {}) == FuseOptions()


def test_nothing_of_the_panel_stands_above_the_boxes() -> None:
    assert options_of_page({"points": FLAT, "face": 3}, 100, "none", {}, {}) == FuseOptions()


@pytest.mark.parametrize("value", ["1,2,3,4.5,5,6,7,8,9,10", "1,2; 3,4.5; 5,6; 7,8; 9,10", FLAT, [list(pair) for pair in PAIRS], PAIRS])
def test_points_come_in_several_forms(value: Any) -> None:
    assert points_of(value) == PAIRS


@pytest.mark.parametrize("value", ["", "1,2,3", "a,b,c,d,e,f,g,h,i,j", FLAT[:9], [*FLAT, 11], [float("nan"), *FLAT[1:]], 7, [None] * 10])
def test_what_isnt_five_points_is_refused(value: Any) -> None:
    with pytest.raises(InvalidOption) as refused:
        options_of(source_points=value)
    assert refused.value.facts["name"] == "source_points"
    assert refused.value.message("zh-CN")


@pytest.mark.parametrize("value", ["80", None, True, [1]])
def test_a_share_of_the_page_is_a_number(value: Any) -> None:
    with pytest.raises(InvalidOption):
        options_of_page({"shape": value}, 100, "none", {}, {})


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_used_options_are_told(language: str) -> None:
    told = options.option_words(FuseOptions(shape=0.35, points=PAIRS), language)
    assert (
        len(told.split(" · ")) == len(CONTROLS) - 9
    )  # faces are told elsewhere, the source's points weren't set, no model of others and no mask was asked for
    assert " 35" in told
    assert len(set(told.split(" · "))) == len(told.split(" · "))
