from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.faces.centerface import CenterFace, decode
from engines.faces.detector import Turn, suppress
from engines.runtime.fake import FakeSession
from engines.runtime.session import Array, TensorSpec
from engines.types import Detection, Pixels

Answer = dict[str, Array]


def session(function: Callable[[Mapping[str, Array]], Answer]) -> FakeSession:
    inputs = (TensorSpec("input.1", "float32", ("B", 3, "H", "W")),)
    channels = {"537": 1, "538": 2, "539": 2, "540": 10}
    return FakeSession(inputs, tuple(TensorSpec(name, "float32", ("B", c, "h", "w")) for name, c in channels.items()), function)


def brightest(feeds: Mapping[str, Array]) -> Answer:
    """A stand-in for the network: one face of 8 × 8 cells at the brightest cell of red, its points at known places of the box.

    The centre's offset is chosen so that a bright square of 4 × 4 px aligned with a cell gives its own middle.
    """
    red = feeds["input.1"][:, 0]
    count, rows, columns = red.shape
    cells = red.reshape(count, rows // 4, 4, columns // 4, 4).mean(axis=(2, 4))
    heat = np.zeros_like(cells)
    for one, values in zip(heat, cells, strict=True):
        if values.max() > 100:
            one[np.unravel_index(values.argmax(), values.shape)] = 0.9
    plane = np.ones_like(cells)
    size = np.stack([plane * np.log(10), plane * np.log(8)], axis=1)
    offset = np.zeros_like(size)
    points = np.stack([plane * v for xy in POINTS for v in (xy[1], xy[0])], axis=1)
    answer = {"537": heat[:, None], "538": size, "539": offset, "540": points}
    return {name: value.astype(np.float32) for name, value in answer.items()}


POINTS = ((0.3, 0.4), (0.7, 0.4), (0.5, 0.6), (0.35, 0.8), (0.65, 0.8))


def spot(width: int, height: int, x: int, y: int) -> Pixels:
    """Black, with a bright square of 4 × 4 px whose corner pixel is (x, y)."""
    picture = np.zeros((height, width, 3), np.uint8)
    picture[y : y + 4, x : x + 4] = 255
    return picture


def test_the_decoded_box_is_the_formula() -> None:
    heat = np.zeros((6, 7), np.float32)
    heat[2, 5] = 0.8
    size = np.zeros((2, 6, 7), np.float32)
    size[:, 2, 5] = np.log([3, 2])
    offset = np.zeros((2, 6, 7), np.float32)
    offset[:, 2, 5] = 0.25, 0.125
    points = np.zeros((10, 6, 7), np.float32)
    points[:, 2, 5] = np.arange(10) / 10
    boxes, scores, fives = decode(heat, size, offset, points, 0.5)
    y, x = (2 + 0.25 + 0.5) * 4, (5 + 0.125 + 0.5) * 4
    assert boxes == pytest.approx(np.array([(x - 4, y - 6, x + 4, y + 6)]), abs=1e-5)
    assert scores == pytest.approx(np.array([0.8]))
    assert fives[0, 0] == pytest.approx((x - 4 + 8 * 0.1, y - 6), abs=1e-5)
    assert fives[0, 4] == pytest.approx((x - 4 + 8 * 0.9, y - 6 + 12 * 0.8), abs=1e-5)


def test_nothing_over_the_limit_decodes_to_nothing() -> None:
    none = np.zeros((4, 4), np.float32)
    boxes, scores, points = decode(
        none, np.zeros((2, 4, 4), np.float32), np.zeros((2, 4, 4), np.float32), np.zeros((10, 4, 4), np.float32), 0.5
    )
    assert (boxes.shape, scores.shape, points.shape) == ((0, 4), (0,), (0, 5, 2))
    assert len(suppress(boxes, scores)) == 0


def test_a_wild_size_stays_finite() -> None:
    one = np.full((1, 1), 0.9, np.float32)
    boxes, _, points = decode(
        one, np.full((2, 1, 1), 1e6, np.float32), np.zeros((2, 1, 1), np.float32), np.ones((10, 1, 1), np.float32), 0.5
    )
    assert np.isfinite(boxes).all()
    assert np.isfinite(points).all()


def reference_nms(boxes: NDArray[np.float64], scores: NDArray[np.float64], limit: float) -> list[int]:
    """The textbook's loop, pair by pair."""
    kept: list[int] = []
    for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i)):
        for j in kept:
            w = max(0.0, min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0]))
            h = max(0.0, min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1]))
            area = [(boxes[k, 2] - boxes[k, 0]) * (boxes[k, 3] - boxes[k, 1]) for k in (i, j)]
            if w * h >= limit * (sum(area) - w * h):
                break
        else:
            kept.append(i)
    return kept


numbers = st.integers(0, 60)


@given(st.lists(st.tuples(numbers, numbers, st.integers(1, 40), st.integers(1, 40), st.integers(0, 10)), max_size=40))
def test_suppression_is_the_textbooks(rows: list[tuple[int, int, int, int, int]]) -> None:
    boxes = np.array([(x, y, x + w, y + h) for x, y, w, h, _ in rows], dtype=np.float64).reshape(-1, 4)
    scores = np.array([s / 10 for *_, s in rows], dtype=np.float64)
    assert suppress(boxes, scores, 0.3).tolist() == reference_nms(boxes, scores, 0.3)


