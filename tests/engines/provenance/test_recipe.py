"""A file tells the settings that it was fused with, and nothing of a person, whatever the options are."""

import json
import re
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.face_mask import FaceMask, Paint
from engines.options import BOOSTS, CHOICES, SHARES, SWITCHES, FuseOptions
from engines.presets import OF_A_PICTURE, Preset, built_in, load
from engines.provenance.containers import parts_of
from engines.provenance.keys import MarkKey
from engines.provenance.mark import mark
from engines.provenance.metadata import read_labels
from engines.provenance.recipe import MOST, TOLD, read, recipe, recipes, write
from engines.provenance.save import FORMATS, encode
from engines.provenance.xmp import build_xmp
from engines.types import Pixels
from engines.vision import io
from tests.strategies import face_masks

NAMES_OF_OTHERS = {"model", "restore"}  # words that a person may have chosen: the label `model` has the one that drew
POINT = st.tuples(st.floats(1000, 9000), st.floats(1000, 9000))
VALUES: dict[str, st.SearchStrategy[Any]] = (
    dict.fromkeys(SHARES, st.floats(0, 1) | st.sampled_from((0, 1)))
    | {name: st.sampled_from(allowed) for name, allowed in CHOICES.items()}
    | dict.fromkeys(SWITCHES, st.booleans())
    | {"boost": st.sampled_from(BOOSTS)}
    | dict.fromkeys(NAMES_OF_OTHERS, st.sampled_from(("mesh", "", "Anna_Miller", "/home/anna/me.onnx", "安娜")))
    | dict.fromkeys(("face", "source_face"), st.integers(10**9, 10**10))  # longer than what a digest or a time has by chance
    | dict.fromkeys(("points", "source_points"), st.none() | st.tuples(*[POINT] * 5))
    | {"mask": face_masks(st.sampled_from((None, Paint(np.full((2, 3), 77, np.uint8), np.full((2, 3), 88, np.uint8)))))}
)
OPTIONS = st.builds(FuseOptions, **VALUES)


def test_every_option_stands_on_one_side() -> None:
    """A new one is told if it is a number or a word out of a list, and isn't otherwise."""
    assert {field.name for field in fields(FuseOptions)} == {*TOLD, *OF_A_PICTURE, *NAMES_OF_OTHERS} == set(VALUES)


@given(OPTIONS)
def test_nothing_but_numbers_and_words_out_of_lists(options: FuseOptions) -> None:
    told = recipe(options)
    assert set(told.options) <= set(TOLD)
    assert told.name in built_in() or re.fullmatch(r"custom-[0-9a-f]{8}", told.name)
    assert set(told.options.get("mask", {})) <= {field.name for field in fields(FaceMask)} - {"paint"}
    for name, value in told.options.items():
        assert name == "mask" or isinstance(value, int | float) or value in CHOICES[name]
        assert value != getattr(FuseOptions(), name)


@given(OPTIONS)
def test_what_is_told_is_enough_to_fuse_like_it_again(options: FuseOptions) -> None:
    again = load(write(recipe(options)).encode(), "x").apply(options)
    assert again.mask.paint is options.mask.paint
    assert again.mask.differing() == options.mask.differing()
    for name in set(TOLD) - {"mask"}:
        assert getattr(again, name) == pytest.approx(getattr(options, name), abs=0.0005)


@given(OPTIONS)
def test_what_was_written_is_read(options: FuseOptions) -> None:
    assert read(write(recipe(options))) == recipe(options)


@given(OPTIONS, st.sampled_from(FORMATS))
@settings(max_examples=25)
def test_nothing_personal_gets_into_a_file(options: FuseOptions, format: str) -> None:
    """And the labels of the file say what was told."""
    frame = replace(io.from_array(np.full((24, 24, 3), 90, np.uint8)), digest="Anna_Miller")
    image = mark(frame, KEY, "fusion", options=[options])
    data = encode(image, format, None, KEY).data
    packet = parts_of(data).xmp
    assert packet
    for secret in ("Anna", "anna", "/home", "安娜", 'points"', 'face"', str(options.face), str(options.source_face)):
        assert secret.encode() not in packet
    for x, y in (*(options.points or ()), *(options.source_points or ())):
        assert not {str(x).encode(), str(y).encode()} & set(re.findall(rb"[\d.]+", packet))
    assert read_labels(data).labels.settings == (recipe(options),)


