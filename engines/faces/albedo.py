"""What light does to a face, told apart from the face itself on the chart: taken out of a source, taken over from a target.

A face is all but its own mirror image, and the chart mirrors it by a flip. So what differs between its halves, however sharp, is light
from a side, its cast shadows and its colours; it carries nothing of whose face it is. What the halves share is light and form in one: of
that only the slow part counts as light, with steps that no form makes. Everything is the natural logarithm of linear light, where light is
added and a skin's own tone is one number.
"""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS, GRID, LIPS_OUTER, NOSE, SOCKETS, chart
from engines.types import Floats, Pixels
from engines.vision.color import LUMINANCE, log_light, low_pass
from engines.vision.mask import convex, disk, grow, polygon, polyline, smoothstep, soften
from engines.vision.raster import extend

SIDE = 128  # of the chart that light is measured on: a face is 83 px wide there, its finest light 1.2 % of it
# Scale of light that both halves share, in face widths: at .05 the target's cheeks and nose come along. Off the nose it may be half of
# it: over the bench's pairs that takes 1.4 off the cast for .008 of identity; at .06 another .3 for another .008.
SLOW, CLOSER = 0.16, 0.08
TINT = 0.05  # and of its colour, which says little about whose face it is
TURNED = 0.05  # below this scale a difference of the halves counts only as a step
STEP, CAST = 0.10, 0.50  # log steps that are light: between the halves, and in what they share (a hat's shadow)
SHADOW = 0.15  # of the halves' difference, from which a step is a shadow's edge
DEEPEST = 0.8  # log steps below the skin's level down to which the hue of its shades is read: below lie hair and holes
HAIR = 0.6, 1.3  # log steps below the skin's level from which a dark thing is hair or liner, and not a socket's shade
# On a dark skin a black brow is nearer to it: four brows on skins from -1.2 to -.4 lie 1.5 below in their darkest tenth, on skins of -2.4
# and -2.8 .9 and .4. `HAIR` counts in full on a skin of `FAIR`, and so much of it on one of `DEEP`.
FAIR, DEEP, NEARER = -1.5, -2.8, 0.4
_NEAR = 0.012  # finest scale, in face widths
_MATTE = 0.07  # scale of the matte skin round a shine
_FOLD = 0.045  # half of a fold's width, its soft sides with it
_SHALLOW = 0.12  # depth, in logarithms, that any cheek has there: only what is deeper is taken for a smile's
_FOLDS = ((129, 203, 206, 216, 212), (358, 423, 426, 436, 432))
_NOSTRILS = ((98, 97), (327, 326))


@dataclass(frozen=True, slots=True)
class Lit:
    """One face's light, maps of the chart (SIDE, SIDE[, 3]) float32, in the logarithm of linear light.

    Attributes:
        light: the skin's tone under its light: what the face would be without form, features and shine.
        closer: (SIDE, SIDE), what that has besides at the scale of `CLOSER`, off the nose; a part of `form` too.
        shine: what its shine adds to that, 0 and more.
        form: (SIDE, SIDE, 3), what the face has beyond that: form and features from about 1 % of the face's width, without shine.
        dark: 0..1, hair, lashes, pupils: what no light makes bright.
        known: 0..1, where it was measured and not guessed.
        contrast: root mean square of the luminance of `form` on the skin.
        tint: mean distance of the skin's colour from grey.
        glossy: root mean square of the luminance of `shine` on the skin.
        shade: (3,) how each channel of `form` goes beyond its luminance, per unit of it, where it is darker than the skin. In a lamp's
            or the sun's warm light a skin's folds and sockets are redder than the skin, by up to .4 and -.4 of blue; under soft light
            in a studio they aren't.
    """

    light: Floats
    closer: Floats
    shine: Floats
    form: Floats
    dark: Floats
    known: Floats
    contrast: float
    tint: float
    glossy: float
    shade: Floats

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (self.light, self.closer, self.shine, self.form, self.dark, self.known))


