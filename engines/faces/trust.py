"""Whether a proposed face is one: fit the mesh, then look again where the mesh says that it is.

A detector's score proves nothing: .49 for a bag, .53 for a real face, .58 for half of one. What separates is the second look: the face
is cut out upright by its mesh, at two sizes, and the detector has to find it there again, with its points on the mesh's. Over 115
candidates real faces scored .81–.96 at the weaker size, false ones .60 at most, mostly 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engines.faces.detector import StackDetector
from engines.faces.facemesh import FaceMeshNet, Region, in_picture, reduced, region_of_mesh, region_of_points, size_of, upright
from engines.faces.proposals import moved
from engines.faces.topology import SURFACE, five_points
from engines.timing import Run
from engines.types import Box, Detection, Pixels
from engines.vision.geometry import apply, invert, resizing, warp

LOOK = 0.75  # least score of the weaker second look
# The same for a face that the picture's edge cuts (over CUT of its mesh outside). Three faces cut by 30 and 40 % at each side score
# .62–.86, a whole one that fills its frame .74. What lies outside is black: grey, as detectors are usually padded, costs a cut face .2.
LOOK_CUT, CUT = 0.6, 0.02
LIES_WRONG = 0.08  # distance of a proposal's own points from the mesh, from which its box isn't believed; good ones lie at .02 to .05
APART = 0.12  # most distance of the second look's five points from the mesh's, in face sizes
SETTLED = 0.06  # most movement of the last refinement
STEADY = 0.07  # most spread of the mesh under shifted crops; .006 is firm, .016 shaky, .03 a guess
FEWEST_PIXELS = 14.0  # size of the smallest face that the mesh still fits (error .06 of the face on a plain ground)
LOOKS = ((110.0, 256), (60.0, 128))  # a face of so many pixels in a crop of so many
FAINTEST = 0.15
AT_ONCE = 16  # faces in one batch: 16 crops of 256 px are 12 MB, the detector's activations about 400 MB

# Why a proposal isn't taken for a face; keys under `refusals.` of the locale files.
SMALL, UNSEEN, DISAGREE, UNSETTLED, WOBBLING = "small", "unseen", "apart", "unsettled", "wobbling"

# Crops for the steadiness: shifted right and down by parts of the side, grown, turned (radians).
SHIFTS = ((0.07, 0.04, 1.12, 0.12), (-0.07, 0.05, 0.9, -0.12), (0.0, -0.08, 1.0, 0.06))

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the examination of a proposal came to. Lengths are in units of the face's size.

    Attributes:
        proposal: as the detector gave it.
        detection: the same with the best score seen; box and points are the second look's where the proposal lay wrong.
        points: (478, 3) float64, the mesh.
        size: in pixels. outside: how much of the mesh the picture's edge cuts off, 0..1.
        look: score of the weaker second look, 0..1; apart: distance of its points from the mesh's.
        moved: last move of the refinement; spread: of the mesh under shifted crops.
        points5: (5, 2) of the second look in picture pixels: the detector's, at a good size. look_box: its box.
        against: why it isn't taken for a face, a `RefusedFace.reason`; "" when it is.
    """

    proposal: Detection
    detection: Detection
    points: Doubles
    size: float
    outside: float
    look: float = 0.0
    apart: float = 9.0
    moved: float = 9.0
    spread: float = 9.0
    points5: Doubles | None = None
    look_box: Box | None = None
    against: str = ""

    @property
    def worth(self) -> float:
        """The larger, the better the fit: to choose between two on one face."""
        return self.look - self.apart - self.spread


@dataclass(frozen=True, slots=True)
class _Look:
    score: float = 0.0
    apart: float = 9.0
    box: Box | None = None
    points5: Doubles | None = None