KEY = MarkKey(bytes(range(32)))


@pytest.mark.parametrize("name", built_in())
def test_a_preset_that_comes_along_is_told_by_its_name(name: str) -> None:
    preset = built_in()[name]
    assert recipe(preset.apply(FuseOptions(face=3))) == preset


def test_one_s_own_is_told_by_its_options_alone() -> None:
    ones = [recipe(Preset(name, {"shape": 0.35}).apply()) for name in ("Wedding of Anna", "x")]
    assert ones[0] == ones[1]
    assert ones[0].name != recipe(FuseOptions(shape=0.36)).name


def test_different_settings_of_one_picture_are_told_once_each() -> None:
    given = [FuseOptions(face=0), FuseOptions(face=1, marks=False), FuseOptions(face=2, source_face=1)]
    assert recipes(given) == (built_in()["standard"], built_in()["clean"])
    assert len(recipes(FuseOptions(shape=number / 100) for number in range(99))) == MOST


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", None),
        ("from image/png to image/jpeg", None),
        ('{"format": "fusion-studio-preset"', None),
        ('["fusion-studio-preset"]', None),
        ('{"format": "fusion-studio-preset", "options": []}', None),
        ('{"format": "fusion-studio-preset", "options": {}}' + " " * 70000, None),
        ('{"format": "fusion-studio-preset", "options": ' + "[" * 50000, None),
        ('{"format": "fusion-studio-preset", "name": "<b>", "options": {}}', Preset("custom", {})),
        ('{"format": "fusion-studio-preset", "name": "vivid", "options": {"vivid": 1}}', Preset("vivid", {})),
        (
            '{"format": "fusion-studio-preset", "name": 1, "options": {"shape": 7, "marks": 0, "beard": 1, "boost": 3}}',
            Preset("custom", {}),
        ),
        ('{"format": "fusion-studio-preset", "options": {"shape": true, "colour": NaN, "beard": "Anna"}}', Preset("custom", {})),
        ('{"format": "fusion-studio-preset", "options": {"shape": 0.51234, "points": [1]}}', Preset("custom", {"shape": 0.512})),
    ],
)
def test_only_what_is_ours_is_read(line: str, told: Preset | None) -> None:
    assert read(line) == told


@given(st.text(max_size=200) | st.recursive(st.none() | st.floats() | st.text(max_size=9), st.lists, max_leaves=5).map(json.dumps))
def test_no_line_breaks_the_reader(line: str) -> None:
    read(line)
    read('{"format": "fusion-studio-preset", "options": {"shape": ' + line + "}}")


def test_it_stands_where_other_programs_look(portrait: Pixels) -> None:
    """Adobe's and exiftool's `History`: one event for each setting, with the program and the time."""
    from defusedxml.ElementTree import fromstring

    image = mark(io.from_array(portrait), KEY, options=[FuseOptions(), FuseOptions(strength=0.5)])
    root = fromstring(build_xmp(image.labels))
    events = root.findall(".//{http://ns.adobe.com/xap/1.0/mm/}History/*/*")
    space = "{http://ns.adobe.com/xap/1.0/sType/ResourceEvent#}"
    assert [event.findtext(f"{space}softwareAgent") for event in events] == [image.labels.tool] * 2
    assert [json.loads(event.findtext(f"{space}parameters") or "")["options"] for event in events] == [{}, {"strength": 0.5}]


@pytest.fixture
def portrait(astronaut: Pixels) -> Pixels:
    return astronaut[:64, :64]
