"""Where a fusion may show, chosen and painted in a browser: chips, the tinted target, the brush, presets."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.presets import load

Pixels = NDArray[np.int32]
SHOWN = "#box-target .fs-masked"
LIPS, CHEEK = np.s_[34:36, 30:35], np.s_[30:32, 38:41]  # of the officer, in squares of 8 pixels


def picture(page: Any, selector: str, at: str = "src") -> Pixels:
    """The pixels of an image that stands on the page, coarse: each has a mark of its own, which averages out."""
    data = page.evaluate("a => fetch(a).then(r => r.arrayBuffer()).then(b => [...new Uint8Array(b)])", page.get_attribute(selector, at))
    with Image.open(io.BytesIO(bytes(data))) as image:
        return np.asarray(image.convert("RGB").reduce(8)).astype(np.int32)


def tinted(page: Any, act: Callable[[], object]) -> Pixels:
    """The target as it is shown once the server has drawn the mask anew."""
    old = page.get_attribute(SHOWN, "src") if page.locator(SHOWN).count() else ""
    act()
    page.wait_for_function("([s, old]) => (document.querySelector(s)?.getAttribute('src') ?? old) !== old", arg=[SHOWN, old])
    return picture(page, SHOWN)


def stroke(page: Any, kind: str, *points: tuple[float, float]) -> None:
    """Points in shares of the picture."""
    page.check(f".fs-brush-{kind} input", force=True)
    box = page.locator(".fs-canvas").bounding_box()
    for number, (x, y) in enumerate(points):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
        if not number:
            page.mouse.down()
    page.mouse.up()


@pytest.fixture
def opened(visit: Callable[..., Any]) -> Any:
    seen = visit()
    seen.page.click("#mask-place summary")
    return seen


def test_a_mask_is_chosen_painted_seen_and_fused(opened: Any, portraits: tuple[Path, Path], artifacts: Path) -> None:
    seen, page = opened, opened.page
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    plain = picture(page, "#box-target .fs-photo > img")
    whole = tinted(page, lambda: page.click("[data-mask-show]"))
    assert np.abs(whole - plain).max() > 30
    tinted(page, lambda: page.click("[data-areas=skin]"))
    assert page.get_attribute("[data-areas=outline]", "aria-pressed") == "false"
    part = tinted(page, lambda: page.click("[data-leave-out=lips]"))
    assert seen.text(".fs-differs") == "Mask: skin, without lips"
    assert seen.text("#mask-place .fs-said") == "skin, without lips"
    photo, chips = (page.locator(where).bounding_box() for where in ("#box-target .fs-photo", "[data-areas=skin]"))
    assert chips["y"] - photo["y"] - photo["height"] < 260  # both are seen at once
    assert photo["x"] <= chips["x"] < photo["x"] + photo["width"]
    assert np.abs(part - plain)[LIPS].mean() < 4 < 20 < np.abs(whole - plain)[LIPS].mean()
    assert np.abs(part - plain)[CHEEK].mean() > 20

    page.screenshot(path=artifacts / "mask-chips-1440.png")
    page.click("[data-mask-brush]")
    kept = tinted(page, lambda: stroke(page, "keep", (0.6, 0.4), (0.64, 0.42)))
    assert np.abs(kept - plain)[CHEEK].mean() < 4
    seen.reload()  # a switch of language does the same
    page.wait_for_selector(".fs-chip[data-state=ready]")
    page.wait_for_function("() => document.querySelector('.fs-differs').innerText.includes('with a brush')")
    tinted(page, lambda: page.click("[data-mask-brush]"))
    again = tinted(page, lambda: stroke(page, "fuse", (0.516, 0.467)))
    assert np.abs(again - plain)[LIPS].max() > 20
    assert np.abs(again - plain)[CHEEK].mean() < 4
    tinted(page, lambda: page.click(".fs-brush-undo"))
    page.click(".fs-brush-done")

    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare")
    moved = np.abs(picture(page, "#panel-swap-result [data-side=after] img") - plain)
    assert moved[LIPS].mean() < 4
    assert moved[CHEEK].mean() < 4
    assert moved[20:40, 20:40].max() > 25
    with page.expect_file_chooser() as choosing:  # among several targets what was painted is that one's still
        page.click("text=Add pictures")
    choosing.value.set_files(portraits[0])
    page.wait_for_function("() => document.querySelectorAll('#box-target .fs-gathered li').length === 2")
    assert "with a brush" in seen.text(".fs-differs")
    seen.fuse()
    page.wait_for_selector(".fs-batch-lines li:first-child img")
    moved = np.abs(picture(page, ".fs-batch-lines li:first-child a:has(img)", "href") - plain)
    assert moved[CHEEK].mean() < 5
    assert moved[20:40, 20:40].max() > 25
    page.locator("#box-target").scroll_into_view_if_needed()
    page.screenshot(path=artifacts / "mask-1440.png")
    page.click("[data-reset]")
    assert seen.text(".fs-differs") == "standard settings"


def test_a_preset_has_the_mask_and_not_the_brush(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    page.click(".fs-disclose")
    page.click("[data-areas=oval]")
    page.click("[data-leave-out=eyes]")
    page.fill("[data-side='2']", "20")
    page.fill("[data-mask=grow]", "-3")
    page.uncheck("[data-mask=occlusion]")
    page.fill(".fs-presets .fs-name", "Mine")
    with page.expect_download() as waiting:
        page.click(".fs-preset-export")
    path = tmp_path / "mine.json"
    waiting.value.save_as(path)
    mask = load(path.read_bytes(), path.name).options["mask"]  # as the commands read it
    assert mask == {"areas": ["oval"], "leave_out": ["eyes"], "padding": [0, 0, 20, 0], "grow": -3, "occlusion": False}

    value = json.loads(path.read_text(encoding="utf-8")) | {"name": "Back", "options": {"mask": {"areas": ["skin"], "grow": 2}}}
    path.write_text(json.dumps(value), encoding="utf-8")
    page.set_input_files(".fs-presets input[type=file]", str(path))
    page.wait_for_function("() => document.querySelector('.fs-preset').selectedOptions[0].textContent === 'Back'")
    assert opened.text(".fs-differs") == "Mask: skin, +2 %"
    for wrong in ({"areas": ["ears"]}, {"areas": []}, {"padding": [60, 0, 60, 0]}, {"paint": True}, []):
        path.write_text(json.dumps(value | {"name": "Bad", "options": {"mask": wrong}}), encoding="utf-8")
        page.evaluate("document.querySelector('.fs-presets [role=status]').textContent = ''")
        page.set_input_files(".fs-presets input[type=file]", str(path))
        page.wait_for_function("() => document.querySelector('.fs-presets [role=status]').textContent.includes('mine.json')")
    assert opened.text(".fs-differs") == "Mask: skin, +2 %"