class Examiner:
    """Judges proposals by mesh and second look."""

    def __init__(self, detector: StackDetector, mesh: FaceMeshNet) -> None:
        self._detector, self._mesh = detector, mesh

    def examine(self, pixels: Pixels, proposals: Sequence[Detection], run: Run) -> list[Evidence]:
        """One verdict for each proposal, in their order."""
        found: list[Evidence] = []
        for i in range(0, len(proposals), AT_ONCE):
            run.check()
            found += self._examine(pixels, proposals[i : i + AT_ONCE])
        return found

    def believe(self, pixels: Pixels, points5: Doubles, run: Run) -> Evidence:
        """The mesh from five points (5, 2) that a person set, whatever the detector sees; its look is noted and decides nothing.

        The evidence's box is the second look's where it saw the face, else round the mesh; its score is that look's.
        """
        run.check()
        near, scale = reduced(pixels, region_of_points(points5).side)
        given = Detection(Box(0.0, 0.0, 0.0, 0.0), 0.0, apply(resizing(scale), points5).astype(np.float32))
        (seen,) = self._fit_and_look(near, [given], [region_of_points(given.points.astype(np.float64))])
        (steady,) = self._steadied(near, [replace(seen, against="")])
        low, high = seen.points[:SURFACE, :2].min(axis=0), seen.points[:SURFACE, :2].max(axis=0)
        box = seen.look_box or Box(float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1]))
        found = _in_picture(replace(steady, detection=Detection(box, seen.look, given.points)), scale)
        detection = Detection(found.detection.box, seen.look, points5.astype(np.float32))
        return replace(found, proposal=detection, detection=detection)

    def _examine(self, pixels: Pixels, proposals: Sequence[Detection]) -> list[Evidence]:
        near, scale = reduced(pixels, min(region_of_points(p.points.astype(np.float64)).side for p in proposals))
        if scale == 1.0:
            return self._examine_near(pixels, proposals)
        found = self._examine_near(near, [moved(p, resizing(scale)) for p in proposals])
        return [replace(_in_picture(e, scale), proposal=proposal) for e, proposal in zip(found, proposals, strict=True)]

    def _examine_near(self, pixels: Pixels, proposals: Sequence[Detection]) -> list[Evidence]:
        regions = [region_of_points(p.points.astype(np.float64), p.box.centre) for p in proposals]
        found = self._fit_and_look(pixels, proposals, regions)
        # A face is here, but the mesh sits wrong (on the nose, say): once more, from where the second look saw the points.
        wrong = [i for i, e in enumerate(found) if e.look >= least_look(e.outside) and e.apart > APART]
        again = self._fit_and_look(pixels, [found[i].detection for i in wrong], [_region(found[i]) for i in wrong])
        for i, evidence in zip(wrong, again, strict=True):
            found[i] = replace(evidence, proposal=proposals[i])
        return self._steadied(pixels, found)

    def _fit_and_look(self, pixels: Pixels, proposals: Sequence[Detection], regions: Sequence[Region]) -> list[Evidence]:
        fits = self._mesh.fits(pixels, regions)
        sizes = [size_of(fit.points) for fit in fits]
        large = [i for i, size in enumerate(sizes) if size >= FEWEST_PIXELS]
        looks = dict(zip(large, self._looks(pixels, [fits[i].points for i in large]), strict=True))
        found = []
        for i, (proposal, fit, size) in enumerate(zip(proposals, fits, sizes, strict=True)):
            look, outside = looks.get(i, _Look()), _outside(fit.points, pixels)
            reasons = (
                (SMALL, i not in looks),
                (UNSEEN, look.score < least_look(outside)),
                (DISAGREE, look.apart > APART),
                (UNSETTLED, fit.moved > SETTLED),
            )
            against = next((reason for reason, holds in reasons if holds), "")
            detection = _corrected(proposal, look, fit.points, size)
            found.append(
                Evidence(
                    proposal,
                    detection,
                    fit.points,
                    size,
                    outside,
                    look.score,
                    look.apart,
                    fit.moved,
                    points5=look.points5,
                    look_box=look.box,
                    against=against,
                )
            )
        return found

    def _looks(self, pixels: Pixels, meshes: Sequence[Doubles]) -> list[_Look]:
        """For each mesh the weaker of the second looks."""
        if not meshes:
            return []
        weaker: list[_Look] = []
        for large, side in LOOKS:
            matrices = []
            for points in meshes:
                region = region_of_mesh(points)
                matrices.append(upright(region.x, region.y, region.angle, large / size_of(points), side))
            crops = np.stack([warp(pixels, matrix, (side, side)) for matrix in matrices])
            answers = self._detector.detect_stack(crops, FAINTEST)
            looks = [
                _nearest(answer, matrix, five_points(points), large, side)
                for answer, matrix, points in zip(answers, matrices, meshes, strict=True)
            ]
            weaker = [min(pair, key=lambda look: look.score - look.apart) for pair in zip(weaker or looks, looks, strict=True)]
        return weaker

    def _steadied(self, pixels: Pixels, found: list[Evidence]) -> list[Evidence]:
        """Measures the spread of those that stand so far, and refuses what wobbles."""
        standing = [i for i, evidence in enumerate(found) if not evidence.against]
        if not standing:
            return found
        regions = [region_of_mesh(found[i].points).moved(*shift) for i in standing for shift in SHIFTS]
        shifted = self._mesh.read(pixels, regions).reshape(len(standing), len(SHIFTS), -1, 3)
        for i, others in zip(standing, shifted, strict=True):
            e = found[i]
            all_of_it = np.concatenate([e.points[None], others])[..., :2]
            spread = float(np.linalg.norm(all_of_it - all_of_it.mean(axis=0), axis=-1).mean() / e.size)
            against = WOBBLING if spread > STEADY else ""
            found[i] = replace(e, spread=spread, against=against)
        return found


