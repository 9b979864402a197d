"""Beard and stubble: whether a face wears them, where, and how to take light stubble off a texture.

Everything is measured on the chart, so that source and target compare. Hair below the nose differs from the same face's cheeks in
two ways: it has more fine structure, and where it is thick it is darker without being redder, as shade is.
"""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import GRID, LIPS_OUTER, chart
from engines.options import Beard as Choice
from engines.types import Floats, Occlusion, Pixels
from engines.vision.color import low_pass, luma, to_lab, to_rgb
from engines.vision.mask import grow, polygon, smoothstep, soften, to_bytes
from engines.vision.raster import enlarge, look_up

# The mean of two shares, chin with jaw and upper lip, each on the barer side, or the first alone where hair hides the skin: wrinkles
# reach one of them. On 18 faces: beards and clear stubble .66 and more, bare faces .41 (wrinkled) and less.
WORN = 0.55
DENSE = 0.4  # mean darkening (natural logarithm) from which a beard hides the skin: full beards .7 and 1.0, stubble .04 to .24
# Share of the target's own form under a beard that is taken off a source. All of it is as smooth, but .03 to .1 further from the source.
BORROWED = np.float32(0.3)
_LEAST_KNOWN = 0.6  # share of the zone that must be seen for a word on it
_OFFSET = 12.0  # levels added before the logarithm: in black, noise counts for nothing
_FINE, _NEAR = 0.0067, 0.025  # scale of a hair, and of its neighbourhood, in face widths
_SLOW = 0.014  # what is finer is hair, what is slower is form, in face widths
_FLOOR = 0.005  # fine contrast of the smoothest skin: under it a photo's blur would make its noise a beard

# Vertices: under the nose and down the outline; chin and jaw away from the outline; moustache; cheeks and nose as bare skin.
_ZONE = (
    *(234, 93, 132, 58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397, 288, 361, 323, 454, 447, 345, 352),
    *(411, 425, 426, 423, 327, 326, 2, 97, 98, 203, 206, 205, 187, 123, 116, 227),
)
_CORE = (214, 212, 57, 43, 106, 182, 83, 18, 313, 406, 335, 273, 287, 432, 434, 364, 379, 378, 400, 377, 152, 148, 176, 149, 150, 135)
_MOUSTACHE = (165, 167, 164, 393, 391, 322, 410, 270, 269, 267, 0, 37, 39, 40, 186, 92)
_BARE = (123, 50, 101, 126, 131, 4, 360, 355, 330, 280, 352, 411, 425, 266, 36, 205, 187)  # below the rims of glasses
_NOSE = (98, 97, 2, 326, 327, 294, 278, 344, 440, 4, 220, 115, 48, 64)


@dataclass(frozen=True, slots=True)
class Beard:
    """What was measured on one face.

    Attributes:
        score: 0..1, how much of chin, jaw and upper lip carries hair, on the barer half.
        dark: mean darkening of that hair against the cheeks, natural logarithm.
        map: (GRID, GRID) float32 0..1 over the chart, soft: where it grows, filled over the lips and carried down to the outline; 0
            everywhere when none is worn.
    """

    score: float
    dark: float
    map: Floats

    @property
    def worn(self) -> bool:
        return self.score >= WORN

    @property
    def dense(self) -> bool:
        """Worn, and so thick that no skin shows through."""
        return self.worn and self.dark >= DENSE


def measure(texture: Pixels, known: Floats) -> Beard:
    """Looks for facial hair.

    Args:
        texture: (C, C, 3) uint8 RGB, a face laid out in the chart.
        known: (GRID, GRID) 0..1, where the texture is the face itself, not something before it or a guess.
    """
    zone, core, moustache, bare = _zones()
    nothing = np.zeros((GRID, GRID), np.float32)
    halves = [(part * half * known, part * half) for part in (core, moustache) for half in _halves()]
    if any(float(seen.sum()) < _LEAST_KNOWN * float(whole.sum()) for seen, whole in halves):
        return Beard(0.0, 0.0, nothing)
    evidence, rough, darker = _evidence(texture, bare, known)
    shares = [float((evidence * seen).sum() / max(float(seen.sum()), 1e-6)) for seen, _ in halves]
    weight = evidence * core * known
    dark = float((darker * weight).sum() / max(float(weight.sum()), 1e-6))
    score = min(shares[:2]) if dark >= DENSE else (min(shares[:2]) + min(shares[2:])) / 2
    if score < WORN:
        return Beard(score, dark, nothing)
    grown = np.maximum(evidence, smoothstep(rough, 0.3, 0.8))
    if dark >= DENSE:  # a thick one ends where its darkness does: cheeks above it are in shade too, or rough enough to pass for hair
        level = np.asarray(darker / dark + 0.25 * np.clip(rough, -1, 1), np.float32)
        grown = np.maximum(evidence * smoothstep(level, 0.65, 0.9), grown * moustache)
    return Beard(score, dark, _region(np.asarray(grown * zone * known, np.float32)))


