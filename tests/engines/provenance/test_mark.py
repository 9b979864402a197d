"""Whatever leaves the studio went through `mark`, and says truly what it carries."""

import copy
import dataclasses
from datetime import UTC, datetime

import cv2
import numpy as np
import pytest

from engines.errors import InvalidOption
from engines.provenance import watermark
from engines.provenance.keys import MarkKey
from engines.provenance.labels import TOOL
from engines.provenance.mark import FUSED, SMALLEST, MarkedImage, MarkKind, mark, preview_of
from engines.text import has
from engines.types import Frame, Pixels
from engines.vision import io
from engines.vision.lossy import jpeg_round_trip


@pytest.mark.parametrize(
    ("kind", "of", "source", "aigc", "carries"),
    [
        ("fusion", "", FUSED, "1", "watermark"),
        ("crop", FUSED, FUSED, "1", "watermark"),
        ("crop", "trainedAlgorithmicMedia", "trainedAlgorithmicMedia", "2", "watermark"),
        ("crop", "", "", "", "labels_only"),
        ("preview", FUSED, FUSED, "1", "labels_only"),
        ("preview", "", "", "", "labels_only"),
    ],
)
def test_each_kind_has_its_labels(
    portraits: dict[str, Frame], key: MarkKey, kind: MarkKind, of: str, source: str, aigc: str, carries: str
) -> None:
    made = mark(portraits["astronaut"], key, kind, producer="A \n Studio\0", now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), said=of)
    assert (made.labels.source_type, made.labels.aigc, made.mark.kind) == (source, aigc, carries)
    assert made.labels.algorithmic == bool(source)
    assert (made.labels.producer, made.labels.id, made.labels.tool) == ("A Studio" if source else "", made.mark.id, TOOL)
    assert made.labels.created == "2026-01-02T03:04:05Z"
    assert watermark.detect(made.pixels, key).id == (made.mark.id if carries == "watermark" else None)
    assert made.notes == ()
    assert (made.width, made.height) == (512, 512)


def test_ids_differ_between_outputs(portraits: dict[str, Frame], key: MarkKey) -> None:
    assert mark(portraits["astronaut"], key).mark.id != mark(portraits["astronaut"], key).mark.id


def test_the_frame_stays_as_it_is(portraits: dict[str, Frame], key: MarkKey) -> None:
    frame = portraits["officer"]
    before = frame.pixels.copy()
    made = mark(frame, key)
    assert np.array_equal(frame.pixels, before)
    assert not np.shares_memory(made.pixels, frame.pixels)
    assert not np.array_equal(made.pixels, before)


@pytest.mark.parametrize("size", [1, 16, 112, 128, SMALLEST - 1])
def test_small_ones_carry_labels_and_say_so(portraits: dict[str, Frame], key: MarkKey, size: int) -> None:
    made = mark(io.from_array(portraits["astronaut"].pixels[:size, :size]), key, "crop", said=FUSED)
    assert (made.mark.kind, made.mark.reason) == ("labels_only", "small")
    assert made.notes == (("labels_only", ()),)
    assert made.labels.id == made.mark.id
    assert all(has(f"provenance.reason.{made.mark.reason}", language) for language in ("en", "zh-CN"))


@pytest.mark.parametrize("size", [256, 384])
def test_crops_carry_the_mark(astronaut: Pixels, officer: Pixels, key: MarkKey, size: int) -> None:
    for whole in (astronaut, officer):
        made = mark(io.from_array(whole[20 : 20 + size, 100 : 100 + size]), key, "crop", said=FUSED)
        assert made.mark.kind == "watermark"


def test_what_cannot_carry_it_is_told_from_what_can(key: MarkKey) -> None:
    """White can't get lighter and black can't get darker; noise drowns the mark. What is claimed is what a reader finds."""
    random = np.random.default_rng(4)
    pictures = {
        "black": np.zeros((400, 400, 3), np.uint8),
        "noise": random.integers(0, 256, (400, 400, 3)).astype(np.uint8),
        "sky": np.clip(np.linspace(150, 220, 400)[:, None, None] + random.normal(0, 1, (400, 400, 1)) + np.zeros(3), 0, 255).astype(
            np.uint8
        ),
    }
    made = {name: mark(io.from_array(pixels), key) for name, pixels in pictures.items()}
    assert (made["black"].mark.kind, made["black"].mark.reason) == ("labels_only", "content")
    assert made["black"].notes == (("labels_only", ()),)
    assert made["sky"].mark.kind == "watermark"
    for name, image in made.items():
        found = watermark.detect(image.pixels, key).id
        assert found == (image.mark.id if image.mark.kind == "watermark" else None), name


