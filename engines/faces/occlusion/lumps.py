"""Solid things over a face: regions that don't fit its skin, reach its outline and end in a sharp edge."""

from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.canonical import LIPS_OUTER
from engines.faces.occlusion.hair import Texture
from engines.faces.occlusion.scene import Bools, Scene, ball, blurred, grown
from engines.faces.occlusion.skin_model import Skin
from engines.types import Floats, Pixels


@dataclass(frozen=True, slots=True)
class Evidence:
    """Maps (SIDE, SIDE) float32.

    Attributes:
        misfit: 0 = this skin … 8 = surely something else, eyes, brows, lips and beards excused, and what both halves have discounted.
        tint: chroma's distance to the skin's in its spreads. red: a-ratio over the skin's. pale: 0..1, brighter and less colourful.
        light: log light over the skin's.
    """

    misfit: Floats
    tint: Floats
    red: Floats
    pale: Floats
    light: Floats


@dataclass(frozen=True, slots=True)
class _Level:
    """A threshold of the tree: what belongs, what must be in it, how sharp its edge, which gaps are bridged (px)."""

    low: float
    high: float
    sharp: float
    gap: int


# A gentle threshold takes a thing whole where it stands out alone, a steep one where shade or hair would run into it.
_LEVELS = (_Level(2.3, 3.4, 1.9, 0), _Level(3.4, 4.6, 1.8, 3), _Level(4.8, 6, 1.6, 4), _Level(6.2, 7, 1.6, 5))

_FOLD, _EVEN = 6.5, 0.005  # chroma in spreads of a smile's fold, which has no lines at all
_WOVEN = 0.01  # `Texture.flow` of hair: .012 and more
_TINT, _LINES, _SHADE = 3.6, 0.014, 60  # chroma in spreads, strength of lines, and px: what is shade in a mass


def weigh(scene: Scene, skin: Skin) -> Evidence:
    """Measures each pixel against the skin that should be there."""
    values, trend, spread = scene.values, skin.trend, skin.spread
    z = (values - trend) / spread
    light = values[..., 0] - trend[..., 0]
    noise = _noise(scene)
    along = (values[..., 1:] * trend[..., 1:]).sum(-1)
    strength = np.sqrt((trend[..., 1:] ** 2).sum(-1))
    fading = strength**2 - along  # how much less of the skin's own colour there is
    pale = np.clip(light / 0.15, 0, 1) * np.clip(fading / (0.03 * strength + 1e-6), 0, 1)
    pale *= along > 0  # a blue mask is past grey, not paler
    tint = np.hypot(z[..., 1], z[..., 2])
    dark, bright = np.clip(-light - 0.28, 0, 1.5) / 0.125, np.clip(light - 0.1, 0, 0.6) / 0.12
    chroma = tint / noise * (1 - 0.5 * pale)  # brighter and paler: shine, haze, burnt
    misfit = np.sqrt(chroma**2 + dark**2 + bright**2 * 0.35)
    burnt = blurred((scene.pixels.max(2) >= 250).astype(np.float32), 1.5)
    misfit = np.minimum(misfit * (1 - 0.8 * np.clip(burnt * 2, 0, 1) * (light > 0.05)), 12).astype(np.float32)

    features = scene.features
    beard = scene.lower * np.clip((-light - 0.1) / 0.15, 0, 1)
    lips = scene.area(LIPS_OUTER) * np.clip(z[..., 1] / 2, 0, 1)  # redder than skin where the lips are
    own = 1 - np.maximum(np.maximum(features * 0.7, beard * 0.45), lips * 0.9)  # eyes, brows, lips and beards are part of a face …
    nearby = np.ones((9, 9), np.uint8)

    def other(field: Floats) -> Floats:
        return scene.mirrored(np.asarray(cv2.dilate(field.astype(np.float32), nearby), np.float32))

    # … unless the other half has nothing like it
    like = other(misfit * own * (1 - features)) * (1 - features) + other(misfit * np.maximum(own, 0.6)) * features
    alone = np.clip(misfit - like, 0, 8)
    total = np.maximum((misfit * 0.75 + alone * 0.5) * own, alone * 1.2 * (own < 0.9) * (1 - 0.8 * lips))
    maps = (total, tint, values[..., 1] - trend[..., 1], pale, light)
    return Evidence(*(np.asarray(m, np.float32) for m in maps))


