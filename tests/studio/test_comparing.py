"""What two results are compared by."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.options import FuseOptions
from engines.provenance.keys import load_key
from engines.provenance.mark import mark
from engines.results import FusedFace, FusionModel, FusionResult
from engines.text import LANGUAGES
from engines.timing import Timings
from engines.types import Box, SafetyScore
from engines.vision import io
from studio import comparing
from studio.media import Item
from studio.options import CONTROLS

NAMES = ["source.jpg"], "target.jpg"


@pytest.fixture
def done(tmp_path: Path, astronaut: NDArray[np.uint8]) -> FusionResult:
    key = load_key(tmp_path / "mark.key")
    frame = io.from_array(astronaut)
    one = FusedFace(0, Box(128, 60, 100, 120), 0.9, 0.689, 0.464, 4.1, 64.6)
    scores, model = (SafetyScore(0.034), SafetyScore(0.002)), FusionModel("mesh_fusion", "Apache-2.0", True, ())
    return FusionResult(mark(frame, key, "preview"), (frame,), frame, (one,), scores, "cpu", model, (), Timings(), key)


def turned(done: FusionResult, **options: object) -> FusionResult:
    return replace(done, faces=tuple(replace(face, options=replace(face.options, **options)) for face in done.faces))


def differing(one: FusionResult, other: FusionResult, language: str = "en") -> list[tuple[str, str, str]]:
    """As the page's script does it."""
    rows = [{row[0]: row for row in comparing.setting_rows(each, NAMES, language)} for each in (one, other)]
    return [(row[1], row[2], rows[1][key][2]) for key, row in rows[0].items() if row[3] != rows[1][key][3]]


def test_the_same_differs_in_nothing(done: FusionResult) -> None:
    assert differing(done, done) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strength": 0.4}, ("Strength", "100", "40")),
        ({"enhance": "fast"}, ("Enhance", "None", "Fast")),
        ({"keep_eyes": True}, ("Keep eyes", "off", "on")),
        ({"model": "inswapper_128"}, ("Swapper", "Mesh fusion", "inswapper_128")),
        ({"boost": 2}, ("Detail", "1", "2")),
    ],
)
def test_what_differs_is_said_in_words(done: FusionResult, options: dict[str, object], words: tuple[str, str, str]) -> None:
    assert differing(done, turned(done, **options)) == [words]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_option_has_its_row(done: FusionResult, language: str) -> None:
    rows = comparing.setting_rows(done, NAMES, language)
    assert {row[0] for row in rows} == {control.name for control in CONTROLS if control.kind != "face"} | {"target", "source", "face"}
    assert all(label and words for _, label, words, _ in rows)


def test_pictures_of_one_name_are_told_apart(done: FusionResult, officer: NDArray[np.uint8]) -> None:
    other = replace(done, sources=(io.from_array(officer),))
    assert differing(done, other) == [("Source", "source.jpg", "source.jpg")]


def test_each_face_has_its_own(done: FusionResult) -> None:
    faces = (done.faces[0], replace(done.faces[0], index=1, options=FuseOptions(strength=0.4)))
    one, other = (replace(done, faces=each) for each in (faces, (faces[0], replace(faces[1], options=FuseOptions()))))
    assert differing(one, other) == [("Face 1 · Strength", "40", "100")]
    assert [row[1:3] for row in comparing.figure_rows(one, Timings(total=640.0), "en")] == [
        ("Similarity, face 0", "65"), ("Similarity, face 1", "65"), ("Time", "640 ms"),
    ]  # fmt: skip


def test_the_page_is_told_where_the_pictures_are(done: FusionResult) -> None:
    items = [Item(name, Path("/nowhere"), name, "image/png", 0.0) for name in ("before", "after")]
    value = comparing.shown_value(done, (items[0], items[1]), NAMES, Timings())
    assert (value["before"], value["after"]) == ("/media/before", "/media/after")
    assert value["focus"] == pytest.approx((178 / 512, 120 / 512))
    assert set(value["settings"]) == set(LANGUAGES)
