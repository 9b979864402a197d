"""Glasses: a closed rim round each eye, a bridge between them and temples, found together or not at all."""

from dataclasses import dataclass

import numpy as np

from engines.faces.occlusion.browline import SEEN, browline
from engines.faces.occlusion.ridges import Ridges, along
from engines.faces.occlusion.rims import COLOURED, by_colour
from engines.faces.occlusion.scene import Points, Scene
from engines.faces.occlusion.ways import FULL, LINE, centred, cheapest, cost_of
from engines.types import Floats

Path = tuple[Points, bool]  # (n, 2) in pixels of the scene, and whether it is closed

WORN = 2.55  # score: worn 2.65 and more, 31 bare faces 2.48 and less
_ANGLES, _RADII = 80, 30
_SIDE = -0.3  # sine of the angle from which on a rim is an upper one
_EQUAL = 0.1  # what two rims of one shape, closed above the eyes too, add to the score


@dataclass(frozen=True, slots=True)
class Glasses:
    """score: 0..3, worn above `WORN`. paths: rims first, then bridge, then the temples that can be seen.

    mixed: told by dark and bright lines alike: thin metal, or dark plastic above and clear plastic below.
    """

    score: float
    paths: tuple[Path, ...] = ()
    mixed: bool = False

    @property
    def worn(self) -> bool:
        return self.score > WORN


def glasses(scene: Scene, ridges: Ridges, red: Floats) -> Glasses:
    """The best pair of rims: darker than the skin, brighter, or both by turns; or an upper rim alone, with bare lenses under it.

    Args:
        ridges: of the log light. red: (SIDE, SIDE), how much redder than the skin each place is (`Evidence.red`).
    """
    points = scene.points
    axis = points[263, :2] - points[33, :2]
    unit = max(float(np.linalg.norm(axis)), 1e-6)
    axis = axis / unit
    down = np.array([-axis[1], axis[0]])
    # thin metal is bright on one side and dark on the other; a face has more such lines, so there the rims must be alike
    fields = (-ridges.wide, False), (ridges.wide, False), (np.abs(ridges.wide), True)
    best, darker = Glasses(0.0), False
    for signed, either in fields:
        field = np.asarray(signed, np.float32)
        rims, values, sines = _rims(points, field, unit, axis, down)
        low, side = sines > 0.35, np.abs(sines) <= 0.35
        inner = rims[0][(rims[0] @ axis).argmax()], rims[1][(rims[1] @ axis).argmin()]
        bridge, bridged = _between(field, inner[0], inner[1], (-0.16, 0.1), unit, down)
        under = [(v[low] > LINE).mean() for v in values]
        strength = min(float(np.median(v[low])) for v in values)
        sides = float(np.mean([(v[side] > LINE).mean() for v in values]))
        equal = _alike(points, rims, unit) * float(np.clip((min((v[~low] > LINE).mean() for v in values) - 0.8) / 0.1, 0, 1))
        score = float(min(under)) * 0.9 + sides * 0.8 + bridged * 0.7 + min(strength / FULL, 1) * 0.6 + _EQUAL * equal
        if either and equal < 0.5:
            continue
        if score > best.score:
            temples = _temples(field, points, rims, unit, axis, down)
            darker = signed is fields[0][0]
            best = Glasses(score, ((rims[0], True), (rims[1], True), (bridge, False), *temples), either)
    upper = 0.0 if best.worn else browline(scene, ridges)
    if not darker if best.worn else upper < SEEN:
        return best
    dark = np.asarray(-ridges.wide, np.float32)
    rims, shown = by_colour(scene, dark, red, unit, axis, down)
    if shown < COLOURED:
        return best
    if best.worn:
        both = [(_spliced(old, new), True) for (old, _), new in zip(best.paths[:2], rims, strict=True)]
        return Glasses(best.score, (*both, *best.paths[2:]))
    bridge, _ = _between(dark, rims[0][(rims[0] @ axis).argmax()], rims[1][(rims[1] @ axis).argmin()], (-0.16, 0.1), unit, down)
    temples = _temples(dark, points, rims, unit, axis, down)
    return Glasses(round(WORN + upper - SEEN + 0.01, 2), ((rims[0], True), (rims[1], True), (bridge, False), *temples))


