"""A warped face given the target's colour, light and texture."""

from dataclasses import dataclass

import cv2
import numpy as np

from engines.types import Floats
from engines.vision import color
from engines.vision.mask import smoothstep, soften
from engines.vision.raster import enlarge

LIGHT = 0.75  # share of the target's slow light that is taken over
TINT = 0.5  # share of the tint of patches, blush and shadows that gives way to the skin's own
_SLOW = 0.14  # its scale in face widths
_EDGE = 0.08  # scale on which the blend's edge is brought to the target's own light
_WORN = 2.5  # and what resampling takes away is made up for by no more
_MOST = 1.8  # structure is amplified by no more: beyond, noise and compression would show


@dataclass(frozen=True, slots=True)
class Tone:
    """How the source's pixels become the target's: one colour map for all, and a smooth correction per place.

    Attributes:
        matrix: (3, 4) float32, RGB levels in and out, for `cv2.transform`.
        light: (g, g, 3) float32, what is added afterwards, in RGB levels.
    """

    matrix: Floats
    light: Floats

    def apply(self, warp: Floats) -> Floats:
        """(S, S, 3) float32 0..255 → the same, toned; may leave the range by a little."""
        toned = cv2.transform(warp, self.matrix)
        return np.asarray(cv2.add(toned, enlarge(self.light, warp.shape[0]), dst=toned), np.float32)


def tone(warp: Floats, target: Floats, skin: Floats, mask: Floats, face_width: float) -> Tone:
    """Measures on the coarse grid what `Tone.apply` does at full size.

    Args:
        warp, target: (g, g, 3) float32 0..255, the source in the target's place, and the target.
        skin: (g, g), where both show skin.
        mask: (g, g), the blend's mask.
        face_width: px of the grid.
    """
    lab = color.to_lab(warp)
    moved = color.to_rgb(color.transfer(lab, color.statistics(lab, skin), color.statistics(color.to_lab(target), skin)))
    # Lab's transfer is all but affine in RGB (mean error 0.3-2 levels on 17 faces): fitted, it costs a twentieth at full size
    inside = mask > 0.3
    matrix = color.affine_fit(warp[inside], moved[inside], mask[inside])
    toned = np.asarray(cv2.transform(warp, matrix), np.float32)
    sigma = _SLOW * face_width
    light = LIGHT * (color.low_pass(target, skin, sigma) - color.low_pass(toned, skin, sigma))
    patches = _patches(toned + light, skin, face_width)
    light, toned = light + patches, toned + light + patches
    # near the blend's edge the slow part becomes the target's altogether, so that the edge has nothing left to hide
    edge = 1 - soften(mask, _EDGE * face_width)
    sigma = _EDGE * face_width
    rest = color.low_pass(target, mask + np.float32(1e-3), sigma) - color.low_pass(toned, mask + np.float32(1e-3), sigma)
    return Tone(matrix, np.asarray(light + rest * edge[..., None], np.float32))


def _patches(toned: Floats, skin: Floats, face_width: float) -> Floats:
    """(g, g, 3) what takes patches of another tint than the skin round them half way to it: they stay lighter or darker skin.

    A tint that suits a light skin's patches turns pink or grey on a dark one; the hue of a skin goes with its lightness.
    """
    lab = color.to_lab(toned)
    mean = color.statistics(lab, skin).mean
    slow = color.low_pass(lab, skin, 0.015 * face_width)
    own = mean[1:] * np.clip(slow[..., :1] / max(float(mean[0]), 1.0), 0.5, 1.6)
    lab[..., 1:] += TINT * skin[..., None] * (own - slow[..., 1:])
    return np.asarray(color.to_rgb(lab) - np.clip(toned, 0, 255), np.float32)


def unlike(tone: Tone, warp: Floats, target: Floats, mask: Floats, face_width: float) -> Floats:
    """(g, g) 0..1: places near the mask's edge where the toned source is still nothing like the target.

    There the source's outline shows its background, or the target's shows hair or a beard: the target stays.
    """
    difference = np.abs(cv2.add(cv2.transform(warp, tone.matrix), tone.light) - target).max(2)
    edge = 1 - smoothstep(soften(mask, 0.04 * face_width), 0.45, 0.8)
    return np.asarray(edge * smoothstep(soften(difference, 0.012 * face_width), 30, 75), np.float32)


def texture_gain(warp: Floats, target: Floats, worn: Floats, skin: Floats, features: Floats, face_width: float) -> Floats:
    """What to add to `warp` so that its fine structure is as strong as the target's: (S, S) float32 of luma.

    Per band, up to about 2 % of the face's width: too crisp a source is softened, a soft one sharpened as far as it has
    structure to sharpen, and what is still missing is filled with even grain.

    Args:
        warp, target: (S, S) float32 luma.
        worn: the target carried to the picture's pixels and back once more (`Placement.round_trip`). Cutting out softens the
            target and laying back softens the result; both are made up for: without it white noise keeps 0.4 of its strength.
        skin, features: (S, S) 0..1, plain skin; eyes, brows, lips.
        face_width: px.
    """
    count = int(np.clip(round(np.log2(max(face_width * 0.018, 1.5))) + 1, 2, 4))
    size, half = warp.shape[0], warp.shape[0] // 2
    mine, theirs, twice = color.bands(warp, count), color.bands(target, count), color.bands(worn, 2)
    small_skin, small_features = (
        np.asarray(cv2.resize(x, (half, half), interpolation=cv2.INTER_AREA), np.float32) for x in (skin, features)
    )
    fine_part, coarse_part = np.zeros((size, size), np.float32), np.zeros((half, half), np.float32)
    soft = False
    for level in range(count):
        whole = level < 2
        where, parts = (skin, features) if whole else (small_skin, small_features)
        sigma = max(2.0, 0.03 * face_width) / (1 if whole else 2)
        have, want = color.quiet_energy(mine[level], where, sigma), color.quiet_energy(theirs[level], where, sigma)
        if whole:
            want *= float(np.clip(want / max(color.quiet_energy(twice[level], where, sigma), 1e-3), 1.0, _WORN))
        pores = 2**level < 0.008 * face_width
        gain = float(np.clip((want / max(have, 1e-3)) ** (1.0 if pores else 0.6), 0.08, _MOST))
        soft = soft or gain < 0.7
        if soft:  # a target without fine structure: nothing coarser is raised
            gain = min(gain, 1.0)
        if gain < 1.05:
            ratio = color.edge_energy(theirs[level], parts) / max(color.edge_energy(mine[level], parts), 1e-3)
            edges = float(np.clip(ratio, 0.4, 1.0))
        else:
            edges = 1 + (gain - 1) * 0.4
        missing = max(0.0, want * want - (gain * have) ** 2) ** 0.5 if pores and not soft else 0.0
        change = mine[level] * (parts * np.float32(edges - gain) + np.float32(gain - 1))
        if missing > 0.1:
            side = size if whole else half
            grain = color.noise_bands(4, 1024)[level if whole else level - 1][:side, :side]
            change += grain * (np.float32(missing) * (1 - np.float32(0.6) * parts))
        part = fine_part if whole else coarse_part
        part += change
    return fine_part + enlarge(coarse_part, size) if count > 2 else fine_part
