"""The thick ends of a frame: drawn with their exact place, kept whole on both sides; without a frame there are none."""

import numpy as np
import pytest

from engines.faces.occlusion import lumps
from engines.faces.occlusion.end_pieces import end_pieces
from engines.faces.occlusion.occluders import find_occluders
from engines.faces.occlusion.scene import read
from engines.faces.occlusion.skin_model import fit
from tests.engines.faces.occlusion.conftest import Cut
from tests.engines.faces.occlusion.drawn import WING, Canvas, draw


@pytest.mark.parametrize("seed", [1, 2])
def test_both_wings_of_a_frame_are_kept(seed: int, bare: Cut) -> None:
    """They are wider than a line of the frame's own width; without this search .76 of one and .93 of the other stayed."""
    pixels, _ = draw("winged frames", bare.pixels, bare.points, seed)
    found = find_occluders(pixels, bare.points).alpha
    for side in (-1, 1):
        canvas = Canvas(bare.points, *pixels.shape[:2])
        wing = canvas.area(np.array([[side * x, y] for x, y in WING])) > 0.9
        assert found[wing].mean() > 0.97


def test_no_frame_has_no_end_pieces(bare: Cut) -> None:
    scene = read(bare.pixels, bare.points)
    assert not end_pieces(scene, lumps.weigh(scene, fit(scene)), ()).any()
