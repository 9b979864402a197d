"""What counts as a solid thing, on a bare face with its evidence set by hand: a mask does, a full beard doesn't."""

import numpy as np
import pytest

from engines.faces.occlusion.hair import Texture
from engines.faces.occlusion.lumps import Evidence, find
from engines.faces.occlusion.scene import SIDE, Bools, Scene, read
from engines.types import Floats
from tests.engines.faces.occlusion.conftest import Cut

BROWNER, GREYER = 0.063, -0.2  # over the skin's a-ratio: of a portrait's beard, and of black cloth
HAIR, CLOTH = 0.015, 0.003  # strength of lines that agree


def _below(scene: Scene, halves: int) -> Floats:
    """(SIDE, SIDE) 1 from under the nose to the chin and out to the outline, on both halves or on one."""
    out = (scene.lower > 0.9).astype(np.float32)
    out[: int(scene.points[164, 1])] = 0
    if halves == 1:
        out[:, : int(scene.points[164, 0])] = 0
    return out


def _found(scene: Scene, where: Floats, red: float, flow: float) -> tuple[Bools, Bools]:
    none = np.zeros((SIDE, SIDE), np.float32)
    evidence = Evidence(4 * where, 6.3 * where, red * where, none, -0.66 * where)
    return find(scene, evidence, Texture(flow * where, 0.6 * where, none, none))


def test_a_full_beard_is_no_thing_before_the_face(bare: Cut) -> None:
    """A bearded portrait was refused as hidden by .37."""
    scene = read(bare.pixels, bare.points)
    where = _below(scene, 2)
    found, beard = _found(scene, where, BROWNER, HAIR)
    assert not found.any()
    assert beard[(where > 0) & scene.covered].mean() > 0.9


@pytest.mark.parametrize(("halves", "red", "flow"), [(2, GREYER, HAIR), (2, BROWNER, CLOTH), (1, BROWNER, HAIR)])
def test_cloth_and_what_one_half_alone_has_are(halves: int, red: float, flow: float, bare: Cut) -> None:
    scene = read(bare.pixels, bare.points)
    where = _below(scene, halves)
    found, beard = _found(scene, where, red, flow)
    assert not beard.any()
    assert found[(where > 0) & scene.covered].mean() > 0.9


@pytest.mark.parametrize(("flow", "thing"), [(0.003, False), (0.02, True)])
def test_the_fold_of_a_smile_is_no_thing_before_the_face(flow: float, thing: bool, bare: Cut) -> None:
    """Its shade is redder and without a line; a laughing portrait's, from nose to cheek, was kept as a patch. Hair of that colour is."""
    scene = read(bare.pixels, bare.points)
    where = _below(scene, 1)
    none = np.zeros((SIDE, SIDE), np.float32)
    evidence = Evidence(4 * where, 5.9 * where, 0.093 * where, none, -0.27 * where)
    found, _ = find(scene, evidence, Texture(flow * where, 0.6 * where, none, none))
    assert bool(found[(where > 0) & scene.covered].mean() > 0.9) == thing
    assert bool(found.any()) == thing
