"""Rims followed by their colour as well as their darkness: plastic and metal are greyer than skin, and a brow above them hardly is.

By darkness alone the way runs along the brow where that is the darker of two lines; then brow and lid would be kept as parts of a frame.
"""

import numpy as np

from engines.faces.occlusion.browline import own_lines
from engines.faces.occlusion.ridges import along, inside, ridges
from engines.faces.occlusion.scene import Points, Scene
from engines.faces.occlusion.ways import FULL, cheapest
from engines.types import Floats

COLOURED = 0.85  # share of greyer lines: frames .88 and more, one of thin black metal .64; without it the darkness decides
_GREY, _SOME = 0.02, 0.012  # how much greyer (a / (L + 16)) counts in full, and at all
_SHARES = 0.5, 0.6  # of darkness and of greyness in what a place is worth
_ANGLES, _RADII = 160, 40
_TILTS = (
    (0.4, 0.9),
    (-0.4, 0.9),
    (0.8, 0.7),
    (-0.8, 0.7),
)  # corners: turned by how much, and what it counts then


def by_colour(scene: Scene, dark: Floats, red: Floats, unit: float, axis: Points, down: Points) -> tuple[list[Points], float]:
    """The best closed curve round each eye, and the share of the worse one that is greyer than what lies beside it.

    Args:
        dark: (TURNS, SIDE, SIDE), how much darker lines are. red: of `glasses`. unit: the eyes' span. axis, down: along and across them.
    """
    grey = np.asarray(-ridges(np.ascontiguousarray(red)).wide, np.float32)
    points, own = scene.points, own_lines(scene)
    angle, radius = np.arange(_ANGLES) * 2 * np.pi / _ANGLES, np.linspace(0.13, 0.42, _RADII) * unit
    places, turns = [], []
    for (outer, inner), side in (((33, 133), -1), ((263, 362), 1)):
        # a turned head shortens the far lens, though less than the eye behind it
        wide = 1.3 * np.clip(np.linalg.norm(points[outer, :2] - points[inner, :2]) / (0.34 * unit), 0.8, 1.1)
        spoke = np.cos(angle)[:, None] * wide * axis + np.sin(angle)[:, None] * down
        tangent = -np.sin(angle)[:, None] * wide * axis + np.cos(angle)[:, None] * down
        centre = points[[outer, inner], :2].mean(0) + down * unit * 0.05 + axis * side * 0.02 * unit
        places.append(centre + spoke[:, None] * radius[:, None])
        turns.append(np.broadcast_to(np.arctan2(tangent[:, 1], tangent[:, 0])[:, None], (_ANGLES, _RADII)))
    at, turn = np.stack(places), np.stack(turns)
    x, y = inside(at)
    on_own = own[y, x]

    def strength(field: Floats) -> Floats:
        value = along(field, at, turn)
        for tilt, counts in _TILTS:
            value = np.maximum(value, counts * along(field, at, turn + tilt))
        return value

    darker, greyer = np.clip(strength(dark) / FULL, -0.2, 1), np.clip(strength(grey) / _GREY, -0.2, 1)
    way = cheapest(1 - _SHARES[0] * darker * (1 - on_own) - _SHARES[1] * greyer * (1 - 0.3 * on_own), True)
    rows = np.arange(_ANGLES)
    rims = [at[k, rows, way[k]] for k in (0, 1)]
    best = grey.max(0)
    return rims, min(float((best[inside(rim)[::-1]] > _SOME).mean()) for rim in rims)
