"""Masks through the one path: what is fused within them, and that nothing else changes."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.errors import ContentRefused, FaceUnchanged, InvalidOption
from engines.face_mask import STANDARD, FaceMask, Paint
from engines.faces import mesh_swapper
from engines.faces.canonical import EYE_RINGS, LIPS_OUTER
from engines.faces.outline import RING
from engines.faces.source import PreparedSource
from engines.fusing import lay, masked
from engines.options import FuseOptions
from engines.pipeline import Studio
from engines.settings import Settings
from engines.timing import Run
from engines.types import Patch, Pixels, SafetyScore
from engines.vision import blend
from engines.vision.mask import polygon

KINDS = {
    "outline, smaller": FaceMask(grow=-4),
    "box": FaceMask(("box",), padding=(40, 0, 0, 0)),
    "oval": FaceMask(("oval",), grow=-6),
    "skin": FaceMask(("skin",)),
    "brows": FaceMask(("brows",), grow=2),
    "eyes": FaceMask(("eyes",)),
    "nose": FaceMask(("nose",)),
    "lips": FaceMask(("lips", "mouth")),
    "without eyes": FaceMask(leave_out=("eyes", "brows")),
    "without mouth": FaceMask(leave_out=("lips", "mouth"), grow=3),
    "over everything": FaceMask(occlusion=False),
}


@pytest.fixture(scope="module")
def source(studio: Studio, officer: Pixels) -> PreparedSource:
    found = studio.faces(officer)
    return studio.known.source(found.frame, found.faces[0])


def patch_of(studio: Studio, source: PreparedSource, picture: Pixels, options: FuseOptions) -> Patch:
    found = studio.faces(picture)
    return lay(studio.known, source, found.frame, found.faces[0], options, Run())


def full(patch: Patch, picture: Pixels) -> Pixels:
    out = np.zeros(picture.shape[:2], np.uint8)
    out[patch.top : patch.top + patch.mask.shape[0], patch.left : patch.left + patch.mask.shape[1]] = patch.mask
    return out


def test_the_standard_is_the_fusion_without_a_mask(studio: Studio, source: PreparedSource, astronaut: Pixels) -> None:
    found = studio.faces(astronaut)
    spot = studio.known.target(found.frame, found.faces[0], "best", Run())
    bare = blend.paste(astronaut, mesh_swapper.fuse(spot, source, FuseOptions(), Run()))
    for mask in (STANDARD, FaceMask(), FaceMask.of_dict({"areas": ["outline"], "grow": 0})):
        patch = patch_of(studio, source, astronaut, FuseOptions(mask=mask))
        assert (patch.left, patch.top) == (bare.left, bare.top)
        np.testing.assert_array_equal(patch.pixels, bare.pixels)
        np.testing.assert_array_equal(patch.mask, bare.mask)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_outside_the_mask_changes_before_the_mark(kind: str, studio: Studio, source: PreparedSource, astronaut: Pixels) -> None:
    options = FuseOptions(mask=KINDS[kind])
    patch = patch_of(studio, source, astronaut, options)
    fused, mask = blend.apply(astronaut, patch), full(patch, astronaut)
    changed = (fused != astronaut).any(axis=2)
    assert changed.any()
    assert not changed[mask == 0].any()
    # and outside of what the preview tints nothing changes either: as far as the outline may move, which it can't know of
    shown = masked(studio.known, studio.read(astronaut), options, Run())
    reach = 2 * round((RING + 0.05) * np.ptp(studio.faces(astronaut).faces[0].mesh.points[:468, 0])) + 1
    assert not (changed & (cv2.dilate(shown, np.ones((reach, reach), np.uint8)) == 0)).any()


@pytest.mark.parametrize(
    ("mask", "rings"), [(FaceMask(leave_out=("eyes",)), EYE_RINGS), (FaceMask(leave_out=("lips", "mouth")), (LIPS_OUTER,))]
)
def test_what_is_left_out_keeps_every_value(
    mask: FaceMask, rings: tuple[np.ndarray, ...], studio: Studio, source: PreparedSource, astronaut: Pixels
) -> None:
    fused = blend.apply(astronaut, patch_of(studio, source, astronaut, FuseOptions(mask=mask)))
    points = studio.faces(astronaut).faces[0].mesh.points
    for ring in rings:
        part = polygon(points[ring], *astronaut.shape[:2]) > 0
        np.testing.assert_array_equal(fused[part], astronaut[part])


@pytest.mark.parametrize(("scale", "enhance"), [(0.8, "none"), (1.0, "none"), (1.0, "fast"), (2.5, "none"), (9.0, "none")])
def test_what_was_painted_to_be_kept_keeps_every_value(
    scale: float, enhance: str, studio: Studio, source: PreparedSource, astronaut: Pixels
) -> None:
    """Whatever the scale between picture and crop is, and after a network made the crop larger."""
    picture = np.ascontiguousarray(cv2.resize(astronaut[40:230, 120:320], None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
    face = studio.faces(picture).faces[0].mesh
    keep = np.zeros(picture.shape[:2], np.uint8)
    x, y = (int(value) for value in face.points[4, :2])
    cv2.line(keep, (0, y), (picture.shape[1], y + 3), 255, max(1, round(scale)))
    cv2.circle(keep, (x, round(y + 0.3 * face.size)), max(1, round(0.08 * face.size)), 255, -1)
    options = FuseOptions(mask=FaceMask(paint=Paint(np.zeros_like(keep), keep)), enhance=enhance)  # type: ignore[arg-type]
    fused = blend.apply(picture, patch_of(studio, source, picture, options))
    np.testing.assert_array_equal(fused[keep == 255], picture[keep == 255])
    assert (fused != picture).any()


def test_a_stroke_alone_fuses_there_and_nowhere_else(studio: Studio, source: PreparedSource, astronaut: Pixels) -> None:
    stroke = np.zeros(astronaut.shape[:2], np.uint8)
    x, y = (round(float(value)) for value in studio.faces(astronaut).faces[0].mesh.points[4, :2])
    cv2.circle(stroke, (x, y), 10, 255, -1)
    options = FuseOptions(mask=FaceMask((), paint=Paint(stroke, np.zeros_like(stroke))))
    changed = (blend.apply(astronaut, patch_of(studio, source, astronaut, options)) != astronaut).any(axis=2)
    assert changed[stroke == 255].mean() > 0.9
    assert not changed[cv2.dilate(stroke, np.ones((5, 5), np.uint8)) == 0].any()


def test_each_face_has_its_own(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    result = studio.fuse(officer, astronaut, FuseOptions(mask=FaceMask(("nose", "skin"), grow=1.5)))
    told = result.as_dict()["options"]["mask"]
    assert told["areas"] == ["nose", "skin"]
    assert told["grow"] == 1.5
    assert "paint" not in told
    assert result.image.labels.settings[0].options["mask"] == {"areas": ["nose", "skin"], "grow": 1.5}


@pytest.mark.parametrize("mask", [FaceMask(paint=Paint.of(np.zeros((512, 512), np.uint8))), FaceMask(("mouth",), leave_out=("mouth",))])
def test_a_mask_that_leaves_nothing_says_so(mask: FaceMask, studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    with pytest.raises(FaceUnchanged) as told:
        studio.fuse(officer, astronaut, FuseOptions(mask=mask))
    assert told.value.reason == "mask"


def test_a_painted_mask_of_another_picture_is_refused(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    options = FuseOptions(mask=FaceMask(paint=studio.paint(np.full((600, 512, 3), 255, np.uint8))))
    for work in (lambda: studio.fuse(officer, astronaut, options), lambda: studio.mask(astronaut, options)):
        with pytest.raises(InvalidOption) as told:
            work()
        assert told.value.reason == "paint_size"
        assert "512 × 600" in told.value.message()


def test_a_preview_shows_the_mask_and_is_marked(studio: Studio, astronaut: Pixels) -> None:
    image = studio.mask(astronaut, FuseOptions(mask=FaceMask(("eyes",))))
    assert image.kind == "preview"
    tinted = np.abs(image.pixels.astype(int) - astronaut).max(axis=2) > 40
    points = studio.faces(astronaut).faces[0].mesh.points
    assert tinted[polygon(points[EYE_RINGS[0]], *astronaut.shape[:2]) > 0].mean() > 0.9
    assert tinted.mean() < 0.02


def test_a_preview_checks_what_a_fusion_checks(studio: Studio, astronaut: Pixels) -> None:
    with pytest.raises(InvalidOption):
        studio.mask(astronaut, FuseOptions(mask=replace(STANDARD, grow=40)))
    strict = Studio(Settings(data_dir=studio.settings.data_dir, safety_limit=0.2), studio.manifest, studio.key)
    strict.known.cache.get(("safety", studio.read(astronaut).digest), lambda: SafetyScore(0.9), lambda _: 64)
    with pytest.raises(ContentRefused):
        strict.mask(astronaut)
    strict.close()
