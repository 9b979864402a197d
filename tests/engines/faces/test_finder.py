from collections.abc import Callable

import cv2
import numpy as np
import pytest

from engines.errors import Cancelled
from engines.faces.finder import MINIMUM_SIZE, PITCH_LIMIT, YAW_LIMIT, FaceFinder, verdict_of
from engines.faces.trust import LOOK
from engines.timing import Progress, Run
from engines.types import Face, Pixels, Pose

FindOne = Callable[[Pixels], Face]


def inside(face: Face, x: float, y: float) -> bool:
    box = face.box
    return box.x <= x <= box.x + box.width and box.y <= y <= box.y + box.height


def beside(*pictures: Pixels) -> Pixels:
    """Side by side, as high as the highest, the rest grey."""
    height = max(picture.shape[0] for picture in pictures)
    return np.hstack([cv2.copyMakeBorder(p, 0, height - p.shape[0], 0, 0, cv2.BORDER_CONSTANT, value=(90, 90, 90)) for p in pictures])


def on_wall(picture: Pixels, width: int, height: int, x: int, y: int) -> Pixels:
    """A picture on a wall of soft noise."""
    rng = np.random.default_rng(3)
    coarse = rng.normal(150, 12, (height // 40 + 1, width // 40 + 1, 3)).clip(0, 255).astype(np.uint8)
    wall = np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    wall[y : y + picture.shape[0], x : x + picture.shape[1]] = picture
    return wall


def test_the_astronaut(astronaut_face: Face) -> None:
    face = astronaut_face
    assert face.index == 0
    assert face.verdict.usable
    assert face.detection.score > 0.8
    assert inside(face, 224, 120)
    assert 90 < face.mesh.size < 115
    assert abs(face.mesh.pose.yaw) < 8
    assert face.sharpness > 15
    eye_left, eye_right = face.detection.points[0], face.detection.points[1]
    assert eye_left[0] < eye_right[0]


def test_a_cap_and_glasses_are_no_hindrance(officer_face: Face) -> None:
    assert officer_face.verdict.usable
    assert inside(officer_face, 264, 240)


def test_two_faces_are_numbered_from_left_to_right(finder: FaceFinder, astronaut: Pixels, officer: Pixels) -> None:
    for pictures in ((astronaut, officer), (officer, astronaut)):
        faces = finder.find(beside(*pictures), Run())
        assert [face.index for face in faces] == [0, 1]
        assert faces[0].box.centre[0] < 512 < faces[1].box.centre[0]
        larger = faces[0] if pictures[0] is officer else faces[1]
        assert larger.mesh.size > 170


def test_the_order_has_nothing_to_do_with_size_or_score(finder: FaceFinder, officer: Pixels) -> None:
    small = np.asarray(cv2.resize(officer, None, fx=0.4, fy=0.4, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    faces = finder.find(beside(small, officer, small), Run())
    centres = [face.box.centre[0] for face in faces]
    assert len(faces) == 3
    assert centres == sorted(centres)
    assert faces[1].mesh.size > 2 * faces[0].mesh.size


def test_twenty_faces(finder: FaceFinder, astronaut: Pixels, officer: Pixels) -> None:
    """Five by four heads of two people, each found once, each mesh on its own head."""
    heads = [astronaut[20:260, 120:330], officer[60:400, 110:410]]
    heads = [np.asarray(cv2.resize(head, (210, 240), interpolation=cv2.INTER_AREA), dtype=np.uint8) for head in heads]
    montage = np.vstack([np.hstack([heads[(row + column) % 2] for column in range(5)]) for row in range(4)])
    faces = finder.find(montage, Run())
    cells = {(int(x // 210), int(y // 240)) for x, y in (face.mesh.points[:468, :2].mean(axis=0) for face in faces)}
    assert len(faces) == 20
    assert cells == {(x, y) for x in range(5) for y in range(4)}
    assert [face.index for face in faces] == list(range(20))


@pytest.mark.parametrize("name", ["chelsea", "coffee", "rocket", "coins", "brick", "hubble_deep_field"])
def test_cats_cups_and_coins_are_no_faces(name: str, finder: FaceFinder) -> None:
    import skimage.data

    picture = getattr(skimage.data, name)()
    assert finder.find(np.ascontiguousarray(picture if picture.ndim == 3 else np.dstack([picture] * 3)), Run()) == ()


def test_what_the_detector_takes_for_a_face_is_looked_at_again(finder: FaceFinder, officer: Pixels) -> None:
    """Everything under the eyes is painted over: the detector proposes it still, the second look refuses it."""
    picture = officer.copy()
    picture[246:360, 160:370] = (200, 170, 150)
    trusted, refused = finder.evidence(picture, Run())
    assert trusted == []
    assert refused
    assert all(evidence.against for evidence in refused)


def test_a_refused_place_is_told_once_with_its_scores(finder: FaceFinder, astronaut: Pixels, officer: Pixels) -> None:
    """Beside a face that is none the less found; the list says what the two looks gave, and why."""
    picture = officer.copy()
    picture[246:360, 160:370] = (200, 170, 150)
    faces, refused = finder.find_all(beside(astronaut, picture), Run())
    assert len(faces) == 1
    (one,) = refused
    assert 512 + 160 < one.box.centre[0] < 512 + 370
    assert 0.3 <= one.score <= 1
    assert 0 <= one.look < LOOK
    assert one.reason == "unseen"


def test_a_painted_face_is_a_face(finder: FaceFinder, officer: Pixels) -> None:
    """Broad strokes in twelve tones on a coarse canvas."""
    rng = np.random.default_rng(2)
    strokes = cv2.medianBlur(officer, 9).astype(np.float32)
    tones = np.round(strokes / 22) * 22
    canvas = cv2.GaussianBlur(rng.normal(0, 14, officer.shape[:2]).astype(np.float32), (0, 0), 0.8)[..., None]
    warm = np.array([1.06, 0.97, 0.8], np.float32)
    faces, refused = finder.find_all((tones * warm + canvas).clip(0, 255).astype(np.uint8), Run())
    assert [face.verdict.usable for face in faces] == [True]
    assert inside(faces[0], 266, 234)
    assert refused == ()


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_picture_on_its_side_or_head(turn: int, finder: FaceFinder, find_one: FindOne, officer: Pixels, officer_face: Face) -> None:
    """Points in the picture's own pixels, the roll that of the head; yaw and pitch as upright."""
    face = find_one(np.ascontiguousarray(np.rot90(officer, turn)))
    xy = officer_face.mesh.points[:, :2].astype(np.float64)
    for k in range(turn):  # a quarter turn counter-clockwise: (x, y) → (y, width - 1 - x)
        width = (512, 600)[k % 2]
        xy = np.stack([xy[:, 1], width - 1 - xy[:, 0]], axis=1)
    assert np.linalg.norm(face.mesh.points[:, :2] - xy, axis=1).mean() < 0.02 * officer_face.mesh.size
    roll = (face.mesh.pose.roll - officer_face.mesh.pose.roll + 90 * turn + 180) % 360 - 180
    assert abs(roll) < 3
    assert abs(face.mesh.pose.yaw - officer_face.mesh.pose.yaw) < 4
    assert abs(face.mesh.pose.pitch - officer_face.mesh.pose.pitch) < 4
    assert face.verdict.usable


@pytest.mark.parametrize("degrees", [30, 45, -60, 135])
def test_a_leaning_head(degrees: int, find_one: FindOne, astronaut: Pixels, astronaut_face: Face) -> None:
    matrix = cv2.getRotationMatrix2D((224.0, 120.0), degrees, 1.0)  # counter-clockwise
    matrix[:, 2] += [76, 180]
    face = find_one(np.asarray(cv2.warpAffine(astronaut, matrix, (600, 600), borderValue=(120, 120, 120)), dtype=np.uint8))
    roll = (face.mesh.pose.roll - astronaut_face.mesh.pose.roll + degrees + 180) % 360 - 180
    assert abs(roll) < 6
    assert face.verdict.usable


@pytest.mark.parametrize("cut", ["left", "right", "top", "bottom"])
@pytest.mark.parametrize("part", [0.15, 0.3])
def test_a_face_cut_by_the_pictures_edge(cut: str, part: float, find_one: FindOne, officer: Pixels, officer_face: Face) -> None:
    """Found where it is; the mesh reaches beyond the picture, nothing crashes."""
    x, y, w, h = officer_face.box.as_ints()
    left, top = (int(x + part * w) if cut == "left" else 0), (int(y + part * h) if cut == "top" else 0)
    right, bottom = (int(x + w - part * w) if cut == "right" else 512), (int(y + h - part * h) if cut == "bottom" else 600)
    face = find_one(np.ascontiguousarray(officer[top:bottom, left:right]))
    visible = officer_face.mesh.points[:468, :2]
    shown = (visible[:, 0] > left) & (visible[:, 0] < right) & (visible[:, 1] > top) & (visible[:, 1] < bottom)
    apart = np.linalg.norm(face.mesh.points[:468, :2] + [left, top] - visible, axis=1)[shown]
    assert apart.mean() < 0.08 * officer_face.mesh.size
    assert face.verdict.reason in ("", "turned", "unsteady")


def test_a_face_that_fills_the_frame_is_found_once(find_one: FindOne, officer: Pixels, officer_face: Face) -> None:
    x, y, w, h = officer_face.box.as_ints()
    crop = np.ascontiguousarray(officer[y - 4 : y + h + 4, x - 8 : x + w + 8])
    face = find_one(np.asarray(cv2.resize(crop, None, fx=6, fy=6, interpolation=cv2.INTER_CUBIC), dtype=np.uint8))
    apart = face.mesh.points[:, :2] / 6 + [x - 8, y - 4] - officer_face.mesh.points[:, :2]
    assert np.linalg.norm(apart, axis=1).mean() < 0.04 * officer_face.mesh.size


def test_a_small_face_in_a_large_picture(find_one: FindOne, astronaut: Pixels) -> None:
    """48 px of 3,000: at one fixed side it would be 10 px."""
    small = np.asarray(cv2.resize(astronaut[0:300, 70:370], (144, 144), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    face = find_one(on_wall(small, 3000, 2000, 2500, 1500))
    assert inside(face, 2500 + 154 * 0.48, 1500 + 120 * 0.48)
    assert face.verdict.usable


def test_a_tiny_face_is_found_and_refused_with_figures(find_one: FindOne, astronaut: Pixels) -> None:
    tiny = np.asarray(cv2.resize(astronaut[0:300, 70:370], (66, 66), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    face = find_one(on_wall(tiny, 900, 700, 600, 300))
    facts = dict(face.verdict.facts)
    assert face.verdict.reason == "too_small"
    assert facts == {"size": pytest.approx(face.mesh.size, rel=1e-3), "minimum": MINIMUM_SIZE}


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (10, 20000), (20000, 10), (13, 13), (40, 37)])
def test_pictures_without_room_for_a_face(shape: tuple[int, int], finder: FaceFinder) -> None:
    assert finder.find(np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8), Run()) == ()


def test_one_look_is_enough_for_a_plain_portrait(finder: FaceFinder, officer: Pixels) -> None:
    """No third side, no turns, no tiles: what costs time is only done where the first look doesn't convince."""
    steps: list[Progress] = []
    finder.find(officer, Run(steps.append))
    assert [step.stage for step in steps] == ["detect", "mesh", "detect"]


def test_the_same_picture_gives_the_same_faces(finder: FaceFinder, officer: Pixels) -> None:
    (one,), (two,) = finder.find(officer, Run()), finder.find(officer, Run())
    assert one.box == two.box
    assert np.array_equal(one.mesh.points, two.mesh.points)


def test_a_stop_is_heeded_before_the_first_look(finder: FaceFinder, officer: Pixels) -> None:
    run = Run()
    run.cancel()
    with pytest.raises(Cancelled):
        finder.find(officer, run)


def test_a_stop_is_heeded_between_the_tiles(finder: FaceFinder) -> None:
    """The long search for nothing in a large picture ends when somebody stops it."""
    run: Run

    def stop_late(step: Progress) -> None:
        seen.append(step)
        if len(seen) == 4:
            run.cancel()

    seen: list[Progress] = []
    run = Run(stop_late)
    with pytest.raises(Cancelled):
        finder.find(np.full((2000, 3000, 3), 128, np.uint8), run)
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("size", "pose", "outside", "spread", "reason"),
    [
        (200, Pose(0, 0, 0), 0, 0, ""),
        (200, Pose(YAW_LIMIT - 1, PITCH_LIMIT - 1, 170), 0.3, 0.029, ""),
        (MINIMUM_SIZE, Pose(0, 0, 0), 0, 0, ""),
        (MINIMUM_SIZE - 0.1, Pose(80, 80, 0), 0.9, 1, "too_small"),
        (200, Pose(-YAW_LIMIT - 1, 60, 0), 0, 0, "turned"),
        (200, Pose(YAW_LIMIT + 1, 0, 0), 0, 0, "turned"),
        (200, Pose(0, -PITCH_LIMIT - 1, 0), 0, 0, "tilted"),
        (200, Pose(0, PITCH_LIMIT + 1, 0), 0.8, 0, "tilted"),
        (200, Pose(0, 0, 0), 0.6, 0, "hidden"),
        (200, Pose(0, 0, 0), 0, 0.04, "unsteady"),
        (50, Pose(0, 0, 0), 0, 0.04, ""),
        (50, Pose(0, 0, 0), 0, 0.065, "unsteady"),
    ],
)
def test_the_verdict(size: float, pose: Pose, outside: float, spread: float, reason: str) -> None:
    verdict = verdict_of(size, pose, outside, spread)
    assert verdict.reason == reason
    assert verdict.usable == (reason == "")


@pytest.mark.parametrize("language", ["en", "zh-CN"])
@pytest.mark.parametrize(
    "case", [(10, Pose(0, 0, 0), 0, 0), (99, Pose(50, 0, 0), 0, 0), (99, Pose(0, 50, 0), 0, 0), (99, Pose(0, 0, 0), 1, 0)]
)
def test_every_verdict_has_a_sentence_that_its_facts_fill(case: tuple[float, Pose, float, float], language: str) -> None:
    from engines.text import text

    verdict = verdict_of(*case)
    sentence = text(f"verdicts.{verdict.reason}", language, **dict(verdict.facts))
    assert sentence
    assert "{" not in sentence
