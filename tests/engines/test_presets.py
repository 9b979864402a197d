"""Presets: those that come along, and files that somebody passed on."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import PresetUnusable
from engines.options import FuseOptions, check
from engines.presets import FORMAT, LARGEST, NAMES, OF_A_PICTURE, Preset, built_in, load, preset


def file_of(**changes: Any) -> bytes:
    return json.dumps({"format": FORMAT, "version": 1, "name": "Mine", "options": {"shape": 0.5}} | changes).encode()


@pytest.mark.parametrize("name", sorted(built_in()))
def test_those_that_come_along_are_within_their_ranges(name: str) -> None:
    check(preset(name).apply())
    assert not OF_A_PICTURE & set(built_in()[name].options)


def test_one_of_them_is_the_standard() -> None:
    assert preset("standard").apply() == FuseOptions()


def test_a_preset_leaves_the_face_that_is_meant() -> None:
    asked = FuseOptions(face=3, source_face=1, strength=0.2, beard="source")
    assert Preset("x", {"shape": 0.1}).apply(asked) == FuseOptions(face=3, source_face=1, shape=0.1)


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    mine = Preset("Größe 人", {"shape": 0.25, "marks": False, "beard": "source", "boost": 2})
    path = tmp_path / "größe.json"
    path.write_bytes(mine.dump())
    assert preset(str(path)) == mine


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not_a_preset"),
        (b"{", "not_a_preset"),
        (b"[]", "not_a_preset"),
        (b"[" * 100_000, "not_a_preset"),
        (b"\xff\xfe", "not_a_preset"),
        (b"x" * (LARGEST + 1), "not_a_preset"),
        (file_of(format="other"), "not_a_preset"),
        (file_of(options=[]), "not_a_preset"),
        (file_of(name=""), "not_a_preset"),
        (file_of(name="a\nb"), "not_a_preset"),
        (file_of(name=7), "not_a_preset"),
        (file_of(version=2), "newer"),
        (file_of(version="1"), "newer"),
        (file_of(options={"shape": 1.5}), "option"),
        (file_of(options={"shape": "much"}), "option"),
        (file_of(options={"marks": 1}), "option"),
        (file_of(options={"face": 1}), "option"),
        (file_of(options={"wings": True}), "option"),
        (file_of(options={"beard": None}), "option"),
        (file_of(options={"model": 3}), "option"),
        (file_of(options={"boost": 3}), "option"),
    ],
)
def test_what_is_no_preset_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(PresetUnusable) as told:
        load(data, "x.json")
    assert told.value.reason == reason
    for language in ("en", "zh-CN"):
        assert "x.json" in told.value.message(language)


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(PresetUnusable) as told:
        preset(str(tmp_path / "none.json"))
    assert "gentle" in told.value.hint()


@given(
    st.dictionaries(st.sampled_from(NAMES), st.one_of(st.none(), st.booleans(), st.floats(-2, 2), st.integers(-3, 5), st.text(max_size=5)))
)
def test_whatever_is_read_can_be_used(options: dict[str, Any]) -> None:
    try:
        found = load(file_of(options=options), "x.json")
    except PresetUnusable:
        return
    check(found.apply())
    assert load(found.dump(), "y.json") == found
