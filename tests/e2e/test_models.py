"""The same fusion by several models, in a browser: a card for each, also for what isn't there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CARDS = "#panel-models .fs-card"


@pytest.mark.parametrize(("width", "locale", "scheme"), [(1440, "en-US", "light"), (390, "zh-CN", "dark")])
def test_a_card_for_each_model(
    visit: Callable[..., Any], portraits: tuple[Path, Path], artifacts: Path, tmp_path: Path, width: int, locale: str, scheme: str
) -> None:
    seen = visit(width=width, locale=locale, scheme=scheme)
    page = seen.page
    page.click("#models")  # without pictures it says what is missing
    page.wait_for_selector("#panel-models .fs-notice")
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    page.click(".fs-disclose")
    page.check("input[name=fs-option-mode][value=live]", force=True)
    page.click("#models")
    if width > 500:
        page.wait_for_selector("#panel-swap-progress >> text=Comparing model")  # it has begun: a Stop before that leaves no cards
        page.click("#stop")
        page.wait_for_selector("#panel-models .fs-notice[role=status]")
        page.wait_for_function("() => !document.body.hasAttribute('data-running')")
        page.click("#models")
    page.wait_for_selector(f"{CARDS}[data-model=mesh] img")
    page.wait_for_function("() => !document.body.hasAttribute('data-running')")
    names = page.eval_on_selector_all(CARDS, "all => all.map(card => card.dataset.model)")
    assert names[0] == "mesh"
    assert "inswapper_128" in names
    mesh, other = page.locator(CARDS).nth(0).inner_text(), page.locator(f"{CARDS}[data-model=inswapper_128]").inner_text()
    assert "MiB" in mesh
    assert "Apache-2.0" in mesh
    assert "fusion-studio models fetch inswapper_128 --accept-licence" in other
    assert page.locator(f"{CARDS}[data-model=inswapper_128] .fs-todo").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".fs-by-model").scroll_into_view_if_needed()
    page.screenshot(path=artifacts / f"models-{width}-{locale[:2]}.png", full_page=True)
    if width < 500:
        return
    with page.expect_download() as waiting:
        page.click(f"{CARDS}[data-model=mesh] a[data-download] >> nth=1")
    waiting.value.save_as(tmp_path / "mesh.jpg")
    seen.reload()  # as a switch of language does
    page.wait_for_selector(f"{CARDS}[data-model=mesh] img")
    page.click("#tab-verify-button")
    seen.give("file", tmp_path / "mesh.jpg")
    page.wait_for_selector("#panel-verify-result .fs-what")
    assert "This studio" in seen.text("#panel-verify-result .fs-what")
