"""Where the source's features go in the target: pose taken over, shape mixed, expression left alone."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, IRISES, LIPS_INNER, LIPS_OUTER, OVAL, SOCKETS, falloff
from engines.faces.pose import pose_of
from engines.faces.topology import RIGID, SURFACE, topology
from engines.types import Floats
from engines.vision.mask import convex, signed_distance

Points = NDArray[np.float64]

SHAPE = 0.8  # share of the source's posed geometry that is carried over; each tenth less costs .005 of identity
LIP_SHAPE = 0.5  # the same round the lips, where the expression lives
# A close-up's perspective is no one's shape: no vertex moves further than this share of the face's width.
FURTHEST = 0.045
# A turned face shows less of its shape, and the identity network misses it: from TURNED degrees of yaw on (true ones) more of the
# source's is carried, up to all of it. Over 20 pairs at three quarters .005 of identity, without any visible price.
TURNED, TURNED_FULLY = 10.0, 35.0
TURNED_SHAPE, TURNED_FURTHEST = 1.0, 0.06
# The outline that a turned face shows is no line of the mesh but its cheek: within this share of its width from what the camera sees
# as the edge, vertices stay, or the mask would reach beyond the cheek. (Costs .002 of identity over the same pairs; .1 costs .003.)
OUTLINE = 0.05
CLOSED = 0.045  # lip gap over mouth width below which a mouth is shut

SMILE = (0.03, 0.09)  # difference of two mouths' widths, over that of the eyes, from which and up to which one smiles and the other doesn't

_STABLE = np.array(RIGID)


def width(mesh: NDArray[np.floating]) -> float:
    """The larger extent of the surface points in pixels: what all lengths of the fusion are shares of."""
    return float(np.ptp(mesh[:468, :2], axis=0).max())


def posed(source: Points, target: Points) -> Points:
    """The source's mesh (478, 3) moved, turned and scaled onto the target's by its stable vertices (Umeyama, 1991)."""
    a, b = source[_STABLE], target[_STABLE]
    centre_a, centre_b = a.mean(0), b.mean(0)
    u, s, vt = np.linalg.svd((b - centre_b).T @ (a - centre_a))
    handed = np.array([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    scale = float((s * handed).sum() / ((a - centre_a) ** 2).sum())
    return np.asarray(scale * (source - centre_a) @ ((u * handed) @ vt).T + centre_b)


def facing(mesh: Points) -> Floats:
    """(478,) z of the unit vertex normal: 1 faces the camera, 0 and less is hidden."""
    triangles = topology().triangles
    corner = mesh[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    total = np.stack([np.bincount(triangles.ravel(), np.repeat(normal[:, k], 3), len(mesh)) for k in range(3)], 1)
    return np.asarray(total[:, 2] / np.maximum(np.linalg.norm(total, axis=1), 1e-9), np.float32)


def mixed(source: Points, target: Points, strength: float, still: tuple[bool, bool] = (False, False)) -> Points:
    """The target's mesh moved towards the source's shape; what the camera sees as its outline stays.

    Each eye and the inner lips move as one rigid piece, so that lids, gaze and the mouth's opening stay the target's.

    Args:
        source, target: (478, 3), each in pixels of its own picture.
        strength: 0..1, scales the movement.
        still: whether the eyes, and the mouth, stay where they are altogether.
    """
    turned = float(np.clip((abs(pose_of(target).yaw) - TURNED) / (TURNED_FULLY - TURNED), 0, 1))
    more = 1 + turned * (TURNED_SHAPE / SHAPE - 1)
    near = np.clip(np.abs(signed_distance(target, convex(target[:SURFACE]))) / (OUTLINE * width(target)), 0, 1)
    weight = np.minimum(more * _shape_weights(), near * near * (3 - 2 * near))
    move = weight[:, None] * (posed(source, target) - target)[:, :2]
    furthest = FURTHEST + turned * (TURNED_FURTHEST - FURTHEST)
    length = np.linalg.norm(move, axis=1, keepdims=True) / (furthest * width(target))
    move = move * np.tanh(length) / np.maximum(length, 1e-9)
    eyes = [move[ring].mean(0) * (not still[0]) for ring in EYE_RINGS]
    for ring, socket, iris, shift in zip(EYE_RINGS, SOCKETS, IRISES, eyes, strict=True):
        pull = falloff(tuple((socket if still[0] else ring).tolist()), 0.09)[:, None]
        move = move * (1 - pull) + shift * pull
        move[iris] = shift
    pull = falloff(tuple((LIPS_OUTER if still[1] else LIPS_INNER).tolist()), 0.08 if still[1] else 0.05)[:, None]
    move = move * (1 - pull) + move[LIPS_OUTER].mean(0) * (not still[1]) * pull
    out = target.copy()
    out[:, :2] += strength * move
    return out


def eye_opening(mesh: NDArray[np.floating], ring: NDArray[np.integer]) -> float:
    """Lid distance over eye width: .25-.35 open, under .14 shut."""
    across = np.linalg.norm(mesh[ring[0], :3] - mesh[ring[8], :3])
    height = np.mean([np.linalg.norm(mesh[ring[i], :3] - mesh[ring[16 - i], :3]) for i in (3, 4, 5)])
    return float(height / max(float(across), 1e-9))


def mouth_opening(mesh: NDArray[np.floating]) -> float:
    """Distance of the inner lips over mouth width: under .03 shut, over .06 open."""
    across = np.linalg.norm(mesh[61, :2] - mesh[291, :2])
    return float(np.linalg.norm(mesh[13, :2] - mesh[14, :2]) / max(float(across), 1e-9))


def unsmiling(source: Points, target: Points) -> float:
    """0..1: how much broader the source smiles than the target: by the mouth's width over the eyes' (.51 to .65 at rest, .69 to .8)."""
    lips, eyes = (
        [float(np.linalg.norm(mesh[left, :3] - mesh[right, :3])) for mesh in (source, target)] for left, right in ((61, 291), (33, 263))
    )
    broad, narrow = (lip / max(eye, 1e-9) for lip, eye in zip(lips, eyes, strict=True))
    return float(np.clip((broad - narrow - SMILE[0]) / (SMILE[1] - SMILE[0]), 0, 1))


def sewn(mesh: Points) -> Points:
    """The mesh with its inner lips drawn together on one line: no gap, so nothing of a mouth's inside is painted."""
    out = mesh.copy()
    upper, lower = LIPS_INNER[1:10], LIPS_INNER[:10:-1]
    middle = (out[upper] + out[lower]) / 2
    out[upper] = out[lower] = middle
    return out


def without_teeth(uv: Points) -> Points:
    """Chart positions with the inner lips taken deeper into the flesh, where an open mouth's teeth can't show."""
    out = uv.copy()
    out[LIPS_INNER] += 0.35 * (uv[LIPS_OUTER] - uv[LIPS_INNER])
    return out


@cache
def _shape_weights() -> Floats:
    mean = topology().mean.astype(np.float64)
    depth = np.clip(np.abs(signed_distance(mean, mean[OVAL])) / 0.22, 0, 1)
    weight = depth * depth * (3 - 2 * depth) * SHAPE  # the outline stays the target's
    near = np.clip(1 + signed_distance(mean, mean[LIPS_OUTER]) / 0.12, 0, 1)
    out = np.asarray(weight * (1 - near) + near * np.minimum(weight, LIP_SHAPE), np.float32)
    out.setflags(write=False)
    return out
