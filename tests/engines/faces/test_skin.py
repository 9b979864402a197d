"""What looks like the face's own skin, in any light that falls off across it."""

import numpy as np
import pytest

from engines.faces.skin import skin_likeness
from engines.faces.topology import topology
from engines.types import Pixels

SIDE = 220
POINTS = topology().mean.astype(np.float64) * 180 + [110, 110, 0]


def scene(colour: tuple[int, int, int], slope: float = 0.0) -> Pixels:
    """A skin of one colour, darker towards the right by `slope` of its light."""
    light = 1 - slope * np.linspace(0, 1, SIDE)[None, :, None]
    noise = np.random.default_rng(0).normal(0, 1.5, (SIDE, SIDE, 1))
    return np.clip(np.array(colour) * light + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("colour", [(235, 205, 190), (190, 150, 130), (120, 85, 65), (70, 50, 42), (128, 128, 128)])
@pytest.mark.parametrize("slope", [0.0, 0.35])
def test_skin_is_skin_in_every_tone_and_in_uneven_light(colour: tuple[int, int, int], slope: float) -> None:
    assert skin_likeness(scene(colour, slope), POINTS, 180).mean() > 0.97


@pytest.mark.parametrize("thing", [(30, 22, 20), (40, 120, 60), (250, 220, 90), (60, 80, 200)])
def test_hair_leaves_cloth_and_walls_are_not(thing: tuple[int, int, int]) -> None:
    picture = scene((190, 150, 130))
    picture[:40] = thing
    likeness = skin_likeness(picture, POINTS, 180)
    assert likeness[:34].max() < 0.2
    assert likeness[60:].mean() > 0.97


def test_a_highlight_is_forgiven_sooner_than_a_dark_thing() -> None:
    picture = scene((150, 110, 95))
    lighter, darker = picture.copy(), picture.copy()
    lighter[20:40, 90:130] = np.clip(picture[20:40, 90:130].astype(int) + 75, 0, 255)
    darker[20:40, 90:130] = np.clip(picture[20:40, 90:130].astype(int) - 75, 0, 255)
    light, dark = (skin_likeness(p, POINTS, 180)[25:35, 95:125].mean() for p in (lighter, darker))
    assert light > dark


def test_too_little_face_to_tell_is_all_skin() -> None:
    assert skin_likeness(scene((190, 150, 130)), POINTS * 0.02, 4).min() == 1
