"""One picture's search for faces: look, examine, and look further only where the first look doesn't convince.

    the whole at 640 and 320 → 960 → with a border, turned → close to each hint → tiles at half the size → tiles at full size

Each step runs only if what is known calls for it. Plain portraits stop after the second; a hint is a weak answer of the detector, or one
that the mesh refused: small faces and faces on their side give them. The tiles are bounded in number, and only cover fine detail that
belongs to nobody who was found.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from engines.faces.detector import StackDetector, Turn, suppress
from engines.faces.pose import pose_of
from engines.faces.proposals import Look, Proposer, extent
from engines.faces.tiles import Doubles, worthwhile
from engines.faces.topology import SURFACE
from engines.faces.trust import Evidence, Examiner
from engines.timing import Run
from engines.types import Detection, Pixels

# When to look further. Faces of a twelfth of the frame are 53 px at side 640, near where the detector begins to miss some; where the
# largest is a thirty-second, others may be too small even for side 960.
FEW_PIXELS, TINY, DOUBT = 1 / 12, 1 / 32, 0.35
PORTRAIT = 1 / 8  # of the long side: the picture is of this face, and what else there may be is looked for with two tiles only
PROBES = 2
NEAR_TINY = 64.0  # px in the nearest look: where a face is so small, others may be smaller
HALF = 4800  # long side up to which tiny faces are looked for at full size at once
ROUNDS = 3  # proposals of one view that overlap are examined one after another, best first
MOST_PROPOSALS = 256  # examined of one look; each costs 30 to 60 ms
MOST_HINTS = 48  # looked at closely, of one look; each costs 10 ms
LEAST_HINT = 9.0  # px, as the detector reads it: twice too large, at such sizes
CONTAINED = 0.7  # part of the smaller box within the larger from which both may be one face, cut by a tile's edge


class Search:
    """What was found of one picture, and what was refused."""

    def __init__(self, pixels: Pixels, detector: StackDetector, examiner: Examiner, run: Run) -> None:
        self._pixels, self._examiner, self._run = pixels, examiner, run
        self._proposer = Proposer(detector, pixels, run)
        self._long = max(pixels.shape[:2])
        self._seen: list[Detection] = []  # hints that were looked at closely
        self.trusted: list[Evidence] = []
        self.refused: list[Evidence] = []

    def run_all(self) -> None:
        """640 finds most, 320 what fills the frame; the rest only as needed."""
        hints = [*self._whole(640), *self._whole(320)]
        if self._smallest() < self._long * FEW_PIXELS or any(one.proposal.score > DOUBT for one in self.refused):
            hints += self._whole(960)
        if not self.trusted:
            hints += self._whole(320, border=0.3)
        for turn in (90, 270, 180):
            if not self.trusted:
                self._turned(turn)
        # Where some lie on their side, others may: look at them that way up.
        for turn in sorted({round(pose_of(one.points).roll / 90) * 90 % 360 for one in self.trusted} - {0}):
            self._turned(turn)
        self._close(hints)
        self._tiles()

    def _tiles(self) -> None:
        finest, largest = self._proposer.finest(), self._largest()
        tiny = largest < self._long * TINY
        if finest <= 1 and not (tiny and self._long <= HALF):
            self._near(finest / 2, PROBES if largest >= self._long * PORTRAIT else None)
        if (tiny and self._long <= HALF) or 0 < self._smallest() * finest < NEAR_TINY:
            self._near(finest)

    def _near(self, scale: float, probes: int | None = None) -> None:
        """Tiles with detail; of those past the first `probes` only if these gave a face."""
        rows, columns = self._pixels.shape[:2]
        busy = self._proposer.detail.busy_outside(self._person(one) for one in self.trusted)
        pieces = worthwhile(self._proposer.pieces(scale), busy, rows, columns)
        known = len(self.trusted)
        for part in (pieces[:probes], pieces[probes:]) if probes is not None else (pieces,):
            if part:
                self._close(self._take(self._proposer.near(part, scale)))
            if len(self.trusted) == known:
                return

    def _person(self, one: Evidence) -> tuple[Doubles, float, float]:
        rows, columns = self._pixels.shape[:2]
        return _middle(one) / (columns, rows), one.size / columns, pose_of(one.points).roll

    def _smallest(self) -> float:
        return min((one.size for one in self.trusted), default=0.0)

    def _largest(self) -> float:
        return max((one.size for one in self.trusted), default=0.0)

    def _turned(self, turn: int) -> None:
        for side in (320, 640):
            self._whole(side, turn=cast(Turn, turn))

    def _whole(self, side: int, border: float = 0.0, turn: Turn = 0) -> Sequence[Detection]:
        return self._take(self._proposer.whole(side, border, turn))

    def _close(self, hints: Sequence[Detection]) -> None:
        """Looks closely at hints, and at what was refused, unless a face was found there."""
        places = [*hints, *(one.proposal for one in self.refused)]
        left = [one for one in places if extent(one) >= LEAST_HINT and not self._explained(one) and not self._was_seen(one)]
        if not left:
            return
        best = [left[i] for i in suppress(boxes(left), scores(left))[:MOST_HINTS]]
        self._seen += best
        self._take(self._proposer.close(best))

    def _take(self, look: Look) -> Sequence[Detection]:
        """Examines the proposals, and hands the hints back."""
        left = list(look.proposals[:MOST_PROPOSALS])
        for _ in range(ROUNDS):
            left = [proposal for proposal in left if not self._known(proposal)]
            if not left:
                break
            best = set(suppress(boxes(left), scores(left), contained=CONTAINED).tolist())
            with self._run.stage("mesh"):
                examined = self._examiner.examine(self._pixels, [left[i] for i in sorted(best)], self._run)
            for evidence in examined:
                self._file(evidence)
            left = [proposal for i, proposal in enumerate(left) if i not in best]
        return look.hints

    def _file(self, evidence: Evidence) -> None:
        if evidence.against:
            self.refused.append(evidence)
            return
        for i, other in enumerate(self.trusted):
            if _one_face(evidence, other):
                self.trusted[i] = max(evidence, other, key=lambda one: one.worth)
                return
        self.trusted.append(evidence)

    def _known(self, proposal: Detection) -> bool:
        """Whether a trusted mesh explains it, or the same was refused before (at its five points, so a turned view counts as new)."""
        size = extent(proposal)
        for one in self.trusted:
            apart = float(np.linalg.norm(_middle(one) - proposal.box.centre))
            if apart < 0.35 * one.size and 0.6 < size / one.size < 1.7:
                return True
        return any(float(np.linalg.norm(one.proposal.points - proposal.points, axis=1).mean()) < 0.1 * size for one in self.refused)

    def _explained(self, hint: Detection) -> bool:
        """Whether it lies on a face that was found."""
        return any(covers(one, hint) for one in self.trusted)

    def _was_seen(self, hint: Detection) -> bool:
        return any(
            float(np.hypot(*np.subtract(one.box.centre, hint.box.centre))) < 0.4 * extent(hint) and 0.6 < extent(one) / extent(hint) < 1.7
            for one in self._seen
        )


def covers(face: Evidence, found: Detection) -> bool:
    """Whether a detection lies on a face, whatever its size."""
    return float(np.linalg.norm(_middle(face) - found.box.centre)) < 0.7 * face.size


def boxes(found: Sequence[Detection]) -> Doubles:
    """(N, 4) left, top, right, bottom."""
    return np.array([(p.box.x, p.box.y, p.box.x + p.box.width, p.box.y + p.box.height) for p in found]).reshape(-1, 4)


def scores(found: Sequence[Detection]) -> Doubles:
    return np.array([p.score for p in found])


def _one_face(a: Evidence, b: Evidence) -> bool:
    return float(np.linalg.norm(_middle(a) - _middle(b))) < 0.4 * max(a.size, b.size)


def _middle(evidence: Evidence) -> Doubles:
    middle: Doubles = evidence.points[:SURFACE, :2].mean(axis=0)
    return middle
