"""106 points against the original's arithmetic, on a tiny graph with the same tensors."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from engines.errors import SessionContract
from engines.faces.landmarks_106 import Landmarks106
from engines.runtime.session import open_session
from engines.types import Box, Face, Pixels
from tests import graphs

ENTRY = graphs.entry("landmarks_106", "landmarks", 192)
BOXES = [Box(100, 120, 200, 260), Box(-40.5, 10.25, 180, 120), Box(300, 400, 400, 400)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return graphs.landmarks_106(tmp_path / "tiny.onnx")


@pytest.mark.parametrize("box", BOXES)
def test_the_points_are_the_originals_arithmetic(box: Box, path: Path, officer: Pixels) -> None:
    session = open_session(path, "cpu", 1)
    scale = 192 / (max(box.width, box.height) * 1.5)
    x, y = box.x + box.width / 2, box.y + box.height / 2
    matrix = np.array([[scale, 0, 96 - x * scale], [0, scale, 96 - y * scale]])
    crop = cv2.warpAffine(officer, matrix, (192, 192), borderValue=0.0)
    found = session.run({"data": crop.astype(np.float32).transpose(2, 0, 1)[None]})["fc1"].reshape(106, 2)
    inverse = cv2.invertAffineTransform(matrix)
    expected = ((found + 1) * 96) @ inverse[:, :2].T + inverse[:, 2]
    np.testing.assert_allclose(Landmarks106(session, ENTRY).find(officer, box), expected, atol=1e-2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("person", ["astronaut", "officer"])
def test_the_points_are_the_packages(person: str, path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("insightface")
    from insightface.app.common import Face as TheirFace
    from insightface.model_zoo.landmark import Landmark

    pixels, face = request.getfixturevalue(person), request.getfixturevalue(f"{person}_face")
    assert isinstance(face, Face)
    box = face.box
    theirs = Landmark(str(path))
    theirs.input_mean, theirs.input_std = 0.0, 1.0  # the original finds by its nodes that 2d106det subtracts its mean itself
    corners = np.array([box.x, box.y, box.x + box.width, box.y + box.height])
    expected = theirs.get(np.ascontiguousarray(pixels[..., ::-1]), TheirFace(bbox=corners))
    found = Landmarks106(open_session(path, "cpu", 1), ENTRY).find(pixels, box)
    np.testing.assert_allclose(found, expected, atol=1e-2)


def test_another_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionContract, match="landmarks_106 has 1 inputs and 1 outputs"):
        Landmarks106(open_session(graphs.scrfd(tmp_path / "x.onnx"), "cpu", 1), ENTRY)
