"""The page at three widths, in two languages and two modes: nothing cut off, nothing beside the screen; pictures of it to look at."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WIDTHS = {1440: 1000, 820: 1180, 390: 844}
CUT_OFF = """() => [...document.querySelectorAll('button, a, h2, label, dt, dd, .fs-what, .fs-hint, .fs-chip span')]
  .filter(e => e.offsetParent && !e.closest('.fs-thumbs') && !e.closest('header .fs-hint') && !e.matches('header .fs-hint'))
  .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' && getComputedStyle(e).overflowX === 'hidden')
  .map(e => e.className + ': ' + e.innerText)"""
BESIDE = """() => [...document.querySelectorAll('body *')]
  .filter(e => e.offsetParent && !e.closest('.fs-thumbs, .fs-scroll, .fs-stages, pre'))
  .map(e => [e, e.getBoundingClientRect()]).filter(([e, r]) => r.width > 1 && (r.right > innerWidth + 1 || r.left < -1))
  .map(([e, r]) => e.tagName + '.' + e.className + ' ' + Math.round(r.right))"""


def check(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    assert page.evaluate(BESIDE) == []
    assert page.evaluate(CUT_OFF) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits(
    visit: Callable[..., Any], portraits: tuple[Path, Path], artifacts: Path, width: int, locale: str, scheme: str
) -> None:
    name = f"{width}-{locale[:2]}-{scheme}"
    seen = visit(locale=locale, width=width, height=WIDTHS[width], scheme=scheme)
    page = seen.page

    def shoot(what: str) -> None:
        check(page)
        page.wait_for_timeout(150)
        page.screenshot(path=artifacts / f"{what}-{name}.png", full_page=width != 390)

    shoot("empty")
    page.click("[data-example=refused]")
    page.wait_for_selector("#box-target .fs-count")
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-error")
    shoot("error")
    page.click("[data-example=good]")
    page.wait_for_selector("#box-target .fs-pick")
    if width == 390:  # the primary button stands at the lower edge
        box = page.locator("#fuse").bounding_box()
        assert box["y"] + box["height"] > WIDTHS[390] - 40
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare")
    shoot("result")
    page.evaluate("document.querySelectorAll('#panel-swap-result details').forEach(d => d.open = true)")
    shoot("details")
    page.click("#tab-align-button")
    seen.give("photo", portraits[1])
    page.wait_for_selector("#panel-align-face .fs-crop img")
    shoot("align")
    page.click("#tab-verify-button")
    seen.give("file", portraits[0])
    page.wait_for_selector("#panel-verify-result .fs-what")
    shoot("verify")


def test_the_report_opens_and_closes(visit: Callable[..., Any], artifacts: Path) -> None:
    page = visit().page
    page.click(".fs-chip")
    page.wait_for_selector("dialog .fs-report li")
    page.screenshot(path=artifacts / "doctor.png")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
