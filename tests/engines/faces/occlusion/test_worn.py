"""A source's glasses: taken off without a trace, or told to be past it."""

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from engines.faces.canonical import BROWS, EYE_RINGS
from engines.faces.mesh_swapper import fuse, prepare, prepare_target
from engines.faces.occlusion.as_source import GLASSES
from engines.faces.occlusion.glasses import WORN
from engines.faces.occlusion.occluders import find_occluders, find_on_source
from engines.options import FuseOptions
from engines.timing import Run
from engines.types import Face, Floats, Pixels
from engines.vision.mask import grow, polygon
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


@pytest.mark.parametrize("kind", ["dark thin frames", "metal frames", "thick frames"])
def test_under_a_frame_between_brow_and_eye_there_is_skin(kind: str, bare: Cut) -> None:
    """No hair of the brow and no lashes are drawn out into it: they would darken it by 60 to 80 levels."""
    pixels, alpha = draw(kind, bare.pixels, bare.points, 2)

    def area(rings: tuple[Any, ...], reach: float) -> Floats:
        drawn = np.maximum(*(polygon(bare.points[ring], *alpha.shape) for ring in rings))
        return grow(drawn, reach * float(np.ptp(bare.points[:468, 0])))

    between = np.minimum(area(BROWS, 0.06), area(EYE_RINGS, 0.06)) * (1 - area(BROWS, 0)) * (1 - area(EYE_RINGS, 0))
    under = (alpha > 0.5) & (between > 0.5)
    clean = find_on_source(pixels, bare.points).occlusion.clean
    assert under.sum() > 100
    assert float((bare.pixels[under].astype(np.float32) - clean[under]).mean()) < 35


def test_the_shadow_under_a_rim_goes_with_it(bare: Cut) -> None:
    pixels, alpha = draw("dark thin frames", bare.pixels, bare.points, 2)
    eyes = round(float(bare.points[[33, 133, 263, 362], 1].mean()) + 0.06 * np.ptp(bare.points[:468, 1]))
    down = round(0.035 * float(np.ptp(bare.points[:468, 0])))
    shade = np.roll(alpha, down, 0)
    shade[:eyes] = 0
    shaded = np.clip(pixels * (1 - 0.2 * shade[..., None] * (1 - alpha[..., None])) + 0.5, 0, 255).astype(np.uint8)
    under = (shade > 0.9) & (alpha < 0.05) & bare.painted
    clean = find_on_source(shaded, bare.points).occlusion.clean

    def off(image: Pixels) -> float:
        return float(np.abs(image.astype(np.float32) - bare.pixels)[under].mean())

    assert under.sum() > 100
    assert off(clean) < 0.6 * off(shaded)


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


def test_the_fill_has_the_skins_pores(bare: Cut) -> None:
    """Smooth, it stays wax beside the cheeks: what makes the skin as fine as the target's finds nothing there to sharpen."""
    random = np.random.default_rng(1).normal(0, 5, bare.pixels.shape[:2])[..., None]
    grained = np.clip(bare.pixels + random + 0.5, 0, 255).astype(np.uint8)
    pixels, alpha = draw("thick frames", grained, bare.points, 2)
    seen = find_on_source(pixels, bare.points)
    wide = float(np.ptp(bare.points[:468, 0]))
    own = np.maximum.reduce([polygon(bare.points[ring], *bare.pixels.shape[:2]) for ring in (*BROWS, *EYE_RINGS)])
    filled = (alpha > 0.5) & bare.painted & (grow(own, 0.05 * wide) < 0.1)

    def fine(image: Pixels) -> float:
        luma = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
        return float((luma - cv2.GaussianBlur(luma, (0, 0), 2))[filled].std())

    assert filled.sum() > 500
    assert 0.4 < fine(seen.occlusion.clean) / fine(grained) < 1.5
