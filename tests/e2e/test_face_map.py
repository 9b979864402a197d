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