def _noise(scene: Scene) -> Floats:
    """How much less the chroma of near-black tells: 1 in the light, 2.5 in the dark."""
    lit = np.exp(scene.values[..., 0]) * np.float32(116)
    return np.asarray(1 + 1.5 * np.clip((45 - lit) / 30, 0, 1), np.float32)


def find(scene: Scene, evidence: Evidence, texture: Texture) -> tuple[Bools, Bools]:
    """Where solid things lie over the face, and where it wears a full beard, whose hair is no lock before it."""
    misfit, covered = evidence.misfit, scene.covered
    out, beard = np.zeros(covered.shape, bool), np.zeros(covered.shape, bool)
    dark = evidence.light < -0.3
    lit = np.exp(scene.values[..., 0]) * 116 - 16
    both = scene.mirrored(np.asarray(cv2.dilate(misfit, np.ones((7, 7), np.uint8)), np.float32)) >= 0.5 * misfit
    single = dark & ~both
    soft = blurred(np.minimum(misfit, 8), 0.8)
    five = np.ones((5, 5), np.uint8)
    jump = np.asarray(cv2.dilate(soft, five) - cv2.erode(soft, five))
    for level in _LEVELS:
        above = np.asarray(cv2.morphologyEx(((misfit > level.low) & covered).astype(np.uint8), cv2.MORPH_OPEN, ball(1)), np.uint8)
        joined = cv2.dilate(above, ball(level.gap)) if level.gap else above  # the stripes of a straw are one thing
        count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=4)
        edge = (above > 0) & (cv2.erode(above, ball(1)) == 0) & (scene.depth > 8) & (scene.features < 0.5)
        for number in range(1, count):
            x, y, wide, high, area = stats[number]
            if area < 40:
                continue
            part = np.s_[y : y + high, x : x + wide]
            whole = labels[part] == number
            me = whole & (above[part] > 0)
            if not me.any():
                continue
            edges = jump[part][edge[part] & me]
            sharpness = float(np.median(edges)) if len(edges) > 10 else 0.0
            tint, brightness = float(np.median(evidence.tint[part][me])), float(np.median(lit[part][me]))
            darkness = float(dark[part][me].mean())
            if tint < 1.7 and brightness > 9 and darkness > 0.3:
                continue  # a cast shadow: darker, but still skin
            redder = float(np.median(evidence.red[part][me]))
            if redder > 0.1 and 9 < brightness < 35 and darkness > 0.5:
                continue  # deep shade: skin grows redder, hair doesn't
            twofold = float(both[part][me].mean()) > 0.9 and float(scene.lower[part][me].mean()) > 0.4
            brown = redder > 0.04 or brightness < 9  # black has no hue
            if twofold and brown and darkness > 0.5 and float(np.median(texture.flow[part][me])) > _WOVEN:
                beard[part] |= me & (scene.lower[part] > 0.5)
                continue  # a full beard, with the shade that joins it: on both halves, and browner than skin where cloth is greyer
            shade = float(np.median(evidence.light[part][me]))
            sunlit = redder > 0.13 and brightness > 35 and shade < 0.05  # light that shines through hair or flesh
            even = float(np.median(texture.flow[part][me])) < _EVEN
            plain = redder > 0.04 and tint < (_FOLD if even else 4.5) and shade < -0.05  # the far cheek; the fold of a smile
            if (sunlit or plain) and shade > -0.5 and _smooth(texture, part, me):
                continue  # shade again: redder; hair of that colour shows its lines
            if float(np.median(evidence.pale[part][me])) > 0.4 and sharpness < 4 and tint < 10:
                continue  # shine or a burnt side: brighter and paler, without a hard edge
            on_feature = float(scene.features[part][me].mean())
            rim = (whole & (scene.depth[part] < 8)).sum() > 8 and (sharpness > level.sharp or len(edges) <= 10)
            alone = sharpness > 2.7 and me.sum() > 110 and float(misfit[part][me].mean()) > 3.4  # a microphone whose boom is lost
            alone = alone and on_feature < 0.35 and float(single[part][me].mean()) > 0.7
            if (rim or alone) and float((misfit[part][me] > level.high).mean()) > 0.2 and on_feature < 0.6:
                out[part] |= me
    return out | _enclosed(out, covered), beard


