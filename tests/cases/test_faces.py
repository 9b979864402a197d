"""Faces: the wrong one, none, one that fills the frame, one on its side, one at the border, a tiny one."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.errors import FaceIndexError, FaceNotUsable, NoFace
from engines.options import FuseOptions
from engines.pipeline import Studio

Pixels = NDArray[np.uint8]
Hang = Callable[..., tuple[int, int, int, int]]
Wall = Callable[..., Pixels]


def changed(one: Pixels, other: Pixels, level: int = 24) -> NDArray[np.bool_]:
    """Where two pictures differ by more than the mark ever does, speckles left out."""
    return cv2.medianBlur(np.abs(one.astype(np.int16) - other).max(axis=2).clip(0, 255).astype(np.uint8), 5) > level


def tint(picture: Pixels, *gains: float) -> Pixels:
    return np.clip(picture * np.array(gains, np.float32), 0, 255).astype(np.uint8)


def test_case_f01_only_the_chosen_face_changes(studio: Studio, astronaut: Pixels, officer: Pixels, wall: Wall, hang: Hang) -> None:
    scene = wall(1700, 760)
    portraits = (tint(astronaut, 1.06, 1, 0.9), astronaut, tint(astronaut, 0.86, 0.9, 1))
    boxes = [
        hang(scene, portrait, *spot) for portrait, spot in zip(portraits, [(40, 180, 470), (520, 20, 720), (1330, 300, 330)], strict=True)
    ]
    found = studio.faces(scene)
    assert [face.index for face in found.faces] == [0, 1, 2]
    for face, (x, y, width, height) in zip(found.faces, boxes, strict=True):
        assert abs(face.box.centre[0] - x - width / 2) < width / 4
        assert abs(face.box.centre[1] - y - height / 2) < height / 4
    for index, (x, y, width, height) in enumerate(boxes):
        result = studio.fuse(officer, scene, FuseOptions(face=index))
        rows, columns = np.nonzero(changed(result.image.pixels, scene))
        assert x - width < columns.min()
        assert columns.max() < x + 2 * width
        assert y - height < rows.min()
        assert rows.max() < y + 2 * height
        assert result.faces[0].box == found.faces[index].box


@pytest.mark.parametrize(("reach", "name"), [(1.15, "fills"), (0.6, "forehead and chin cut off")])
def test_case_f02_close_up(studio: Studio, astronaut: Pixels, officer: Pixels, reach: float, name: str) -> None:
    x, y, width, height = 175, 47, 99, 134
    middle = y + height * 0.52
    top, bottom = max(0, int(middle - height * reach / 2)), int(middle + height * reach / 2)
    left, right = int(x + width / 2 - height * reach / 2), int(x + width / 2 + height * reach / 2)
    close = astronaut[top:bottom, left:right]
    close = cv2.resize(close, (1200, round(1200 * close.shape[0] / close.shape[1])), interpolation=cv2.INTER_CUBIC)
    assert len(studio.faces(close).faces) == 1
    result = studio.fuse(officer, close)
    border = np.ones(close.shape[:2], bool)
    border[close.shape[0] // 5 : -close.shape[0] // 5, 240:-240] = False
    sharp = [
        np.abs(cv2.Laplacian(cv2.cvtColor(cv2.GaussianBlur(p, (0, 0), 1.5), cv2.COLOR_RGB2GRAY), cv2.CV_32F))[border].mean()
        for p in (result.image.pixels, close)
    ]
    assert 0.8 < sharp[0] / sharp[1] < 1.25


def turned(picture: Pixels, angle: int, ground: Pixels) -> Pixels:
    """Turned counter-clockwise; by quarters exactly, else on a larger ground."""
    if angle % 90 == 0:
        return np.ascontiguousarray(np.rot90(picture, angle // 90))
    large = ground.copy()
    large[128:640, 128:640] = picture
    return cv2.warpAffine(large, cv2.getRotationMatrix2D((384, 384), angle, 1), (768, 768), borderMode=cv2.BORDER_REPLICATE)


@pytest.mark.parametrize("angle", [45, 90, 180, 270])
def test_case_f03_head_on_its_side(studio: Studio, astronaut: Pixels, officer: Pixels, wall: Wall, angle: int) -> None:
    target = turned(astronaut, angle, wall(768, 768))
    (face,) = studio.faces(target).faces
    upright = studio.faces(astronaut).faces[0].mesh.pose.roll
    away = (face.mesh.pose.roll - upright + angle + 180) % 360 - 180  # roll is clockwise, the angle is not
    assert abs(away) < 10
    result = studio.fuse(officer, target).image.pixels
    if angle % 90 == 0:
        back = np.rot90(result, -angle // 90)
        straight = studio.fuse(officer, astronaut).image.pixels
        inside = (slice(60, 170), slice(180, 270))
        assert np.abs(back[inside].astype(np.int16) - straight[inside]).mean() <= 6


@pytest.mark.parametrize("side", ["left", "top", "corner"])
def test_case_f04_face_at_the_border(studio: Studio, astronaut: Pixels, officer: Pixels, side: str) -> None:
    x, y = 175 + 99 * 3 // 10, 47 + 134 * 3 // 10
    target = np.ascontiguousarray(astronaut[y if side != "left" else 0 :, x if side != "top" else 0 :])
    result = studio.fuse(officer, target)
    assert result.image.pixels.shape == target.shape
    outside = changed(result.image.pixels, target)
    assert not outside[:, -60:].any()
    assert not outside[-60:].any()


@pytest.mark.parametrize("role", ["source", "target"])
def test_case_f05_nothing_found_is_no_success(studio: Studio, astronaut: Pixels, wall: Wall, role: str) -> None:
    pair = (wall(900, 700), astronaut) if role == "source" else (astronaut, wall(900, 700))
    with pytest.raises(NoFace) as caught:
        studio.fuse(*pair)
    assert caught.value.facts["role"] == role
    assert role in caught.value.message()


def test_case_f05_a_number_too_high(studio: Studio, astronaut: Pixels, officer: Pixels) -> None:
    with pytest.raises(FaceIndexError, match=r"5 was asked for.* has 1"):
        studio.fuse(officer, astronaut, FuseOptions(face=5))


@pytest.mark.parametrize("height", [64, 28])
def test_case_f06_small_face_in_a_large_frame(
    studio: Studio, astronaut: Pixels, officer: Pixels, wall: Wall, hang: Hang, height: int
) -> None:
    scene = wall(4000, 3000, 5)
    x, y, width, tall = hang(scene, astronaut, 3100, 2200, round(height * 512 / 134))
    (face,) = studio.faces(scene).faces
    assert abs(face.box.centre[0] - x - width / 2) < tall / 4
    assert abs(face.box.centre[1] - y - tall / 2) < tall / 4
    if height == 64:
        assert studio.fuse(officer, scene).faces[0].index == 0
    else:
        with pytest.raises(FaceNotUsable, match="px"):
            studio.fuse(officer, scene)


def test_twenty_faces(studio: Studio, astronaut: Pixels, officer: Pixels, wall: Wall, hang: Hang) -> None:
    scene = wall(2600, 2100)
    for row in range(4):
        for column in range(5):
            hang(
                scene, astronaut if (row + column) % 2 else np.ascontiguousarray(astronaut[:, ::-1]), 20 + column * 515, 10 + row * 520, 500
            )
    found = studio.faces(scene)
    assert len(found.faces) == 20
    assert len(found.usable) == 20
    assert [face.index for face in found.faces] == list(range(20))
    result = studio.fuse(officer, scene, FuseOptions(face=13))
    centre = found.faces[13].box.centre
    rows, columns = np.nonzero(changed(result.image.pixels, scene))
    assert abs(columns.mean() - centre[0]) < 60
    assert abs(rows.mean() - centre[1]) < 60
