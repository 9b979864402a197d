"""Parsers and occluders: what their maps say lies where it belongs in the crop, and stands in for the studio's own ways."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from engines.errors import SessionContract
from engines.face_mask import FaceMask
from engines.faces.canonical import EYE_RINGS, LIPS_OUTER
from engines.faces.learned_masks import CLASSES, OF_REGION, FaceOccluder, FaceParser
from engines.faces.masks import area_map
from engines.faces.restorer import ffhq_crop
from engines.faces.target import PreparedTarget, prepare_target
from engines.faces.topology import five_points
from engines.runtime.session import open_session
from engines.types import Face, Floats, Pixels
from engines.vision.geometry import apply
from engines.vision.mask import polygon
from tests import graphs

PARSER, OCCLUDER = graphs.entry("face_parser", "parse", 128, high=1), graphs.entry("face_occluder", "occlude", 128, high=1)


@pytest.fixture(scope="module")
def target(officer: Pixels, officer_face: Face) -> PreparedTarget:
    return prepare_target(officer, officer_face.mesh)


def answered(path: Path, target: PreparedTarget, name: str) -> tuple[np.ndarray, np.ndarray]:
    """What the graph says of the crop on the template, and (S, S, 2) where each pixel of the target's crop lies in its map."""
    cut = ffhq_crop(target.pixels, five_points(target.points))
    small = cv2.resize(cut.pixels, (128, 128), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    found = open_session(path, "cpu", 1).run({"input": small.transpose(2, 0, 1)[None]})[name][0]
    grid = np.stack(np.meshgrid(np.arange(target.size), np.arange(target.size)), axis=-1).reshape(-1, 2)
    side = max(found.shape)
    at = (apply(cut.matrix, grid) + 0.5) * side / 512 - 0.5
    return found, at.reshape(target.size, target.size, 2)


def test_a_parsers_classes_lie_where_they_were_seen(tmp_path: Path, target: PreparedTarget) -> None:
    path = graphs.face_parser(tmp_path / "p.onnx")
    found = FaceParser(open_session(path, "cpu", 1), PARSER).regions(target.pixels, target.points)
    scores, at = answered(path, target, "output")
    labels = scores.argmax(axis=0)
    x, y = np.rint(at).astype(int).transpose(2, 0, 1)
    within = (x >= 0) & (y >= 0) & (x < labels.shape[1]) & (y < labels.shape[0])
    assert within.mean() > 0.5
    mine = labels[np.clip(y, 0, labels.shape[0] - 1), np.clip(x, 0, labels.shape[1] - 1)]
    assert set(found) == set(OF_REGION)
    assert sum(part.astype(int) for part in found.values()).max() == 1
    for name, classes in OF_REGION.items():
        assert (found[name] == (np.isin(mine, classes) & within))[within].mean() > 0.98  # a map's own pixel at its edges


def test_an_occluders_map_lies_where_it_was_seen(tmp_path: Path, target: PreparedTarget) -> None:
    path = graphs.face_occluder(tmp_path / "o.onnx")
    found = FaceOccluder(open_session(path, "cpu", 1), OCCLUDER).covered(target.pixels, target.points)
    seen, at = answered(path, target, "output")
    expected = cv2.remap(1 - seen[..., 0], at.astype(np.float32), None, cv2.INTER_LINEAR)
    inner = (at.min(axis=2) > 1) & (at.max(axis=2) < 126)
    assert found.dtype == np.float32
    assert found.std() > 0.05
    assert np.abs(found - expected)[inner].max() < 0.05


@pytest.mark.parametrize("kind", [FaceParser, FaceOccluder])
def test_another_networks_map_is_refused(kind: type, tmp_path: Path, target: PreparedTarget) -> None:
    """Each is given the other's graph."""
    make, entry = (graphs.face_occluder, PARSER) if kind is FaceParser else (graphs.face_parser, OCCLUDER)
    network = kind(open_session(make(tmp_path / "x.onnx"), "cpu", 1), entry)
    with pytest.raises(SessionContract):
        (network.regions if kind is FaceParser else network.covered)(target.pixels, target.points)
    two = graphs.inswapper(tmp_path / "two.onnx")
    with pytest.raises(SessionContract):
        kind(open_session(two, "cpu", 1), entry)


class LeftHalf:
    """A parser and an occluder in one, as simple as can be."""

    asked = 0

    def regions(self, crop: Pixels, points: np.ndarray) -> dict[str, np.ndarray]:
        self.asked += 1
        nothing = np.zeros(crop.shape[:2], bool)
        left = nothing.copy()
        left[:, : int(points[:, 0].mean())] = True
        return {**dict.fromkeys(OF_REGION, nothing), "nose": left}

    def covered(self, crop: Pixels, points: np.ndarray) -> Floats:
        out = np.zeros(crop.shape[:2], np.float32)
        out[: int(points[LIPS_OUTER, 1].mean())][:, : int(points[:, 0].mean())] = 1
        return out


def test_a_parser_stands_in_for_the_meshs_regions(target: PreparedTarget) -> None:
    parser, half, far = LeftHalf(), int(target.points[:, 0].mean()), int(0.1 * target.face_width)
    shown = area_map(target, FaceMask(("nose",)), 0.3, parser=parser)
    assert shown[:, : half - far].min() > 0.99
    assert shown[:, half + far :].max() < 0.01
    assert area_map(target, FaceMask(leave_out=("nose",)), 0.3, parser=parser)[:, : half - 1].max() == 0
    assert parser.asked == 2
    plain = FaceMask(("box",), grow=2)
    np.testing.assert_array_equal(area_map(target, plain, 0.3, parser=parser), area_map(target, plain, 0.3))
    assert parser.asked == 2  # nobody named a region


def test_an_occluder_stands_in_for_the_search(officer: Pixels, officer_face: Face, target: PreparedTarget) -> None:
    over = prepare_target(officer, officer_face.mesh, occluder=LeftHalf())
    eyes = [polygon(over.points[ring], over.size, over.size) > 0.99 for ring in EYE_RINGS]
    middles = [float(over.points[ring, 0].mean()) for ring in EYE_RINGS]
    left, right = (eyes[i] for i in np.argsort(middles))
    assert over.occlusion.alpha[left].mean() > 0.9
    assert over.occlusion.alpha[right].mean() < 0.3
    assert target.occlusion.alpha[left].mean() < 0.5
    quick = prepare_target(officer, officer_face.mesh, "live")
    assert not quick.occlusion.alpha.any()


def test_there_are_nineteen_classes_and_none_is_of_two_regions() -> None:
    named = [each for classes in OF_REGION.values() for each in classes]
    assert len(set(named)) == len(named)
    assert max(named) < CLASSES
