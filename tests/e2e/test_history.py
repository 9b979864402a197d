"""Earlier results in a browser: looked at again, gone back to, forgotten."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

SHOWN = "#panel-swap-result .fs-after img"
GONE = "address => fetch(address, {method: 'HEAD'}).then(answer => answer.status === 404)"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, astronaut: NDArray[np.uint8]) -> Path:
    path = tmp_path_factory.mktemp("pair") / "pair.png"
    Image.fromarray(np.concatenate([astronaut, astronaut[:, ::-1]], 1)).save(path)
    return path


def row(page: Any, count: int) -> Any:
    page.wait_for_function(f"() => document.querySelectorAll('#history .fs-row img').length === {count}")
    return page.locator("#history .fs-row button")


@pytest.mark.parametrize(("width", "locale"), [(1440, "en-US"), (390, "zh-CN")])
def test_back_to_an_earlier_result_and_a_face_left_alone(
    visit: Callable[..., Any], portraits: tuple[Path, Path], pair: Path, width: int, locale: str
) -> None:
    seen = visit(width=width, locale=locale)
    seen.expected.append("404")  # of what is gone, asked for below
    page = seen.page
    seen.give("source", portraits[1])
    seen.give("target", pair)
    page.click("#face-map .fs-give-all")
    seen.fuse()
    row(page, 1)
    first = page.get_attribute(SHOWN, "src")
    assert page.locator("[data-leave]").count() == 2
    page.click("[data-leave='1']")  # undoes that face alone
    row(page, 2)
    page.wait_for_function("() => document.querySelectorAll('#panel-swap-result .fs-score').length === 1")
    assert page.locator("#face-map li").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width < 500:
        return

    page.keyboard.press("Control+z")
    page.wait_for_function("([which, was]) => document.querySelector(which)?.getAttribute('src') === was", arg=[SHOWN, first])
    assert page.locator("#face-map li").count() == 2
    page.keyboard.press("Control+Shift+z")
    page.wait_for_function("() => document.querySelectorAll('#panel-swap-result .fs-score').length === 1")

    seen.give("target", portraits[0])  # something else altogether, and back by its settings
    row(page, 2).nth(1).click()
    page.wait_for_function("([which, was]) => document.querySelector(which)?.getAttribute('src') === was", arg=[SHOWN, first])
    assert page.locator("#face-map li").count() == 0
    page.click(".fs-reuse")
    assert page.locator("#face-map li").count() == 2
    seen.reload()
    row(page, 2)
    page.click(".fs-drop-result")  # its neighbour is shown then
    row(page, 1)
    page.wait_for_function("() => document.querySelectorAll('#panel-swap-result .fs-score').length === 1")
    page.wait_for_function(GONE, arg=first)  # asked for when it left the row; nobody waited for it
    page.click(".fs-forget-all")
    page.wait_for_selector("#panel-swap-result .fs-empty")
    assert not page.is_visible("#history .fs-row")


def test_with_nothing_remembered_a_result_goes_when_the_next_one_comes(
    visit: Callable[..., Any], portraits: tuple[Path, Path], server: Any
) -> None:
    seen = visit(init="localStorage.setItem('fusion:remember', 'no')")
    seen.expected.append("404")
    page = seen.page
    assert not page.is_checked(".fs-remember input")
    page.click(".fs-disclose")
    page.check("input[name=fs-option-mode][value=live]", force=True)
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    seen.fuse()
    page.wait_for_selector(SHOWN)
    first = page.get_attribute(SHOWN, "src")
    seen.fuse()  # the same once more: each result is a file of its own
    page.wait_for_function("([which, was]) => document.querySelector(which)?.getAttribute('src') !== was", arg=[SHOWN, first])
    assert not page.is_visible("#history .fs-row")
    page.wait_for_function(GONE, arg=first)
    assert page.evaluate("Object.keys(sessionStorage).filter(name => name.startsWith('fusion:') && name !== 'fusion:options')") == []
    second = page.get_attribute(SHOWN, "src")
    seen.reload()
    page.wait_for_selector(".fs-chip[data-state=ready]")
    page.wait_for_function(GONE, arg=second)
    assert page.locator(SHOWN).count() == 0
