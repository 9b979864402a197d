"""What the page is told about a picture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engines.errors import NoFace
from engines.results import FoundFaces
from engines.timing import Run, Timings
from engines.types import Box, Detection, Face, FaceMesh, FivePoints, Frame, Origin, Pose, Verdict
from studio import pictures
from studio.media import Shelf


def face(index: int, size: float, usable: bool = True) -> Face:
    points = np.zeros((478, 3), np.float32)
    points[0, :2] = size
    verdict = Verdict() if usable else Verdict("hidden")
    return Face(index, Detection(Box(0, 0, size, size), 0.9, np.zeros((5, 2), np.float32)), FaceMesh(points, Pose(0, 0, 0)), 9, verdict)


@pytest.mark.parametrize(
    ("faces", "chosen"),
    [
        ([], None),
        ([(50, True)], 0),
        ([(50, True), (90, True), (70, True)], 1),
        ([(50, True), (90, False)], 0),
        ([(50, False), (90, False)], 1),
    ],
)
def test_the_largest_usable_face_is_chosen(faces: list[tuple[float, bool]], chosen: int | None) -> None:
    assert pictures.default_face([face(index, size, usable) for index, (size, usable) in enumerate(faces)]) == chosen


@pytest.mark.parametrize(
    ("width", "height", "whole", "first"),
    [
        (512, 512, True, "png"),
        (3000, 2000, True, "png"),
        (3001, 2000, False, "jpg"),
        (12000, 9000, False, "jpg"),
        (70000, 100, False, "png"),
    ],
)
def test_what_is_made_at_once(width: int, height: int, whole: bool, first: str) -> None:
    assert pictures.shown_whole(width, height) == (whole, first)


@pytest.mark.parametrize(("count", "shape"), [(1, (112, 112)), (16, (112, 1792)), (17, (224, 1792)), (40, (336, 1792))])
def test_tiles_lie_in_reading_order(count: int, shape: tuple[int, int]) -> None:
    sheet = pictures.tile_sheet([np.full((112, 112, 3), number, np.uint8) for number in range(count)])
    assert sheet.shape[:2] == shape
    for number in range(count):
        row, column = divmod(number, pictures.TILES_ACROSS)
        assert (sheet[row * 112 : row * 112 + 112, column * 112 : column * 112 + 112] == number).all()


def test_a_picture_that_cannot_be_used_stays_chosen() -> None:
    value = pictures.fault_value("token", "x.png", NoFace(role="source", minimum=36.0))
    assert (value["token"], value["name"], value["faces"]) == ("token", "x.png", [])
    assert value["error"]["en"][0] == "No face was found in the source picture."
    assert pictures.gone_value()["token"] == ""


def test_what_the_page_is_told(tmp_path: Path, officer_path: Path) -> None:
    """With the real pipeline: preview, faces as parts of the picture, thumbnails; everything marked, all of it this visitor's."""
    from PIL import Image

    from engines.pipeline import Studio
    from engines.settings import Settings

    shelf = Shelf(tmp_path / "sessions", 60)
    with Studio.open(Settings(data_dir=tmp_path)) as studio:
        item = shelf.reserve("anna", "officer.jpg")
        item.path.write_bytes(officer_path.read_bytes())
        seen = pictures.look(studio, item, None, Run())
        value = pictures.seen_value(studio, shelf, "anna", item, seen, layers=True)
        told = studio.verify(shelf.get("anna", value["preview"].rsplit("/", 1)[1]).path).labels
        assert (told.algorithmic, told.labels.tool[:13]) == (False, "Fusion Studio")  # of a photo nothing is said that isn't true
        moved = [[x + 0.5, y] for x, y in value["faces"][0]["points"]]
        by_hand = pictures.look(studio, item, {"chosen": 0, "hand": moved}, Run())
        again = pictures.seen_value(studio, shelf, "anna", item, by_hand, layers=False)
        wrong = pictures.look(studio, item, {"chosen": 0, "hand": [[-900, 0]] * 5}, Run())
        refused = pictures.seen_value(studio, shelf, "anna", item, wrong, layers=False)
    assert again["hand"] == tuple(map(tuple, moved))
    assert again["faces"][0]["points"] == value["faces"][0]["points"]  # those that were found: the way back
    assert (again["faces"][0]["usable"], again["hand_error"]) == (True, None)
    assert refused["hand_error"]["zh-CN"][0]
    assert len(refused["faces"]) == 1
    assert (value["width"], value["height"], value["chosen"], value["count"]["en"]) == (512, 600, 0, "1 face")
    assert all(0 < part < 1 for part in value["faces"][0]["box"])
    assert "ov-mesh" in value["layers"]
    for address, size in ((value["preview"], (512, 600)), (value["tiles"], (112, 112))):
        with Image.open(shelf.get("anna", address.rsplit("/", 1)[1]).path) as picture:
            assert picture.size == size


def test_a_face_that_only_the_hand_knows_comes_last(tmp_path: Path) -> None:
    """And its points have no way back."""

    class Blind:
        def faces(self, data: bytes, name: str, run: Run) -> FoundFaces:
            frame = Frame(np.zeros((100, 100, 3), np.uint8), Origin("PNG", "RGB", 8, 1, 1, None), "digest")
            return FoundFaces(frame, (face(0, 50),), Timings())

        def face_at(self, frame: Frame, points: FivePoints, run: Run) -> Face:
            return face(1, 30)

    item = Shelf(tmp_path / "sessions", 60).add("anna", b"", "x.png", "image/png")
    blind: Any = Blind()
    seen = pictures.look(blind, item, {"hand": [[1, 2]] * 5}, Run())
    assert [each.index for each in seen.faces] == [0, 1]
    assert seen.chosen == 1
    assert [pictures._face_value(each, seen.found)["points"] is None for each in seen.faces] == [False, True]
    assert pictures.look(blind, item, {"chosen": 7}, Run()).chosen == 0
