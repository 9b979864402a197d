"""One fusion: a prepared source laid over one face of a picture, and how much nearer to it that face came."""

import numpy as np

from engines.errors import FaceUnchanged
from engines.faces import mesh_swapper
from engines.faces.embedder import distance, similarity
from engines.faces.source import PreparedSource
from engines.known import Known
from engines.results import FusedFace
from engines.timing import Run
from engines.types import Face, Frame, FuseOptions, Identity, Patch, Pixels
from engines.vision import blend

# Mean absolute change over the mask, in levels of 255, below which nobody can see that anything happened. A fusion of two people
# changes 8 to 30; a face laid onto itself changes under 2 by resampling, which the digest catches before it comes to this.
UNCHANGED = 0.5


def lay(known: Known, source: PreparedSource, target: Frame, face: Face, options: FuseOptions, run: Run) -> Patch:
    """What the fusion changes in the target's picture.

    Raises:
        FaceUnchanged: nobody could see it. Cancelled.
    """
    with run.stage("prepare"):
        spot = known.target(target, face, options.mode, run)
    with run.stage("fuse", 1, 1):
        crop = mesh_swapper.fuse(spot, source, options, run)
    if options.enhance != "none":
        crop = known.models.enhancer(options.enhance).enhance(crop, run)  # a stage for each of its tiles
        crop = mesh_swapper.regrain(spot, crop, options)
    with run.stage("blend"):
        patch = blend.paste(target.pixels, crop)
    if _change(target.pixels, patch) < UNCHANGED:
        raise FaceUnchanged(index=face.index)
    return patch


def measured(known: Known, pixels: Pixels, face: Face, source: Identity, target: Identity, run: Run) -> FusedFace:
    """The fused face with its distance to the source before and after.

    Args:
        pixels: (H, W, 3) uint8 RGB, the fused picture. The face is fitted anew: a wrong fit of the target can't praise itself.
        face: of the target. source, target: who they were.
    """
    with run.stage("embed"):
        mesh = known.models.mesh.fit(pixels, face.detection.points)
        after = distance(source, known.models.embedder.embed(pixels, mesh))
    before = distance(source, target)
    return FusedFace(face.index, face.box, face.detection.score, before, after, similarity(before), similarity(after))


def _change(pixels: Pixels, patch: Patch) -> float:
    """Mean absolute change over the mask, in levels."""
    height, width = patch.mask.shape
    inside = patch.mask > 0
    if not inside.any():
        return 0.0
    was = pixels[patch.top : patch.top + height, patch.left : patch.left + width]
    return float(np.abs(was.astype(np.int16) - patch.pixels)[inside].mean())