def of_crop(crop: Pixels, points: NDArray[np.floating], over: Occlusion) -> Beard:
    """The same for a face in a crop of side S: `points` (478, 3) in it, `over` what was found before it."""
    table = chart()
    side = 2 * GRID if np.ptp(points[:468, 0]) > GRID * table.scale else GRID
    where = table.spread(points[:, :2], side)
    return measure(look_up(over.clean, where), untouched(crop, over, where if side == GRID else table.spread(points[:, :2])))


def untouched(crop: Pixels, over: Occlusion, where: Floats) -> Floats:
    """(h, w) 1 where a clean plate is still the photo, at positions (h, w, 2) in its crop: filled-in skin is too smooth to compare with."""
    if over.clean is crop:
        return np.ones(where.shape[:2], np.float32)
    changed = cv2.max(cv2.absdiff(crop, over.clean).max(2), to_bytes(over.alpha))
    x, y = cv2.split(where)
    seen = cv2.remap(changed, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return 1 - grow((seen > 2).astype(np.float32), 0.02 * chart().scale * where.shape[0])


@dataclass(frozen=True, slots=True)
class Kept:
    """What of the target's own pixels stays in a fusion, (n, n) float32 0..1 each: over the chart, or over a crop's coarse grid.

    Attributes:
        form: their slow part, light and colour. hair: their fine part.
    """

    form: Floats
    hair: Floats


def kept(target: Beard, source: Beard, choice: Choice) -> Kept | None:
    """What stays the target's, lips apart, over the chart; None where nothing does.

    A thick beard reaches below the mesh, so it is kept whole. Stubble has its hairs laid over the new face, up to those on the neck.
    Under the source's own thick beard no skin is known: some of its form is taken from the target, the rest from what `shaven` leaves.
    """
    if choice == "source" and source.worn:
        return None
    if not target.worn and not source.dense:
        return None
    nothing = np.zeros((GRID, GRID), np.float32)
    form = target.map if target.dense else nothing
    hair = target.map if target.worn else nothing
    if source.dense:  # its edge would show as a step of tone: drawn out over the cheek
        reach = chart().scale * GRID
        form = np.maximum(form, BORROWED * soften(grow(source.map, 0.02 * reach), 0.045 * reach))
    return Kept(form, hair)


def lay(fused: Floats, own: Floats, stays: Kept, lips: Floats, face_width: float) -> None:
    """Lays what stays over a fusion, in place.

    Args:
        fused, own: (S, S, 3) float32 RGB 0..255, the fusion, and the target moved to its shape.
        stays: on a coarse grid of the crop.
        lips: (S, S) 0..1, which are the source's.
        face_width: px of the crop.
    """
    size = fused.shape[0]
    rows = np.flatnonzero((stays.form + stays.hair).max(1) > 1e-3)
    if rows.size == 0:
        return
    scale = size / stays.form.shape[0]
    top, bottom = int(rows[0] * scale), min(size, int((rows[-1] + 1) * scale) + 1)
    form, hair = (enlarge(field, size)[top:bottom, :, None] for field in (stays.form, stays.hair))
    part, theirs = fused[top:bottom], own[top:bottom]
    if float(np.abs(stays.form - stays.hair).max()) < 1e-3:
        part += form * (theirs - part)
        return
    weight = 1 - lips[top:bottom] * np.float32(0.999)  # or their colour would stand round them
    difference = theirs - part
    slow = low_pass(difference, weight, _SLOW * face_width)
    part += form * slow + hair * (difference - slow)


def shaven(texture: Pixels, beard: Beard) -> Pixels:
    """The texture without its beard: hairs damped to the cheeks' fine contrast, their grey and their patches evened out.

    Args:
        texture: (C, C, 3) uint8 RGB. beard: of the same face.

    Returns:
        The texture itself when nothing is worn. Under a thick beard the form is a guess.
    """
    if not beard.worn:
        return texture
    side = texture.shape[0]
    wide = chart().scale * side
    _, _, _, bare = _zones()
    small = np.asarray(cv2.resize(texture, (GRID, GRID), interpolation=cv2.INTER_AREA), np.float32)
    reach, narrow = chart().scale * GRID, np.clip(1 - beard.map * 1.5, 0, 1) * chart().covered * (1 - _lips())
    lab = to_lab(small)
    near, form = low_pass(lab, chart().covered, 0.012 * reach), low_pass(lab, chart().covered, 0.09 * reach)
    around = low_pass(lab, narrow.astype(np.float32) + np.float32(1e-3), 0.12 * reach)
    even = near.copy()
    even[..., 0] = (
        form[..., 0]
        + 0.35 * (near[..., 0] - form[..., 0])
        + np.clip(around[..., 0] - form[..., 0], 0, 60 if beard.dense else 12) * (1.0 if beard.dense else 0.6)
    )
    even[..., 1:] = around[..., 1:]
    change = to_rgb(even) - to_rgb(near)
    share = beard.map * chart().covered * (1 - _lips())
    fine = texture.astype(np.float32)
    base = np.asarray(cv2.GaussianBlur(fine, (0, 0), 0.012 * wide), np.float32)
    have = _contrast(texture)
    gain = np.clip(float(np.percentile(have[bare > 0.5], 50)) / np.maximum(have, 1e-4), 0.15, 1)
    damp = enlarge((share * (1 - gain)).astype(np.float32), side)[..., None]
    out = fine - damp * (fine - base) + enlarge((change * share[..., None]).astype(np.float32), side)
    return np.asarray(np.clip(out + 0.5, 0, 255), np.uint8)


def _contrast(texture: Pixels) -> Floats:
    """(GRID, GRID) fine contrast of the luma's logarithm, as a robust mean round each place: one wrinkle isn't many hairs."""
    side, reach = texture.shape[0], chart().scale * GRID
    light = np.log(luma(texture.astype(np.float32)) + np.float32(_OFFSET))
    fine = np.abs(light - cv2.GaussianBlur(light, (0, 0), max(0.5, _FINE * chart().scale * side)))
    usual = cv2.resize(fine, (GRID, GRID), interpolation=cv2.INTER_NEAREST)[_readable() > 0.5]
    root = np.sqrt(np.minimum(fine, 4 * float(np.median(usual))))
    small = np.asarray(cv2.resize(root, (GRID, GRID), interpolation=cv2.INTER_AREA), np.float32)
    return low_pass(small, _readable(), _NEAR * reach) ** 2


def _evidence(texture: Pixels, bare: Floats, known: Floats) -> tuple[Floats, Floats, Floats]:
    """Three (GRID, GRID) maps: 0..1 what is hair for sure, and against the cheeks: fine contrast (log 2), darkening (natural log)."""
    reference = bare * known > 0.5
    if int(reference.sum()) < 200:
        nothing = np.zeros((GRID, GRID), np.float32)
        return nothing, nothing, nothing
    fine = _contrast(texture)
    base = max(float(np.percentile(fine[reference], 50)), _FLOOR)
    rough = np.log2(np.maximum(fine, 1e-4) / base).astype(np.float32)
    small = np.asarray(cv2.resize(texture, (GRID, GRID), interpolation=cv2.INTER_AREA), np.float32)
    light = low_pass(np.log(small + np.float32(_OFFSET)), _readable(), 0.015 * chart().scale * GRID)
    level = np.median(light[reference], axis=0)
    darker = np.asarray(float(level.mean()) - light.mean(2), np.float32)
    redder = np.maximum((light[..., 0] - light[..., 2]) - float(level[0] - level[2]), 0)
    thick = smoothstep(darker - np.float32(1.5) * redder, 0.35, 0.75)
    return np.maximum(smoothstep(rough, 0.6, 1.15), thick), rough, darker


def _region(evidence: Floats) -> Floats:
    """What lies between hairs belongs to the beard, and so do the lips' surroundings and all that lies below it."""
    reach = chart().scale * GRID
    size = 2 * round(0.025 * reach) + 1
    filled = cv2.morphologyEx(evidence, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)))
    filled = cv2.morphologyEx(filled, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (7, 7)))
    down = np.maximum(np.asarray(filled, np.float32), _lips())
    mouth = round(float(chart().pixels(GRID)[61, 1]))
    down[mouth:] = np.maximum.accumulate(down[mouth:], axis=0)
    return smoothstep(soften(grow(down, 0.008 * reach), 0.02 * reach), 0.1, 0.75)


