"""The upper rim of glasses as one line: over both eyes and the bridge. It tells half-rimless ones, whose lower rims hardly show.

A brow or a lid has such a line as well, but not between the eyes, and not off the brows and lids.
"""

import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS
from engines.faces.occlusion.ridges import Ridges, along, inside
from engines.faces.occlusion.scene import Scene
from engines.faces.occlusion.ways import LINE, cheapest, cost_of
from engines.types import Floats

SEEN = 0.95  # a half-rimless pair 1.04; 26 bare faces .82 and less
_COLUMNS, _ROWS = 100, 45
_BESIDE, _ABOVE, _BELOW = 0.12, -0.3, 0.12  # of the eyes' span: how far it goes on beyond the outer corners, and where it may run
_MIDDLE = 0.08  # half of the bridge's share of its length
_STRONG, _CLEAR, _BRIDGE = 0.9, 0.9, 0.14  # what a rim has: share of strong lines, share off brows and lids, strength on the bridge
_LEAST = 0.1  # strength (log light) of a strong line
_OWN = 0.6  # how much less a line on a brow or a lid counts


def own_lines(scene: Scene) -> Floats:
    """(SIDE, SIDE) 0..1, brows and eyes: what has dark lines of its own."""
    rings = (*((ring, 2) for ring in BROWS), *((ring, 3) for ring in EYE_RINGS))
    return np.asarray(np.maximum.reduce([scene.area(ring, reach) for ring, reach in rings]), np.float32)


def browline(scene: Scene, ridges: Ridges) -> float:
    """How surely the best dark line over both eyes is a frame's: 0 to about 1.1, `SEEN` and more."""
    points = scene.points
    axis = points[263, :2] - points[33, :2]
    unit = max(float(np.linalg.norm(axis)), 1e-6)
    axis = axis / unit
    down = np.array([-axis[1], axis[0]])
    share = np.linspace(0, 1, _COLUMNS)
    start, end = points[33, :2] - axis * _BESIDE * unit, points[263, :2] + axis * _BESIDE * unit
    base = start + share[:, None] * (end - start)
    at = base[:, None] + np.linspace(_ABOVE, _BELOW, _ROWS)[None, :, None] * unit * down
    turn = np.full((_COLUMNS, _ROWS), np.arctan2(axis[1], axis[0]))
    field = np.asarray(-ridges.wide, np.float32)
    value = np.maximum(along(field, at, turn), 0.9 * np.maximum(along(field, at, turn + 0.3), along(field, at, turn - 0.3)))
    x, y = inside(at)
    own = own_lines(scene)[y, x]
    way = cheapest(cost_of(value * (1 - _OWN * own))[None], False)[0]
    rows = np.arange(_COLUMNS)
    found, on_own = value[rows, way], own[rows, way]
    middle = np.abs(share - 0.5) < _MIDDLE
    strong, clear = float((found > _LEAST).mean()), float(((found > LINE) & (on_own < 0.5)).mean())
    return min(strong / _STRONG, clear / _CLEAR, float(np.median(found[middle])) / _BRIDGE)
