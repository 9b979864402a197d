"""Locks of hair told by their texture: many fine lines side by side that run the same way.

It needs no colour: brown hair over brown skin.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.occlusion.ridges import TURNS, Ridges
from engines.faces.occlusion.scene import Bools, Scene, ball, blurred, grown
from engines.types import Floats

_REACH = 4.0  # px over which lines are compared
_STRONG = 0.12  # ridge strength that counts in full: one dark strand is no lock
_GAP = 11  # px: half of a gap in a lock that is closed: burnt hair shows no lines, and skin painted there is a blotch in a curtain of it
_SMALLEST, _LONG = 220, 45  # px: area of a lock, and the longer side of its bounds


@dataclass(frozen=True, slots=True)
class Texture:
    """(SIDE, SIDE) float32. flow: mean strength of lines that agree in direction (hair .02 and more, skin .001-.006).
    order: 0..1, how far they agree. line: the strongest line at the pixel itself.
    level: 1 where they lie like furrows, -1 where they hang like hair."""

    flow: Floats
    order: Floats
    line: Floats
    level: Floats


def texture(ridges: Ridges) -> Texture:
    """Structure of the fine lines round each pixel (the strongest orientation of each, averaged as a doubled angle)."""
    size = np.abs(ridges.thin)
    turn = size.argmax(0).astype(np.float32) * np.float32(2 * np.pi / TURNS)
    strength = np.minimum(size.max(0), np.float32(_STRONG))
    mean = blurred(cv2.merge([strength * np.cos(turn), strength * np.sin(turn), strength]).astype(np.float32), _REACH)
    flow = np.hypot(mean[..., 0], mean[..., 1])
    total = np.maximum(mean[..., 2], np.float32(0.004))
    maps = (flow, flow / total, size.max(0), mean[..., 0] / total)
    return Texture(*(np.asarray(m, np.float32) for m in maps))


def locks(scene: Scene, found: Texture, misfit: Floats) -> Bools:
    """Where locks lie over the face: ordered, reaching its outline, and not on both halves alike (a beard, wrinkles).

    Args:
        misfit: of `lumps.weigh`. Strong lines with bare skin between them are single strands, no lock.
    """
    bare = scene.trusted > 0.5
    base = np.clip(3 * np.median(found.flow[bare]), 0.007, 0.016) if bare.any() else 0.01  # wrinkled skin has lines of its own
    like = scene.mirrored(np.asarray(cv2.dilate(found.flow, np.ones((11, 11), np.uint8)), np.float32))
    alone = np.clip((found.flow - like * 0.7) / np.maximum(found.flow, 1e-4) / 0.3, 0, 1)
    ordered = np.clip((found.order - 0.6) / 0.2, 0, 1) * alone
    sure = blurred(np.clip((found.flow - base) / base, 0, 1) * ordered, 1.5) > 0.4
    above = blurred(np.clip((found.flow - 0.4 * base) / (0.4 * base), 0, 1) * ordered, 2.5) > 0.4
    above &= scene.covered
    count, labels, stats, _ = cv2.connectedComponentsWithStats(above.astype(np.uint8), connectivity=4)
    out = np.zeros(above.shape, bool)
    for number in range(1, count):
        x, y, wide, high, area = stats[number]
        if area < _SMALLEST or max(wide, high) < _LONG:
            continue
        part = np.s_[y : y + high, x : x + wide]
        me = labels[part] == number
        if sure[part][me].mean() < 0.3 or np.median(found.level[part][me]) > 0.3:
            continue
        if np.percentile(found.line[part][me], 80) > 0.08 and np.percentile(misfit[part][me], 35) < 2:
            continue
        if (me & (scene.depth[part] < 10)).sum() > 8 and scene.features[part][me].mean() < 0.55:
            out[part] |= me
    if out.any():  # on to the outline, over what is hair on both sides
        woven = (
            (blurred(found.order, 3) > 0.68)
            & (blurred(found.flow, 3) > 0.5 * base)
            & scene.covered
            & (scene.features < 0.5)
            & (found.level < 0.3)
        )
        out |= woven & grown(out, 28) & ~_inward(scene, out)
        out = np.asarray(cv2.morphologyEx(out.astype(np.uint8), cv2.MORPH_CLOSE, ball(_GAP)) > 0) & scene.covered
    return grown(out, -2)


def _inward(scene: Scene, mass: Bools) -> Bools:
    """What lies further from the outline than the deepest fifth of a mass."""
    return np.asarray(scene.depth > np.percentile(scene.depth[mass], 80))
