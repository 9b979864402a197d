"""What lies over a face, found without a segmentation network: solid things, glasses, strands of hair, hands.

A robust model of this one skin tells what doesn't belong; ridges tell glasses and strands; two small networks tell hands. Whatever is
found is kept whole or not at all.
"""

from collections.abc import Sequence

import numpy as np

from engines.faces.occlusion import lumps
from engines.faces.occlusion.alpha import inner, lenses, plate
from engines.faces.occlusion.glasses import glasses
from engines.faces.occlusion.hair import locks, texture
from engines.faces.occlusion.hand_mask import hand_mask
from engines.faces.occlusion.ridges import inside, ridges
from engines.faces.occlusion.scene import Bools, Points, Scene, chroma_values, grown, read
from engines.faces.occlusion.skin_model import fit
from engines.faces.occlusion.strands import strands
from engines.timing import Run
from engines.types import Occlusion, Pixels
from engines.vision.geometry import apply

MOST = 0.75  # a mask and a brim hide .6 of a face; where still more doesn't look like one skin, it is the skin that wasn't understood


def find_occluders(crop: Pixels, points: Points, hands: Sequence[Points] = (), run: Run | None = None) -> Occlusion:
    """Looks for all of it.

    Args:
        crop: (h, w, 3) uint8 RGB that holds the face; not changed.
        points: (478, 3), the mesh in its pixels; may reach beyond it.
        hands: (21, 2) each, in its pixels, of `engines.faces.hands.HandFinder`.
        run: asked between the steps whether the job was stopped.

    Returns:
        Maps of the crop's size; `alpha` 0 and `clean` the crop itself where nothing was found.

    Raises:
        Cancelled: the job was stopped.
    """
    check = run.check if run else (lambda: None)
    scene = read(crop, points)
    skin = fit(scene)
    check()
    evidence = lumps.weigh(scene, skin)
    lines = ridges(np.ascontiguousarray(chroma_values(scene.pixels.astype(np.float32))[..., 0]))
    woven = texture(lines)
    mass = lumps.settle(scene, evidence, lumps.find(scene, evidence, woven)) | locks(scene, woven, evidence.misfit)
    if share_of(mass, scene) > MOST:
        mass = np.zeros_like(mass)
    check()
    worn = glasses(scene, lines)
    frame = worn.paths if worn.worn else ()
    if frame:
        mass = mass & ~inner(frame)
    hairs = strands(scene, lines, mass)
    if frame:
        near = grown(lenses(frame) > 0.5, 5) & ~grown(lenses(frame) > 0.5, -5)
        hairs = tuple(path for path in hairs if near[inside(path)[::-1]].mean() < 0.4)
    check()
    mass = mass | hand_mask(scene, [apply(scene.matrix, hand) for hand in hands])
    made = plate(crop, scene, skin, mass, frame, hairs)
    found = (
        ("glasses", round(worn.score, 2)),
        ("strands", float(len(hairs))),
        ("hands", float(len(hands))),
        ("lumps", round(share_of(mass, scene), 4)),
    )
    return Occlusion(made.alpha, np.clip(made.clean + 0.5, 0, 255).astype(np.uint8), made.solid, found)


def share_of(mass: Bools, scene: Scene) -> float:
    """How much of the face is under it: of what a fusion paints, without the rim and the top of the forehead, where hair belongs."""
    brow = scene.points[[105, 334, 107, 336], 1].mean()
    face = scene.covered & (scene.depth > 5)
    face[: max(0, int(brow + 0.7 * (scene.points[10, 1] - brow)))] = False
    return float((mass & face).sum() / max(1, int(face.sum())))
