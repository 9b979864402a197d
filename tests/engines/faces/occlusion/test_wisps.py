"""Wisps beside a lock are kept; beside nothing, or in pairs as folds come, no line is one."""

import cv2
import numpy as np

from engines.faces.occlusion.hair import texture
from engines.faces.occlusion.ridges import ridges
from engines.faces.occlusion.scene import SIDE, Bools, Scene, chroma_values, read
from engines.faces.occlusion.sheet import Sheet
from engines.faces.occlusion.wisps import beside, wisps
from engines.types import Floats, Pixels
from tests.engines.faces.occlusion.conftest import Cut

HAIR = (30, 24, 20)


def lined(bare: Cut, sides: tuple[int, ...]) -> tuple[Pixels, list[Bools]]:
    """The face with short fine lines on its cheeks, too short for strands, and where they lie."""
    pixels, places = bare.pixels.copy(), []
    for side in sides:
        cheek = bare.points[50 if side < 0 else 280, :2]
        line = np.zeros(pixels.shape[:2], np.uint8)
        for k in range(3):
            start = cheek + np.array([side * (-4 + 7 * k), -14])
            ends = [start, start + np.array([side * 5, 26])]
            cv2.line(line, *(tuple(np.round(end * 8).astype(int).tolist()) for end in ends), 255, 2, cv2.LINE_AA, 3)  # type: ignore[call-overload]
        share = line[..., None].astype(np.float32) / 255
        pixels = (pixels * (1 - share) + np.array(HAIR, np.float32) * share).astype(np.uint8)
        places.append(line > 200)
    return pixels, places


def found(pixels: Pixels, bare: Cut, side: int | None) -> Floats:
    """The alpha beside a lock at one side of the face, or without any."""
    scene = read(pixels, bare.points)
    woven = texture(ridges(np.ascontiguousarray(chroma_values(scene.pixels.astype(np.float32))[..., 0])))
    near = beside(scene, woven, np.zeros((SIDE, SIDE), bool) if side is None else _lock(scene, side))
    return wisps(Sheet(scene, pixels), pixels.astype(np.float32), near)[0]


def _lock(scene: Scene, side: int) -> Bools:
    """A band of 20 px down one side of the face, its inner edge 14 px beside the cheek's middle."""
    x = scene.points[50 if side < 0 else 280, 0] + side * 24
    columns = np.arange(SIDE)
    band = (np.abs(columns - x) < 10)[None] & np.ones((SIDE, 1), bool)
    return np.asarray(band & scene.covered)


def test_fine_hair_beside_a_lock_is_kept(bare: Cut) -> None:
    pixels, (line,) = lined(bare, (1,))
    assert found(pixels, bare, 1)[line].mean() > 0.6
    assert found(bare.pixels, bare, 1)[line].mean() < 0.1  # bare skin there is no hair


def test_without_a_lock_nothing_is_a_wisp(bare: Cut) -> None:
    pixels, _ = lined(bare, (1,))
    assert not found(pixels, bare, None).any()


def test_lines_in_pairs_are_folds(bare: Cut) -> None:
    pixels, (_, line) = lined(bare, (-1, 1))
    alone, paired = found(lined(bare, (1,))[0], bare, 1)[line].mean(), found(pixels, bare, 1)[line].mean()
    assert paired < 0.6 * alone


def test_the_ground_is_as_light_as_the_skin_round_it(bare: Cut) -> None:
    pixels, (line,) = lined(bare, (1,))
    scene = read(pixels, bare.points)
    _, clean = wisps(Sheet(scene, pixels), pixels.astype(np.float32), np.ones((SIDE, SIDE), np.float32))
    away = np.abs(clean[line].mean(0) - bare.pixels[line].mean(0))
    assert away.max() < 25  # the lines themselves are 100 levels darker
    assert np.abs(pixels[line].mean(0) - bare.pixels[line].mean(0)).min() > 60
