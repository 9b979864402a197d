"""The target's fine structure on a fused face: sharpness, pores, grain and compression, band by band, both ways."""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS, LIPS_OUTER, OVAL
from engines.faces.geometry_transfer import Points, width
from engines.types import Floats
from engines.vision import color
from engines.vision.color import Spread
from engines.vision.mask import convex, grow, polygon, shrink, soften
from engines.vision.raster import enlarge, on_grid

LIMIT = 1.8  # structure is amplified by no more: beyond, noise and compression would show
WORN = 2.5  # and what resampling takes away is made up for by no more
COARSEST = 0.018  # of the face's width: coarser than that is form
PORES = 0.008  # of the face's width: bands up to here are pores
# How much more grain of the finest band than in the target's quiet places (the quarter with the least) a place may be given: the middle
# of the places has 1.3 to 1.5 times the quiet ones' strength, but so much of it makes wrinkled skin leather.
CALM = 1.1
# Film's grain is up to 1.35 times as strong in a coarser band than in the finest; what is more is folds and sharpening, as even grain a
# rash (the officer's skin: 1.6, 2.5, 3.4 levels from the finest band; portraits without wrinkles: 1.2, 1.1, .8).
EVEN = 1.35
_TILE, _SEED = 256, 20261201
_LOCAL = (0.7, 1.7)  # a place's own strength counts within these factors of the whole: beyond it is a wrinkle, a mole, a burnt spot


@dataclass(frozen=True, slots=True)
class Fineness:
    """What is measured once on a target, on the luma of its crop of side S, in levels.

    Attributes:
        quiet: each band's strength on the skin. edges: the same on the features.
        worn: how much stronger each band has to be drawn, because laying back softens it.
        even: strength that grain has at most in a coarser band than the picture's finest.
        filled: how many bands, from the finest, may be filled with even grain.
        grain: for each of those (n, n), tiles without a seam of noise with the spectrum and strength of the target's quietest patch.
    """

    quiet: tuple[Spread, ...]
    edges: tuple[float, ...]
    worn: tuple[float, ...]
    even: float
    filled: int
    grain: tuple[Floats, ...]

    @property
    def nbytes(self) -> int:
        return sum(tile.nbytes for tile in self.grain) + sum(spread.local.nbytes for spread in self.quiet)


def zones(mesh: Points, size: int) -> tuple[Floats, Floats]:
    """(S, S) 0..1 each: skin within a face's outline, and eyes, brows and lips, a little grown. `mesh`: (478, 3) in a crop of side S."""
    grid = min(size, 192)
    points, wide = on_grid(mesh[:, :2], size, grid), width(mesh) * grid / size
    features = np.zeros((grid, grid), np.float32)
    for ring, reach in ((EYE_RINGS[0], 0.035), (EYE_RINGS[1], 0.035), (LIPS_OUTER, 0.018)):
        features = np.maximum(features, grow(polygon(points[ring], grid, grid), reach * wide))
    for ring in BROWS:
        features = np.maximum(features, grow(polygon(convex(points[ring]), grid, grid), 0.02 * wide))
    skin = shrink(polygon(points[OVAL], grid, grid), 0.03 * wide) * (1 - features)
    return enlarge(skin, size), enlarge(soften(features, 0.006 * wide), size)