@cache
def no_beard() -> Beard:
    """A bare face."""
    return Beard(0.0, 0.0, np.zeros((GRID, GRID), np.float32))


@cache
def _lips() -> Floats:
    lips = grow(polygon(chart().pixels(GRID)[LIPS_OUTER], GRID, GRID), 0.012 * chart().scale * GRID)
    lips.setflags(write=False)
    return lips


@cache
def _readable() -> Floats:
    """(GRID, GRID) the mesh without lips and nostrils, whose edges are no hair."""
    nose = grow(polygon(chart().pixels(GRID)[list(_NOSE)], GRID, GRID), 0.015 * chart().scale * GRID)
    out = (chart().covered * (1 - _lips()) * (1 - nose)).astype(np.float32)
    out.setflags(write=False)
    return out


@cache
def _zones() -> tuple[Floats, Floats, Floats, Floats]:
    """Where hair may grow, the core of that, the moustache, and the bare skin to compare with: (GRID, GRID) each."""
    points, reach = chart().pixels(GRID), chart().scale * GRID
    zone, core, moustache, bare = (polygon(points[list(ring)], GRID, GRID) for ring in (_ZONE, _CORE, _MOUSTACHE, _BARE))
    core = np.minimum(core, 1 - grow(1 - zone * chart().covered, 0.035 * reach))
    out = (zone * (1 - _lips()), core * (1 - _lips()), moustache * _readable(), bare * _readable())
    for table in out:
        table.setflags(write=False)
    return out


@cache
def _halves() -> tuple[Floats, Floats]:
    left = np.zeros((GRID, GRID), np.float32)
    left[:, : GRID // 2] = 1
    return left, 1 - left
