"""A drawn crop in the target's square: where it comes to lie, and where it doesn't."""

from dataclasses import replace

import numpy as np
import pytest

from engines.faces.canonical import EYE_RINGS, LIPS_OUTER, OVAL
from engines.faces.norm_crop import norm_crop
from engines.faces.swapped import fuse, resampled
from engines.faces.target import PreparedTarget, prepare_target
from engines.faces.topology import five_points
from engines.options import FuseOptions
from engines.types import Face, Occlusion, Pixels
from engines.vision.mask import polygon


@pytest.fixture
def target(officer: Pixels, officer_face: Face) -> PreparedTarget:
    return prepare_target(officer, officer_face.mesh, "live")


@pytest.mark.parametrize("size", [128, 256, 512])
def test_a_crop_that_was_not_changed_lies_on_its_own_pixels(size: int, target: PreparedTarget, officer: Pixels, officer_face: Face) -> None:
    pixels, inside = resampled(target, norm_crop(officer, five_points(officer_face.mesh.points), size))
    away = np.abs(pixels.astype(int) - target.pixels).mean(axis=2)[inside > 0.99]
    assert away.size > 0.2 * target.size**2
    assert away.mean() < {128: 7, 256: 4, 512: 3}[size]  # what 128 px can't hold


def test_it_stays_within_the_face_and_fades_over_the_forehead(target: PreparedTarget, officer: Pixels, officer_face: Face) -> None:
    crop = fuse(target, norm_crop(officer, five_points(officer_face.mesh.points), 256), FuseOptions())
    face = polygon(target.points[OVAL], target.size, target.size) > 0
    assert not (crop.mask[~face]).any()
    nose, top = target.points[4, :2], target.points[10, :2]
    assert crop.mask[round(nose[1]), round(nose[0])] == 255
    line = [crop.mask[tuple(np.round(nose + t * (top - nose)).astype(int)[::-1])] for t in np.linspace(0.5, 1, 60)]
    assert line == sorted(line, reverse=True)
    assert np.abs(np.diff(np.array(line, int))).max() < 40
    np.testing.assert_array_equal(crop.matrix, target.matrix)


def test_what_lies_before_the_face_stays(target: PreparedTarget, officer: Pixels, officer_face: Face) -> None:
    alpha = np.zeros((target.size, target.size), np.float32)
    alpha[:, : target.size // 2] = 1
    covered = replace(target, occlusion=Occlusion(alpha, target.pixels, alpha))
    mask = fuse(covered, norm_crop(officer, five_points(officer_face.mesh.points), 128), FuseOptions()).mask
    assert not mask[:, : target.size // 2].any()
    assert (mask[:, target.size // 2 :] == 255).any()


@pytest.mark.parametrize(("option", "rings"), [("keep_eyes", EYE_RINGS), ("keep_mouth", (LIPS_OUTER,))])
def test_kept_parts_are_not_touched(
    option: str, rings: tuple[list[int], ...], target: PreparedTarget, officer: Pixels, officer_face: Face
) -> None:
    drawn = norm_crop(officer, five_points(officer_face.mesh.points), 128)
    kept = fuse(target, drawn, FuseOptions(**{option: True})).mask  # type: ignore[arg-type]
    for ring in rings:
        part = polygon(target.points[list(ring)], target.size, target.size) > 0.99
        assert kept[part].max() <= 3
        assert fuse(target, drawn, FuseOptions()).mask[part].mean() > 200


@pytest.mark.parametrize("strength", [0.0, 0.05, 0.5, 1.0])
def test_strength_is_a_share_of_the_change(strength: float, target: PreparedTarget, officer: Pixels, officer_face: Face) -> None:
    drawn = norm_crop(officer, five_points(officer_face.mesh.points), 256)
    drawn = replace(drawn, pixels=255 - drawn.pixels)
    crop = fuse(target, drawn, FuseOptions(strength=strength))
    if strength == 0:
        assert not crop.mask.any()
        return
    whole = fuse(target, drawn, FuseOptions()).pixels.astype(float) - target.pixels
    np.testing.assert_allclose(crop.pixels.astype(float) - target.pixels, strength * whole, atol=1.01)
