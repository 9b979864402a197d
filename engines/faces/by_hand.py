"""A face whose five points a person set: whether they can be a face's, and whether the mesh agrees with them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engines.errors import InvalidOption
from engines.types import Box, Face, Verdict

# Over 33 faces: points up to 8 % of the face beside the features gave the same mesh (within .4 % of the face, 2 % on one face under
# a hat) and lay .04 to .08 from it in the mean, .11 at most; points a third of a face away gave either that mesh, .35 from them, or
# one that wobbles.
OFF, OFF_ONE = 0.11, 0.14  # distance from the mesh's own points, over the face's size: mean of the five, and any one of them
NAMES = ("left_eye_off", "right_eye_off", "nose_off", "left_mouth_off", "right_mouth_off")
FEWEST_PIXELS = 4.0  # between the eyes, and from the eyes to the mouth: under it a click can't tell them apart
ALLOWED = "5 × (x, y)"

Doubles = NDArray[np.float64]


def checked(points: object, width: int, height: int, name: str = "points") -> Doubles:
    """The five points as (5, 2) float64, in pixels of the picture.

    Args:
        points: image-left eye, image-right eye, nose, image-left and image-right corner of the mouth, left and right as the face has
            them when it is upright.
        width, height: of the picture in pixels.
        name: the option that they came with.

    Raises:
        InvalidOption: not five points of numbers; outside (of the picture), together (in one place or on one line), mirrored (left and
            right, or eyes and mouth, exchanged).
    """
    try:
        five = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as fault:
        raise InvalidOption(name=name, value=points, allowed=ALLOWED) from fault
    if five.shape != (5, 2) or not np.isfinite(five).all():
        raise InvalidOption(name=name, value=points, allowed=ALLOWED)
    beyond = ((five < -0.5) | (five > np.array([width, height]) - 0.5)).any(axis=1)
    if beyond.any():
        x, y = five[int(np.argmax(beyond))]
        raise InvalidOption("outside", name=name, x=x, y=y, width=width, height=height)
    across, mouth = five[1] - five[0], five[4] - five[3]
    down = (five[3] + five[4]) / 2 - (five[0] + five[1]) / 2
    apart, tall = float(np.hypot(*across)), float(np.hypot(*down))
    sine = float(across[0] * down[1] - across[1] * down[0]) / max(apart * tall, 1e-9)
    if min(apart, tall) < FEWEST_PIXELS or abs(sine) < 0.2:
        raise InvalidOption("together", name=name)
    if sine < 0 or float(across @ mouth) <= 0:
        raise InvalidOption("mirrored", name=name)
    return five


def disagreement(given: Doubles, found: Doubles, size: float) -> Verdict:
    """Whether points set by hand lie where the mesh has the same features.

    Args:
        given, found: (5, 2), by hand and of the mesh. size: of the face in pixels.

    Returns:
        Usable, points_off (all in all), or the name of the one point that lies furthest off.
    """
    away = np.linalg.norm(given - found, axis=1) / max(size, 1e-6)
    if float(away.mean()) > OFF:
        return Verdict("points_off", (("away", 100 * float(away.mean())),))
    worst = int(np.argmax(away))
    if away[worst] > OFF_ONE:
        return Verdict(NAMES[worst], (("away", 100 * float(away[worst])),))
    return Verdict()


def number_of(five: Doubles, faces: Sequence[Face]) -> int:
    """The number of the found face whose box holds the points' centre (of several the nearest); else their count, a number of its own."""
    centre = five.mean(axis=0)
    holding = [face for face in faces if _holds(face.box, centre)]
    if not holding:
        return len(faces)
    return min(holding, key=lambda face: float(np.hypot(*(centre - face.mesh.points[:468, :2].mean(axis=0))))).index


def _holds(box: Box, point: Doubles) -> bool:
    return bool(box.x <= point[0] <= box.x + box.width and box.y <= point[1] <= box.y + box.height)