def test_a_nearly_empty_picture_is_judged_as_it_is_seen(portraits: dict[str, Frame], key: MarkKey) -> None:
    """What is left on white decides, not what stands under full transparency."""
    frame = portraits["astronaut"]
    alpha = np.zeros((512, 512), np.uint8)
    alpha[:40, :40] = 255
    made = mark(Frame(frame.pixels, frame.origin, "", alpha), key)
    assert (made.mark.kind, made.mark.reason) == ("labels_only", "content")
    assert made.alpha is not None
    assert np.array_equal(made.alpha, alpha)


def test_marking_again_keeps_the_first_id_and_changes_nothing(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    first = marked["astronaut"]
    again = first
    for _ in range(5):
        again = mark(io.from_array(again.pixels), key)
    assert again.mark.id == first.mark.id
    assert np.array_equal(again.pixels, first.pixels)
    assert (first.labels.derived_from, again.labels.derived_from) == ("", first.mark.id)


def test_what_is_made_of_a_marked_picture_keeps_its_id(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    """Changed, cut or mirrored: the first id is written again, and stands in the labels."""
    first = marked["officer"]
    weak = jpeg_round_trip(first.pixels, 25)
    assert watermark.detect(weak, key).score < watermark.detect(first.pixels, key).score
    cases = {
        "worn": weak,
        "mirrored": np.ascontiguousarray(first.pixels[:, ::-1]),
        "painted over": np.asarray(cv2.GaussianBlur(first.pixels, (0, 0), 4), np.uint8),
        "cut": np.ascontiguousarray(first.pixels[40:560, 30:500]),
    }
    for name, pixels in cases.items():
        made = mark(io.from_array(pixels), key, first=first.mark.id)
        assert (made.mark.kind, made.mark.id, made.labels.id, made.labels.derived_from) == ("watermark", *[first.mark.id] * 3), name
        assert watermark.detect(made.pixels, key).id == first.mark.id, name


def test_what_no_algorithm_made_is_derived_from_nothing(portraits: dict[str, Frame], key: MarkKey) -> None:
    assert mark(portraits["officer"], key, "crop", first="7F3-A91-C04").labels.derived_from == ""


def test_a_cut_of_a_marked_picture_gets_a_mark_that_reads(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    part = np.ascontiguousarray(marked["officer"].pixels[40:560, 30:500])
    made = mark(io.from_array(part), key, "crop", said=FUSED)
    assert made.mark.kind == "watermark"
    assert watermark.detect(made.pixels, key).id == made.mark.id


def test_a_preview_of_a_fusion_says_what_the_fusion_says(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    whole = marked["officer"]
    shown = preview_of(whole, key, 400)
    assert (shown.width, shown.height, shown.kind, shown.labels) == (341, 400, "preview", whole.labels)
    assert shown.mark.id == whole.mark.id
    assert watermark.detect(shown.pixels, key).id == (whole.mark.id if shown.mark.kind == "watermark" else None)
    assert preview_of(marked["cut-out"], key, 64).mark.kind == "labels_only"


def test_smooth_pictures_get_a_gentler_mark(key: MarkKey) -> None:
    random = np.random.default_rng(9)
    smooth = np.clip(120 + random.normal(0, 1.5, (600, 600, 1)) + np.zeros(3), 0, 255).astype(np.uint8)
    rough = np.clip(120 + random.normal(0, 40, (600, 600, 1)) + np.zeros(3), 0, 255).astype(np.uint8)
    changes = [np.abs(mark(io.from_array(p), key).pixels.astype(int) - p).mean() for p in (smooth, rough)]
    assert 0 < changes[0] < 0.6 < changes[1]


def test_nobody_else_makes_one(marked: dict[str, MarkedImage]) -> None:
    made = marked["astronaut"]
    with pytest.raises(TypeError, match="mark alone"):
        MarkedImage(made.pixels, None, made.mark, made.labels, "fusion")
    with pytest.raises(TypeError, match="mark alone"):
        MarkedImage(made.pixels, None, made.mark, made.labels, "fusion", object())
    with pytest.raises(TypeError, match="mark alone"):
        dataclasses.replace(made, pixels=made.pixels.copy())


def test_it_is_frozen_down_to_its_pixels(marked: dict[str, MarkedImage]) -> None:
    made = marked["cut-out"]
    assert made.alpha is not None
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.kind = "preview"  # type: ignore[misc]
    for array in (made.pixels, made.alpha):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert copy.copy(made).mark == made.mark


def test_other_kinds_are_refused(portraits: dict[str, Frame], key: MarkKey) -> None:
    with pytest.raises(InvalidOption):
        mark(portraits["astronaut"], key, "none")  # type: ignore[arg-type]
