"""Whether a source and a target go together: two faces that are usable alone can still make a result that is worse than none."""

import hashlib
from dataclasses import dataclass, field
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.crop import cut, square
from engines.faces.facemesh import size_of
from engines.faces.pose import pose_of
from engines.types import Face, FaceMesh, Note, Pixels, Pose, Verdict
from engines.vision.geometry import scale_of

# Where a pair is refused, and from where a person is told, in true degrees and as a share of the target's detail. Between faces
# turned away from each other most of what the target shows is guessed; under a seventh of the target's detail features melt. Set by
# looking at pairs of 33 faces, not fitted to ratings.
YAW_GAP, PITCH_GAP, COARSE = 60.0, 45.0, 0.15
FAR_YAW_GAP, FAR_PITCH_GAP, FAR_COARSE = 38.0, 30.0, 0.45
FAR_YAW, FAR_PITCH = 30.0, 23.0  # of one face alone

# Detail: the band of an octave below a face of W px, over the one at 64 px. Sharp photographs keep .4 and more of it up to their
# own size; reduced four times and enlarged again they fall under .35 at 1.5 to 2.4 times the size that was left.
KEPT = 0.35
BASE = 64.0
FINEST = 1024


@dataclass(frozen=True, slots=True)
class Side:
    """What a pairing asks of a face.

    Attributes:
        size: √(width · height) of the mesh in pixels.
        detail: the size in pixels up to which the face shows detail; less than `size` where the picture is blurred or enlarged.
        pose: true angles in degrees.
    """

    size: float
    detail: float
    pose: Pose


@dataclass(frozen=True, slots=True)
class Pairing:
    """The word on a pair. `verdict` speaks of the source's face; its reasons are apart, apart_pitch and coarse. `notes`: key and facts."""

    verdict: Verdict = field(default_factory=Verdict)
    notes: tuple[Note, ...] = ()


def side_of(pixels: Pixels, mesh: FaceMesh) -> Side:
    """A face in its picture, (H, W, 3) uint8 RGB."""
    points = mesh.points.astype(np.float64)
    size = size_of(points)
    return Side(size, detail_of(pixels, points), mesh.pose)


def side_of_points(points: NDArray[np.floating]) -> Side:
    """A face of which only the mesh (478, 3) is left, as of a persona: all its size is taken for detail."""
    size = size_of(points.astype(np.float64))
    return Side(size, size, pose_of(points))


def pairing(source: Side, target: Side) -> Pairing:
    """Whether the source's face may be laid over the target's, and what to expect where it may."""
    yaw, pitch = abs(source.pose.yaw - target.pose.yaw), abs(source.pose.pitch - target.pose.pitch)
    share = source.detail / max(target.detail, 1e-6)
    checks: tuple[tuple[str, bool, tuple[tuple[str, object], ...]], ...] = (
        ("apart", yaw > YAW_GAP, (("angle", yaw), ("limit", YAW_GAP))),
        ("apart_pitch", pitch > PITCH_GAP, (("angle", pitch), ("limit", PITCH_GAP))),
        ("coarse", share < COARSE, (("detail", source.detail), ("needed", COARSE * target.detail))),
    )
    refused = next((Verdict(reason, facts) for reason, holds, facts in checks if holds), None)
    if refused:
        return Pairing(refused)
    notes: list[Note] = []
    for role, side in (("source", source), ("target", target)):
        if abs(side.pose.yaw) > FAR_YAW:
            notes.append(("far_turned", (("role", role), ("angle", abs(side.pose.yaw)))))
        if abs(side.pose.pitch) > FAR_PITCH:
            notes.append(("far_tilted", (("role", role), ("angle", abs(side.pose.pitch)))))
    if max(yaw - FAR_YAW_GAP, pitch - FAR_PITCH_GAP) > 0:
        notes.append(("far_apart", (("angle", max(yaw, pitch)),)))
    if share < FAR_COARSE:
        notes.append(("coarse", (("detail", source.detail), ("other", target.detail))))
    return Pairing(notes=tuple(notes))


def same_place(a: Face, b: Face) -> bool:
    """Whether two faces of one picture are one: their meshes lie within a tenth of the face of each other."""
    away = np.linalg.norm(a.mesh.points[:, :2] - b.mesh.points[:, :2], axis=1).mean()
    return bool(away < 0.1 * max(a.mesh.size, b.mesh.size))


def spot_of(face: Face) -> bytes:
    """16 bytes that name a face's place in its picture, for caches: a number isn't enough where points were set by hand."""
    return hashlib.blake2b(face.mesh.points.tobytes(), digest_size=16).digest()


def detail_of(pixels: Pixels, points: NDArray[np.float64]) -> float:
    """The size in pixels up to which a face shows detail, at most its own size.

    Burt and Adelson's Laplacian pyramid (1983) of the upright face: where a band falls under `KEPT` of the one at `BASE` px.
    """
    size = size_of(points)
    finest = float(np.clip(2.0 ** np.ceil(np.log2(max(size, 1.0))), BASE, FINEST))
    matrix, side = square(points, 64)
    side = round(64 * finest / (size * scale_of(matrix)))
    matrix, side = square(points, side)
    band = np.asarray(cv2.cvtColor(cut(pixels, matrix, side), cv2.COLOR_RGB2GRAY), np.float32)
    strengths: list[tuple[float, float]] = []  # from the finest: size, root mean square of the band
    at = size * scale_of(matrix)
    while at > 0.7 * BASE:
        coarser = np.asarray(cv2.pyrDown(band), np.float32)
        left = band - cv2.pyrUp(coarser, dstsize=(band.shape[1], band.shape[0]))
        rim = int(0.22 * band.shape[0])  # hair and ground are left out
        strengths.append((at, float(np.sqrt(np.square(left[rim:-rim, rim:-rim]).mean()))))
        band, at = coarser, at / 2
    return min(size, _reach(strengths))


def _reach(strengths: list[tuple[float, float]]) -> float:
    """Where the bands, from the finest to that at `BASE`, fall under `KEPT` of the last."""
    least = KEPT * strengths[-1][1]
    if strengths[0][1] >= least:
        return float("inf")
    for (finer, weak), (coarser, strong) in pairwise(strengths):
        if strong >= least:
            part = np.log(strong / max(least, 1e-6)) / max(np.log(strong / max(weak, 1e-6)), 1e-6)
            return float(coarser * (finer / coarser) ** part)
    return strengths[-1][0]
