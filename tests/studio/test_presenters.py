"""Results and errors in words and figures."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import engines.errors as errors
from engines.errors import FusionError, NoFace
from engines.presets import Preset
from engines.provenance.credentials import Credentials
from engines.provenance.labels import FoundLabels, Labels
from engines.provenance.verify import Verification
from engines.text import LANGUAGES, section, text
from engines.timing import Timings
from engines.types import Box, Detection, Face, FaceMesh, Pose, RefusedFace, Verdict
from studio import presenters


def face(reason: str = "", **facts: float) -> Face:
    mesh = FaceMesh(np.zeros((478, 3), np.float32), Pose(-12.34, 5.06, 0.0))
    points = np.array([(1.04, 2), (3, 4), (5, 6), (7, 8), (9, 10)], np.float32)
    return Face(3, Detection(Box(1.4, 2.6, 30, 40), 0.98765, points), mesh, 17.26, Verdict(reason, tuple(facts.items())))


def tree(kind: type[FusionError] = FusionError) -> list[type[FusionError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in tree(child))]


def facts_for(node: object) -> dict[str, object]:
    """A value for each placeholder of the sentences: a figure where one is formatted."""
    words = json.dumps(node)
    names = {name: 1.0 if form else "x" for name, form in re.findall(r"\{(\w+)(:[^}]*f)?", words)}
    return names | {"role": "target", "verdict": "turned", "angle": 61.0, "limit": 55.0, "minimum": 36.0}


@pytest.mark.parametrize("kind", [kind for kind in tree() if "code" in vars(kind)], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_error_has_two_lines_in_both_languages(kind: type[FusionError], language: str) -> None:
    """And every reason of it that the locale files know."""
    known = section(language, "errors")[kind.code]
    reasons = ["", *(name for name, node in known.items() if isinstance(node, dict) and name not in ("source", "target"))]
    for reason in reasons:
        message, hint = presenters.error_lines(kind(reason, **facts_for(known)), language)
        assert message.strip()
        assert hint.strip()
        assert "{" not in message + hint


def test_all_errors_were_seen() -> None:
    named = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, FusionError)}
    assert named <= set(tree())


def test_a_fault_of_our_own_shows_none_of_its_text() -> None:
    lines = presenters.error_lines(KeyError("secret/path"), "en")
    assert "secret" not in " ".join(lines)
    assert lines == presenters.notice_lines("fault", "en")


def test_an_error_is_told_in_each_language() -> None:
    told = presenters.told(NoFace(role="source", minimum=36.0))
    assert told["en"][0] == "No face was found in the source picture."
    assert re.search(r"[\u4e00-\u9fff]", told["zh-CN"][0])


def test_a_face_in_jsons_terms() -> None:
    facts = presenters.face_facts(face("turned", angle=61.4, limit=55.0), "en")
    assert facts["box"] == [1, 3, 30, 40]
    assert facts["pose"] == {"yaw": -12.3, "pitch": 5.1, "roll": 0.0}
    assert facts["points5"][0] == [1.0, 2.0]
    assert (facts["index"], facts["score"], facts["sharpness"], facts["usable"], facts["verdict"]) == (3, 0.988, 17.3, False, "turned")
    assert "61" in facts["why"]


@pytest.mark.parametrize(
    ("reason", "facts", "colour", "caption"),
    [
        ("", {}, "good", "usable"),
        ("too_small", {"size": 14.2, "minimum": 36.0}, "bad", "too small: 14 px"),
        ("turned", {"angle": 41.4, "limit": 30.0}, "warn", "turned 41°"),
        ("tilted", {"angle": 50.0, "limit": 30.0}, "warn", "tilted 50°"),
        ("unsteady", {}, "warn", "unclear"),
        ("hidden", {"percent": 70.0, "limit": 60.0}, "warn", "hidden"),
        ("bearded", {"percent": 32.0, "limit": 16.0}, "warn", "full beard"),
    ],
)
def test_verdicts(reason: str, facts: dict[str, float], colour: str, caption: str) -> None:
    one = face(reason, **facts)
    assert presenters.verdict_colour(one) == colour
    assert presenters.verdict_caption(one, "en") == caption
    for language in LANGUAGES:
        assert presenters.verdict_sentence(one, language)


def test_every_verdict_has_a_caption() -> None:
    for language in LANGUAGES:
        assert section(language, "verdicts").keys() == section(language, "page")["verdict"].keys()


def test_every_stage_has_a_name() -> None:
    from engines.timing import STAGES

    for language in LANGUAGES:
        assert set(section(language, "page")["stage_name"]) == {*STAGES, "other"}


@pytest.mark.parametrize(("total", "rest"), [(100.0, 40.0), (60.2, 0.0), (60.0, 0.0), (50.0, 0.0)])
def test_the_bar_adds_up(total: float, rest: float) -> None:
    rows = presenters.stage_rows(Timings((("decode", 20.0), ("fuse", 40.0)), total), "en")
    assert [name for _, name, _ in rows] == ["Read", "Fuse", *(["Other"] if rest else [])]
    assert sum(ms for _, _, ms in rows) == pytest.approx(60 + rest)


@pytest.mark.parametrize(("count", "sentence"), [(0, "No face found"), (1, "1 face"), (7, "7 faces")])
def test_counts(count: int, sentence: str) -> None:
    assert presenters.count_sentence(count, "en") == sentence


@pytest.mark.parametrize("verdict", ["made_here", "marked", "inconclusive", "unmarked"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_verification_in_lines(verdict: str, language: str) -> None:
    labels = Labels("compositeWithTrainedAlgorithmicMedia", "1", "Somebody", "7F3-A91-C04", "Tool 1", "2026-01-02T03:04:05Z")
    found = Verification(verdict, "7F3-A91-C04" if verdict == "made_here" else None, 31.26, FoundLabels(labels, ("c2pa",)), "x")  # type: ignore[arg-type]
    lines = presenters.verification_lines(found, language)
    assert lines[0] == presenters.verdict_of(found, language)
    assert ("7F3-A91-C04" in lines[2]) is (verdict == "made_here")  # below the layer's title
    joined = "\n".join(lines)
    for raw in ("compositeWithTrainedAlgorithmicMedia", "Somebody", "Tool 1", "2026-01-02T03:04:05Z"):  # as they stand in the file
        assert raw in joined


@pytest.mark.parametrize(("language", "changed"), [("en", "changed after it was signed"), ("zh-CN", "签名之后又被改动过")])
def test_what_is_from_here_and_was_changed_since_says_both_at_once(language: str, changed: str) -> None:
    whole = Verification("made_here", "7F3-A91-C04", 31.0, FoundLabels(Labels(), ()), "x", Credentials("ours"))
    touched = replace(whole, credentials=Credentials("tampered"))
    assert changed not in presenters.verdict_of(whole, language)
    assert presenters.verdict_of(touched, language).startswith(presenters.verdict_of(whole, language))
    assert changed in presenters.verdict_of(touched, language)


@pytest.mark.parametrize("verdict", ["marked", "unmarked"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_video_s_verification_says_that_its_frames_were_not_asked(verdict: str, language: str) -> None:
    found = Verification(verdict, None, 0.0, FoundLabels(), "a.mp4", video=True)  # type: ignore[arg-type]
    lines = presenters.verification_lines(found, language)
    assert lines[0] == text(f"provenance.verdict.{verdict}_video", language)
    assert text("provenance.mark.video", language) in lines[2]
    assert f"{text('provenance.layer.looks', language)}:" not in lines


@pytest.mark.parametrize(
    ("preset", "language", "said"),
    [
        (Preset("standard"), "en", "Standard"),
        (Preset("gentle", {"strength": 0.7, "marks": False}), "en", "Gentle: Strength 70 · Marks and make-up: off"),
        (Preset("custom-3f9a12c4", {"beard": "source"}), "en", "Own settings 3f9a12c4: Beard: Source's"),
        (Preset("custom-3f9a12c4", {"boost": 2}), "zh-CN", "自定义设置 3f9a12c4：细节：2"),
        (Preset("custom"), "en", "Own settings"),
        (Preset("vivid"), "en", "vivid"),
    ],
)
def test_settings_are_told_in_words(preset: Preset, language: str, said: str) -> None:
    assert presenters.preset_words(preset, language) == said
    rows = presenters.label_rows(FoundLabels(Labels(settings=(preset, preset))), language)
    assert [value for _, value in rows] == [said, said]


def test_a_strange_label_is_shown_as_it_is() -> None:
    rows = presenters.label_rows(FoundLabels(Labels("somethingNew", "9")), "en")
    assert [value for _, value in rows] == ["somethingNew", "9"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_verdict_has_two_or_three_words_for_a_thumbnail(language: str) -> None:
    known = section(language, "verdicts")
    assert set(section(language, "page")["verdict"]) == set(known)
    for reason in known:
        facts = facts_for(known) | facts_for(section(language, "page")["verdict"])
        one = face("" if reason == "usable" else reason, **facts)
        assert 0 < len(presenters.verdict_caption(one, language)) < 40


@pytest.mark.parametrize("language", LANGUAGES)
def test_refused_places_are_told_line_by_line(language: str) -> None:
    assert presenters.refused_lines([], language) == []
    refused = [
        RefusedFace(Box(1, 2, 30, 40), 0.374, 0.1, "unseen", (("look", 0.1), ("least", 0.75))),
        RefusedFace(Box(7, 8, 9, 10), 0.3, 0.0, "small", (("size", 9.0), ("minimum", 12.0))),
    ]
    lines = presenters.refused_lines(refused, language)
    assert len(lines) == 3
    assert "2" in lines[0]
    assert all(fact in lines[1] for fact in ("0.37 ", "30 × 40", "1, 2", "0.10", "0.75"))
    assert all(fact in lines[2] for fact in ("0.30 ", "9 × 10", "7, 8", "9 ", "12"))
