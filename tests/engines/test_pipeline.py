"""The one path, on real pictures and the default pack."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import engines
from engines.errors import (
    Cancelled,
    ContentRefused,
    FaceIndexError,
    FaceUnchanged,
    InvalidOption,
    NoFace,
    ProviderUnavailable,
    UnreadableImage,
)
from engines.fusing import lay
from engines.options import FuseOptions
from engines.pipeline import Studio
from engines.provenance.detection import detect
from engines.provenance.mark import FUSED
from engines.results import FusionResult
from engines.settings import Settings
from engines.timing import Progress, Run
from engines.vision import geometry
from engines.vision.lossy import jpeg_round_trip

Pixels = NDArray[np.uint8]


@pytest.fixture(scope="module")
def fused(studio: Studio, officer: Pixels, astronaut: Pixels) -> FusionResult:
    return studio.fuse(officer, astronaut)


@pytest.mark.parametrize(
    ("swapped", "nearer", "line"),
    [
        (False, 0.15, 0.53),  # the network's own line between one person and another is .5; a shut mouth's lips over a smile cost .01
        (True, 0.1, 0.6),  # his glasses stay whole, and to the network they are part of who he is
    ],
)
def test_identity_moves_towards_the_source(
    studio: Studio, officer: Pixels, astronaut: Pixels, swapped: bool, nearer: float, line: float
) -> None:
    source, target = (astronaut, officer) if swapped else (officer, astronaut)
    face = studio.fuse(source, target).faces[0]
    assert face.identity_after <= face.identity_before - nearer
    assert face.similarity_after > face.similarity_before
    assert face.identity_after < line


def test_nothing_outside_the_mask_changes_before_the_mark(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    from engines.vision import blend

    source, target = studio.faces(officer), studio.faces(astronaut)
    half = studio.known.source(source.frame, source.faces[0])
    patch = lay(studio.known, half, target.frame, target.faces[0], FuseOptions(), Run())
    result = blend.apply(astronaut, patch)
    untouched = np.ones(astronaut.shape[:2], bool)
    height, width = patch.mask.shape
    untouched[patch.top : patch.top + height, patch.left : patch.left + width] = patch.mask == 0
    assert 0.5 < untouched.mean() < 1
    np.testing.assert_array_equal(result[untouched], astronaut[untouched])


def test_expression_and_pose_of_the_target_stay(studio: Studio, fused: FusionResult, astronaut: Pixels) -> None:
    before = studio.faces(astronaut).faces[0].mesh
    after = studio.faces(fused.image.pixels).faces[0].mesh
    for angle in ("yaw", "pitch", "roll"):
        assert getattr(after.pose, angle) == pytest.approx(getattr(before.pose, angle), abs=5)
    # Points of the same face, as a share of its size. The source's own proportions come along by design, so the bound is not 0.
    moved = np.linalg.norm(after.points[:468, :2] - before.points[:468, :2], axis=1) / before.size
    assert moved.mean() < 0.04
    assert np.linalg.norm(after.points[13, :2] - after.points[14, :2]) / before.size == pytest.approx(
        np.linalg.norm(before.points[13, :2] - before.points[14, :2]) / before.size, abs=0.03
    )  # how far the mouth is open


def test_the_mark_reads_back_after_jpeg_80(studio: Studio, fused: FusionResult) -> None:
    encoded = fused.encode("jpg", 80)
    found = studio.verify(encoded.data, "fused.jpg")
    assert found.verdict == "made_here"
    assert found.as_dict()["mark"]["id"] == fused.image.mark.id


def test_strength_is_monotone_and_zero_is_an_error(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    half = studio.fuse(officer, astronaut, FuseOptions(strength=0.5)).faces[0]
    full = studio.fuse(officer, astronaut, FuseOptions(strength=1.0)).faces[0]
    assert full.identity_after < half.identity_after < half.identity_before
    with pytest.raises(FaceUnchanged):
        studio.fuse(officer, astronaut, FuseOptions(strength=0.0))


def test_the_same_face_twice_is_an_error(studio: Studio, astronaut: Pixels) -> None:
    with pytest.raises(FaceUnchanged, match="same face"):
        studio.fuse(astronaut, astronaut)


def test_every_stage_is_timed_and_told(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    told: list[str] = []
    run = Run(lambda progress: told.append(progress.stage))
    fresh = np.ascontiguousarray(astronaut[:, ::-1])
    result = studio.fuse(officer, fresh, run=run)
    names = [name for name, _ in result.timings.stages]
    assert set(names) == set(told) >= {"decode", "safety", "detect", "mesh", "embed", "prepare", "fuse", "blend", "mark"}
    assert sum(ms for _, ms in result.timings.stages) <= result.timings.total


def test_what_is_known_of_a_source_is_not_found_out_twice(studio: Studio, fused: FusionResult, officer: Pixels, astronaut: Pixels) -> None:
    told: list[str] = []
    studio.fuse(officer, astronaut, run=Run(lambda progress: told.append(progress.stage)))
    assert "detect" not in told
    assert "mesh" not in told


@pytest.mark.parametrize("stage", ["decode", "safety", "detect", "mesh", "embed", "prepare", "fuse", "blend", "mark"])
def test_a_job_stops_at_every_stage(studio: Studio, officer: Pixels, astronaut: Pixels, stage: str) -> None:
    def watch(progress: Progress) -> None:
        if progress.stage == stage:
            run.cancel()
            encoding.cancel()

    run, encoding = Run(watch), Run()
    shifted = np.roll(astronaut, len(stage) * 7 % 40 + 1, axis=1)  # new to the caches, so that every stage is reached
    with pytest.raises(Cancelled):
        studio.fuse(officer, shifted, run=run).encode("png", run=encoding)


def test_marking_stops_between_strips(studio: Studio, astronaut: Pixels) -> None:
    large = astronaut.repeat(4, axis=0).repeat(4, axis=1)

    class Counting(Run):
        def __init__(self, most: int) -> None:
            super().__init__()
            self.most, self.asked = most, 0

        def check(self) -> None:
            self.asked += 1
            if self.asked >= self.most:
                self.cancel()
            super().check()

    whole, stopped = Counting(1 << 30), Counting(5)
    studio.mark(large, "fusion", whole)
    with pytest.raises(Cancelled):
        studio.mark(large, "fusion", stopped)
    assert 5 <= stopped.asked <= 6  # two threads write the strips: the other one hears of it at its next
    assert whole.asked > 5 * stopped.asked


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (FuseOptions(strength=1.5), "strength"),
        (FuseOptions(strength=-0.1), "strength"),
        (FuseOptions(strength=float("nan")), "strength"),
        (FuseOptions(enhance="most"), "enhance"),  # type: ignore[arg-type]
        (FuseOptions(shape=1.01), "shape"),
        (FuseOptions(feather=True), "feather"),
        (FuseOptions(beard="mine"), "beard"),  # type: ignore[arg-type]
        (FuseOptions(mode="fast"), "mode"),  # type: ignore[arg-type]
        (FuseOptions(keep_eyes=1), "keep_eyes"),  # type: ignore[arg-type]
        (FuseOptions(points=((1.0, 2.0),) * 4), "points"),
    ],
)
def test_options_outside_their_range(studio: Studio, officer: Pixels, astronaut: Pixels, options: FuseOptions, name: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        studio.fuse(officer, astronaut, options)
    assert caught.value.facts["name"] == name


@pytest.mark.parametrize("role", ["source", "target"])
def test_no_face_says_in_which_picture(studio: Studio, astronaut: Pixels, role: str) -> None:
    empty = np.full((200, 300, 3), 127, np.uint8)
    pair = (empty, astronaut) if role == "source" else (astronaut, empty)
    with pytest.raises(NoFace) as caught:
        studio.fuse(*pair)
    assert caught.value.facts["role"] == role


@pytest.mark.parametrize(("options", "role"), [(FuseOptions(face=5), "target"), (FuseOptions(source_face=1), "source")])
def test_a_number_that_no_face_has(studio: Studio, officer: Pixels, astronaut: Pixels, options: FuseOptions, role: str) -> None:
    with pytest.raises(FaceIndexError) as caught:
        studio.fuse(officer, astronaut, options)
    assert (caught.value.facts["role"], caught.value.facts["count"]) == (role, 1)


def test_content_above_the_limit_is_refused_before_anything_is_fused(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    from engines.types import SafetyScore

    studio.known.cache.get(("safety", studio.read(astronaut).digest), lambda: SafetyScore(0.0), lambda _: 64)
    refused = np.ascontiguousarray(astronaut[::-1])
    studio.known.cache.get(("safety", studio.read(refused).digest), lambda: SafetyScore(0.93), lambda _: 64)
    told: list[str] = []
    with pytest.raises(ContentRefused) as caught:
        studio.fuse(astronaut, refused, run=Run(lambda progress: told.append(progress.stage)))
    assert (caught.value.facts["role"], caught.value.facts["score"], caught.value.facts["limit"]) == ("target", 0.93, 0.8)
    assert set(told) == {"decode", "safety"}


def test_the_chosen_face_is_the_one_that_changes(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    mirrored = np.ascontiguousarray(astronaut[:, ::-1])
    three = np.concatenate([astronaut, mirrored, astronaut], axis=1)
    found = studio.faces(three)
    assert [face.index for face in found.faces] == [0, 1, 2]
    centres = [face.box.centre[0] for face in found.faces]
    assert centres == sorted(centres)
    for index in range(3):
        result = studio.fuse(officer, three, FuseOptions(face=index))
        changed = np.abs(result.image.pixels.astype(np.int16) - three).max(axis=2) > 24
        columns = np.nonzero(changed.any(axis=0))[0]
        assert columns.min() >= index * 512
        assert columns.max() < (index + 1) * 512
        assert result.faces[0].index == index


def test_several_faces_without_a_number_are_named_in_a_note(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    small = np.ascontiguousarray(np.pad(astronaut[::2, ::2], ((0, 256), (0, 0), (0, 0)), mode="edge"))
    result = studio.fuse(officer, np.concatenate([small, astronaut], axis=1))
    assert result.faces[0].index == 1
    assert ("several", (("role", "target"), ("count", 2), ("index", 1))) in result.notes


def test_alpha_of_the_target_stays(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    alpha = np.full(astronaut.shape[:2], 255, np.uint8)
    alpha[400:, :100] = np.arange(100, dtype=np.uint8)
    result = studio.fuse(officer, np.dstack([astronaut, alpha]))
    assert result.image.alpha is not None
    np.testing.assert_array_equal(result.image.alpha, alpha)


@pytest.mark.parametrize("size", geometry.CROP_SIZES)
def test_crops_have_the_standard_sizes(studio: Studio, astronaut: Pixels, size: int) -> None:
    found = studio.faces(astronaut)
    crop = studio.crop(found.frame, found.faces[0], size)
    assert crop.pixels.shape == (size, size, 3)
    with pytest.raises(InvalidOption):
        studio.crop(found.frame, found.faces[0], size + 1)


def test_a_provider_that_is_not_there_is_an_error(tmp_path: Path, officer: Pixels, astronaut: Pixels) -> None:
    with Studio.open(Settings(data_dir=tmp_path, provider="coreml")) as other, pytest.raises(ProviderUnavailable):
        other.fuse(officer, astronaut)


def test_a_missing_file_is_said(studio: Studio, tmp_path: Path, astronaut: Pixels) -> None:
    with pytest.raises(UnreadableImage) as caught:
        studio.fuse(tmp_path / "nobody.jpg", astronaut)
    assert caught.value.reason == "missing"


def test_two_threads_get_the_same_answer(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    answers: list[float] = []
    jobs = [threading.Thread(target=lambda: answers.append(studio.fuse(officer, astronaut).faces[0].identity_after)) for _ in range(3)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert len(answers) == 3
    assert len(set(answers)) == 1


@pytest.mark.parametrize("module", ["engines", "engines.pipeline", "engines.picture_tokens"])
def test_the_examples_of_the_docstrings_run(
    module: str, tmp_path: Path, officer_path: Path, astronaut: Pixels, monkeypatch: pytest.MonkeyPatch
) -> None:
    import doctest
    import importlib

    monkeypatch.setenv("FUSION_STUDIO_DATA_DIR", str(tmp_path / "data"))
    names = {"SOURCE": officer_path, "TARGET": astronaut, "OUTPUT": tmp_path / "fused.png"}
    outcome = doctest.testmod(importlib.import_module(module), extraglobs=names)
    assert outcome.attempted >= 3
    assert outcome.failed == 0
    assert engines.__version__


@pytest.mark.parametrize(
    "cut",
    [
        lambda p: p[20:470, 40:480],
        lambda p: p[60:440, 90:450],
        lambda p: np.rot90(p)[30:480, 20:500],
        lambda p: jpeg_round_trip(p[:400, 60:470], 80),
    ],
    ids=["a fifth off", "half off", "turned and cut", "cut and sent"],
)
def test_what_was_cut_from_an_output_keeps_its_first_id(studio: Studio, fused: FusionResult, cut: Callable[[Pixels], Pixels]) -> None:
    """Its labels went with the cut: the watermark alone tells."""
    part = studio.read(np.ascontiguousarray(cut(np.ascontiguousarray(fused.image.pixels))))
    again = studio.mark(part, "fusion", of=part)
    assert (again.mark.id, again.labels.derived_from) == (fused.image.mark.id, fused.image.mark.id)
    assert detect(again.pixels, studio.key).id == fused.image.mark.id
    assert studio.mark(part, "preview", of=part).labels.source_type == FUSED  # what the page shows of it says so
    photo = studio.read(np.ascontiguousarray(cut(np.ascontiguousarray(fused.target.pixels))))
    assert (studio.marker.first_id(photo), studio.mark(photo, "preview", of=photo).labels.source_type) == ("", "")
