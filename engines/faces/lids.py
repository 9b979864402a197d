"""How far the eyes of a fusion are open: as far as the target's, whatever a mesh makes of lids that it reads half.

A mesh network reads lids towards what is usual. Lids of 22 portraits, drawn apart or together by a factor, were read as moved by its
power of .25 to .38 alone. So of two eyes that it reads unlike, the lids differ by more than it says, and a source's painted between
the target's lids as they were read is still too near to its own opening.
"""

import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, IRISES, falloff
from engines.faces.geometry_transfer import Points, eye_opening
from engines.types import Floats
from engines.vision.mask import smoothstep

LOWERED = (0.35, 0.5)  # target's opening over the source's: below the first the target's whole lids come along, from the second none
# A shut eye is read as open by .13 to .16, one that squints into the sun by .18 to .22; and shut only beside a source that is open.
SHUT, BESIDE = (0.16, 0.18), (0.55, 0.75)
GAZE = (0.16, 0.26)  # difference of gaze in widths of the eye: below the first the source's own eyes are turned, from the second none
# And of the lids' opening, as a factor, where the target's hang lower (a lid drawn half over its eye looks better than two lids in one
# eye) and where they are wider open (an iris that was half covered would be drawn out to an egg).
LOWER, WIDER = (2.0, 2.8), (1.5, 2.0)
# Power of the openings' ratio by which the lids are moved further. Over the bench's pairs .8, .9, 1 and 1.1 left medians of .066, .062,
# .059 and .065, and under another light .071, .069, .065 and .065; the means are alike (.067 to .072). What is left is the mesh's own
# scatter, and the eye decided: at 1 a target's half-shut eye comes out as far shut.
FURTHER = 1.0
MOST = 1.25  # and the largest such factor
_REACH = 0.06  # face widths from the lids to where the skin stays


def gaze(points: Points, ring: NDArray[np.integer], iris: NDArray[np.integer]) -> NDArray[np.float64]:
    """(2,) where the iris of a mesh (478, 2 or 3) lies from the middle between its eye's corners, along and across, in eye widths."""
    along = points[ring[8], :2] - points[ring[0], :2]
    off = points[iris[0], :2] - (points[ring[0], :2] + points[ring[8], :2]) / 2
    square = max(float(along @ along), 1e-9)
    return np.array([off @ along, along[0] * off[1] - along[1] * off[0]]) / square


def alike(target: Points, source: Points) -> float:
    """0..1: how far the source's eyes look where the target's do, and are as open; of both eyes the less alike counts."""
    worst = 1.0
    for ring, iris in zip(EYE_RINGS, IRISES, strict=True):
        apart = float(np.linalg.norm(gaze(target, ring, iris) - gaze(source, ring, iris)))
        ratio = max(_ratio(target, source, ring), 1e-3)
        for value, limits in ((apart, GAZE), (1 / ratio, LOWER), (ratio, WIDER)):
            worst = min(worst, 1 - float(smoothstep(np.array(value, np.float32), *limits)))
    return worst


def lowered(target: Points, source: Points, eye: int) -> float:
    """0..1: how far the target's lid hangs over an eye that the source has open."""
    ring = EYE_RINGS[eye]
    ratio = np.array(_ratio(target, source, ring), np.float32)
    shut = 1 - smoothstep(np.array(eye_opening(target, ring), np.float32), *SHUT)
    return float(max(1 - smoothstep(ratio, *LOWERED), shut * (1 - smoothstep(ratio, *BESIDE))))


def drawn(shape: Points, target: Points, source: Points, strength: float) -> Points:
    """A fusion's mesh with its lids drawn further apart, or together, where the source's eyes are painted.

    Args:
        shape, target, source: (478, 3). strength: 0..1.
    """
    share, out = strength * FURTHER * alike(target, source), shape.copy()
    for eye, ring in enumerate(EYE_RINGS):
        power = share * (1 - lowered(target, source, eye))
        factor = float(np.clip(max(_ratio(target, source, ring), 1e-3) ** power, 1 / MOST, MOST))
        out[:, :2] += (factor - 1) * _heights(shape, ring)
    return out


def _ratio(target: Points, source: Points, ring: NDArray[np.integer]) -> float:
    return eye_opening(target, ring) / max(eye_opening(source, ring), 1e-6)


def _heights(shape: Points, ring: NDArray[np.integer]) -> NDArray[np.float64]:
    """(478, 2): how far each vertex lies off the line through an eye's corners, within the lids; what is beyond goes with its lid."""
    corner, along = shape[ring[0], :2], shape[ring[8], :2] - shape[ring[0], :2]
    square = max(float(along @ along), 1e-9)
    across = np.array([-along[1], along[0]])
    u, v = (shape[:, :2] - corner) @ along / square, (shape[:, :2] - corner) @ across / square
    bounds = [np.interp(u, np.maximum.accumulate(u[lid]), v[lid], 0, 0) for lid in (ring[:9], np.append(ring[0], ring[:7:-1]))]
    within = np.clip(v, np.minimum(*bounds), np.maximum(*bounds))
    return np.asarray((within * _near(ring))[:, None] * across, np.float64)


def _near(ring: NDArray[np.integer]) -> Floats:
    weight = falloff(tuple(ring.tolist()), _REACH).copy()
    weight[np.concatenate(IRISES)] = 0  # a gaze stays
    return weight