@pytest.mark.parametrize(("contained", "left"), [(1.01, [0, 1]), (0.7, [0])])
def test_half_a_face_at_the_edge_of_a_view_can_be_told_from_the_whole(contained: float, left: list[int]) -> None:
    """Its lower quarter: an IoU of .25, all of it in the other box."""
    boxes = np.array([(0, 0, 20, 20), (0, 15, 20, 20), (60, 60, 80, 80)], np.float64)
    assert suppress(boxes, np.array([0.9, 0.8, 0.7]), contained=contained).tolist() == [*left, 2]


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("border", [0.0, 0.3])
@pytest.mark.parametrize(("width", "height", "side"), [(640, 416, 640), (300, 500, 500), (1280, 960, 640), (160, 120, 640)])
def test_what_is_found_is_given_in_the_pictures_own_pixels(width: int, height: int, side: int, border: float, turn: Turn) -> None:
    """Turned, bordered, shrunk or enlarged: the box sits on the bright square again, to a cell of the detector."""
    scale = side / (1 + 2 * border) / max(width, height)
    edge = max(4, round(8 / scale))
    picture = np.zeros((height, width, 3), np.uint8)
    x, y = width * 3 // 5, height // 3
    picture[y : y + edge, x : x + edge] = 255
    (found,) = CenterFace(session(brightest)).detect(picture, side, border=border, turn=turn)
    middle = np.array([x, y]) + (edge - 1) / 2
    assert np.abs(np.array(found.box.centre) - middle).max() < 6 / scale
    wide, high = (8, 10) if turn in (0, 180) else (10, 8)
    assert (found.box.width, found.box.height) == pytest.approx((4 * wide / scale, 4 * high / scale), rel=0.02)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turning_is_undone_exactly(turn: Turn) -> None:
    """What is found in a turned picture, turned back by hand, is what comes out: to a thousandth of a pixel."""
    detector, picture = CenterFace(session(brightest)), spot(384, 256, 200, 88)
    plain = detector.detect(np.ascontiguousarray(np.rot90(picture, turn // 90)), 384)[0]
    found = detector.detect(picture, 384, turn=turn)[0]
    back = plain.points.astype(np.float64)
    width, height = picture.shape[1], picture.shape[0]
    for k in range(turn // 90):  # each undone quarter turn: (x', y') of a picture whose unturned width is `columns`
        columns = (width, height)[(turn // 90 - 1 - k) % 2]
        back = np.stack([columns - 1 - back[:, 1], back[:, 0]], axis=1)
    assert found.points == pytest.approx(back, abs=1e-3)


def test_the_points_keep_their_order_in_the_faces_own_view() -> None:
    """In a picture turned by 180° the first eye is the one at the right."""
    detector, picture = CenterFace(session(brightest)), spot(384, 256, 200, 88)
    upright, turned = detector.detect(picture, 384)[0], detector.detect(picture, 384, turn=180)[0]
    assert upright.points[0, 0] < upright.points[1, 0]
    assert turned.points[0, 0] > turned.points[1, 0]


@pytest.mark.parametrize("shape", [(1, 1), (1, 4000), (7, 30), (20000, 3), (10, 20000), (8, 8), (31, 33)])
def test_pictures_without_room_for_a_face_give_none(shape: tuple[int, int], detector: CenterFace) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    for border in (0.0, 0.3):
        assert detector.detect(pixels, 320, border=border) == []


def test_the_network_is_fed_what_it_takes() -> None:
    """RGB in 0..255, sides in multiples of 32, the longer one as asked, the padding black."""
    seen: list[Array] = []

    def keep(feeds: Mapping[str, Array]) -> Answer:
        seen.append(feeds["input.1"])
        return brightest(feeds)

    picture = np.full((100, 201, 3), (10, 200, 60), np.uint8)
    CenterFace(session(keep)).detect(picture, 320)
    assert seen[0].shape == (1, 3, 160, 320)
    assert seen[0][0, :, 80, 100].tolist() == [10, 200, 60]
    assert not seen[0][0, :, -1].any()


def iou(a: Detection, b: Detection) -> float:
    w = min(a.box.x + a.box.width, b.box.x + b.box.width) - max(a.box.x, b.box.x)
    h = min(a.box.y + a.box.height, b.box.y + b.box.height) - max(a.box.y, b.box.y)
    common = max(0.0, w) * max(0.0, h)
    return common / (a.box.width * a.box.height + b.box.width * b.box.height - common)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_real_face_is_found_lying_down(turn: Turn, detector: CenterFace, astronaut: Pixels) -> None:
    (upright,) = detector.detect(astronaut)
    lying = np.ascontiguousarray(np.rot90(astronaut, -turn // 90))
    (found,) = detector.detect(lying, turn=turn)
    assert found.score == pytest.approx(upright.score, abs=1e-4)
    if turn == 180:
        assert found.points == pytest.approx(511 - upright.points, abs=0.05)


@pytest.mark.parametrize("side", [320, 640, 960])
def test_one_face_is_one_box_at_every_side(side: int, detector: CenterFace, officer: Pixels) -> None:
    (reference,), (found,) = detector.detect(officer), detector.detect(officer, side)
    assert iou(found, reference) > 0.7
    assert np.linalg.norm(found.points - reference.points, axis=1).max() < 0.06 * reference.box.width


def test_a_stack_gives_the_same_as_one_by_one(detector: CenterFace, astronaut: Pixels, officer: Pixels) -> None:
    stack = np.stack([astronaut[:256, 64:320], officer[60:316, 120:376]])
    together = detector.detect_stack(stack, 0.3)
    for one, both in zip(stack, together, strict=True):
        (alone,) = detector.detect_stack(one[None], 0.3)
        for a, b in zip(alone, both, strict=True):
            assert a == pytest.approx(b, abs=1e-2)
