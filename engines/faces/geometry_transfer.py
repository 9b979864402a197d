"""Where the source's features go in the target: pose taken over, shape mixed, expression left alone."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, IRISES, LIPS_INNER, LIPS_OUTER, OVAL, SOCKETS, falloff
from engines.faces.topology import RIGID, SURFACE, topology
from engines.types import Floats
from engines.vision.mask import convex, signed_distance

Points = NDArray[np.float64]

# A close-up's perspective is no one's shape: no vertex moves further than this share of the face's width.
FURTHEST = 0.1
# The outline that a turned face shows is no line of the mesh but its cheek: within this share of its width from what the camera sees
# as the edge, vertices stay, or the mask would reach beyond the cheek.
OUTLINE = 0.02
LIP_REACH = 0.12  # share of the mean mesh's width round the lips over which what they do is evened out
CLOSED = 0.045  # lip gap over mouth width below which a mouth is shut

SMILE = (0.03, 0.09)  # difference of two mouths' widths, over that of the eyes, from which and up to which one smiles and the other doesn't

_STABLE = np.array(RIGID)
_LIPS = np.concatenate([LIPS_INNER, LIPS_OUTER])


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

    Each eye moves as one rigid piece, so that lids and gaze stay the target's; for its mouth see `carried`.

    Args:
        source, target: (478, 3), each in pixels of its own picture.
        strength: 0..1, scales the movement.
        still: whether the eyes, and the mouth, stay where they are altogether.
    """
    near = np.clip(np.abs(signed_distance(target, convex(target[:SURFACE]))) / (OUTLINE * width(target)), 0, 1)
    weight = np.minimum(_shape_weights(), near * near * (3 - 2 * near))
    move = bounded(weight[:, None] * carried(source, target), FURTHEST * width(target))
    eyes = [move[ring].mean(0) * (not still[0]) for ring in EYE_RINGS]
    for ring, socket, iris, shift in zip(EYE_RINGS, SOCKETS, IRISES, eyes, strict=True):
        pull = falloff(tuple((socket if still[0] else ring).tolist()), 0.09)[:, None]
        move = move * (1 - pull) + shift * pull
        move[iris] = shift
    if still[1]:
        move = move * (1 - falloff(tuple(LIPS_OUTER.tolist()), 0.08)[:, None])
    out = target.copy()
    out[:, :2] += strength * move
    return out


def carried(source: Points, target: Points) -> NDArray[np.float64]:
    """(478, 2) moves to where the source, posed as the target is, has its vertices, were its mouth as far open as the target's.

    The inner lips stay the target's: they move as one piece, and are made as broad as the source's where neither smiles more
    broadly. From there to its outline each lip is as full as the source's. Moved as the rest is, a smile's lips over a shut mouth would
    be too full by its teeth, a shut mouth's too thin over a smile, and a chin would hang or be drawn up by the jaw.
    """
    move = (posed(source, target) - target)[:, :2]
    upper, lower = LIPS_INNER[1:10], LIPS_INNER[:10:-1]
    place = move[upper].mean(0)  # the lower one goes with the jaw
    jaw, near, nearest = _mouth_weights()
    move = move - jaw[:, None] * (move[lower].mean(0) - place)
    inner, outer = move[LIPS_INNER], move[LIPS_OUTER]
    level = target[LIPS_INNER[10], :2] - target[LIPS_INNER[0], :2]
    level = level / max(float(np.linalg.norm(level)), 1e-9)
    alike = (1 - unsmiling(target, source)) * (1 - unsmiling(source, target))
    broader = alike * ((inner - place) @ level)[:, None] * level
    wanted = place + np.concatenate([broader, broader + outer - inner])
    out = move + near[:, None] * (nearest @ (wanted - move[_LIPS]))
    out[_LIPS] = wanted
    return np.asarray(out)


def bounded(move: NDArray[np.float64], furthest: float) -> NDArray[np.float64]:
    """(n, 2) moves, none of them longer than `furthest`, short ones as they are."""
    length = np.linalg.norm(move, axis=1, keepdims=True) / furthest
    return np.asarray(move * np.tanh(length) / np.maximum(length, 1e-9))


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
    out = np.asarray(depth * depth * (3 - 2 * depth), np.float32)  # the outline stays the target's
    out.setflags(write=False)
    return out


@cache
def _mouth_weights() -> tuple[Floats, Floats, Floats]:
    """How far a vertex goes with the jaw (478,), how near the lips it is (478,), and which of their vertices it goes with (478, 40)."""
    mean = topology().mean.astype(np.float64)
    low = np.clip((mean[:, 1] - mean[LIPS_INNER, 1].mean() + 0.01) / 0.04, 0, 1)
    jaw = low * (1 - np.clip((np.abs(mean[:, 0]) - 0.15) / 0.3, 0, 1))  # it turns about a joint before the ears
    for ring in (LIPS_INNER, LIPS_OUTER):
        jaw[ring[1:10]], jaw[ring[11:]] = 0, 1
    near = np.clip(1 + signed_distance(mean, mean[LIPS_OUTER]) / LIP_REACH, 0, 1)
    distance = np.linalg.norm(mean[:, None, :2] - mean[_LIPS, :2], axis=2)
    nearest = np.exp(-(distance - distance.min(1, keepdims=True)) / 0.03)
    nearest /= nearest.sum(1, keepdims=True)
    return jaw.astype(np.float32), near.astype(np.float32), nearest.astype(np.float32)
