"""The target's light put on a source's face: its side and colour, cast shadows and shine, at the scale of a nose."""

from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.albedo import DEEPEST, SIDE, SLOW, Lit, folds, measure, on_nose
from engines.faces.canonical import chart
from engines.faces.geometry_transfer import Points, facing, width
from engines.faces.skin import skin_likeness
from engines.types import Floats, Pixels
from engines.vision import color
from engines.vision.color import LUMINANCE, log_light, relit
from engines.vision.mask import smoothstep, soften
from engines.vision.raster import enlarge, on_grid

# Highlights of nose, cheekbone and brow are form as well as lamp, and whose face it is: half of the source's taken off whatever the target
# has costs .02 of identity in the mean, .05 on a matte face; left in, it costs up to .3 of cast, and 2.5 of band step on a very shiny one.
# All of the target's put on costs .05 to .12 of identity.
SHINE, MATTE = 0.15, 0.75  # share of the target's, as far as both halves have it, that is put on; most that is taken off of the source's
# A nose's light is most of its form: of all places it alone costs identity, .015 for all that both halves of it share and .009 for its
# shine, against .9 and .5 of cast. So much of the first stays the source's, and of its shine all that isn't a grey glaze.
OWN_NOSE = 0.6
SIDED = (0.3, 0.7)  # mean log step between the halves of a target's light from which, and up to which, it comes from a side
FOLDS = 0.9  # share of a smile's folds that goes with it
CONTRAST = (0.7, 1.45)  # limits of the change of form's contrast
LIFTED, LOWERED = 0.65, 0.3  # share of a lighter or darker skin's change that hair, lashes and liner are spared
WARMER = 0.5  # most that a shade's channel goes beyond its luminance more than in the source, per unit of it: 30 faces differ by .34
GREY = 0.12  # distance of a skin's colour from grey, in logarithms, below which a picture counts as faded: skins have .5 to 1.6
_EDGE = 0.08  # scale in face widths on which the blend's edge is brought to the target's own light
_SHOULDER = 225.0  # levels from which light is bent towards white instead of being cut off
_SECOND = (190.0, 250.0)  # levels of the second brightest channel between which all three are bent as one


@dataclass(frozen=True, slots=True)
class Tone:
    """How the source's pixels become the target's: a factor on linear light per place and channel.

    Attributes:
        gain: (g, g, 3) float32, its natural logarithm.
        tint: 0..1, what is left of the colours: a grey picture's face is grey.
    """

    gain: Floats
    tint: float = 1.0

    def apply(self, warp: Floats) -> Floats:
        """(S, S, 3) float32 0..255 → the same, relit, 0..255."""
        gain = self.gain if warp.shape[0] == self.gain.shape[0] else enlarge(self.gain, warp.shape[0])
        out = np.maximum(relit(warp, gain), np.float32(0))
        planes = [np.asarray(plane, np.float32) for plane in cv2.split(out)]
        bright = cv2.max(cv2.max(planes[0], planes[1]), planes[2]) > _SHOULDER
        if bright.any():  # few pixels are: bent alone, they cost a third
            for plane, bent in zip(planes, _bent(*(plane[bright] for plane in planes)), strict=True):
                plane[bright] = bent
            out = np.asarray(cv2.merge(planes), np.float32)
        if self.tint < 1:
            out = np.asarray(cv2.transform(out, self.tint * np.eye(3, dtype=np.float32) + (1 - self.tint) * color.LUMA[None]), np.float32)
        return out


def _bent(red: Floats, green: Floats, blue: Floats) -> tuple[Floats, ...]:
    """(n,) levels of each channel, above `_SHOULDER` bent towards 255, which they don't reach.

    Red alone is bent alone, as a camera does: a face in warm light has all of its form in the other two. Where a second channel is as
    bright, all go down by one factor, or a skin would turn yellow, and then white.
    """
    more, less = np.maximum(red, green), np.minimum(red, green)
    highest, second = np.maximum(more, blue), np.maximum(less, np.minimum(more, blue))
    factor, share = _below(highest) / highest, smoothstep(second, *_SECOND)
    alone = (_below(red), _below(green), _below(blue))
    return tuple(np.asarray(a + share * (level * factor - a), np.float32) for level, a in zip((red, green, blue), alone, strict=True))