def _in_picture(evidence: Evidence, scale: float) -> Evidence:
    """Evidence from a picture reduced to `scale`, in pixels of the whole one."""
    if scale == 1.0:
        return evidence
    back = resizing(1 / scale)
    return replace(
        evidence,
        detection=moved(evidence.detection, back),
        points=in_picture(evidence.points, scale),
        size=evidence.size / scale,
        points5=None if evidence.points5 is None else apply(back, evidence.points5),
        look_box=None if evidence.look_box is None else moved(Detection(evidence.look_box, 0.0, evidence.detection.points), back).box,
    )


def least_look(outside: float) -> float:
    """The second look's least score for a face of which so much lies beyond the picture's edge, 0..1."""
    return LOOK_CUT if outside > CUT else LOOK


def _outside(points: Doubles, pixels: Pixels) -> float:
    xy = points[:SURFACE, :2]
    return float(((xy < -0.5) | (xy > np.array(pixels.shape[1::-1]) - 0.5)).any(axis=1).mean())


def _region(evidence: Evidence) -> Region:
    points5 = evidence.points5
    return region_of_points(evidence.detection.points.astype(np.float64) if points5 is None else points5)


def _nearest(answer: tuple[Doubles, Doubles, Doubles], matrix: Doubles, expected: Doubles, large: float, side: int) -> _Look:
    """The best face of a second look whose box has its centre within half a face of the crop's middle."""
    boxes, scores, fives = answer
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    central = np.abs(middle - side / 2).max(axis=1) < large / 2
    if not central.any():
        return _Look()
    best = int(np.argmax(scores * central))
    points5, back = fives[best] - 0.5, invert(matrix)
    apart = float(np.linalg.norm(points5 - apply(matrix, expected), axis=1).mean() / large)
    left, top, right, bottom = boxes[best] - 0.5
    corners = apply(back, [(left, top), (right, top), (left, bottom), (right, bottom)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    box = Box(float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1]))
    return _Look(float(scores[best]), apart, box, apply(back, points5))


def _corrected(proposal: Detection, look: _Look, points: Doubles, size: float) -> Detection:
    """The proposal with the better of the scores; where its points lie off the mesh, with the second look's box and points."""
    score = max(proposal.score, look.score)
    off = float(np.linalg.norm(proposal.points - five_points(points), axis=1).mean() / size)
    if off > LIES_WRONG and look.box is not None and look.points5 is not None:
        return Detection(look.box, score, look.points5.astype(np.float32))
    return Detection(proposal.box, score, proposal.points)