def measure(small: Pixels | Floats, known: Floats) -> Lit:
    """Tells light from face.

    Args:
        small: (SIDE, SIDE, 3) RGB 0..255, a face laid out in the chart.
        known: (SIDE, SIDE) 0..1, where it is the face's bare skin or a feature, seen squarely enough.
    """
    wide = chart().scale * SIDE
    level = log_light(np.asarray(small, np.float32))
    bare = _bare() * known
    grey = soften(level @ LUMINANCE, 0.004 * wide)
    size = max(1, round(0.024 * wide))
    element = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * size + 1, 2 * size + 1))
    thin = np.asarray(cv2.morphologyEx(grey, cv2.MORPH_CLOSE, element), np.float32) - grey  # hairs, creases; a wide shadow is left
    weight = np.asarray(bare / (1 + np.square(np.maximum(thin - 0.12, 0) / 0.12)) + 1e-4 * _covered(), np.float32)
    shine = _shine(level, weight, np.maximum(weight, _ridges() * known), wide)
    near = soften(extend(level, np.minimum(weight * 1.5, 1)), _NEAR * wide)

    trust = soften(np.minimum(weight, weight[:, ::-1]), 0.02 * wide)[..., None]
    turned = (near - near[:, ::-1]) * (0.5 * np.clip(trust * 1.5, 0, 1))
    shared = near - turned
    tint = near - (near @ LUMINANCE)[..., None]
    sure = soften(np.clip(weight, 0, 1), 0.02 * wide)
    turned_light, shadow = _parts(turned @ LUMINANCE, sure, TURNED * wide, STEP, wide)
    # a shadow on one half alone is half in what the two differ by, half in what they share: its edge is kept sharp in both
    slow, fine = (_parts(shared @ LUMINANCE, sure, scale * wide, CAST, wide, shadow)[0] for scale in (SLOW, CLOSER))
    both = turned_light + slow
    light = both[..., None] + soften(tint, TINT * wide)
    form = np.clip(soften(level - shine, 0.006 * wide) - light, -1.5, 1.0)
    total = max(float(weight.sum()), 1e-6)
    contrast = float(np.sqrt((np.square(np.clip(near @ LUMINANCE - both, -0.6, 0.6)) * weight).sum() / total))
    dark = _dark(np.asarray((light - level) @ LUMINANCE, np.float32), float((both * weight).sum() / total))
    return Lit(
        np.asarray(light, np.float32),
        np.asarray((fine - slow) * (1 - on_nose()), np.float32),
        shine,
        np.asarray(form, np.float32),
        np.asarray(dark, np.float32),
        np.asarray(np.clip(weight, 0, 1), np.float32),
        contrast,
        float((np.linalg.norm(light - (light @ LUMINANCE)[..., None], axis=2) * weight).sum() / total),
        float(np.sqrt((np.square(shine @ LUMINANCE) * weight).sum() / total)),
        _shade(form, np.clip(weight, 0, 1)),
    )


def of_texture(texture: Pixels, hair: Floats) -> Lit:
    """Of a prepared source's texture (C, C, 4) uint8: RGB and how far it is known. `hair`: (GRID, GRID) 0..1, its beard."""
    small = np.asarray(cv2.resize(texture, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8)
    bald = 1 - np.asarray(cv2.resize(hair, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.float32)
    return measure(small[..., :3], np.asarray(small[..., 3] * bald, np.float32) / np.float32(255))


def folds(lit: Lit) -> Floats:
    """(SIDE, SIDE, 3) 0 and more: how much darker the folds from the nose's wings past the mouth's corners are than the skin beside them.

    A smile deepens them: they belong to it as much as to the face. By channel: in their depth light is red.
    """
    wide = chart().scale * SIDE
    size = max(1, round(_FOLD * wide))
    element = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * size + 1, 2 * size + 1))
    depth = cv2.morphologyEx(lit.form, cv2.MORPH_CLOSE, element) - lit.form - np.float32(_SHALLOW)
    return np.asarray(np.maximum(depth, 0) * _beside_mouth()[..., None], np.float32)


def _parts(level: Floats, sure: Floats, scale: float, step: float, wide: float, shadow: Floats | None = None) -> tuple[Floats, Floats]:
    """The slow part of a map, with its steps kept sharp where they are higher than `step` and not guessed, and where `shadow` says so.

    Also returns where a step is so high that it is a shadow's edge, 0..1.
    """
    slow = low_pass(level, np.ones_like(level), scale)
    rest = level - slow
    size = np.abs(rest)
    share = soften(np.maximum(size - np.float32(step), 0) / np.maximum(size, 1e-3), 0.012 * wide)
    if shadow is not None:
        share = np.maximum(share, shadow)
    edge = soften(smoothstep(size, SHADOW, 2 * SHADOW), 0.05 * wide)
    return np.asarray(slow + rest * share * sure, np.float32), np.asarray(np.clip(2 * edge, 0, 1), np.float32)


def _shine(level: Floats, weight: Floats, where: Floats, wide: float) -> Floats:
    """(SIDE, SIDE, 3): what lies over the matte skin round it and is less colourful: the lamp's own light, thrown back.

    The dichromatic model of Shafer (1985), without a colour of the lamp to be guessed: the channels tell how much each was lifted.

    Args:
        weight: (SIDE, SIDE) 0..1, bare skin. where: the same with what of it lies between a brow's hairs.
    """
    near = soften(level, 0.008 * wide)
    first = low_pass(near, weight, _MATTE * wide)
    over = np.asarray((near - first) @ LUMINANCE, np.float32)
    matte = low_pass(near, weight * (1 - smoothstep(over, 0.0, 0.12)) + np.float32(1e-5), _MATTE * wide)
    over = np.asarray((near - matte) @ LUMINANCE, np.float32)
    spread = near.max(2) - near.min(2), matte.max(2) - matte.min(2)
    paler = smoothstep(np.asarray((spread[1] - spread[0]) / np.maximum(spread[1], 0.08), np.float32), 0.0, 0.12)
    share = smoothstep(over, 0.04, 0.16) * paler * np.clip(where * 1.5, 0, 1)
    return np.asarray(np.maximum(near - matte, 0) * soften(share, 0.006 * wide)[..., None], np.float32)


