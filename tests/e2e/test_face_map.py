"""Several faces of one picture, each with a source of its own, in a browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image


@pytest.fixture
def pictures(tmp_path: Path, astronaut: NDArray[np.uint8], officer: NDArray[np.uint8]) -> tuple[Path, Path, Path]:
    """Her, him, and both side by side: she is face 0."""
    his = np.asarray(Image.fromarray(officer).resize((437, 512)))
    paths = tmp_path / "her.png", tmp_path / "him.png", tmp_path / "both.png"
    for path, pixels in zip(paths, (astronaut, officer, np.concatenate([astronaut, his], axis=1)), strict=True):
        Image.fromarray(pixels).save(path)
    return paths


def scores(page: Any, count: int) -> None:
    """Waits for a result with so many faces."""
    page.wait_for_function(f"() => document.querySelectorAll('#panel-swap-result .fs-score').length === {count}")


def test_each_face_gets_a_source_of_its_own(visit: Callable[..., Any], pictures: tuple[Path, Path, Path], tmp_path: Path) -> None:
    her, him, both = pictures
    seen = visit()
    page = seen.page
    seen.give("target", her)
    assert not page.is_visible("#face-map .fs-map")  # one face needs no map
    seen.give("source", him)
    seen.give("target", both)
    page.click("#box-target [data-face='0'][role=radio]")
    page.click("#face-map .fs-give")
    seen.give("source", her)
    page.click("#box-target [data-face='1'][role=radio]")
    assert "face 1" in seen.text("#face-map .fs-give")
    page.fill("#strength input[type=number]", "90")
    page.keyboard.press("Tab")
    page.click("#face-map .fs-give")
    rows = page.locator("#face-map li")
    assert "Strength 90 %" in rows.nth(1).inner_text()
    assert "Strength 100 %" in rows.nth(0).inner_text()
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare img")
    scores(page, 2)
    assert "Similarity, face 1" in seen.text("#panel-swap-result")
    with page.expect_download() as waiting:
        page.click(".fs-downloads >> text=PNG")
    saved = tmp_path / "out.png"
    waiting.value.save_as(saved)
    change = np.abs(np.asarray(Image.open(saved).convert("RGB")).astype(int) - np.asarray(Image.open(both)))
    assert change[100:260, 140:300].mean() > 4
    assert change[100:260, 512 + 140 : 512 + 300].mean() > 4

    rows.nth(0).locator("button").click()  # her face stays as it is
    assert rows.count() == 1
    seen.fuse()
    scores(page, 1)
    seen.give("target", her)  # a map is of one target
    assert rows.count() == 0


def test_one_source_for_every_face(visit: Callable[..., Any], pictures: tuple[Path, Path, Path]) -> None:
    her, _, both = pictures
    seen = visit()
    page = seen.page
    seen.give("target", both)
    assert page.is_disabled("#face-map .fs-give-all")  # there is no source yet
    seen.give("source", her)
    page.click("#face-map .fs-give-all")
    assert page.locator("#face-map li").count() == 2
    seen.fuse()
    scores(page, 2)


@pytest.mark.parametrize(("order", "first"), [("From left to right", 0), ("From large to small", 1)])
def test_several_photos_are_dealt_out(
    visit_once: Callable[..., Any], pictures: tuple[Path, Path, Path], tmp_path: Path, order: str, first: int
) -> None:
    """The left face is the smaller one."""
    her, him, _ = pictures
    both = tmp_path / "small_and_large.png"
    large, small = Image.open(her), Image.open(him)
    sheet = Image.new("RGB", (256 + large.width, large.height))
    sheet.paste(small.resize((256, 300)), (0, 0))
    sheet.paste(large, (256, 0))
    sheet.save(both)
    seen = visit_once()
    page = seen.page
    seen.give("target", both)
    seen.give("source", her, him)
    page.click(f"#face-map >> text={order}")
    rows = page.locator("#face-map li")
    assert rows.count() == 2
    assert f"Face {first} · her.png" in rows.nth(first).inner_text()
    assert f"Face {1 - first} · him.png" in rows.nth(1 - first).inner_text()
    page.click("#box-source .fs-remove")
    page.click("#box-target .fs-remove")


def test_more_photos_than_faces_are_not_dealt_out(visit: Callable[..., Any], pictures: tuple[Path, Path, Path]) -> None:
    her, him, both = pictures
    seen = visit()
    seen.give("target", both)
    seen.give("source", her, him, both)
    seen.page.click("#face-map >> text=From left to right")
    assert "3 photos for 2 usable faces" in seen.text("#face-map")
    assert seen.page.locator("#face-map li").count() == 0


def test_the_faces_of_one_person_by_a_picture(visit: Callable[..., Any], pictures: tuple[Path, Path, Path], tmp_path: Path) -> None:
    her, him, both = pictures
    mirrored = tmp_path / "mirrored.png"
    Image.open(him).transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(mirrored)
    empty = tmp_path / "empty.png"
    Image.new("RGB", (300, 300), "gray").save(empty)
    seen = visit()
    page = seen.page
    seen.give("source", her)
    seen.give("target", both)
    page.set_input_files("#face-map .fs-file", str(empty))
    page.wait_for_selector("#face-map .fs-like .fs-what")  # no face in it: the two lines
    page.set_input_files("#face-map .fs-file", str(mirrored))
    page.wait_for_selector("#face-map .fs-give-like:visible")
    assert seen.text("#face-map .fs-give-like") == "Give this source to: 1"
    near = page.locator("#face-map .fs-like input[type=range]")
    near.fill("0.9")
    assert seen.text("#face-map .fs-give-like") == "Give this source to: 0, 1"
    near.fill("0.5")
    page.click("#face-map .fs-give-like")
    rows = page.locator("#face-map li")
    assert rows.count() == 1
    assert "Face 1 · her.png" in rows.nth(0).inner_text()
    seen.fuse()
    scores(page, 1)
    seen.give("target", her)  # another target: the comparison was with the one before
    assert not page.is_visible("#face-map .fs-like")
