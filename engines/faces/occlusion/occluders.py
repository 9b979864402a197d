"""What lies over a face, found without a segmentation network: solid things, glasses, strands of hair, hands.

A robust model of this one skin tells what doesn't belong; ridges tell glasses and strands; two small networks tell hands. Whatever is
found is kept whole or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from engines.faces.occlusion import lumps
from engines.faces.occlusion.alpha import plate
from engines.faces.occlusion.bridge import bridge
from engines.faces.occlusion.end_pieces import end_pieces
from engines.faces.occlusion.frame import inner, lenses
from engines.faces.occlusion.glasses import Path, fitted, glasses
from engines.faces.occlusion.hair import locks, texture
from engines.faces.occlusion.hand_mask import hand_mask
from engines.faces.occlusion.ridges import inside, ridges
from engines.faces.occlusion.scene import SIDE, Bools, Points, Scene, chroma_values, grown, read
from engines.faces.occlusion.skin_model import Skin, fit
from engines.faces.occlusion.strands import strands
from engines.faces.occlusion.wisps import beside
from engines.faces.occlusion.worn import part_of, take_off
from engines.timing import Run
from engines.types import Floats, Occlusion, Pixels
from engines.vision.geometry import apply

MOST = 0.75  # a mask and a brim hide .6 of a face; where still more doesn't look like one skin, it is the skin that wasn't understood


@dataclass(frozen=True, slots=True)
class OnSource:
    """What lies over a source's face.

    Attributes:
        occlusion: all of it, glasses filled with their shadow; `found` also has "glasses_left", see `Worn.left`.
        bespectacled: (h, w, 3) uint8 RGB, `occlusion.clean` with the glasses on. glass: (h, w) float32, see `Worn.glass`. None without.
    """

    occlusion: Occlusion
    bespectacled: Pixels | None = None
    glass: Floats | None = None


@dataclass(frozen=True, slots=True)
class _Search:
    scene: Scene
    skin: Skin
    mass: Bools
    frame: tuple[Path, ...]
    hairs: tuple[Points, ...]
    wispy: Floats
    mixed: bool
    found: tuple[tuple[str, float], ...]


def find_occluders(
    crop: Pixels, points: Points, hands: Sequence[Points] = (), run: Run | None = None, covered: Floats | None = None
) -> Occlusion:
    """Looks for all of it.

    Args:
        crop: (h, w, 3) uint8 RGB that holds the face; not changed.
        points: (478, 3), the mesh in its pixels; may reach beyond it.
        hands: (21, 2) each, in its pixels, of `engines.faces.hands.HandFinder`.
        run: asked between the steps whether the job was stopped.
        covered: (h, w) float32 0..1, of a network: taken for the solid things in place of what doesn't look like this skin. Glasses, single
            strands and hands are found as ever.

    Returns:
        Maps of the crop's size; `alpha` 0 and `clean` the crop itself where nothing was found.

    Raises:
        Cancelled: the job was stopped.
    """
    it = _search(crop, points, hands, run, covered=covered)
    made = plate(crop, it.scene, it.skin, it.mass, it.frame, it.hairs, it.wispy, it.mixed)
    return Occlusion(made.alpha, _bytes(made.clean), made.solid, it.found)


def find_on_source(crop: Pixels, points: Points, hands: Sequence[Points] = (), run: Run | None = None) -> OnSource:
    """The same for a face that is to be laid over another: of its glasses no trace may be left. See `find_occluders`."""
    it = _search(crop, points, hands, run, quick=True)
    hinges = part_of(it.mass, it.frame)
    made = plate(crop, it.scene, it.skin, it.mass & ~hinges, (), it.hairs)
    clean = _bytes(made.clean)
    if not it.frame:
        return OnSource(Occlusion(made.alpha, clean, made.solid, it.found))
    worn = take_off(clean, it.scene, it.frame, hinges)
    found = (*it.found, ("glasses_left", worn.left))
    return OnSource(Occlusion(np.maximum(made.alpha, worn.area), worn.clean, made.solid, found), clean, worn.glass)


def _bytes(image: Floats) -> Pixels:
    return np.asarray(np.clip(image + 0.5, 0, 255), np.uint8)


def _search(
    crop: Pixels, points: Points, hands: Sequence[Points], run: Run | None, quick: bool = False, covered: Floats | None = None
) -> _Search:
    check = run.check if run else (lambda: None)
    scene = read(crop, points)
    skin = fit(scene)
    check()
    evidence = lumps.weigh(scene, skin)
    lines = ridges(np.ascontiguousarray(chroma_values(scene.pixels.astype(np.float32))[..., 0]))
    woven = texture(lines)
    solid, beard = lumps.find(scene, evidence, woven)
    beard = grown(beard, 6)
    mass = lumps.settle(scene, evidence, solid, quick) | (locks(scene, woven, evidence.misfit) & ~beard)
    mass = lumps.unshaded(scene, evidence, woven, mass)
    if covered is not None:
        mass = np.asarray(cv2.warpAffine(covered, scene.matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR), np.float32) > 0.5
    if share_of(mass, scene) > MOST:
        mass = np.zeros_like(mass)
    check()
    worn = glasses(scene, lines, evidence.red)
    frame = (worn.paths if quick else fitted(worn, scene.points, lines)) if worn.worn else ()
    if frame and covered is None:  # what looks odd behind a lens is the lens; a network knows a hand from it
        mass = mass & ~inner(frame)
    mass = mass | end_pieces(scene, evidence, frame)
    hairs = tuple(path for path in strands(scene, lines, mass) if beard[inside(path)[::-1]].mean() < 0.5)
    if frame:
        near = grown(lenses(frame) > 0.5, 5) & ~grown(lenses(frame) > 0.5, -5)
        hairs = tuple(path for path in hairs if near[inside(path)[::-1]].mean() < 0.4)
    check()
    wispy = beside(scene, woven, mass & ~part_of(mass, frame))
    mass = mass | hand_mask(scene, [apply(scene.matrix, hand) for hand in hands])
    share = share_of(mass, scene)
    mass = mass | bridge(scene, skin, evidence, frame)  # not counted: it hides no more of a face than glasses do
    found = (
        ("glasses", round(worn.score, 2)),
        ("strands", float(len(hairs))),
        ("hands", float(len(hands))),
        ("lumps", round(share, 4)),
        ("beard", round(share_of(beard, scene), 4)),
    )
    return _Search(scene, skin, mass, frame, tuple(hairs), wispy, worn.mixed, found)


def share_of(mass: Bools, scene: Scene) -> float:
    """How much of the face is under it: of what a fusion paints, without the rim and the top of the forehead, where hair belongs."""
    brow = scene.points[[105, 334, 107, 336], 1].mean()
    face = scene.covered & (scene.depth > 5)
    face[: max(0, int(brow + 0.7 * (scene.points[10, 1] - brow)))] = False
    return float((mass & face).sum() / max(1, int(face.sum())))
