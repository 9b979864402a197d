"""ArcFace's arithmetic against the original's, on a tiny graph with the same tensors."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from engines.errors import SessionContract
from engines.faces.arcface import LENGTH, SAME_COSINE, ArcFace, unit
from engines.faces.embedder import distance
from engines.faces.norm_crop import norm_crop
from engines.faces.topology import five_points
from engines.runtime.session import open_session
from engines.types import Face, Identity, Pixels
from tests import graphs

ENTRY = graphs.entry("arcface", "identity", 112, mean=127.5, std=127.5, name="w600k")
TEMPLATE = np.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]], np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return graphs.arcface(tmp_path / "tiny.onnx")


def originals_crop(pixels: Pixels, points: np.ndarray, size: int) -> Pixels:
    """`face_align.norm_crop`: the template scaled, Umeyama's similarity, bilinear, black beyond."""
    scale, shift = (size / 112, 0.0) if size % 112 == 0 else (size / 128, 8.0 * size / 128)
    target = TEMPLATE * scale + [shift, 0]
    a, b = points - points.mean(0), target - target.mean(0)
    # least squares for x' = p x - q y + t, y' = q x + p y + u
    p, q = (a * b).sum() / (a**2).sum(), (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum() / (a**2).sum()
    linear = np.array([[p, -q], [q, p]])
    matrix = np.column_stack([linear, target.mean(0) - linear @ points.mean(0)])
    return np.asarray(cv2.warpAffine(pixels, matrix, (size, size), borderValue=0.0))


@pytest.mark.parametrize("size", [112, 224, 128, 256, 512])
def test_the_crop_is_the_originals(size: int, officer: Pixels, officer_face: Face) -> None:
    points = officer_face.detection.points
    ours = norm_crop(officer, points, size).pixels
    away = np.abs(ours.astype(int) - originals_crop(officer, points.astype(np.float64), size))
    assert away.max() <= 1
    assert away.mean() < 1e-3


def test_an_embedding_is_the_originals_arithmetic(path: Path, officer: Pixels, officer_face: Face) -> None:
    session, points = open_session(path, "cpu", 1), officer_face.detection.points
    crop = norm_crop(officer, points, 112).pixels
    blob = ((crop.astype(np.float32) - 127.5) / 127.5).transpose(2, 0, 1)[None]
    found = ArcFace(session, ENTRY).embed_at(officer, points)
    expected = session.run({"input.1": blob})["683"][0]
    np.testing.assert_allclose(unit(found), expected / np.linalg.norm(expected), atol=1e-5)
    assert found.model == "w600k"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("person", ["astronaut", "officer"])
def test_an_embedding_is_the_packages(person: str, path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("insightface")
    from insightface.app.common import Face as TheirFace
    from insightface.model_zoo.arcface_onnx import ArcFaceONNX

    pixels, face = request.getfixturevalue(person), request.getfixturevalue(f"{person}_face")
    points = face.detection.points
    theirs = ArcFaceONNX(str(path))
    theirs_vector = theirs.get(np.ascontiguousarray(pixels[..., ::-1]), TheirFace(kps=points))
    ours = ArcFace(open_session(path, "cpu", 1), ENTRY).embed_at(pixels, points)
    a, b = unit(ours), theirs_vector / np.linalg.norm(theirs_vector)
    np.testing.assert_allclose(a, b, atol=1e-5)


def test_a_mesh_is_embedded_at_its_five_points_and_many_as_one(path: Path, officer: Pixels, officer_face: Face) -> None:
    network, mesh = ArcFace(open_session(path, "cpu", 1), ENTRY), officer_face.mesh
    alone = network.embed(officer, mesh)
    np.testing.assert_array_equal(alone.embedding, network.embed_at(officer, five_points(mesh.points)).embedding)
    both = network.embed_all(officer, [mesh, mesh])
    np.testing.assert_allclose([one.embedding for one in both], [alone.embedding] * 2, atol=1e-5)
    assert network.embed_all(officer, []) == ()


def test_a_graph_that_subtracts_its_mean_itself_is_told_by_its_entry(path: Path, officer: Pixels, officer_face: Face) -> None:
    plain = graphs.entry("arcface", "identity", 112)
    session, points = open_session(path, "cpu", 1), officer_face.detection.points
    blob = norm_crop(officer, points, 112).pixels.astype(np.float32).transpose(2, 0, 1)[None]
    found, expected = ArcFace(session, plain).embed_at(officer, points), session.run({"input.1": blob})["683"][0]
    np.testing.assert_allclose(unit(found), expected / np.linalg.norm(expected), atol=1e-6)


@pytest.mark.parametrize(("cosine", "distance_"), [(1.0, 0.0), (SAME_COSINE, 0.5), (0.0, 0.6455)])
def test_distances_have_the_scale_of_all_others(cosine: float, distance_: float) -> None:
    """Half a unit lies between one person and two."""
    a, b = np.zeros(512), np.zeros(512)
    a[0], b[0], b[1] = 1, cosine, np.sqrt(1 - cosine**2)
    kept = [Identity((LENGTH * one).astype(np.float32), "w600k") for one in (a, b)]
    assert distance(*kept) == pytest.approx(distance_, abs=1e-4)


def test_every_embedding_has_that_length(path: Path, officer: Pixels, officer_face: Face) -> None:
    found = ArcFace(open_session(path, "cpu", 1), ENTRY).embed_at(officer, officer_face.detection.points)
    assert np.linalg.norm(found.embedding) == pytest.approx(LENGTH)


def test_a_unit_vector_has_the_length_one() -> None:
    assert np.linalg.norm(unit(Identity(np.arange(512, dtype=np.float32), "x"))) == pytest.approx(1)
    assert not unit(Identity(np.zeros(512, np.float32), "x")).any()


def test_another_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionContract, match="2 and 1"):
        ArcFace(open_session(graphs.inswapper(tmp_path / "tiny.onnx"), "cpu", 1), ENTRY)
