"""SCRFD's arithmetic against the original's, on tiny graphs with the same tensors: written out here, and from its package where it is."""

from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np
import pytest

from engines.errors import SessionContract
from engines.faces.centerface import CenterFace
from engines.faces.facemesh import FaceMeshNet
from engines.faces.finder import FaceFinder
from engines.faces.scrfd import Scrfd, letterbox
from engines.runtime.fake import FakeSession
from engines.runtime.session import Array, Session, TensorSpec, open_session
from engines.timing import Run
from engines.types import Detection, Face, Pixels
from tests import graphs

ENTRY = graphs.entry("scrfd", "detect", "W", mean=127.5, std=128)
KINDS = {
    "buffalo": {"levels": 3, "points": True},
    "plain": {"levels": 3, "points": False},
    "batched": {"levels": 3, "points": True, "batched": True},
    "five": {"levels": 5, "points": True},
    "five plain": {"levels": 5, "points": False},
}
SIZES = [(320, 256), (128, 256), (256, 256)]


def opened(path: Path) -> Session:
    return open_session(path, "cpu", 1)


def original(session: Session, pixels: Pixels, size: tuple[int, int], score: float = 0.5, least: float = 0.4) -> np.ndarray:
    """(N, 5 + 10): box, score and points, as the public implementation has it, step by step, a cell at a time."""
    width, height = size
    wide, high = width, int(width * (pixels.shape[0] / pixels.shape[1]))
    if pixels.shape[0] / pixels.shape[1] > height / width:
        wide, high = int(height / (pixels.shape[0] / pixels.shape[1])), height
    scale = high / pixels.shape[0]
    canvas = np.zeros((height, width, 3), np.uint8)
    canvas[:high, :wide] = cv2.resize(pixels, (wide, high))
    blob = cv2.dnn.blobFromImage(canvas[..., ::-1], 1 / 128, size, (127.5,) * 3, swapRB=True)
    answer = session.run({"input.1": blob})
    tensors = [t[0] if t.ndim == 3 else t for t in answer.values()]
    count = {6: 3, 9: 3, 10: 5, 15: 5}[len(tensors)]
    rows = []
    for level in range(count):
        stride, anchors = 8 << level, 2 if count == 3 else 1
        for cell in range(len(tensors[level])):
            value = tensors[level][cell, 0]
            if value < score:
                continue
            x, y = ((cell // anchors) % (width // stride)) * stride, ((cell // anchors) // (width // stride)) * stride
            left, top, right, bottom = tensors[level + count][cell] * np.float32(stride)
            row = [x - left, y - top, x + right, y + bottom]
            if len(tensors) > 2 * count:
                row += [(x, y)[i % 2] + v for i, v in enumerate(tensors[level + 2 * count][cell] * np.float32(stride))]
            row = [np.float32(v) / scale for v in row]
            rows.append([*row[:4], value, *row[4:]])
    found = np.asarray(sorted(rows, key=lambda row: -row[4]), np.float32).reshape(len(rows), -1)
    kept: list[np.ndarray] = []
    for row in found:
        if all(iou(row, other) <= least for other in kept):
            kept.append(row)
    return np.asarray(kept)


def iou(a: np.ndarray, b: np.ndarray) -> float:
    wide = max(0, min(a[2], b[2]) - max(a[0], b[0]) + 1)
    high = max(0, min(a[3], b[3]) - max(a[1], b[1]) + 1)
    areas = [(r[2] - r[0] + 1) * (r[3] - r[1] + 1) for r in (a, b)]
    return wide * high / (sum(areas) - wide * high)


def table(found: list[Detection], points: bool) -> np.ndarray:
    boxes = [(d.box.x, d.box.y, d.box.x + d.box.width, d.box.y + d.box.height, d.score) for d in found]
    return np.concatenate([np.asarray(boxes), *([np.asarray([d.points.ravel() for d in found])] if points else [])], axis=1)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[dict[str, object], Path]:
    return KINDS[request.param], graphs.scrfd(tmp_path / "tiny.onnx", **KINDS[request.param])  # type: ignore[arg-type]


@pytest.mark.parametrize("size", SIZES)
def test_the_faces_are_those_of_the_original_arithmetic(
    size: tuple[int, int], kind: tuple[dict[str, object], Path], officer: Pixels
) -> None:
    session = opened(kind[1])
    detector = Scrfd(session, ENTRY)
    found, expected = table(detector.find(officer, size), detector.has_points), original(session, officer, size)
    assert len(expected) > 2
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("class_name", "size"), [*(("SCRFD", size) for size in SIZES), ("RetinaFace", SIZES[-1])])
def test_the_faces_are_those_of_the_package(
    class_name: str, size: tuple[int, int], kind: tuple[dict[str, object], Path], astronaut: Pixels
) -> None:
    """Every value, to the bit. Noise, and no border of black, keep scores apart: RetinaFace's sort leaves equal ones in any order."""
    pytest.importorskip("insightface")
    from insightface.model_zoo import retinaface, scrfd

    options, path = kind
    noise = np.random.default_rng(7).integers(-20, 21, astronaut.shape)
    astronaut = np.clip(astronaut.astype(int) // 2 + 60 + noise, 0, 255).astype(np.uint8)
    if class_name == "RetinaFace" and options.get("batched"):
        pytest.skip("the original knows no batches")
    theirs = {"SCRFD": scrfd.SCRFD, "RetinaFace": retinaface.RetinaFace}[class_name](str(path))
    theirs.prepare(-1, input_size=size)
    boxes, points = theirs.detect(np.ascontiguousarray(astronaut[..., ::-1]), input_size=size)
    found = Scrfd(opened(path), ENTRY).find(astronaut, size)
    assert len(found) == len(boxes) > 2
    ours = table(found, bool(options["points"]))
    # left, top and score are the package's own values; right and bottom go through the width and back
    np.testing.assert_array_equal(ours[:, [0, 1, 4]].astype(np.float32), boxes[:, [0, 1, 4]])
    np.testing.assert_allclose(ours[:, 2:4], boxes[:, 2:4], rtol=1e-12)
    if points is not None:
        np.testing.assert_array_equal(np.asarray([d.points for d in found]), points)


def test_a_fixed_size_wins(tmp_path: Path, astronaut: Pixels) -> None:
    session = opened(graphs.scrfd(tmp_path / "tiny.onnx", side=256))
    np.testing.assert_allclose(table(Scrfd(session, ENTRY).find(astronaut), True), original(session, astronaut, (256, 256)), atol=1e-4)


def test_no_face_is_an_empty_list(tmp_path: Path, astronaut: Pixels) -> None:
    assert Scrfd(opened(graphs.scrfd(tmp_path / "tiny.onnx")), ENTRY).find(astronaut, score=1.1) == []


def test_the_points_of_a_model_without_them_lie_in_the_box(tmp_path: Path, astronaut: Pixels) -> None:
    everything = Scrfd(opened(graphs.scrfd(tmp_path / "tiny.onnx", points=False)), ENTRY).find(astronaut, (320, 320))
    boxes = [one for one in everything if min(one.box.width, one.box.height) > 1]
    assert len(boxes) > 5
    for found in boxes:
        x, y = (found.points - [found.box.x, found.box.y]).T / np.array([[found.box.width], [found.box.height]])
        assert x[0] < x[2] < x[1]
        assert x[3] < x[4]
        assert 0 < y[0] == y[1] < y[2] < y[3] == y[4] < 1


def test_the_finders_view_differs_by_the_half_pixel_alone(tmp_path: Path, officer: Pixels) -> None:
    """At the picture's own size the finder's way and the original's meet."""
    detector = Scrfd(opened(graphs.scrfd(tmp_path / "tiny.onnx")), ENTRY)
    picture = np.ascontiguousarray(officer[:512, :512])
    np.testing.assert_allclose(table(detector.detect(picture, side=512), True), table(detector.find(picture, (512, 512)), True), atol=1e-3)


def test_a_turned_view_is_turned_back(tmp_path: Path, officer: Pixels) -> None:
    detector = Scrfd(opened(graphs.scrfd(tmp_path / "tiny.onnx")), ENTRY)
    picture = np.ascontiguousarray(officer[:512, :512])
    lying = np.ascontiguousarray(np.rot90(picture, -1))
    upright, back = detector.detect(picture, side=512), detector.detect(lying, side=512, turn=90)
    assert [d.score for d in upright] == [d.score for d in back]
    np.testing.assert_allclose([511 - d.points[:, 1] for d in upright], [d.points[:, 0] for d in back], atol=1e-3)


def test_the_finder_relies_on_it_as_on_its_own(
    detector: CenterFace, mesh_net: FaceMeshNet, astronaut: Pixels, astronaut_face: Face
) -> None:
    """A session that answers in SCRFD's tensors with what another detector knows."""

    def answer(feeds: Mapping[str, Array]) -> dict[str, Array]:
        view = np.rint(feeds["input.1"][0].transpose(1, 2, 0) * 128 + 127.5).astype(np.uint8)
        rows, columns = view.shape[0] // 8, view.shape[1] // 8
        scores, boxes, points = (np.zeros((rows, columns, 2, width), np.float32) for width in (1, 4, 10))
        for box, score, five in zip(*detector.detect_stack(view[None], 0.1)[0], strict=True):
            x, y = (int(np.clip(middle // 8, 0, limit - 1)) for middle, limit in zip((box[:2] + box[2:]) / 2, (columns, rows), strict=True))
            corner = np.array([x, y]) * 8.0
            scores[y, x, 0], boxes[y, x, 0] = score, np.concatenate([corner - box[:2], box[2:] - corner]) / 8
            points[y, x, 0] = ((five - corner) / 8).ravel()
        of = {"score": scores, "box": boxes, "points": points}
        empty = {f"{kind}{s}": np.zeros((2 * view.shape[0] // s * (view.shape[1] // s), t.shape[-1]), np.float32)
                 for kind, t in of.items() for s in (16, 32)}  # fmt: skip
        return {f"{kind}8": t.reshape(-1, t.shape[-1]) for kind, t in of.items()} | empty

    outputs = tuple(
        TensorSpec(f"{kind}{s}", "float32", ("n", w)) for kind, w in (("score", 1), ("box", 4), ("points", 10)) for s in (8, 16, 32)
    )
    session = FakeSession((TensorSpec("input.1", "float32", (1, 3, "H", "W")),), outputs, answer)
    (found,) = FaceFinder(Scrfd(session, ENTRY), mesh_net).find(astronaut, Run())
    assert found.verdict.usable
    np.testing.assert_allclose(found.mesh.points, astronaut_face.mesh.points, atol=0.02 * astronaut_face.mesh.size)


@pytest.mark.parametrize("shape", [(600, 512), (512, 600), (3, 900), (900, 3), (1, 1)])
def test_the_letterbox_keeps_the_shape_and_never_comes_to_nothing(shape: tuple[int, int]) -> None:
    view, scale = letterbox(np.full((*shape, 3), 200, np.uint8), 128, 96)
    filled = view.any(axis=2)
    assert view.shape == (96, 128, 3)
    assert filled[0, 0]
    assert filled.any(axis=1).sum() == max(1, round(shape[0] * scale))


def test_another_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionContract, match="scrfd has 1 inputs and 6 or 9 or 10 or 15 outputs, this graph 1 and 1"):
        Scrfd(opened(graphs.arcface(tmp_path / "tiny.onnx")), ENTRY)
