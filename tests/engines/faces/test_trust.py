import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces.centerface import CenterFace
from engines.faces.facemesh import FaceMeshNet
from engines.faces.topology import five_points
from engines.faces.trust import APART, LOOK, Evidence, Examiner
from engines.timing import Run
from engines.types import Box, Detection, Face, Pixels


@pytest.fixture(scope="module")
def examiner(detector: CenterFace, mesh_net: FaceMeshNet) -> Examiner:
    return Examiner(detector, mesh_net)


def claim(points: NDArray[np.floating], score: float = 0.9) -> Detection:
    """A proposal with these five points, its box round them."""
    low, high = points.min(axis=0), points.max(axis=0)
    return Detection(Box(*map(float, low), *map(float, high - low)), score, points.astype(np.float32))


def examined(examiner: Examiner, pixels: Pixels, proposal: Detection) -> Evidence:
    (evidence,) = examiner.examine(pixels, [proposal], Run())
    return evidence


def test_a_face_stands(examiner: Examiner, officer: Pixels, officer_face: Face) -> None:
    evidence = examined(examiner, officer, officer_face.detection)
    assert evidence.against == ""
    assert evidence.look > LOOK
    assert evidence.apart < APART / 2
    assert evidence.spread < 0.02
    assert evidence.outside == 0
    assert evidence.detection.box == officer_face.box


def test_a_proposal_anywhere_else_falls_or_slides_onto_the_face(examiner: Examiner, officer: Pixels, officer_face: Face) -> None:
    """Forty made-up faces: not one is trusted that isn't the real one."""
    rng = np.random.default_rng(11)
    shape = officer_face.detection.points - officer_face.detection.points.mean(axis=0)
    proposals = [claim(shape * rng.uniform(0.3, 1.5) + rng.uniform((60, 60), (450, 540))) for _ in range(40)]
    real = officer_face.mesh.points[:468, :2].mean(axis=0)
    found = examiner.examine(officer, proposals, Run())
    assert len(found) == 40
    assert sum(bool(evidence.against) for evidence in found) > 20
    for evidence in found:
        if not evidence.against:
            assert np.linalg.norm(evidence.points[:468, :2].mean(axis=0) - real) < 0.1 * officer_face.mesh.size


def test_a_wrong_box_is_replaced_by_what_the_second_look_saw(examiner: Examiner, officer: Pixels, officer_face: Face) -> None:
    """Points squeezed into the upper face, as a detector gives them for a face too large for its view."""
    five = officer_face.detection.points.astype(np.float64)
    five[:, 1] = five[0, 1] + (five[:, 1] - five[0, 1]) * 0.55
    evidence = examined(examiner, officer, claim(five, 0.58))
    assert evidence.against == ""
    assert evidence.proposal.score == 0.58
    assert evidence.detection.score > 0.8
    assert np.linalg.norm(evidence.detection.points - five_points(evidence.points), axis=1).mean() < 0.1 * evidence.size
    box, wanted = evidence.detection.box, officer_face.box
    assert (box.x, box.y) == pytest.approx((wanted.x, wanted.y), abs=0.15 * wanted.width)


@pytest.mark.parametrize("pattern", ["flat", "noise", "stripes"])
def test_what_is_no_face_is_not_seen_again(pattern: str, examiner: Examiner, officer_face: Face) -> None:
    shape = (600, 512, 3)
    pixels = {
        "flat": np.full(shape, 128, np.uint8),
        "noise": np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8),
        "stripes": np.where(np.arange(600)[:, None, None] // 20 % 2, np.uint8(220), np.uint8(30)) * np.ones(shape, np.uint8),
    }[pattern]
    assert examined(examiner, pixels, officer_face.detection).against


def test_a_face_under_14_pixels_is_too_small_to_judge(examiner: Examiner, astronaut: Pixels, astronaut_face: Face) -> None:
    tiny = np.asarray(cv2.resize(astronaut, (64, 64), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    evidence = examined(examiner, tiny, claim(astronaut_face.detection.points / 8))
    assert evidence.size < 14
    assert evidence.against == "small"
    assert evidence.look == 0


def test_a_cut_face_says_how_much_is_outside(examiner: Examiner, officer: Pixels, officer_face: Face) -> None:
    cut = int(officer_face.box.x + 0.3 * officer_face.box.width)
    evidence = examined(examiner, np.ascontiguousarray(officer[:, cut:]), claim(officer_face.detection.points - [cut, 0]))
    assert evidence.against == ""
    assert 0.1 < evidence.outside < 0.4


def test_many_proposals_are_judged_as_one_by_one(examiner: Examiner, officer: Pixels, officer_face: Face) -> None:
    """Also over the border between two batches."""
    five = officer_face.detection.points
    proposals = [claim(five + np.array((i % 5, i // 5))) for i in range(19)]
    proposals[17] = claim(five + np.array((-150, 200)))
    together = examiner.examine(officer, proposals, Run())
    for i in (0, 16, 17, 18):
        alone = examined(examiner, officer, proposals[i])
        assert alone.against == together[i].against
        assert alone.proposal is together[i].proposal
        assert alone.points == pytest.approx(together[i].points, abs=0.5)
    assert together[17].against


def test_nothing_to_judge_needs_no_network(examiner: Examiner, officer: Pixels) -> None:
    assert examiner.examine(officer, [], Run()) == []
