"""What is drawn over a photo: in the right place, and pointing the right way."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from engines.faces.topology import topology
from engines.types import Box, Detection, Face, FaceMesh, Pose, Verdict
from engines.vision.geometry import ARCFACE_TEMPLATE
from studio import overlay


def face(index: int = 0, pose: Pose | None = None, left: float = 100.0) -> Face:
    mesh = topology().mean * 80 + (left + 40, 120, 0)
    points = np.add(ARCFACE_TEMPLATE, (left, 60)).astype(np.float32)
    return Face(
        index, Detection(Box(left, 70, 80, 100), 0.9, points), FaceMesh(mesh.astype(np.float32), pose or Pose(0, 0, 0)), 12.0, Verdict()
    )


def test_a_refused_place_is_drawn_and_cannot_be_chosen() -> None:
    svg = ElementTree.fromstring(overlay.photo_layers([face()], 0, 400, 300, [Box(250, 40, 30, 36)]))
    rects = [rect for group in svg if group.get("class") == "ov-box" for rect in group]
    assert [rect.get("class") for rect in rects] == ["refused", "chosen"]
    assert [rects[0].get(key) for key in ("x", "y", "width", "height", "data-face")] == ["250.0", "40.0", "30.0", "36.0", None]


@pytest.mark.parametrize(
    ("pose", "side", "top", "gaze"),
    [
        (Pose(0, 0, 0), (1, 0), (0, -1), (0, 0)),
        (Pose(90, 0, 0), (0, 0), (0, -1), (1, 0)),  # turned to the picture's right
        (Pose(-90, 0, 0), (0, 0), (0, -1), (-1, 0)),
        (Pose(0, 90, 0), (1, 0), (0, 0), (0, 1)),  # looks down
        (Pose(0, 0, 90), (0, 1), (1, 0), (0, 0)),  # lies clockwise
        (Pose(30, 0, 0), (0.8660, 0), (0, -1), (0.5, 0)),
    ],
)
def test_axes_point_where_the_head_does(pose: Pose, side: tuple[float, float], top: tuple[float, float], gaze: tuple[float, float]) -> None:
    assert np.allclose(overlay.pose_axes(pose), [side, top, gaze], atol=1e-4)


def test_axes_are_a_rotations() -> None:
    """Seen from the front, three unit vectors at right angles have squared lengths of 2 together."""
    rng = np.random.default_rng(4)
    for yaw, pitch, roll in rng.uniform(-90, 90, (20, 3)):
        assert np.isclose((overlay.pose_axes(Pose(yaw, pitch, roll)) ** 2).sum(), 2)


def test_each_edge_of_the_mesh_is_drawn_once() -> None:
    moves = re.findall(r"M([\d.-]+ [\d.-]+)L([\d.-]+ [\d.-]+)", overlay.mesh_path(face().mesh.points))
    triangles = topology().triangles
    edges = {tuple(sorted((int(t[a]), int(t[b])))) for t in triangles for a, b in ((0, 1), (1, 2), (2, 0))}
    assert len(moves) == len(edges)


def test_layers_hold_all_faces_and_the_chosen_ones_mesh() -> None:
    faces = [face(0), face(1, left=300)]
    drawn = ElementTree.fromstring(overlay.photo_layers(faces, 1, 640, 480))
    assert drawn.get("viewBox") == "0 0 640 480"
    groups = {group.get("class"): group for group in drawn}
    assert set(groups) == {f"ov-{layer}" for layer in overlay.LAYERS}
    boxes = [(rect.get("data-face"), rect.get("class"), rect.get("x")) for rect in groups["ov-box"]]
    assert boxes == [("0", "other", "100.0"), ("1", "chosen", "300.0")]
    assert len(groups["ov-points"]) == 10
    xs = [float(x) for x in re.findall(r"M([\d.-]+) ", groups["ov-mesh"][0].get("d"))]
    assert 290 < min(xs) < max(xs) < 390


def test_without_a_chosen_face_only_boxes_and_points_are_drawn() -> None:
    drawn = ElementTree.fromstring(overlay.photo_layers([face()], None, 640, 480))
    assert [group.get("class") for group in drawn] == ["ov-points", "ov-box"]


def test_the_template_is_hit_by_a_face_that_fits_it() -> None:
    matrix = np.array([(2.0, 0, -200.0), (0, 2.0, -120.0)])  # undoes the shift of `face`, at twice the template's size
    drawn = ElementTree.fromstring(overlay.template_layers(matrix, face().detection.points, 224))
    rings = np.array([(float(c.get("cx")), float(c.get("cy"))) for c in drawn if c.get("class") == "template"])
    dots = np.array([(float(c.get("cx")), float(c.get("cy"))) for c in drawn if c.get("class") == "found"])
    assert np.allclose(rings, ARCFACE_TEMPLATE * 2, atol=0.06)
    assert np.allclose(rings, dots, atol=0.11)
    assert len(ElementTree.fromstring(overlay.template_layers(None, [], 112))) == 5
