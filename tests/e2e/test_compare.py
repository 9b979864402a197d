"""One zoom for several pictures: before and after, and a result that was kept beside the next one."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

PATIENCE = 60  # s; a loaded machine, not a wish
IMAGES = "#panel-swap-result .fs-pane img"
RECTS = f"""() => [...document.querySelectorAll('{IMAGES}')].filter(i => i.offsetParent).map(i => {{
  const pane = i.closest('.fs-pane').getBoundingClientRect(), r = i.getBoundingClientRect();
  return [r.left - pane.left, r.top - pane.top, r.width, r.height, pane.width, pane.height]; }})"""


def strength(page: Any, value: int) -> None:
    """Turns it, without the fusions that the page makes of that by itself where the last one was fast: one or two, sooner or later."""
    page.evaluate("fusionStudio.live(false)")
    page.fill("#strength input[type=number]", str(value))
    page.keyboard.press("Tab")
    page.evaluate("fusionStudio.hush()")  # nor after the next one, which may be fast again


def exchange(page: Any) -> None:
    """A on screen, what was there as A."""
    before = page.get_attribute(".fs-after img", "src")
    page.click(".fs-exchange")
    page.wait_for_function("was => document.querySelector('.fs-after img').getAttribute('src') !== was", arg=before)


def until(holds: Callable[[], bool], page: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def again(seen: Any) -> None:
    """Fuses, and waits until another picture is there."""
    before = seen.page.get_attribute(".fs-after img", "src") if seen.page.locator(".fs-after img").count() else ""
    seen.page.click("#fuse")
    seen.page.wait_for_function(
        "was => { const i = document.querySelector('.fs-after img'); return i && i.getAttribute('src') !== was }", arg=before
    )
    seen.page.wait_for_function("() => !document.body.hasAttribute('data-running')")


@pytest.fixture
def fused(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> Callable[..., Any]:
    def begin(**more: Any) -> Any:
        seen = visit(**more)
        seen.give("source", portraits[0])
        seen.give("target", portraits[1])
        again(seen)
        return seen

    return begin


def rects(page: Any) -> Any:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")  # laid out
    return np.array(page.evaluate(RECTS))


def test_the_zoom_is_one_for_both(fused: Callable[..., Any]) -> None:
    """Buttons, keys, wheel, drag, double click; both pictures are always on the same spot."""
    page = fused().page
    page.locator(".fs-compare").scroll_into_view_if_needed()

    def together() -> Any:
        one, other = rects(page)
        assert one == pytest.approx(other, abs=0.01)
        return one

    fit = together()
    assert max(fit[2] / fit[4], fit[3] / fit[5]) == pytest.approx(1, abs=0.01)
    page.click("[data-zoom='2']")
    _, top, width, height, *_ = together()
    assert (width, height) == (1024, 1200)  # 200 %: two pixels of the screen for one of the picture
    assert (fit[5] / 2 - top) / height == pytest.approx(0.38, abs=0.04)  # and the face is what came nearer
    assert page.locator("[data-zoom='2']").get_attribute("aria-pressed") == "true"
    assert "200 %" in page.inner_text(".fs-scale")
    page.focus(".fs-compare")
    page.keyboard.press("ArrowDown")
    assert together()[1] < top
    page.keyboard.press("0")
    assert together() == pytest.approx(fit, abs=0.01)
    page.keyboard.press("1")
    assert together()[2] == 512
    box = page.locator(".fs-compare").bounding_box()
    x, y = box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.3
    page.keyboard.press("2")
    was = together()
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)  # which returns before the page has heard of it
    page.wait_for_function(f"wide => ({RECTS})()[0][2] > wide", arg=float(was[2]))
    now = together()
    assert now[2] > was[2]
    for axis, at in ((0, x - box["x"]), (1, y - box["y"])):  # what lies under the pointer stays there
        assert (at - now[axis]) / now[2 + axis] == pytest.approx((at - was[axis]) / was[2 + axis], abs=0.002)
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=4)
    page.mouse.up()
    moved = together()
    assert moved[:2] - now[:2] == pytest.approx([60, 40], abs=1)
    page.mouse.dblclick(x, y)
    assert together() == pytest.approx(fit, abs=0.01)
    page.click("text=Side by side")
    page.click("[data-zoom='2']")
    one, other = rects(page)
    assert one == pytest.approx(other, abs=0.05)  # each in its own half
    assert page.locator("[data-side=before]").bounding_box()["x"] < page.locator("[data-side=after]").bounding_box()["x"]
    page.click("text=Flip")
    assert len(rects(page)) == 1
    assert page.inner_text(".fs-pane:visible .fs-tag") == "After"
    page.focus(".fs-compare")
    page.keyboard.press("x")
    assert page.inner_text(".fs-pane:visible .fs-tag") == "Before"


def test_two_settings_are_laid_beside_each_other(fused: Callable[..., Any], tmp_path: Path) -> None:
    """A is kept, B comes; what differs is said in words, A's file is there still and marked, and the zoom stays."""
    seen = fused()
    page = seen.page
    first = page.get_attribute(".fs-after img", "src")
    page.focus(".fs-compare")
    page.keyboard.press("a")
    page.wait_for_selector(".fs-keep[aria-pressed=true]")
    page.click("[data-zoom='2']")
    where = rects(page)[0]
    strength(page, 40)
    again(seen)
    page.wait_for_selector(".fs-differing")
    assert rects(page)[0] == pytest.approx(where, abs=0.01)
    assert page.eval_on_selector_all(IMAGES, "all => all.map(i => i.getAttribute('src'))")[1] == first
    assert page.eval_on_selector_all(".fs-tag", "all => all.map(t => t.textContent)") == ["B", "A"]
    differs = page.locator(".fs-differing").first
    assert differs.locator("li").all_inner_texts() == ["Strength: 100 → 40"]
    figures = page.inner_text(".fs-figures")
    before, after = map(int, re.findall(r"Similarity: (\d+) → (\d+)", figures)[0])
    assert before > after
    kept = page.evaluate("a => fetch(a).then(r => r.arrayBuffer()).then(b => [...new Uint8Array(b)])", first)
    path = tmp_path / "a.png"
    path.write_bytes(bytes(kept))
    page.click("#tab-verify-button")
    seen.give("file", path)
    page.wait_for_selector("#panel-verify-result .fs-what")
    assert "This studio" in seen.text("#panel-verify-result .fs-what")
    page.click("#tab-swap-button")
    page.click(".fs-exchange")  # now A is the one on screen, with its downloads
    page.wait_for_function("first => document.querySelector('.fs-after img').getAttribute('src') === first", arg=first)
    assert page.locator(".fs-differing").first.locator("li").all_inner_texts() == ["Strength: 40 → 100"]
    with page.expect_download() as waiting:
        page.click(".fs-downloads >> text=JPEG")
    with Image.open(waiting.value.path()) as picture:
        assert picture.size == (512, 600)
    seen.reload()
    page.wait_for_selector(".fs-differing")  # a reload loses neither
    page.click(".fs-forget")
    assert page.locator(".fs-differing").count() == 0
    assert page.eval_on_selector_all(".fs-tag", "all => all.map(t => t.textContent)") == ["After", "Before"]


