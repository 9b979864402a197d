"""A high bridge of plastic is kept whole on a portrait; skin between thin rims is no bridge."""

import numpy as np
import pytest

from engines.faces.occlusion import lumps
from engines.faces.occlusion.bridge import bridge
from engines.faces.occlusion.occluders import find_occluders
from engines.faces.occlusion.scene import read
from engines.faces.occlusion.skin_model import fit
from engines.types import Occlusion
from tests.engines.faces.occlusion.conftest import Cut
from tests.engines.faces.occlusion.drawn import Canvas, draw


def test_the_amber_bridge_of_a_portrait_is_kept(spectacled: Cut, found_spectacled: Occlusion) -> None:
    """Its lower edge alone was: .34 of it."""
    canvas = Canvas(spectacled.points, *spectacled.pixels.shape[:2])
    piece = canvas.area(np.array([[-0.06, -0.045], [0.06, -0.055], [0.06, -0.015], [-0.06, -0.005]])) > 0.9
    assert found_spectacled.alpha[piece].mean() > 0.9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_skin_above_a_thin_bridge_is_none(seed: int, bare: Cut) -> None:
    pixels, _ = draw("dark thin frames", bare.pixels, bare.points, seed)
    skin = Canvas(bare.points, *pixels.shape[:2]).area(np.array([[-0.03, -0.12], [0.03, -0.12], [0.03, -0.07], [-0.03, -0.07]])) > 0.9
    assert find_occluders(pixels, bare.points).alpha[skin].mean() < 0.05


def test_no_frame_has_no_bridge(bare: Cut) -> None:
    scene = read(bare.pixels, bare.points)
    skin = fit(scene)
    assert not bridge(scene, skin, lumps.weigh(scene, skin), ()).any()
