"""The fusion: a source's face, prepared once, laid over a target's dense mesh.

Classical computer vision throughout, no learned generator: the mesh carries shape and texture, statistics carry colour, light
and grain. All per-pixel work runs on a square crop with the face upright, maps and masks on a reduction of it to 128-192 px.
"""

from dataclasses import replace

import cv2
import numpy as np

from engines.faces import beard, coverage, eyes, light, mouth, outline, spectacles, texture
from engines.faces.geometry_transfer import unsmiling
from engines.faces.light import Tone
from engines.faces.occlusion.as_source import comes_along
from engines.faces.occlusion.shade import shaded
from engines.faces.placement import Placement, place
from engines.faces.source import PreparedSource as PreparedSource
from engines.faces.source import is_small as is_small
from engines.faces.source import prepare as prepare
from engines.faces.target import PreparedTarget as PreparedTarget
from engines.faces.target import follow as follow
from engines.faces.target import prepare_target as prepare_target
from engines.options import FuseOptions
from engines.timing import Run
from engines.types import Floats, FusedCrop
from engines.vision import color
from engines.vision.mask import soften, to_bytes
from engines.vision.raster import enlarge


def fuse(target: PreparedTarget, source: PreparedSource, options: FuseOptions, run: Run) -> FusedCrop:
    """Lays a prepared source over one face.

    Args:
        target: of `prepare_target`. The fusion is meant for up to about 35° of yaw and 30° of pitch.
        source: of `prepare`.
        options: `strength` 0 gives a mask of zeros.
        run: asked between the steps whether the job was stopped.

    Returns:
        The fused crop and the mask that belongs to it; `engines.vision.blend.paste` lays it into the picture.

    Raises:
        Cancelled: the job was stopped.
    """
    strength, size, occlusion = options.strength, target.size, target.occlusion
    if strength <= 0:
        return FusedCrop(target.pixels, np.zeros((size, size), np.uint8), target.matrix)
    worn = source.spectacles if comes_along(source.found, occlusion.found, options.glasses) else None
    shown = source.look(options.beard == "target", options.marks, worn is not None)
    source = source.look(options.beard == "target", options.marks)  # light, tone and mask are measured without glasses
    spot = place(target, source.points, strength * options.shape, (options.keep_eyes, options.keep_mouth))
    run.check()

    warp_small = source.sample(spot.uv, spot.coarse_width)
    crop_small = np.asarray(cv2.resize(spot.pixels, (spot.grid, spot.grid), interpolation=cv2.INTER_AREA), np.uint8)
    covered = coverage.cover(target, source, spot, crop_small, warp_small[..., 3].astype(np.float32) / np.float32(255), options)
    mask, skin = covered.mask, covered.skin
    coarse = warp_small[..., :3].astype(np.float32), crop_small.astype(np.float32)
    change = spot.of_chart(light.gain(source.lit, target.lit, options.colour, unsmiling(source.points, spot.shape)))
    tone = light.tone(*coarse, change, skin, mask, spot.coarse_width, light.colourful(target.lit, options.colour))
    unlike = light.unlike(tone.apply(coarse[0]), coarse[1], mask, spot.coarse_width) * (1 - eyes.ground(spot))
    if covered.carried is not None:  # beside bare skin its edge isn't lightened, and isn't taken for something that isn't the face's
        tone = replace(tone, gain=tone.gain + covered.carried[..., None] * (change - tone.gain))
        unlike = unlike * (1 - covered.carried)
    like = 1 - soften(unlike, 0.01 * spot.coarse_width)
    run.check()

    glass: tuple[Floats, Floats] | None
    warp, (own, glass) = run.both(  # a tenth of a fusion's time on two cores
        lambda: _painted(target, shown, spot, tone, skin, options),
        lambda: (spot.own(target.mode == "live"), spectacles.sample(worn, spot, tone, occlusion.alpha, run) if worn is not None else None),
    )
    run.check()
    if covered.stays is not None:
        beard.lay(warp, own, covered.stays, coverage.lips(spot), spot.face_width)
    eyes.finish(warp, own, spot, shown, options.keep_eyes)
    mouth.finish(warp, own, spot, source, options.keep_mouth, target.mode == "live")
    if strength < 1:
        warp = np.asarray(cv2.addWeighted(warp, strength, own, 1 - strength, 0), np.float32)
    share = covered.full(like) * np.float32(min(1.0, strength * 8))
    if target.hold is not None:  # where the picture beside the face is drawn along with its outline, all that shows is moved
        along = np.maximum(share, outline.drawn_along(spot.shift, target.hold, size))
        warp = own + (share / np.maximum(along, np.float32(1e-3)))[..., None] * (warp - own)
        share = along
    # What the fusion changes is added to what is there, and where something lies before the face the mask is closed, so that its own pixels
    # stay as they are.
    warp = shaded(warp, target.pixels, occlusion.clean, occlusion.alpha)
    if glass is not None:
        colours, alpha = glass
        warp, share = spectacles.lay(warp, share, colours, alpha * np.float32(min(1.0, strength * 8)))
    fused = np.clip(warp + 0.5, 0, 255).astype(np.uint8)
    return FusedCrop(fused, to_bytes(share * (1 - occlusion.alpha)), target.matrix)


def _painted(target: PreparedTarget, shown: PreparedSource, spot: Placement, tone: Tone, skin: Floats, options: FuseOptions) -> Floats:
    """(S, S, 3) float32: the source's face where the target's is, in its light, as fine as its skin."""
    warp = tone.apply(cv2.cvtColor(shown.sample(spot.fine_uv(), spot.face_width), cv2.COLOR_RGBA2RGB).astype(np.float32))
    if options.texture <= 0 or options.enhance != "none":  # a network comes before the grain, not after: see `regrain`
        return warp
    plain, parts = enlarge(skin, target.size), texture.zones(spot.shape, target.size)[1]
    added = options.texture * texture.match(color.luma(warp), target.fineness, plain, parts, spot.face_width)
    return np.asarray(cv2.add(warp, cv2.merge([added, added, added])), np.float32)


def regrain(target: PreparedTarget, crop: FusedCrop, options: FuseOptions) -> FusedCrop:
    """The target's fine structure on a crop that a network drew anew, up to twice as large: after it, since it takes grain for a fault."""
    if options.texture <= 0:
        return crop
    size, side = target.size, crop.pixels.shape[0]
    small = crop.pixels if side == size else np.asarray(cv2.resize(crop.pixels, (size, size), interpolation=cv2.INTER_AREA), np.uint8)
    mask = np.asarray(cv2.resize(crop.mask, (size, size), interpolation=cv2.INTER_AREA), np.float32) / np.float32(255)
    skin, parts = texture.zones(target.points, size)
    added = texture.match(color.luma(small.astype(np.float32)), target.fineness, skin * (mask > 0.8), parts, target.face_width)
    added = enlarge(options.texture * added * mask, side)
    pixels = cv2.add(crop.pixels.astype(np.float32), cv2.merge([added, added, added]))
    return FusedCrop(np.asarray(np.clip(pixels + 0.5, 0, 255), np.uint8), crop.mask, crop.matrix)
