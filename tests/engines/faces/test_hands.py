"""Hands near a face: geometry on networks that answer what is asked, and the two real ones."""

from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces import hands as module
from engines.faces.hands import HAND_SIDE, PALM_SIDE, SMALLEST, HandFinder
from engines.runtime.fake import FakeSession
from engines.runtime.session import Session, TensorSpec, open_session
from engines.text import ASSETS
from engines.types import Box

PALM_IN = (TensorSpec("input", "float32", ("B", 3, PALM_SIDE, PALM_SIDE)),)
PALM_OUT = (TensorSpec("boxes", "float32", ("B", 36288)), TensorSpec("scores", "float32", ("B", 2016)))
HAND_IN = (TensorSpec("input", "float32", ("B", 3, HAND_SIDE, HAND_SIDE)),)
HAND_OUT = (TensorSpec("landmarks", "float32", ("B", 63)), TensorSpec("present", "float32", ("B", 1)))


def palm(anchors: tuple[int, ...], score: float = 5.0) -> FakeSession:
    """Answers with upright palms of 40 px at the given anchors."""

    def run(feeds: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
        count = len(feeds["input"])
        boxes, scores = np.zeros((count, 2016, 9, 2), np.float32), np.full((count, 2016), -20, np.float32)
        boxes[:, :, 1] = 40
        boxes[:, :, 2] = (0, 18)  # wrist below the middle finger's base
        boxes[:, :, 4] = (0, -18)
        scores[:, list(anchors)] = score
        return {"boxes": boxes.reshape(count, -1), "scores": scores}

    return FakeSession(PALM_IN, PALM_OUT, run)


def hand(present: float) -> FakeSession:
    """Answers with a spread grid of points in the middle of the crop."""

    def run(feeds: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
        count = len(feeds["input"])
        grid = np.stack(np.meshgrid(np.linspace(60, 164, 7), np.linspace(60, 164, 3)), -1).reshape(21, 2)
        points = np.column_stack([grid, np.zeros(21)]).astype(np.float32)
        return {"landmarks": np.tile(points.reshape(1, 63), (count, 1)), "present": np.full((count, 1), present, np.float32)}

    return FakeSession(HAND_IN, HAND_OUT, run)


def test_the_anchors_are_the_cells_of_the_two_maps() -> None:
    anchors = module._ANCHORS
    assert anchors.shape == (2016, 2)
    np.testing.assert_allclose(anchors[0], 0.5 / 24)
    np.testing.assert_allclose(anchors[-1], 11.5 / 12)
    assert len(np.unique(anchors[: 24 * 24 * 2], axis=0)) == 24 * 24


def test_a_palm_leads_to_a_hand_where_it_is() -> None:
    pixels = np.zeros((600, 600, 3), np.uint8)
    anchor = 2 * (24 * 21 + 2)  # below the middle, on the left
    found = HandFinder(palm((anchor,)), hand(0.99)).find(pixels, Box(200, 200, 200, 200))
    # seen in both squares, at two places: 2.2 and 3 faces wide round (300, 300)
    assert len(found) == 2
    for points, side in zip(found, (440, 600), strict=True):
        centre = (np.array([2.5, 21.5]) / 24 - 0.5) * side + 300
        size = 40 / PALM_SIDE * side
        assert points.shape == (21, 2)
        assert np.abs(points.mean(0) - centre).max() < size
        assert points[:, 1].mean() < centre[1]  # fingers point up from the palm


@pytest.mark.parametrize(("score", "present", "calls"), [(-1.0, 0.99, 0), (5.0, 0.79, 1)])
def test_the_second_network_decides(score: float, present: float, calls: int) -> None:
    second = hand(present)
    assert HandFinder(palm((500,), score), second).find(np.zeros((300, 300, 3), np.uint8), Box(100, 100, 100, 100)) == []
    assert second.calls == calls


def test_many_palms_on_one_hand_are_one() -> None:
    found = HandFinder(palm((864, 865, 866, 867)), hand(0.99)).find(np.zeros((400, 400, 3), np.uint8), Box(100, 100, 150, 150))
    assert 1 <= len(found) <= 2


@pytest.mark.parametrize("box", [Box(0, 0, SMALLEST - 1, SMALLEST - 1), Box(float("nan"), 0, 100, 100)])
def test_small_faces_are_not_searched(box: Box) -> None:
    first = palm((500,))
    assert HandFinder(first, hand(0.99)).find(np.zeros((300, 300, 3), np.uint8), box) == []
    assert first.calls == 0


@pytest.fixture(scope="module")
def real() -> Iterator[HandFinder]:
    sessions: list[Session] = [open_session(ASSETS / "models" / f, "cpu", 2) for f in ("palm_full.w16.onnx", "hand_lite.w16.onnx")]
    yield HandFinder(*sessions)
    for session in sessions:
        session.close()


def test_faces_are_no_hands(real: HandFinder, astronaut: NDArray[np.uint8], officer: NDArray[np.uint8]) -> None:
    assert real.find(astronaut, Box(172, 58, 110, 130)) == []
    assert real.find(officer, Box(165, 165, 200, 250)) == []


def test_a_face_beyond_the_frame_is_searched_too(real: HandFinder, astronaut: NDArray[np.uint8]) -> None:
    assert real.find(astronaut[:140, 150:260], Box(22, 58, 110, 130)) == []
