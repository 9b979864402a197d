"""The visual cache under the Tokens tab's pictures, in a browser."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ANSWER = "#panel-look"
TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("transformers") is not None


@pytest.fixture(scope="module")
def page(visit_once: Any, portraits: tuple[Path, Path]) -> Any:
    watched = visit_once("?tab=tokens")
    watched.give("counted", portraits[1])
    watched.page.wait_for_selector("#panel-visual-result tbody tr")
    return watched.page


@pytest.mark.skipif(TORCH, reason="torch is installed")
def test_without_torch_it_is_told_what_to_install(page: Any) -> None:
    page.click("#look-go")
    page.wait_for_selector(f"{ANSWER} .fs-notice")
    assert "fusion-studio[portrait]" in page.inner_text(ANSWER)


@pytest.mark.skipif(not TORCH, reason="needs the extra portrait")
def test_the_second_look_comes_from_the_cache(page: Any) -> None:
    page.click("#look-go")
    page.wait_for_selector(f"{ANSWER} dd:has-text('new: 256 × 32')")
    page.click("#look-go")
    page.wait_for_selector(f"{ANSWER} dd:has-text('from the cache: 256 × 32')")
    assert "1 hits, 1 misses (50%)" in page.inner_text(ANSWER)
    page.click("#look-forget")
    page.wait_for_selector(f"{ANSWER} .fs-empty")