def _dark(depth: Floats, skin: float) -> Floats:
    """(SIDE, SIDE) `Lit.dark` of a face whose skin lies at `skin`, from how far below the skin's level each place lies."""
    nearer = float(np.clip(1 + (skin - FAIR) / (FAIR - DEEP) * (1 - NEARER), NEARER, 1))
    eyes = smoothstep(depth, *HAIR) * _hairy()
    return np.asarray(np.maximum(eyes, smoothstep(depth, *(nearer * step for step in HAIR)) * _browed()), np.float32)


def _shade(form: Floats, weight: Floats) -> Floats:
    """(3,) `Lit.shade`, by least squares."""
    grey = form @ LUMINANCE
    depth = np.clip(-grey, 0, DEEPEST)
    deep = depth * weight
    square = float((depth * deep).sum())
    return np.asarray(((grey[..., None] - form) * deep[..., None]).sum((0, 1)) / max(square, 1.0), np.float32)


@cache
def on_nose() -> Floats:
    """(SIDE, SIDE) 0..1: the chart's nose, from below the sockets to its base."""
    at, wide = chart().pixels(SIDE), chart().scale * SIDE
    out = grow(polygon(convex(at[NOSE]), SIDE, SIDE), 0.01 * wide)
    for socket, brow in zip(SOCKETS, BROWS, strict=True):
        out = out * (1 - grow(polygon(convex(np.vstack([at[socket], at[brow]])), SIDE, SIDE), 0.01 * wide))
    out = soften(np.asarray(out, np.float32), 0.03 * wide)
    out.setflags(write=False)
    return out


@cache
def _beside_mouth() -> Floats:
    """(SIDE, SIDE) 0..1: round the chart's two lines of vertices that lie along those folds."""
    at, wide = chart().pixels(SIDE), chart().scale * SIDE
    lines = [polyline(at[list(line)], 2 * _FOLD * wide, SIDE, SIDE) for line in _FOLDS]
    lips = polygon(at[LIPS_OUTER], SIDE, SIDE)
    out = soften(np.maximum(*lines), 0.012 * wide) * (1 - soften(grow(lips, 0.012 * wide), 0.008 * wide))
    out.setflags(write=False)
    return out


@cache
def _covered() -> Floats:
    out = np.asarray(cv2.resize(chart().covered, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.float32)
    out.setflags(write=False)
    return out


@cache
def _hairy() -> Floats:
    """(SIDE, SIDE) 0..1: the chart's eyes and brows, and what lies round the face."""
    table = chart()
    lips = grow(polygon(table.pixels(GRID)[LIPS_OUTER], GRID, GRID), 0.04 * GRID)
    part = np.maximum(table.features * (1 - lips), 0)
    out = np.asarray(cv2.resize(part, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.float32)
    out.setflags(write=False)
    return out


@cache
def _browed() -> Floats:
    """(SIDE, SIDE) 0..1: the chart's brows."""
    at, wide = chart().pixels(SIDE), chart().scale * SIDE
    out = np.maximum(*(soften(grow(polygon(convex(at[brow]), SIDE, SIDE), 0.015 * wide), 0.01 * wide) for brow in BROWS))
    out.setflags(write=False)
    return out


@cache
def _ridges() -> Floats:
    """(SIDE, SIDE) 0..1: round the chart's brows, off the eyes: skin between hairs, where a bone shines."""
    at, wide = chart().pixels(SIDE), chart().scale * SIDE
    brows = np.maximum(*(polygon(convex(at[brow]), SIDE, SIDE) for brow in BROWS))
    eyes = np.maximum(*(polygon(convex(at[ring]), SIDE, SIDE) for ring in EYE_RINGS))
    out = np.asarray(soften(grow(brows, 0.045 * wide), 0.01 * wide) * (1 - soften(grow(eyes, 0.03 * wide), 0.01 * wide)), np.float32)
    out.setflags(write=False)
    return out


@cache
def _bare() -> Floats:
    """(SIDE, SIDE) 0..1: the chart's plain skin: within the mesh, off eyes, brows, lips and nostrils."""
    table = chart()
    at = table.pixels(GRID)
    holes = table.features
    for a, b in _NOSTRILS:
        holes = np.maximum(holes, grow(disk((at[a] + at[b]) / 2, 0.035 * GRID * table.scale, GRID, GRID), 1))
    out = np.asarray(cv2.resize(table.covered * (1 - holes), (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.float32)
    out.setflags(write=False)
    return out
