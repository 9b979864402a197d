"""An upper rim drawn over both eyes stands out from a bare face's brows and lids; rims are followed by their colour."""

import cv2
import numpy as np

from engines.faces.occlusion import lumps
from engines.faces.occlusion.browline import SEEN, browline
from engines.faces.occlusion.glasses import WORN, glasses
from engines.faces.occlusion.ridges import ridges
from engines.faces.occlusion.scene import SIDE, Scene, chroma_values, read
from engines.faces.occlusion.skin_model import fit
from engines.types import Floats
from tests.engines.faces.occlusion.conftest import Cut
from tests.engines.faces.occlusion.drawn import draw


def _light(scene: Scene) -> Floats:
    return np.ascontiguousarray(chroma_values(scene.pixels.astype(np.float32))[..., 0])


def test_an_upper_rim_is_told_from_brows(bare: Cut) -> None:
    """The bare face .06, the drawn rim .72: past half of what counts as seen, though it runs over lids and fringe here."""
    plain = read(bare.pixels, bare.points)
    worn = read(draw("half-rimless glasses", bare.pixels, bare.points, 1)[0], bare.points)
    without, drawn = (browline(scene, ridges(_light(scene))) for scene in (plain, worn))
    assert without < 0.3 * SEEN
    assert drawn > without + 0.4


def test_rims_run_along_the_frame(bare: Cut) -> None:
    """Of dark frames nine tenths of the upper rims' way lie on the frame or within 3 px of it, and none on the brows."""
    pixels, alpha = draw("thick frames", bare.pixels, bare.points, 2)
    scene = read(pixels, bare.points)
    found = glasses(scene, ridges(_light(scene)), lumps.weigh(scene, fit(scene)).red)
    assert found.score > WORN
    near = cv2.dilate(cv2.warpAffine(alpha, scene.matrix, (SIDE, SIDE), flags=cv2.INTER_AREA), np.ones((7, 7), np.uint8)) > 0.5
    for rim, closed in found.paths[:2]:
        assert closed
        upper = rim[rim[:, 1] < rim[:, 1].mean()]
        x, y = np.round(upper).astype(int).T
        assert near[y, x].mean() > 0.9
