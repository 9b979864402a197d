"""The skin's own look is found though half of the face is covered; hands' bones become a mask."""

import numpy as np

from engines.faces.occlusion.hand_mask import hand_mask
from engines.faces.occlusion.lumps import weigh
from engines.faces.occlusion.scene import SIDE, read
from engines.faces.occlusion.skin_model import fit
from tests.engines.faces.occlusion.conftest import Cut
from tests.engines.faces.occlusion.drawn import draw


def test_a_mask_over_half_of_the_face_doesnt_become_the_skin(bare: Cut) -> None:
    open_face, covered = read(bare.pixels, bare.points), read(draw("mask", bare.pixels, bare.points)[0], bare.points)
    upper = (open_face.trusted > 0.5) & (np.arange(SIDE)[:, None] < open_face.points[4, 1])
    a, b = fit(open_face), fit(covered)
    np.testing.assert_allclose(b.ground[upper].mean(0), a.ground[upper].mean(0), atol=12)
    chin = np.round(covered.points[199, :2]).astype(int)
    assert weigh(covered, b).misfit[chin[1], chin[0]] > 4


def test_a_face_without_bare_skin_still_has_a_model(bare: Cut) -> None:
    points = bare.points.copy()
    points[:, :2] = points[:, :2] * 0.001 + 190  # all in one place
    skin = fit(read(bare.pixels, points))
    assert np.isfinite(skin.trend).all()
    assert np.isfinite(skin.ground).all()


def test_fingers_become_a_mask_as_wide_as_they_are(bare: Cut) -> None:
    """A hand of one colour, laid over the chin: its silhouette comes back, nothing far from it does."""
    pixels = bare.pixels.copy()
    scene = read(pixels, bare.points)
    base, tips = np.array([120.0, 225.0]), [np.array([80.0 + 18 * k, 150.0 + 4 * abs(k - 2)]) for k in range(5)]
    points = np.zeros((21, 2))
    points[0] = base
    for k, tip in enumerate(tips):
        knuckle = base + (tip - base) * 0.45
        for j in range(4):
            points[1 + 4 * k + j] = knuckle + (tip - knuckle) * j / 3
    mask = hand_mask(scene, [points])
    assert mask[190:220, 110:130].mean() > 0.5
    assert not mask[:110].any()
    assert not hand_mask(scene, []).any()
