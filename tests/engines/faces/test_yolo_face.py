"""YOLO's tensor decoded a row at a time, against the adapter."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from engines.errors import SessionContract
from engines.faces.yolo_face import YoloFace
from engines.runtime.session import open_session
from engines.types import Pixels
from tests import graphs

ENTRY = graphs.entry("yolo_face", "detect", "W", high=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return graphs.yolo_face(tmp_path / "tiny.onnx")


@pytest.mark.parametrize("size", [(640, 640), (320, 256)])
def test_the_faces_are_those_of_the_tensor(size: tuple[int, int], path: Path, officer: Pixels) -> None:
    session, (width, height) = open_session(path, "cpu", 1), size
    ratio = officer.shape[0] / officer.shape[1]
    wide, high = (int(height / ratio), height) if ratio > height / width else (width, int(width * ratio))
    canvas = np.zeros((height, width, 3), np.uint8)
    canvas[:high, :wide] = cv2.resize(officer, (wide, high))
    rows = session.run({"images": (canvas / 255).astype(np.float32).transpose(2, 0, 1)[None]})["output0"][0].T
    rows = sorted((row for row in rows if row[4] > 0.5), key=lambda row: -row[4])
    kept: list[np.ndarray] = []
    for row in rows:
        if all(iou(row, other) < 0.4 for other in kept):
            kept.append(row)
    scale = high / officer.shape[0]
    found = YoloFace(session, ENTRY).find(officer, size)
    assert len(found) == len(kept) > 1
    for one, row in zip(found, kept, strict=True):
        x, y, w, h = row[:4] / scale
        box = [one.box.x, one.box.y, one.box.width, one.box.height]
        np.testing.assert_allclose(box, [x - w / 2, y - h / 2, w, h], atol=1e-2)
        assert one.score == pytest.approx(row[4], abs=1e-5)
        np.testing.assert_allclose(one.points.ravel(), np.delete(row[5:], [2, 5, 8, 11, 14]) / scale, atol=1e-2)


def iou(a: np.ndarray, b: np.ndarray) -> float:
    sides = [min(a[i] + a[i + 2] / 2, b[i] + b[i + 2] / 2) - max(a[i] - a[i + 2] / 2, b[i] - b[i + 2] / 2) for i in (0, 1)]
    common = max(sides[0], 0) * max(sides[1], 0)
    return float(common / (a[2] * a[3] + b[2] * b[3] - common))


def test_the_finders_view_is_the_same(path: Path, officer: Pixels) -> None:
    """At the picture's own size, but for the half pixel from a corner to a middle."""
    detector = YoloFace(open_session(path, "cpu", 1), ENTRY)
    picture = np.ascontiguousarray(officer[:512, :512])
    seen, found = detector.detect(picture, side=512), detector.find(picture, (512, 512))
    np.testing.assert_allclose([d.points + 0.5 for d in seen], [d.points for d in found], atol=1e-3)


def test_another_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionContract, match="yolo_face has 1 inputs and 1 outputs"):
        YoloFace(open_session(graphs.scrfd(tmp_path / "x.onnx"), "cpu", 1), ENTRY)
