"""The paths of a frame that is to be kept lie in the middle of its rims; how a frame is found is tried with all that lies over a face."""

import cv2
import numpy as np

from engines.faces.occlusion import lumps
from engines.faces.occlusion.glasses import Glasses, fitted, glasses
from engines.faces.occlusion.ridges import Ridges, inside, ridges
from engines.faces.occlusion.scene import SIDE, Scene, chroma_values, read
from engines.faces.occlusion.skin_model import fit
from engines.types import Occlusion, Pixels
from tests.engines.faces.occlusion.conftest import Cut
from tests.engines.faces.occlusion.drawn import Points, draw


def _found(pixels: Pixels, points: Points) -> tuple[Scene, Ridges, Glasses]:
    scene = read(pixels, points)
    lines = ridges(np.ascontiguousarray(chroma_values(scene.pixels.astype(np.float32))[..., 0]))
    return scene, lines, glasses(scene, lines, lumps.weigh(scene, fit(scene)).red)


def test_dark_plastic_above_clear_is_followed_in_its_middle(spectacled: Cut) -> None:
    """An arch of nearly one radius ran over the black upper rims' edges: half of each was lost at its inner end."""
    scene, lines, found = _found(spectacled.pixels, spectacled.points)
    assert found.worn
    assert found.mixed
    for (old, _), (new, closed) in zip(found.paths[:2], fitted(found, scene.points, lines)[:2], strict=True):
        assert closed
        assert new.shape == old.shape
        above = old[:, 1] < old[:, 1].mean() - 0.5 * (old[:, 1].mean() - old[:, 1].min())
        light = [float(np.percentile(scene.pixels[inside(path[above])[::-1]].mean(1), 75)) for path in (old, new)]
        assert light[1] < 0.8 * light[0]
        below = old[:, 1] > old[:, 1].mean() + 3
        np.testing.assert_array_equal(new[below], old[below])


def test_a_frame_of_one_kind_stays_as_it_was_found(bare: Cut) -> None:
    scene, lines, found = _found(draw("thick frames", bare.pixels, bare.points, 1)[0], bare.points)
    assert found.worn
    assert not found.mixed
    assert fitted(found, scene.points, lines) is found.paths


def test_clear_rims_keep_their_width(spectacled: Cut, found_spectacled: Occlusion) -> None:
    """Over a band of .02 of the face's width along the lower rims; with the share of other frames .69 of it stayed."""
    scene, lines, found = _found(spectacled.pixels, spectacled.points)
    alpha = cv2.warpAffine(found_spectacled.alpha, scene.matrix, (SIDE, SIDE), flags=cv2.INTER_AREA)
    for path, _ in fitted(found, scene.points, lines)[:2]:
        ahead = np.roll(path, -1, 0) - np.roll(path, 1, 0)
        normal = np.column_stack([-ahead[:, 1], ahead[:, 0]]) / np.linalg.norm(ahead, axis=1)[:, None]
        below = path[:, 1] > path[:, 1].mean() + 3
        seen = [alpha[inside(path[below] + k * normal[below])[::-1]] for k in (-2, 2)]
        assert np.percentile(seen, 5) > 0.5
        assert np.mean(seen) > 0.85
