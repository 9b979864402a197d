"""Several targets in a browser."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.pipeline import Studio


@pytest.fixture
def targets(tmp_path: Path, astronaut: NDArray[np.uint8], portraits: tuple[Path, Path]) -> tuple[Path, Path, Path]:
    paths = tmp_path / "first.png", tmp_path / "no face.png", tmp_path / "第三.png"
    Image.fromarray(astronaut).save(paths[0])
    Image.new("RGB", (300, 300), "gray").save(paths[1])
    Image.fromarray(astronaut[:, ::-1].copy()).save(paths[2])
    return paths


@pytest.mark.parametrize(("width", "locale"), [(1440, "en-US"), (390, "zh-CN")])
def test_many_targets_one_list(
    visit: Callable[..., Any], portraits: tuple[Path, Path], targets: tuple[Path, Path, Path], width: int, locale: str, tmp_path: Path
) -> None:
    seen = visit(width=width, locale=locale)
    page = seen.page
    seen.give("source", portraits[1])
    seen.give("target", *targets)
    assert page.locator("#box-target .fs-gathered li").count() == 3
    assert not page.is_visible("#face-map .fs-map")
    seen.fuse()
    page.wait_for_function("() => document.querySelectorAll('.fs-batch-lines img').length === 2")
    lines = page.locator(".fs-batch-lines li")
    assert lines.count() == 3
    assert "no face.png" in lines.nth(1).inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    seen.reload()  # as a switch of language does
    page.wait_for_selector(".fs-batch-lines .fs-failed")
    assert page.locator("#box-target .fs-gathered li").count() == 3
    with page.expect_download() as waiting:
        page.click(".fs-batch > .fs-line a")
    waiting.value.save_as(tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive, Studio.open() as elsewhere:
        assert archive.namelist() == ["first-fused.jpg", "第三-fused.jpg"]
        for name in archive.namelist():
            assert elsewhere.verify(archive.read(name), name).labels.names()
            assert Image.open(io.BytesIO(archive.read(name))).size == (512, 512)

    page.locator("#box-target .fs-gathered li button").nth(1).click()  # without the one that can't be fused
    seen.fuse()
    page.wait_for_function("() => document.querySelectorAll('.fs-batch-lines img').length === 2 && !document.querySelector('[data-fuse]')")
    assert page.locator(".fs-batch-lines .fs-failed").count() == 0
    page.click("#box-target .fs-remove")
    seen.give("target", targets[0])  # one again
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare")
    row = page.locator("#history .fs-row button")  # newest first: this one, the two pictures, the three
    assert row.count() == 3
    row.nth(2).click()
    page.wait_for_selector(".fs-batch-lines .fs-failed")
    page.click(".fs-reuse")
    assert page.locator("#box-target .fs-gathered li").count() == 3
    seen.reload()
    page.wait_for_function("() => document.querySelectorAll('#history .fs-row img').length === 3")
