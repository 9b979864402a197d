"""A source's glasses: taken off without a trace, or told to be past it."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.faces.mesh_swapper import fuse, prepare, prepare_target
from engines.faces.occlusion.as_source import GLASSES
from engines.faces.occlusion.glasses import WORN
from engines.faces.occlusion.occluders import find_occluders, find_on_source
from engines.options import FuseOptions
from engines.timing import Run
from engines.types import Face, Pixels
from tests.engines.faces.occlusion.conftest import Cut
from tests.engines.faces.occlusion.drawn import draw


@pytest.mark.parametrize("kind", ["dark thin frames", "metal frames"])
def test_thin_frames_come_off(kind: str, bare: Cut) -> None:
    """What is left differs from the bare face by less than half of what the frame did, and no glasses are found on it."""
    pixels, alpha = draw(kind, bare.pixels, bare.points, 2)
    seen = find_on_source(pixels, bare.points)
    assert dict(seen.occlusion.found)["glasses_left"] < GLASSES
    frame = (alpha > 0.5) & bare.painted

    def off(image: Pixels) -> float:
        return float(np.abs(image.astype(np.float32) - bare.pixels)[frame].mean())

    assert off(seen.occlusion.clean) < 0.5 * off(pixels)
    assert dict(find_occluders(seen.occlusion.clean, bare.points).found)["glasses"] < WORN


@pytest.mark.parametrize("kind", ["dark thin frames", "thick frames"])
def test_no_brow_comes_down_over_the_lid(kind: str, bare: Cut) -> None:
    """Between brow and eye skin is filled in from skin: 12 to 22 levels darker than it was, against 32 to 48 if hair counted as its rim."""
    pixels, alpha = draw(kind, bare.pixels, bare.points, 2)
    upper = (alpha > 0.5) & bare.painted
    upper[: int(bare.points[[105, 334], 1].mean())] = False
    upper[int(bare.points[[159, 386], 1].mean()) :] = False
    change = find_on_source(pixels, bare.points).occlusion.clean.astype(np.float32) - bare.pixels
    assert change[upper].mean() > -28


def test_a_frame_over_the_brows_is_past_it(bare: Cut) -> None:
    moved = bare.points.copy()
    moved[:, 1] -= 0.1 * np.ptp(bare.points[:468, 1])
    pixels, _ = draw("thick frames", bare.pixels, moved, 2)
    seen = find_on_source(pixels, bare.points)
    measures = dict(seen.occlusion.found)
    assert measures["glasses"] <= WORN or measures["glasses_left"] > GLASSES


def test_what_can_be_laid_over_another_face_is_the_frame(bare: Cut) -> None:
    pixels, alpha = draw("thick frames", bare.pixels, bare.points, 2)
    seen = find_on_source(pixels, bare.points)
    assert seen.glass is not None
    assert seen.bespectacled is not None
    rim = (alpha > 0.9) & bare.painted
    assert (seen.glass[rim] > 0.5).mean() > 0.85
    assert (seen.bespectacled == pixels).all(2)[rim].mean() > 0.9


def test_a_bare_source_has_none(bare: Cut) -> None:
    seen = find_on_source(bare.pixels, bare.points)
    assert seen.glass is None
    assert seen.bespectacled is None
    assert "glasses_left" not in dict(seen.occlusion.found)


def test_glasses_come_along_whole(officer: Pixels, officer_face: Face, astronaut: Pixels, astronaut_face: Face) -> None:
    """On the result glasses are found as on the source, whether asked for or because they can't be taken off; a target's own stay alone."""
    source, target = prepare(officer, officer_face.mesh), prepare_target(astronaut, astronaut_face.mesh)
    assert dict(source.found)["glasses_left"] > GLASSES
    for options in (FuseOptions(glasses=True), FuseOptions()):
        crop = fuse(target, source, options, Run())
        share = crop.mask.astype(np.float32)[..., None] / 255
        result = np.clip(target.pixels * (1 - share) + crop.pixels * share + 0.5, 0, 255).astype(np.uint8)
        assert dict(find_occluders(result, target.points).found)["glasses"] > WORN
    wearing = replace(target, occlusion=replace(target.occlusion, found=(("glasses", 3.0),)))
    without = fuse(wearing, source, FuseOptions(glasses=True), Run())
    assert cv2.norm(without.pixels, crop.pixels) > 0
