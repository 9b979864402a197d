"""The whole search on composed pictures of which every face's place is known."""

import cv2
import numpy as np
import pytest

from bench.crowd import Placed, Scene, crowd, ground, heads, put, tally
from engines.faces.finder import MINIMUM_SIZE, FaceFinder
from engines.timing import Progress, Run
from engines.types import Pixels


def laid(width: int, height: int, *places: Placed) -> Scene:
    """Faces on a textured ground, the two people by turns."""
    pixels = ground(width, height, 3)
    for number, place in enumerate(places):
        put(pixels, heads()[number % 2], place)
    return Scene(pixels, places)


@pytest.mark.parametrize("scene", [crowd(12, (16, 20, 24, 32, 36, 48), 1600, 1200, seed=4), crowd(6, (18, 24, 36), 2600, 700, seed=5)])
def test_a_crowd_from_sixteen_pixels_on(scene: Scene, finder: FaceFinder) -> None:
    """Each found once, and each says what may be done with it."""
    faces = finder.find(scene.pixels, Run())
    found = tally(faces, scene)
    assert (len(found.hits), found.false, found.doubled) == (len(scene.placed), 0, 0)
    for face in faces:
        assert (face.verdict.reason == "too_small") == (face.mesh.size < MINIMUM_SIZE)
        assert face.verdict.usable == (face.mesh.size >= MINIMUM_SIZE)


def test_small_faces_behind_a_large_one(finder: FaceFinder) -> None:
    """The large one alone would have been enough for the first look."""
    scene = laid(2600, 1200, Placed(700, 600, 330), *(Placed(1500 + 180 * i, 200 + 190 * i, 24 + 4 * i) for i in range(5)))
    found = tally(finder.find(scene.pixels, Run()), scene)
    assert found.hits == set(range(6))
    assert (found.false, found.doubled) == (0, 0)


@pytest.mark.parametrize(("x", "y"), [(560, 560), (600, 640), (640, 600), (1120, 575)])
def test_a_face_across_the_seam_of_tiles_is_found_once(x: int, y: int, finder: FaceFinder) -> None:
    """Tiles of 2,500 px pictures begin at multiples of 560 and are 640 wide."""
    scene = laid(2500, 700, Placed(x, min(y, 660), 30), Placed(x + 60, min(y, 660), 20))
    found = tally(finder.find(scene.pixels, Run()), scene)
    assert found.hits == {0, 1}
    assert (found.false, found.doubled) == (0, 0)


@pytest.mark.parametrize("roll", [90, 180, -90])
def test_one_on_its_side_among_upright_ones(roll: float, finder: FaceFinder) -> None:
    scene = laid(1400, 900, Placed(300, 300, 40), Placed(700, 500, 40), Placed(1000, 300, 40, roll), Placed(1100, 700, 60, roll))
    faces = finder.find(scene.pixels, Run())
    found = tally(faces, scene)
    assert found.hits == {0, 1, 2, 3}
    assert (found.false, found.doubled) == (0, 0)
    turned = [round(face.mesh.pose.roll / 90) * 90 % 360 for face in faces]
    assert sorted(turned) == sorted([0, 0, roll % 360, roll % 360])


def test_a_large_portrait_before_a_soft_ground_gets_no_tile(finder: FaceFinder, officer: Pixels) -> None:
    """Nor one whose hair and clothes alone have fine detail: two looks, and that is all."""
    soft = np.asarray(cv2.GaussianBlur(ground(2600, 2000, 3), (0, 0), 12), np.uint8)
    put(soft, heads()[1], Placed(1300, 1000, 500))
    stripes = (np.arange(800) // 3 % 2 * 60 + 90).astype(np.uint8)
    soft[1700:, 900:1700] = stripes[None, :, None]
    steps: list[Progress] = []
    assert len(finder.find(soft, Run(steps.append))) == 1
    assert [step.stage for step in steps] == ["detect", "mesh", "detect"]


def test_texture_alone_is_no_face(finder: FaceFinder) -> None:
    assert finder.find(ground(1500, 1100, 8), Run()) == ()
