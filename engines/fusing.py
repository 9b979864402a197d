"""The fusion of one picture: prepared sources laid over its faces, and how much nearer to them those came."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engines.choosing import Notes, SourceHalf, choose, require, source_half
from engines.errors import FaceUnchanged, InvalidOption
from engines.faces import masks, mesh_swapper, restorer, swapped
from engines.faces.embedder import distance, similarity
from engines.faces.occlusion.as_source import judge_glasses
from engines.faces.pairing import pairing, same_place
from engines.faces.source import PreparedSource
from engines.faces.target import PreparedTarget
from engines.faces.topology import five_points
from engines.known import Known
from engines.options import MESH, FuseOptions
from engines.personas import Persona
from engines.results import FusedFace
from engines.timing import Run
from engines.types import Face, Floats, Frame, FusedCrop, Identity, Patch, Pixels
from engines.vision import blend

# Mean absolute change over the mask, in levels of 255, below which nobody can see that anything happened. A fusion of two people
# changes 8 to 30; a face laid onto itself changes under 2 by resampling, which the digest catches before it comes to this.
UNCHANGED = 0.5

Wish = tuple[Frame | Persona, FuseOptions]  # who, and for which face; that is one of the options


@dataclass(frozen=True, slots=True)
class Fused:
    """A picture (H, W, 3) uint8 RGB with its faces fused and not yet marked, those faces in the order of the wishes, and notes."""

    pixels: Pixels
    faces: tuple[FusedFace, ...]
    notes: Notes


@dataclass(frozen=True, slots=True)
class _Place:
    """A face of the target that was chosen, what was said of the choice, and who it is."""

    face: Face
    notes: Notes
    identity: Identity


def fuse(known: Known, wishes: Sequence[Wish], target: Frame, run: Run) -> Fused:
    """Gives faces of one picture the identities that are wished for them: all of them, or none.

    Sources and target are dealt with beside each other, which takes two thirds of the time on two cores. Faces are laid from the
    smallest to the largest, since whoever is nearer stands in front; each is read from the picture as it came in.

    Raises:
        InvalidOption: nobody, twice, paint_size (reasons), points. NoFace, FaceIndexError, FaceNotUsable: of either picture.
        FaceUnchanged, Cancelled.
    """
    if not wishes:
        raise InvalidOption("nobody", name="map", value="", allowed="")
    halves, places = run.both(
        lambda: [source_half(known, source, options, run) for source, options in wishes],
        lambda: [_place(known, target, options, run) for _, options in wishes],
    )
    notes: list[Notes] = [half.notes for half in halves]
    for number, ((source, _), half, place) in enumerate(zip(wishes, halves, places, strict=True)):
        if any(same_place(place.face, other.face) for other in places[:number]):
            raise InvalidOption("twice", name="map", value=place.face.index, index=place.face.index, allowed="")
        if source.digest == target.digest and half.face is not None and same_place(half.face, place.face):
            raise FaceUnchanged("same", index=place.face.index)
        notes.append(place.notes)
        if wishes[number][1].model == MESH:  # what a swapper draws doesn't depend on how the source's head is held
            together = pairing(half.side(), known.side(target, place.face))
            require(together.verdict, "source", half.index)
            notes.append(together.notes)

    pixels = target.pixels
    for number in sorted(range(len(wishes)), key=lambda number: places[number].face.mesh.size):
        said, patch = _one(known, halves[number], places[number].face, wishes[number][1], target, pixels, run)
        notes.append(said)
        with run.stage("blend"):
            pixels = blend.apply(pixels, patch)
    faces = [
        measured(known, pixels, place.face, half.identity, place.identity, options, run)
        for (_, options), half, place in zip(wishes, halves, places, strict=True)
    ]
    return Fused(pixels, tuple(faces), tuple(dict.fromkeys(note for some in notes for note in some)))


def masked(known: Known, target: Frame, options: FuseOptions, run: Run) -> Pixels:
    """(H, W) uint8: how far a fusion with these options may show, 0 = not at all, before its source is known.

    Raises:
        InvalidOption: points, paint_size. NoFace, FaceIndexError, FaceNotUsable, Cancelled.
    """
    _check_paint(options, target)
    face, _ = choose(known, target, "target", options.face, run, options.points)
    with run.stage("prepare"):
        spot = known.target(target, face, options.mode, run)
    with run.stage("blend"):
        spot, asked, shown = masks.applied(spot, options, (target.width, target.height), known.models.parser)
        patch = blend.paste(target.pixels, masks.previewed(spot, asked, shown))
    out = np.zeros(target.pixels.shape[:2], np.uint8)
    height, width = patch.mask.shape
    out[patch.top : patch.top + height, patch.left : patch.left + width] = patch.mask
    return out


def _check_paint(options: FuseOptions, target: Frame) -> None:
    paint = options.mask.paint
    if paint is not None and not paint.fits(target.width, target.height):
        given, needed = (f"{wide} × {high}" for wide, high in (paint.size, (target.width, target.height)))
        raise InvalidOption("paint_size", name="mask.paint", value=given, allowed=needed)


def _place(known: Known, target: Frame, options: FuseOptions, run: Run) -> _Place:
    _check_paint(options, target)
    face, notes = choose(known, target, "target", options.face, run, options.points)
    return _Place(face, notes, known.identity(target, face, run))


def _one(known: Known, half: SourceHalf, face: Face, options: FuseOptions, target: Frame, onto: Pixels, run: Run) -> tuple[Notes, Patch]:
    if options.model != MESH:
        return (), _swap(known, half, target, face, options, run, onto)
    with run.stage("prepare"):
        (prepared, cover_notes), spot = run.both(half.prepare, lambda: known.target(target, face, options.mode, run))
    glasses, glasses_notes = judge_glasses(prepared.found, spot.occlusion.found, options.glasses, prepared.spectacles is not None)
    require(glasses, "source", half.index)
    return (*cover_notes, *glasses_notes), lay(known, prepared, target, face, options, run, onto)


def lay(
    known: Known, source: PreparedSource, target: Frame, face: Face, options: FuseOptions, run: Run, onto: Pixels | None = None
) -> Patch:
    """What the fusion changes in the target's picture.

    Args:
        onto: (H, W, 3) uint8 RGB, the picture with other faces of it fused already; None: as it came in.

    Raises:
        FaceUnchanged: nobody could see it. Cancelled.
    """
    with run.stage("prepare"):
        spot = known.target(target, face, options.mode, run)
    with run.stage("fuse", 1, 1):
        spot, asked, shown = masks.applied(spot, options, (target.width, target.height), known.models.parser)
        # a restorer takes grain for a fault, so it comes after it
        crop = mesh_swapper.fuse(spot, source, replace(asked, texture=0.0) if options.restore else asked, run)
    return _finish(known, spot, crop, target, face, options, run, onto, options.enhance != "none" or bool(options.restore), shown)


def _swap(known: Known, half: SourceHalf, target: Frame, face: Face, options: FuseOptions, run: Run, onto: Pixels) -> Patch:
    """The same by a swapper: it draws the face from the target's picture and the source's identity."""
    network = known.models.swapper(options.model)
    identity = half.known_to(known.models.swapper_identity(options.model))
    with run.stage("prepare"):
        spot = known.target(target, face, options.mode, run)
    drawn = network.swap(target.pixels, five_points(face.mesh.points), identity, options.boost, run)
    spot, asked, shown = masks.applied(spot, options, (target.width, target.height), known.models.parser)
    return _finish(known, spot, swapped.fuse(spot, drawn, asked), target, face, options, run, onto, True, shown)


def _finish(
    known: Known, spot: PreparedTarget, crop: FusedCrop, target: Frame, face: Face, options: FuseOptions, run: Run, onto: Pixels | None,
    smooth: bool, shown: Floats | None,
) -> Patch:  # fmt: skip
    """A fused crop restored, enhanced, given the target's grain where a network left it `smooth`, kept within the mask, and blended."""
    if options.restore:
        whole = blend.apply(target.pixels, blend.paste(target.pixels, crop))  # a restorer wants to see the head round the face
        drawn = known.models.restorer(options.restore).restore(whole, five_points(face.mesh.points), options.fidelity, run)
        crop = restorer.lay(spot, crop, drawn, options.restore_share)
    if options.enhance != "none":
        crop = known.models.enhancer(options.enhance).enhance(crop, run)  # a stage for each of its tiles
    if smooth:
        crop = mesh_swapper.regrain(spot, crop, options)
    with run.stage("blend"):
        under = target.pixels if onto is None else onto
        patch = blend.paste(under, masks.limited(crop, shown))
    if _change(under, patch) < UNCHANGED:
        raise FaceUnchanged("" if shown is None else "mask", index=face.index)
    return patch


def measured(known: Known, pixels: Pixels, face: Face, source: Identity, target: Identity, options: FuseOptions, run: Run) -> FusedFace:
    """The fused face with its distance to the source before and after.

    Args:
        pixels: (H, W, 3) uint8 RGB, the fused picture. The face is fitted anew: a wrong fit of the target can't praise itself.
        face: of the target. source, target: who they were.
    """
    with run.stage("embed"):
        mesh = known.models.mesh.fit(pixels, face.detection.points)
        after = distance(source, known.models.embedder.embed(pixels, mesh))
    before = distance(source, target)
    likeness = before, after, similarity(before), similarity(after)
    return FusedFace(face.index, face.box, face.detection.score, *likeness, options=options)


def _change(pixels: Pixels, patch: Patch) -> float:
    """Mean absolute change over the mask, in levels."""
    height, width = patch.mask.shape
    inside = patch.mask > 0
    if not inside.any():
        return 0.0
    was = pixels[patch.top : patch.top + height, patch.left : patch.left + width]
    return float(np.abs(was.astype(np.int16) - patch.pixels)[inside].mean())