def _below(level: Floats) -> Floats:
    over, room = np.maximum(level - np.float32(_SHOULDER), 0), np.float32(255 - _SHOULDER)
    return np.asarray(np.minimum(level, np.float32(_SHOULDER)) + room * over / (over + room), np.float32)


def measure_target(pixels: Pixels, points: Points, hidden: Floats, hair: Floats, coarsely: bool = False) -> Lit:
    """The light on a target's face.

    Args:
        pixels: (S, S, 3) uint8 RGB, its crop without what lies over it.
        points: (478, 3), its mesh in the crop.
        hidden: (S, S) 0..1, where something lay over it.
        hair: (GRID, GRID) 0..1 over the chart, beard.
        coarsely: nothing was looked for over the face: hair at its edge is told by its colour.
    """
    size, scale = pixels.shape[0], chart().scale
    grid = size
    while grid % 2 == 0 and width(points) * (grid // 2) / size >= 0.8 * scale * SIDE:
        grid //= 2
    small = pixels if grid == size else np.asarray(cv2.resize(pixels, (grid, grid), interpolation=cv2.INTER_AREA), np.uint8)
    seen = hidden if grid == size else np.asarray(cv2.resize(hidden, (grid, grid), interpolation=cv2.INTER_AREA), np.float32)
    mesh = on_grid(points[:, :2], size, grid)
    field = chart().spread(np.column_stack([mesh, facing(points), chart().doubt]), SIDE)
    x, y = np.ascontiguousarray(field[..., 0]), np.ascontiguousarray(field[..., 1])
    known = 1 - seen
    if coarsely:
        likely = skin_likeness(small, np.column_stack([mesh, points[:, 2]]), width(points) * grid / size)
    laid = np.asarray(cv2.remap(small, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)
    known = np.asarray(cv2.remap(known, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    if coarsely:
        likely = np.asarray(cv2.remap(likely, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
        known = known * (1 - (1 - likely) * np.clip(field[..., 3], 0, 1))
    inside = (x > -0.5) & (y > -0.5) & (x < grid - 0.5) & (y < grid - 0.5)
    known = known * inside * np.clip((field[..., 2] - 0.15) / 0.25, 0, 1)
    if hair.any():
        known = known * (1 - np.asarray(cv2.resize(hair, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.float32))
    return measure(laid, np.asarray(known, np.float32))


def gain(source: Lit, target: Lit, colour: float, eased: float = 0.0) -> Floats:
    """(SIDE, SIDE, 3) over the chart: logarithm of the factor that takes one face's light to another's, `colour` of the way.

    Args:
        eased: 0..1, how much of the folds beside the source's mouth belongs to a smile that the target hasn't.
    """
    out = target.light - source.light
    nose = on_nose()[..., None]
    shine = (1 - nose) * SHINE * np.minimum(target.shine, target.shine[:, ::-1])
    shine -= (_too_shiny(source, target, out) * (1 - nose) + min(MATTE, _glazed(out)) * nose) * source.shine
    out += (target.closer - source.closer)[..., None] - nose * _of_nose(source, target, out)
    out += shine - color.low_pass(shine, np.ones(shine.shape[:2], np.float32), SLOW * chart().scale * SIDE)
    change = float(np.clip(target.contrast / max(source.contrast, 1e-3), *CONTRAST)) - 1
    grey = (source.form @ LUMINANCE)[..., None]
    ratio = target.tint / max(source.tint, 0.05)
    vivid = min(ratio, 1.0) if ratio < 1 else min(ratio**0.5, 1.3)
    out += change * grey + (vivid - 1) * (source.form - grey)
    out += _warmer(source, target) * (1 + change) * np.clip(grey, -DEEPEST, 0)
    if eased > 0:
        out += eased * FOLDS * (1 + change) * folds(source)
    # what is hair or liner is so under any skin: of what makes a skin lighter or darker it takes a part
    change_of_skin = np.asarray(out @ LUMINANCE, np.float32)
    out -= (source.dark * change_of_skin * np.where(change_of_skin > 0, LIFTED, LOWERED))[..., None]
    return np.asarray(colour * out, np.float32)


def _of_nose(source: Lit, target: Lit, change: Floats) -> Floats:
    """(SIDE, SIDE, 1): the share of a change of light that a nose is spared: of what both halves have, less its mean over the face.

    In a light from the side both halves have a part of its shadow: a nose is lit as the target's is then.
    """
    grey, own = change @ LUMINANCE, target.light @ LUMINANCE
    shared = (grey + grey[:, ::-1]) / 2
    weight = np.minimum(source.known, target.known) + np.float32(1e-4)
    weight = np.minimum(weight, weight[:, ::-1])
    mean, between = (float((field * weight).sum() / weight.sum()) for field in (shared, np.abs(own - own[:, ::-1])))
    sided = float(smoothstep(np.array(between, np.float32), *SIDED))
    return np.asarray((OWN_NOSE * (1 - sided) * (shared - mean))[..., None], np.float32)


def _too_shiny(source: Lit, target: Lit, change: Floats) -> float:
    """0..`MATTE`: how much of the source's shine is more than there would be on the target: what is a glaze there, and all that makes it
    shine more than the target does."""
    return min(MATTE, max(_glazed(change), 1 - target.glossy / max(source.glossy, 1e-3)))


def _glazed(change: Floats) -> float:
    """0..1: how much of a source's shine would be a grey glaze on a skin paler by `change`.

    A lamp adds the same light on any skin. Multiplied along onto a paler one a dark face's own adds more: what it would add alone is
    about `exp(-change)` of it.
    """
    return 1 - float(np.exp(-max(float(np.median(change @ LUMINANCE)), 0.0)))


def _warmer(source: Lit, target: Lit) -> Floats:
    """(3,) what the target's shades are redder by than the source's, per unit of luminance; 0 where they are greyer.

    A source's shades made greyer would be soot: eye shadow and dark sockets are its own colour.
    """
    change = np.asarray(np.clip(target.shade - source.shade, -WARMER, WARMER), np.float32)
    return change if change[2] > change[0] else np.zeros_like(change)


def tone(warp: Floats, target: Floats, carried: Floats, skin: Floats, mask: Floats, face_width: float, tint: float = 1.0) -> Tone:
    """Closes what a gain leaves open at the blend's edge.

    Args:
        warp, target: (g, g, 3) float32 0..255, the source in the target's place, and the target.
        carried: (g, g, 3), `gain` in the target's place.
        skin: (g, g), where both show skin. mask: (g, g), the blend's mask.
        face_width: px of the grid. tint: of `colourful`.
    """
    level, wanted = log_light(relit(warp, carried)), log_light(target)
    # near the blend's edge the slow part becomes the target's altogether, so that the edge has nothing left to hide
    sigma = _EDGE * face_width
    edge = 1 - soften(mask, sigma)
    weight = np.asarray(skin + np.float32(0.02) * mask + np.float32(1e-4), np.float32)
    rest = color.low_pass(wanted - level, weight, sigma)
    return Tone(np.asarray(carried + rest * edge[..., None], np.float32), tint)


def colourful(target: Lit, colour: float) -> float:
    """0..1: how much of a source's colours a target has room for: 0 on a grey picture, 1 on any that shows the hue of a skin."""
    return 1 - colour * (1 - float(np.clip(target.tint / GREY, 0, 1)))


def unlike(toned: Floats, target: Floats, mask: Floats, face_width: float) -> Floats:
    """(g, g) 0..1: places near the mask's edge where the toned source is still nothing like the target.

    There the source's outline shows its background, or the target's shows hair or a beard: the target stays.
    """
    difference = np.abs(toned - target).max(2)
    edge = 1 - smoothstep(soften(mask, 0.04 * face_width), 0.45, 0.8)
    return np.asarray(edge * smoothstep(soften(difference, 0.012 * face_width), 30, 75), np.float32)
