"""The page at three widths, in two languages and two modes: nothing cut off, nothing beside the screen; pictures of it to look at."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CAT = Path(__file__).resolve().parents[2] / "assets" / "examples" / "cat.jpg"
WIDTHS = {1440: 1000, 820: 1180, 390: 844}
CUT_OFF = """() => [...document.querySelectorAll('button, a, h2, label, dt, dd, .wrap, .fs-what, .fs-hint, .fs-chip span')]
  .filter(e => e.offsetParent && !e.closest('.fs-thumbs') && !e.closest('header .fs-hint') && !e.matches('header .fs-hint'))
  .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' && getComputedStyle(e).overflowX === 'hidden')
  .map(e => e.className + ': ' + e.innerText)"""
BESIDE = """() => [...document.querySelectorAll('body *')]
  .filter(e => e.offsetParent && !e.closest('.fs-thumbs, .fs-scroll, .fs-stages, .fs-photo, pre'))
  .map(e => [e, e.getBoundingClientRect()]).filter(([e, r]) => r.width > 1 && (r.right > innerWidth + 1 || r.left < -1))
  .map(([e, r]) => e.tagName + '.' + e.className + ' ' + Math.round(r.right))"""


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_the_page_fits(visit: Callable[..., Any], portraits: tuple[Path, Path], artifacts: Path, locale: str) -> None:
    """Each state of the page at each width, in each mode."""
    seen = visit(locale=locale)
    page = seen.page
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")

    def fit(width: int, height: int) -> None:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("width => innerWidth === width", arg=width)
        seen.drawn()

    def shoot(what: str, part: str = "gradio-app") -> None:
        fit(1280, 800)  # the narrowest with two and three columns
        assert page.evaluate(BESIDE) == []
        assert page.evaluate(CUT_OFF) == []
        for width, height in WIDTHS.items():
            fit(width, height)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.evaluate("part => document.querySelector(part).scrollIntoView()", part)
                seen.drawn()
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.evaluate(BESIDE) == []
                assert page.evaluate(CUT_OFF) == []
                page.screenshot(path=artifacts / f"{what}-{width}-{locale[:2]}-{scheme}.png", full_page=width != 390)
                if width == 390 and page.locator("#fuse").is_visible():  # the primary button stands at the lower edge
                    box = page.locator("#fuse").bounding_box()
                    assert height - 40 < box["y"] + box["height"] < height

    shoot("empty")
    page.click("[data-example=refused]")
    page.wait_for_selector("#box-target .fs-count")
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-error")
    shoot("error", "#panel-swap-result")
    page.click("[data-example=good]")
    page.wait_for_selector("#box-target .fs-pick")
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare")
    shoot("result", "#panel-swap-result")
    page.evaluate("document.querySelectorAll('#panel-swap-result details').forEach(d => d.open = true)")
    shoot("details", ".fs-facts")
    page.click(".fs-disclose")
    page.check("[data-option=keep_eyes]")
    page.uncheck("[data-option=marks]")
    page.click("#box-target .fs-hand-toggle")
    shoot("options", "#box-target")
    page.click("#box-target .fs-hand-toggle")
    seen.give("source", portraits[1], portraits[0], CAT)
    shoot("person", "#box-source")
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