def test_what_is_kept_no_more_leaves_no_files(fused: Callable[..., Any], server: Any) -> None:
    seen = fused()
    page = seen.page
    usual = server.files()
    for share in (90, 80, 70):
        page.click(".fs-keep:not([aria-pressed=true])")
        page.wait_for_selector(".fs-keep[aria-pressed=true]")
        strength(page, share)
        again(seen)
    exchange(page)
    again(seen)
    page.click(".fs-forget")
    page.wait_for_function("() => !document.querySelector('.fs-forget')")
    page.click(".fs-forget-all")
    until(lambda: len(server.files()) < len(usual), page)  # the row of earlier results holds the rest; nobody waits for its deletion


def test_other_peoples_files_cant_be_held(fused: Callable[..., Any], visit: Callable[..., Any]) -> None:
    address = fused().page.get_attribute(".fs-after img", "src")
    other = visit()
    other.expected.append("404")
    assert other.page.evaluate("a => fetch(`${a}/hold`, {method: 'POST'}).then(r => r.status)", address) == 404


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_it_fits_a_phone(fused: Callable[..., Any], artifacts: Path, locale: str) -> None:
    """With fingers: two of them zoom, one moves what is near, and lets the page scroll while it isn't."""
    seen = fused(locale=locale, width=390, height=844, has_touch=True, is_mobile=True, reduced_motion="reduce")  # no page in motion
    page = seen.page
    page.click(".fs-keep")
    page.wait_for_selector(".fs-keep[aria-pressed=true]")
    strength(page, 30)
    again(seen)
    page.wait_for_selector(".fs-differing")
    for mode in ("slider", "side", "flip"):
        page.click(f".fs-pairing label:has(input[value={mode}])")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator(".fs-result").scroll_into_view_if_needed()
        page.wait_for_timeout(60)
        page.screenshot(path=artifacts / f"compare-{mode}-390-{locale[:2]}.png")
    page.click(".fs-pairing label:has(input[value=slider])")
    assert page.evaluate("getComputedStyle(document.querySelector('.fs-compare')).touchAction") == "pan-y"
    was = rects(page)[0]
    box = page.locator(".fs-compare").bounding_box()
    client = page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def touch(kind: str, *points: tuple[float, float]) -> None:
        client.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": px, "y": py, "id": n} for n, (px, py) in enumerate(points)]}
        )

    touch("touchStart", (x - 20, y), (x + 20, y))
    for spread in (30, 40, 50, 60):
        touch("touchMove", (x - spread, y), (x + spread, y))
    touch("touchEnd")
    one, other = rects(page)
    assert one == pytest.approx(other, abs=0.01)
    assert one[2] == pytest.approx(3 * was[2], rel=0.05)
    assert page.evaluate("getComputedStyle(document.querySelector('.fs-compare')).touchAction") == "none"
    touch("touchStart", (x + 60, y))
    touch("touchMove", (x + 90, y + 10))
    touch("touchMove", (x + 100, y + 20))
    touch("touchEnd")
    assert rects(page)[0][:2] - one[:2] == pytest.approx([40, 20], abs=8)


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_it_fits_a_wide_screen(fused: Callable[..., Any], artifacts: Path, locale: str) -> None:
    page = (seen := fused(locale=locale)).page
    page.click(".fs-keep")
    page.wait_for_selector(".fs-keep[aria-pressed=true]")
    page.screenshot(path=artifacts / f"compare-kept-1440-{locale[:2]}.png")
    strength(page, 30)
    again(seen)
    page.wait_for_selector(".fs-differing")
    for mode in ("slider", "side", "flip"):
        page.click(f".fs-pairing label:has(input[value={mode}])")
        page.click("[data-zoom='2']" if mode == "side" else "[data-zoom='fit']")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440
        page.screenshot(path=artifacts / f"compare-{mode}-1440-{locale[:2]}.png")
