"""Moles, patches of another tone and make-up, taken out of a texture: an even skin that keeps its pores.

On the chart, where the other half of the face is one flip away: what is lighter, darker or of another hue than its surroundings is
brought to them, unless the mirrored place has it as well and it is slow enough to be the face's own form and light.
"""

import cv2
import numpy as np

from engines.faces.canonical import BROWS, EYE_RINGS, GRID, LIPS_OUTER, chart
from engines.types import Floats, Pixels
from engines.vision.color import low_pass, to_lab, to_rgb
from engines.vision.mask import convex, grow, polygon, smoothstep, soften
from engines.vision.raster import enlarge

SPOT, PATCH = 0.035, 0.14  # widest spot and widest patch that are taken out, in face widths
_PORE = 0.006  # what is finer stays
_FROM = (3.0, 9.0)  # Lab distance from the surroundings at which a spot begins to count, and counts in full
_FORM = 0.75  # share of a patch's lightness that both halves have which is form, and stays
_HUE = 0.85  # share of a patch's hue that is taken out
_MAKE_UP = 0.6  # share of the lids' and lips' colour above the skin's that is taken out


def unmarked(texture: Pixels, hair: Floats) -> Pixels:
    """Evens a face's skin.

    Args:
        texture: (C, C, 3) uint8 RGB, a face laid out in the chart.
        hair: (GRID, GRID) 0..1, its beard, which stays as it is.

    Returns:
        (C, C, 3) uint8; eyes, brows, nostrils and everything finer than a pore as they were.
    """
    side, reach = texture.shape[0], chart().scale * GRID
    skin = np.asarray(_skin() * (1 - hair), np.float32)
    fine = min(side, 2 * GRID)  # a mole is a few pixels wide there
    spots = _spots(np.asarray(cv2.resize(texture, (fine, fine), interpolation=cv2.INTER_AREA), np.float32), enlarge(skin, fine))
    lab = to_lab(np.asarray(cv2.resize(texture, (GRID, GRID), interpolation=cv2.INTER_AREA) + cv2.resize(spots, (GRID, GRID)), np.float32))
    near = low_pass(lab, skin + np.float32(1e-3), _PORE * reach)
    change = to_rgb(_without_patches(near, skin, reach)) - to_rgb(near)
    change *= soften(skin, 0.008 * reach)[..., None]
    change += _without_make_up(lab, skin, reach)
    out = texture + enlarge(spots, side) + enlarge(change.astype(np.float32), side)
    return np.asarray(np.clip(out + 0.5, 0, 255), np.uint8)


def _spots(rgb: Floats, skin: Floats) -> Floats:
    """(n, n, 3) RGB levels to add: takes spots up to `SPOT` wide out, by the median of what lies round them."""
    reach = chart().scale * rgb.shape[0]
    lab = to_lab(rgb)
    near = np.asarray(cv2.GaussianBlur(lab, (0, 0), 0.5 * _PORE * reach), np.float32)
    # cv2's median holds large windows for bytes only: a step of .4 of Lab's L and 1 of its colours, under what counts as a spot
    scale, shift = np.array([2.55, 1, 1], np.float32), np.array([0, 128, 128], np.float32)
    size = 2 * round(SPOT * reach) + 1
    held = np.asarray(cv2.medianBlur(np.clip(near * scale + shift + 0.5, 0, 255).astype(np.uint8), size), np.float32)
    middle = np.asarray(cv2.GaussianBlur((held - shift) / scale, (0, 0), 0.006 * reach), np.float32)
    distance = np.sqrt(((near - middle) ** 2).sum(2)).astype(np.float32)
    # a fold or a nostril's wing has its like on the other half, a mole hasn't
    other = np.asarray(cv2.dilate(distance[:, ::-1], np.ones((3, 3), np.uint8), iterations=max(1, round(0.006 * reach))), np.float32)
    alone = smoothstep(distance - other, 0.0, 4.0)
    share = smoothstep(distance, *_FROM) * (0.3 + 0.7 * alone)
    share = soften(grow(np.asarray(share, np.float32), 0.004 * reach), 0.004 * reach) * skin
    return np.asarray(to_rgb(near + share[..., None] * (middle - near)) - to_rgb(near), np.float32)


def _without_patches(even: Floats, skin: Floats, reach: float) -> Floats:
    """Patches up to `PATCH` wide: all of their hue, and of their lightness what only one half of the face has."""
    slow = low_pass(even, skin + np.float32(1e-3), 0.02 * reach)
    round_ = low_pass(even, skin + np.float32(1e-3), PATCH * reach)
    off = slow - round_
    mirrored = off[:, ::-1, 0]
    common = np.where(off[..., 0] * mirrored > 0, np.sign(off[..., 0]) * np.minimum(np.abs(off[..., 0]), np.abs(mirrored)), 0)
    # paler and greyer than round it on both sides is a patch all the same: form and light change the lightness, hardly the hue
    hue = np.hypot(off[..., 1], off[..., 2])
    stays = _FORM * (1 - smoothstep(hue.astype(np.float32), 2.0, 6.0))
    out = even.copy()
    out[..., 0] -= skin * (off[..., 0] - stays * common)
    out[..., 1:] -= (_HUE * skin)[..., None] * off[..., 1:]
    return out


def _without_make_up(lab: Floats, skin: Floats, reach: float) -> Floats:
    """(GRID, GRID, 3) RGB levels to add: lids and lips nearer to the skin's own colour where theirs is much stronger."""
    mean = (lab * skin[..., None]).sum((0, 1)) / max(float(skin.sum()), 1e-6)
    lids, lips = _painted()
    out = lab.copy()
    strong = smoothstep(np.hypot(lab[..., 1] - mean[1], lab[..., 2] - mean[2]).astype(np.float32), 8, 24)
    weight = _MAKE_UP * (strong * (lids + 0.7 * lips))
    out[..., 1:] += weight[..., None] * (mean[1:] - lab[..., 1:])
    darker = smoothstep((mean[0] - lab[..., 0]).astype(np.float32), 8, 20)
    out[..., 0] += 0.5 * weight * darker * (mean[0] - lab[..., 0])
    return soften(np.asarray(to_rgb(out) - to_rgb(lab), np.float32), 0.006 * reach)


def _skin() -> Floats:
    """(GRID, GRID) skin that may be evened: without features and nostrils."""
    points, reach = chart().pixels(GRID), chart().scale * GRID
    nose = grow(polygon(points[[98, 97, 2, 326, 327, 278, 48]], GRID, GRID), 0.01 * reach)
    rim = np.clip(chart().spread(chart().rim[:, None])[..., 0], 0, 1)
    return np.asarray(chart().covered * (1 - chart().features) * (1 - nose) * (1 - rim), np.float32)


def _painted() -> tuple[Floats, Floats]:
    """(GRID, GRID) the upper lids between eye and brow, and the lips."""
    points, reach = chart().pixels(GRID), chart().scale * GRID
    lids, eyes = np.zeros((GRID, GRID), np.float32), np.zeros((GRID, GRID), np.float32)
    for ring, brow in zip(EYE_RINGS, BROWS, strict=True):
        lids = np.maximum(lids, polygon(convex(np.vstack([points[ring], points[brow[5:]]])), GRID, GRID))
        eyes = np.maximum(eyes, grow(polygon(points[ring], GRID, GRID), 0.012 * reach))
    lips = polygon(points[LIPS_OUTER], GRID, GRID)
    return soften(np.maximum(lids - eyes, 0), 0.012 * reach), soften(lips, 0.006 * reach)
