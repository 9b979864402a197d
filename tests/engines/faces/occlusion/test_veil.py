"""A blue reflection over an eye is taken off, and the eye stays."""

import cv2
import numpy as np
import pytest

from engines.faces.canonical import IRISES
from engines.faces.occlusion.scene import SIDE, read
from engines.faces.occlusion.sheet import Sheet
from engines.faces.occlusion.veil import unveiled
from engines.types import Floats, Pixels
from engines.vision.mask import polygon
from tests.engines.faces.occlusion.conftest import Cut

ALL = np.ones((SIDE, SIDE), bool)


def _streak(bare: Cut) -> Floats:
    """(h, w) 0..1, a slanting line across an iris."""
    at, wide = bare.points[IRISES[0][0], :2], float(np.ptp(bare.points[:468, 0]))
    drawn = np.zeros(bare.pixels.shape[:2], np.uint8)
    ends = [np.round(at + np.array(step) * wide).astype(int).tolist() for step in ((-0.01, -0.03), (0.005, 0.025))]
    cv2.line(drawn, ends[0], ends[1], 255, max(2, round(0.02 * wide)), cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(drawn, (0, 0), 0.7), np.float32) / np.float32(255)


def _without(pixels: Pixels, bare: Cut) -> Floats:
    scene = read(pixels, bare.points)
    return unveiled(pixels.astype(np.float32), scene, Sheet(scene, pixels), ALL)


def test_it_is_subtracted(bare: Cut) -> None:
    streak = _streak(bare)
    seen = np.clip(bare.pixels + streak[..., None] * (50, 45, 125) + 0.5, 0, 255).astype(np.uint8)
    under = streak > 0.5

    def off(image: Floats) -> float:
        return float(np.abs(image - bare.pixels)[under].mean())

    def blue(image: Floats) -> float:
        return float((image[..., 2] - image[..., :2].max(2))[under].mean())

    own, veiled, out = bare.pixels.astype(np.float32), seen.astype(np.float32), _without(seen, bare)
    assert blue(out) - blue(own) < 0.5 * (blue(veiled) - blue(own))
    assert off(out) < 0.85 * off(veiled)
    assert np.array_equal(out[-40:], seen[-40:])


@pytest.mark.parametrize("blue", [0, 30])
def test_eyes_of_any_colour_stay(blue: int, bare: Cut) -> None:
    irises = np.maximum(*(polygon(bare.points[ring[1:]], *bare.pixels.shape[:2]) for ring in IRISES))
    eyes = np.clip(bare.pixels + irises[..., None] * (0, 0, blue), 0, 255).astype(np.uint8)
    assert np.abs(_without(eyes, bare) - eyes).max() < 25
    assert np.abs(_without(eyes, bare) - eyes).mean() < 0.02
