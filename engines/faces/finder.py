"""Finds the faces of a picture that can be relied on, and says which may be fused."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engines.faces.by_hand import checked, disagreement, number_of
from engines.faces.detector import StackDetector
from engines.faces.facemesh import FaceMeshNet
from engines.faces.pose import pose_of
from engines.faces.refused import refusals
from engines.faces.search import Search
from engines.faces.topology import five_points
from engines.faces.trust import SETTLED, Evidence, Examiner
from engines.timing import Run
from engines.types import Face, FaceMesh, Pixels, Pose, RefusedFace, Verdict
from engines.vision.geometry import align
from engines.vision.quality import sharpness

# What a fusion needs. The angles are true ones: about 37° of yaw and 30° of pitch as the mesh reads them, where the far side's texture
# gives out and eyes or mouth come out displaced. Under 36 px a face has no features of its own to give or to keep.
MINIMUM_SIZE = 36.0
YAW_LIMIT = 40.0
PITCH_LIMIT = 34.0
SHAKY, SHAKY_SMALL, SMALL = 0.03, 0.06, 60.0  # spread of the mesh over size; the second for faces under 60 px
HIDDEN = 0.5  # of the mesh, beyond the picture's edge

CROP = 112  # on which sharpness is measured


class FaceFinder:
    """Detector and mesh together: proposes, examines, and looks further only where the first look doesn't convince."""

    def __init__(self, detector: StackDetector, mesh: FaceMeshNet) -> None:
        self._detector, self._examiner = detector, Examiner(detector, mesh)

    def find(self, pixels: Pixels, run: Run) -> tuple[Face, ...]:
        """All faces, left to right by the centre of the box, then from top to bottom; () when there is none.

        Each comes with a verdict: too_small, turned, tilted, hidden, unsteady, or usable. Animals, bags and other false hits of the
        detector aren't among them.

        Args:
            pixels: (H, W, 3) uint8 RGB of any size.
            run: gets the stages "detect" and "mesh"; a stop is noticed within about 100 ms on two cores.
        """
        return self.find_all(pixels, run)[0]

    def find_all(self, pixels: Pixels, run: Run) -> tuple[tuple[Face, ...], tuple[RefusedFace, ...]]:
        """What `find` gives, and the places that the detector took for faces and the closer look didn't, best score first."""
        trusted, refused = self.evidence(pixels, run)
        return tuple(_face(index, evidence, pixels) for index, evidence in enumerate(trusted)), refusals(refused, trusted)

    def at(self, pixels: Pixels, points5: object, run: Run, faces: Sequence[Face] = (), name: str = "points") -> Face:
        """The face whose five points a person set, also where `find` sees nothing.

        The mesh is fitted to them and refined three times; points 8 % of the face beside the features still give the same mesh. Its
        verdict is `find`'s, and before it: points_off, or left_eye_off, right_eye_off, nose_off, left_mouth_off, right_mouth_off, when the
        mesh comes to lie elsewhere; unsteady, when it doesn't settle. The detection holds the points as given, and for its score the
        detector's own at a close look: 0 where it sees no face.

        Args:
            pixels: (H, W, 3) uint8 RGB of any size.
            points5: (x, y) in pixels: image-left eye, image-right eye, nose, image-left and image-right corner of the mouth, left and
                right as the face has them when it is upright.
            run: gets the stage "mesh".
            faces: those that `find` gave. The face takes the number of the one whose box holds the points' centre, else `len(faces)`.
            name: the option that an error speaks of.

        Raises:
            InvalidOption: not five points, or outside, together, mirrored.
            Cancelled: the job was stopped.
        """
        five = checked(points5, pixels.shape[1], pixels.shape[0], name)
        with run.stage("mesh"):
            evidence = self._examiner.believe(pixels, five, run)
        face = _face(number_of(five, faces), evidence, pixels)
        if face.verdict.reason == "unsteady" or evidence.moved > SETTLED:
            return replace(face, verdict=Verdict("unsteady"))
        off = disagreement(five, five_points(evidence.points), evidence.size)
        return face if off.usable else replace(face, verdict=off)

    def evidence(self, pixels: Pixels, run: Run) -> tuple[list[Evidence], list[Evidence]]:
        """What `find` rests on: the trusted ones in the order of the faces, and the refused ones."""
        search = Search(pixels, self._detector, self._examiner, run)
        search.run_all()
        return sorted(search.trusted, key=lambda one: one.detection.box.centre), search.refused


def verdict_of(size: float, pose: Pose, outside: float = 0.0, spread: float = 0.0) -> Verdict:
    """Whether a face may be fused; the first reason against it, in the order of what a person would mend first.

    Args:
        size: √(width · height) of the mesh in pixels.
        outside: how much of the mesh the picture's edge cuts off, 0..1.
        spread: of the mesh under shifted crops, over size.
    """
    checks: tuple[tuple[str, bool, tuple[tuple[str, object], ...]], ...] = (
        ("too_small", size < MINIMUM_SIZE, (("size", size), ("minimum", MINIMUM_SIZE))),
        ("turned", abs(pose.yaw) > YAW_LIMIT, (("angle", abs(pose.yaw)), ("limit", YAW_LIMIT))),
        ("tilted", abs(pose.pitch) > PITCH_LIMIT, (("angle", abs(pose.pitch)), ("limit", PITCH_LIMIT))),
        ("hidden", outside > HIDDEN, (("percent", round(100 * outside)), ("limit", round(100 * HIDDEN)))),
        ("unsteady", spread > (SHAKY if size > SMALL else SHAKY_SMALL), ()),
    )
    return next((Verdict(reason, facts) for reason, holds, facts in checks if holds), Verdict())


def _face(index: int, evidence: Evidence, pixels: Pixels) -> Face:
    pose = pose_of(evidence.points, evidence.points5)
    crop = align(pixels, five_points(evidence.points), CROP)
    verdict = verdict_of(evidence.size, pose, evidence.outside, evidence.spread)
    return Face(index, evidence.detection, FaceMesh(evidence.points.astype(np.float32), pose), sharpness(crop.pixels), verdict)