def measure_target(
    luma: Floats, carry: Callable[[Floats], Floats], skin: Floats, features: Floats, face_width: float, scale: float = 1.0, most: int = 4
) -> Fineness:
    """Measures a target.

    Args:
        luma: (S, S) float32, the crop.
        carry: takes (S, S) to the picture's pixels and back once more (`PreparedTarget.round_trip`).
        skin, features: (S, S) 0..1, plain skin; eyes, brows, lips.
        face_width: px.
        scale: pixels of the crop for one of the picture's.
        most: bands at most; a stream has time for the two of pores and grain.
    """
    count, reach, size = min(most, _count(face_width)), _scale(face_width), luma.shape[0]
    own, parts = color.bands(luma, count), (_halved(skin), _halved(features))
    quiet = [color.spread(band, skin if level < 2 else parts[0], reach / (1 if level < 2 else 2), _LOCAL) for level, band in enumerate(own)]
    edges = [color.edge_energy(band, features if level < 2 else parts[1]) for level, band in enumerate(own)]
    filled = min(count, _filled(face_width, scale))
    even = EVEN * quiet[min(filled - 1, _finest(scale))].whole
    fine = np.asarray(luma - cv2.GaussianBlur(luma, (0, 0), 0.8 * 2**filled), np.float32)
    calmest = patch(fine, skin, int(np.clip(0.16 * face_width, 16, 96)) // 2 * 2)
    tile = np.zeros((_TILE, _TILE), np.float32) if calmest is None else color.random_phase(calmest, _TILE, _SEED)
    # wrapped before the bands are cut, or the tile's edges would show
    wrapped = np.asarray(cv2.copyMakeBorder(tile, 32, 32, 32, 32, cv2.BORDER_WRAP), np.float32)
    levels = [np.asarray(band, np.float32) for band in color.bands(wrapped, filled)]
    # the last one is all that is left: a band's own band is less than it, and what the others share with it would be missing
    rest = np.asarray(cv2.GaussianBlur(wrapped, (0, 0), 0.8 * 2 ** (filled - 2)), np.float32)
    drawn_levels = [*levels[:-1], rest if filled <= 2 else _halved(rest)]
    grain = []
    for level, (band, image) in enumerate(zip(levels, drawn_levels, strict=True)):
        core = np.s_[32:-32, 32:-32] if level < 2 else np.s_[16:-16, 16:-16]
        grain.append(np.asarray(image[core] * (quiet[level].whole / max(float(band[core].std()), 1e-6)), np.float32))
    # what laying back takes away, measured on the grain: the target's own structure has been through it once already, and loses less
    drawn = color.tiled(sum(grain[:2], np.zeros((_TILE, _TILE), np.float32)), size)
    if filled > 2:
        coarse = sum((color.tiled(tile, size // 2) for tile in grain[2:]), np.zeros((size // 2, size // 2), np.float32))
        drawn = drawn + enlarge(coarse, size)
    before, after = color.bands(drawn, filled), color.bands(carry(drawn), filled)
    worn = []
    for one, two in zip(before, after, strict=True):
        inner = slice(one.shape[0] // 4, -(one.shape[0] // 4))
        left = max(float(two[inner, inner].std()), 1e-3)
        worn.append(float(np.clip(one[inner, inner].std() / left, 1.0, WORN)))
    return Fineness(tuple(quiet), tuple(edges), (*worn, *[1.0] * (count - filled)), even, filled, tuple(grain))


def match(luma: Floats, target: Fineness, skin: Floats, features: Floats, face_width: float) -> Floats:
    """What to add to a fused crop so that its fine structure is as strong as the target's: (S, S) float32 of luma.

    Too crisp a face is softened, a soft one sharpened as far as it has structure to sharpen, and what is still missing is filled with
    grain. A target without fine structure has nothing coarser raised.

    Args:
        luma: (S, S) float32, the fused face. skin, features: as in `measure_target`, for the fused shape.
    """
    size, scale, count = luma.shape[0], _scale(face_width), len(target.quiet)
    mine, parts = color.bands(luma, count), (_halved(skin), _halved(features))
    fine, coarse = np.zeros((size, size), np.float32), np.zeros_like(parts[0])
    soft = False
    for level in range(count):
        whole = level < 2
        where, on = (skin, features) if whole else parts
        have, want = color.spread(mine[level], where, scale / (1 if whole else 2), _LOCAL), target.quiet[level]
        pores = level < target.filled
        wanted = want.local * np.float32(target.worn[level])
        gain = np.clip(np.power(wanted / np.maximum(have.local, 1e-3), np.float32(1.0 if pores else 0.75)), 0.08, LIMIT)
        soft = soft or float(np.median(gain)) < 0.7
        if soft and not pores:
            gain = np.minimum(gain, 1.0)
        middle = float(np.median(gain))
        ratio = target.edges[level] / max(color.edge_energy(mine[level], on), 1e-3)
        edges = float(np.clip(ratio, 0.4, 1.0)) if middle < 1.05 else 1 + (middle - 1) * 0.4
        side = size if whole else coarse.shape[0]
        share = enlarge(np.asarray(gain, np.float32), side) - np.float32(1)
        change = mine[level] * (share + on * (np.float32(edges - 1) - share))
        if pores:
            # hardly more than in the target's quiet places: an old face's creases, as grain, are a rash on a young one
            most = min(want.whole, target.even) if level else CALM * want.whole
            calm = np.minimum(wanted, np.float32(most * target.worn[level]))
            missing = np.sqrt(np.maximum(np.square(calm) - np.square(gain * have.local), 0)) / max(want.whole, 1e-3)
            if float(missing.max()) > 0.05:
                more = enlarge(np.asarray(missing, np.float32), side)
                change += color.tiled(target.grain[level], side) * more * (1 - np.float32(0.6) * on)
        part = fine if whole else coarse
        part += change
    return fine + enlarge(coarse, size) if count > 2 else fine


def _filled(face_width: float, scale: float) -> int:
    """How many bands may be filled with even grain: pores, and what a camera or a file adds, which goes by the picture's pixels."""
    pores = 3 if PORES * face_width > 2**2 else 2
    return max(pores, 2 + _finest(scale))


def _finest(scale: float) -> int:
    """The band in which an enlarged picture has its pixels."""
    return round(float(np.log2(max(scale, 1.0))))


def _count(face_width: float) -> int:
    return int(np.clip(round(np.log2(max(face_width * COARSEST, 1.5))) + 1, 2, 4))


def _scale(face_width: float) -> float:
    """On which the strength of a place is measured, in px."""
    return max(2.0, 0.04 * face_width)


def _halved(field: Floats) -> Floats:
    half = field.shape[0] // 2
    return np.asarray(cv2.resize(field, (half, half), interpolation=cv2.INTER_AREA), np.float32)


def patch(fine: Floats, skin: Floats, side: int) -> Floats | None:
    """(side, side): the patch of the skin's fine structure with the least peaks, of middling strength; None where there is no skin."""
    area = (side, side)
    energy = np.sqrt(np.maximum(cv2.boxFilter(fine * fine, -1, area), 1e-6))
    peaks = np.maximum(cv2.boxFilter(np.square(np.square(fine)), -1, area), 1e-9) ** 0.25 / energy
    covered = cv2.boxFilter(skin, -1, area)
    half = side // 2
    inner = np.zeros(skin.shape, bool)
    inner[half:-half, half:-half] = True
    inner &= covered >= min(0.9, 0.97 * float((covered * inner).max()))
    if not inner.any() or float(covered[inner].max()) < 0.3:
        return None
    cost = np.where(inner, peaks + 0.3 * np.abs(np.log(energy / np.median(energy[inner]))), np.inf)
    row, column = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return fine[row - half : row + half, column - half : column + half]