def unshaded(scene: Scene, evidence: Evidence, texture: Texture, mass: Bools) -> Bools:
    """The solid things without the shade beside them: darker, but of the skin's own colour and without hair's lines.

    Only what goes on from bare skin counts, so that no hole comes into a thing.
    """
    if not mass.any():
        return mass
    like = (blurred(evidence.tint / _noise(scene), 1.5) < _TINT) & (evidence.light < -0.1) & scene.covered
    like &= texture.flow < _LINES
    like = np.asarray(cv2.morphologyEx(like.astype(np.uint8), cv2.MORPH_OPEN, ball(2)) > 0)
    count, labels, stats, _ = cv2.connectedComponentsWithStats((like & mass).astype(np.uint8), connectivity=4)
    beside = grown(scene.covered & ~mass, 2)
    out = mass.copy()
    for number in range(1, count):
        me = labels == number
        if stats[number, cv2.CC_STAT_AREA] >= _SHADE and (me & beside).any():
            out &= ~me
    return np.asarray(cv2.morphologyEx(out.astype(np.uint8), cv2.MORPH_OPEN, ball(1)) > 0)


def _smooth(texture: Texture, part: tuple[slice, slice], me: Bools) -> bool:
    """No lines that run the same way."""
    return float(np.median(texture.flow[part][me])) < 0.008 or float(np.median(texture.order[part][me])) < 0.5


def _enclosed(mass: Bools, covered: Bools) -> Bools:
    """A mouth under a mask: what is shut in belongs to the thing."""
    out = np.zeros(mass.shape, bool)
    count, labels, stats, _ = cv2.connectedComponentsWithStats((~mass).astype(np.uint8), connectivity=4)
    for number in range(1, count):
        if stats[number, cv2.CC_STAT_AREA] < 0.1 * covered.sum():
            me = labels == number
            if covered[me].all():
                out |= me
    return out


def settle(scene: Scene, evidence: Evidence, mass: Bools, quick: bool = False) -> Bools:
    """GrabCut from the lumps: sure inside, sure skin far away, the colours decide in between (the rest of a straw, a hat's brim).

    Args:
        quick: at half the size whatever lies there: nothing of it is kept, so its edge needn't be the thing's own.
    """
    if mass.sum() < 30:
        return mass
    misfit, covered = evidence.misfit, scene.covered
    state = np.where(mass, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
    state[~covered & (misfit > 3)] = cv2.GC_PR_FGD
    state[grown(mass, -3)] = cv2.GC_FGD
    state[covered & (~grown(mass, 25) | ((misfit < 1.3) & ~grown(mass, 12)))] = cv2.GC_BGD
    return np.asarray(cut_out(scene, state, covered, 2 if quick or mass.sum() > 1500 else 1) & covered)  # a boom is 3 px wide


def cut_out(scene: Scene, state: Pixels, within: Bools, step: int = 1) -> Bools:
    """GrabCut (Rother et al., 2004) on the part round `within`; `state` holds OpenCV's four labels and isn't changed.

    Args:
        step: 2 works at half the size, in a quarter of the time; what is sure stays as it is.
    """
    rows, columns = np.flatnonzero(within.any(1)), np.flatnonzero(within.any(0))
    front = np.asarray(state % 2 == 1)
    if not len(rows):
        return front
    part = np.s_[max(0, rows[0] - 12) : rows[-1] + 12, max(0, columns[0] - 12) : columns[-1] + 12]
    picture, inside = np.ascontiguousarray(scene.pixels[part][..., ::-1]), np.ascontiguousarray(state[part])
    high, wide = inside.shape
    if step > 1:
        size = (max(1, wide // step), max(1, high // step))
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
        inside = np.asarray(cv2.resize(inside, size, interpolation=cv2.INTER_NEAREST), np.uint8)
    if not ((inside % 2 == 0).any() and (inside % 2 == 1).any()):
        return front
    cv2.setRNGSeed(1)  # its clusters are seeded at random: the same picture must give the same bytes
    cv2.grabCut(picture, inside, (0, 0, 1, 1), np.zeros((1, 65)), np.zeros((1, 65)), 2, cv2.GC_INIT_WITH_MASK)
    decided = cv2.resize((inside % 2).astype(np.float32), (wide, high), interpolation=cv2.INTER_LINEAR) > 0.5
    front[part] = np.where(state[part] == cv2.GC_FGD, True, np.where(state[part] == cv2.GC_BGD, False, decided))
    return front