def fitted(found: Glasses, points: Points, ridges: Ridges) -> tuple[Path, ...]:
    """The paths of glasses to be kept: the upper part of rims of a mixed kind in the middle of its line, not along its rim.

    Not for glasses to be taken off: how much of a brow they hide is judged by the paths as they were found.
    """
    if not found.mixed:
        return found.paths
    axis = points[263, :2] - points[33, :2]
    down = np.array([-axis[1], axis[0]]) / max(float(np.linalg.norm(axis)), 1e-6)
    field = np.abs(ridges.wide)
    (left, _), (right, _), *others = found.paths
    return ((centred(field, left, down), True), (centred(field, right, down), True), *others)


def _spliced(rim: Points, upper: Points) -> Points:
    """A rim with another one's upper part. Both begin beside the eye and go down first."""
    low, high = (np.sin(np.arange(len(path)) * 2 * np.pi / len(path)) for path in (rim, upper))
    turned = np.roll(np.arange(len(rim)), len(rim) // 4)
    below = turned[low[turned] > _SIDE]
    return np.concatenate([rim[below], upper[high <= _SIDE]])


def _rims(points: Points, field: Floats, unit: float, axis: Points, down: Points) -> tuple[list[Points], list[Floats], Points]:
    """The best closed curve round each eye, the strengths along it, and the sines of its angles."""
    angle, radius = np.arange(_ANGLES) * 2 * np.pi / _ANGLES, np.linspace(0.15, 0.38, _RADII) * unit
    places, tangents = [], []
    for (outer, inner), side in (((33, 133), -1), ((263, 362), 1)):
        # a turned head shortens the far lens
        wide = 1.25 * np.clip(np.linalg.norm(points[outer, :2] - points[inner, :2]) / (0.34 * unit), 0.6, 1.1)
        spoke = np.cos(angle)[:, None] * wide * axis + np.sin(angle)[:, None] * down
        centre = points[[outer, inner], :2].mean(0) + down * unit * 0.05 + axis * side * 0.02 * unit
        tangent = -np.sin(angle)[:, None] * wide * axis + np.cos(angle)[:, None] * down
        places.append(centre + spoke[:, None] * radius[:, None])
        tangents.append(np.broadcast_to(np.arctan2(tangent[:, 1], tangent[:, 0])[:, None], (_ANGLES, _RADII)))
    at, turn = np.stack(places), np.stack(tangents)
    value = along(field, at, turn)
    for tilt in (0.35, -0.35):  # corners
        value = np.maximum(value, 0.8 * along(field, at, turn + tilt))
    path = cheapest(cost_of(value), True)
    rows = np.arange(_ANGLES)
    return [at[k, rows, path[k]] for k in (0, 1)], [value[k, rows, path[k]] for k in (0, 1)], np.sin(angle)


def _alike(points: Points, rims: list[Points], unit: float) -> float:
    """0..1, how far one rim is the other's mirror image: the distances from the eye differ by .02 of the eyes' span at most."""
    far = [
        np.linalg.norm(rim - points[list(eye), :2].mean(0), axis=1) / unit for rim, eye in zip(rims, ((33, 133), (263, 362)), strict=True)
    ]
    opposite = (_ANGLES // 2 - np.arange(_ANGLES)) % _ANGLES
    return float(np.clip((0.04 - np.median(np.abs(far[0] - far[1][opposite]))) / 0.02, 0, 1))


def _temples(field: Floats, points: Points, rims: list[Points], unit: float, axis: Points, down: Points) -> list[Path]:
    out: list[Path] = []
    for rim, ear, side in ((rims[0], 127, -1), (rims[1], 356, 1)):
        hinge = rim[(rim @ axis * side).argmax()]
        end = points[ear, :2] + axis * side * unit * 0.06
        if (end - hinge) @ axis * side > 0.04 * unit:
            path, seen = _between(field, hinge, end, (-0.14, 0.1), unit, down)
            if seen > 0.5:
                out.append((path, False))
    return out


def _between(field: Floats, start: Points, end: Points, reach: tuple[float, float], unit: float, down: Points) -> tuple[Points, float]:
    """The best line from one place to another, and the share of it that is a line."""
    rows = max(6, int(np.linalg.norm(end - start) / 3))
    base = start + np.linspace(0, 1, rows)[:, None] * (end - start)
    at = base[:, None] + np.linspace(*reach, 25)[None, :, None] * unit * down
    value = along(field, at, np.full((rows, 25), np.arctan2(end[1] - start[1], end[0] - start[0])))
    path = cheapest(cost_of(value)[None], False)[0]
    taken = np.arange(rows)
    return at[taken, path], float((value[taken, path] > LINE).mean())
