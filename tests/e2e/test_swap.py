"""Swap, in a browser."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

FULL, NONE = '#enhance >> text="Full"', '#enhance >> text="None"'
STILL_ENGLISH = [
    "AI",
    "AIGC",
    "AVIF",
    "ArcFace",
    "CPU",
    "GB",
    "Ctrl",
    "Enter",
    "EN",
    "Shift",
    "IPTC",
    "JPEG",
    "PNG",
    "TIFF",
    "WebP",
    "ZIP",
    "Apache",
    "px",
]


CAT = Path(__file__).resolve().parents[2] / "assets" / "examples" / "cat.jpg"


@pytest.fixture(scope="module")
def shared(visit_once: Callable[..., Any]) -> Any:
    """One page for all tests that put other pictures into it."""
    return visit_once()


def result_mark(page: Any) -> str:
    return str(page.inner_text("#panel-swap-result .fs-mark code"))


def test_two_pictures_become_one(visit: Callable[..., Any], portraits: tuple[Path, Path], tmp_path: Path) -> None:
    """Nothing to choose, nothing to press but Fuse; then what was made says so itself."""
    seen = visit()
    page = seen.page
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    assert page.locator("#box-source [role=radio][aria-checked=true]").count() == 1
    assert "usable" in seen.text("#box-target .fs-pick")
    before = page.locator("#fuse").bounding_box()
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare img")
    assert page.locator("#fuse").bounding_box() == before  # nothing jumped
    widths = page.eval_on_selector_all("#panel-swap-result .fs-compare img", "all => all.map(i => i.naturalWidth)")
    assert widths == [512, 512]
    assert re.fullmatch(r"\w{3}-\w{3}-\w{3}", result_mark(page))
    assert "read back" in seen.text(".fs-mark")
    low, high = map(int, re.findall(r"\d+", seen.text(".fs-score")))
    assert high > low
    pieces = page.eval_on_selector_all(".fs-piece", "all => all.map(i => [Number(i.style.flexGrow), i.getBoundingClientRect().width])")
    wide = [(ms, width) for ms, width in pieces if width > 20]
    shares = [width / ms for ms, width in wide]
    assert max(shares) / min(shares) < 1.25  # a piece is as wide as its milliseconds
    for name in ("PNG", "JPEG", "WebP", "AVIF", "TIFF"):
        with page.expect_download() as waiting:
            page.click(f".fs-downloads >> text={name}")
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        with Image.open(path) as picture:
            assert (picture.format, picture.size) == (name.upper(), (512, 600))
    mark = result_mark(page)
    page.click("#tab-verify-button")
    seen.give("file", path)
    page.wait_for_selector("#panel-verify-result .fs-what")
    assert mark in seen.text("#panel-verify-result")


def test_the_divider_follows_the_keys(visit: Callable[..., Any]) -> None:
    seen = visit()
    page = seen.page
    page.click("[data-example=good]")
    page.wait_for_selector("#box-target .fs-pick")
    seen.fuse()
    page.focus(".fs-slide")
    page.keyboard.press("Home")
    assert page.evaluate("document.querySelector('.fs-compare').style.getPropertyValue('--at')") == "0%"
    page.keyboard.press("End")
    assert page.evaluate("document.querySelector('.fs-compare').style.getPropertyValue('--at')") == "100%"


def test_a_face_is_chosen_among_several(
    visit: Callable[..., Any], astronaut: NDArray[np.uint8], officer: NDArray[np.uint8], tmp_path: Path
) -> None:
    """Left to right in the picture is left to right in the row; only the chosen one changes (case F-01)."""
    other = np.asarray(Image.fromarray(officer).resize((437, 512)))
    both = np.concatenate([astronaut, other], axis=1)
    path = tmp_path / "both.png"
    Image.fromarray(both).save(path)
    source = tmp_path / "one.png"
    Image.fromarray(astronaut).save(source)
    seen = visit()
    page = seen.page
    seen.give("source", source)
    seen.give("target", path)
    radios = page.locator("#box-target [role=radio]")
    assert radios.count() == 2
    assert seen.text("#box-target .fs-count") == "2 faces"
    radios.nth(0).focus()
    page.keyboard.press("ArrowRight")
    chosen = page.locator("#box-target [aria-checked=true]").get_attribute("data-face")
    radios.nth(1).click()
    assert page.locator("#box-target [aria-checked=true]").get_attribute("data-face") == "1"
    assert chosen in ("0", "1")
    seen.fuse()
    with page.expect_download() as waiting:
        page.click(".fs-downloads >> text=PNG")
    saved = tmp_path / "out.png"
    waiting.value.save_as(saved)
    change = np.abs(np.asarray(Image.open(saved).convert("RGB")).astype(int) - both)
    assert change[:, :512].mean() < 3
    assert change[100:260, 512 + 140 : 512 + 300].mean() > 4


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("", "", "no source picture yet"),
        ("portrait", "", "no target picture yet"),
        ("portrait", "cat", "No face was found in the target picture"),
        ("cat", "portrait", "No face was found in the source picture"),
        ("portrait", "text", "not a picture"),
        ("portrait", "empty", "empty"),
        ("portrait", "cut", "cut off"),
        ("portrait", "page", "web page"),
        ("portrait", "same", "the same face"),
    ],
)
def test_an_error_stands_where_the_result_would(
    shared: Any, portraits: tuple[Path, Path], tmp_path: Path, source: str, target: str, message: str
) -> None:
    """Two lines, and what was given stays given."""
    data = portraits[1].read_bytes()
    files = {
        "portrait": data,
        "same": data,
        "cat": CAT.read_bytes(),
        "text": b"Dear diary, " * 20,
        "empty": b"",
        "cut": data[: len(data) // 3],
    }
    files["page"] = b"<!doctype html><html><body>Sign in</body></html>"
    for slot, kind in (("source", source), ("target", target)):
        if kind:
            path = tmp_path / f"{slot}.jpg"
            path.write_bytes(files[kind])
            shared.give(slot, path)
        elif shared.page.locator(f"[data-slot={slot}].fs-filled").count():
            shared.page.locator(f"[data-slot={slot}] .fs-remove").click()
    shared.fuse()
    shared.page.wait_for_function(
        "words => document.querySelector('#panel-swap-result .fs-error[role=alert] .fs-what')?.innerText.includes(words)", arg=message
    )
    assert len(shared.text("#panel-swap-result .fs-hint")) > 10
    for slot, kind in (("source", source), ("target", target)):
        assert shared.page.locator(f"[data-slot={slot}].fs-filled").count() == (1 if kind else 0)


@pytest.mark.parametrize("kind", ["avif", "png16", "cmyk", "tiff", "gif", "turned", "bmp"])
def test_every_kind_of_picture_can_be_given(shared: Any, officer: NDArray[np.uint8], tmp_path: Path, kind: str) -> None:
    """The browser can't show some of them; the page shows the studio's own preview. The bytes arrive as they are (EXIF, depth)."""
    import cv2

    picture, path = Image.fromarray(officer), tmp_path / f"picture.{kind}"
    if kind == "png16":
        path = path.with_suffix(".png")
        cv2.imwrite(str(path), officer[..., ::-1].astype(np.uint16) * 257)
    elif kind == "cmyk":
        path = path.with_suffix(".jpg")
        picture.convert("CMYK").save(path)
    elif kind == "turned":
        exif = Image.Exif()
        exif[0x0112] = 6
        path = path.with_suffix(".jpg")
        picture.rotate(90, expand=True).save(path, exif=exif)
    else:
        picture.save(path)
    shared.give("target", path)
    shared.page.wait_for_selector("#box-target .fs-pick")
    shared.page.wait_for_function(
        """() => { const i = document.querySelector('#box-target .fs-photo img');
        return i.src.includes('/media/') && i.naturalWidth === 512 && i.naturalHeight === 600 && !i.hidden }"""
    )
    assert ("16" in shared.text("#box-target .fs-note")) is (kind == "png16")


def test_a_broken_phone_picture_is_named(shared: Any, tmp_path: Path) -> None:
    path = tmp_path / "phone.heic"
    path.write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0heicmif1" + b"\0" * 64)
    shared.give("target", path)
    assert "phone.heic" in shared.text("#box-target .fs-note .fs-what")
    assert shared.text("#box-target .fs-note .fs-hint")


def test_stop_stops_the_work(visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path]) -> None:
    """Case U-03. The whole enhancement takes a minute on a CPU."""
    seen = visit()
    page = seen.page
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    assert page.locator("#stop").is_disabled()
    page.click(FULL)
    page.click("#fuse")
    page.wait_for_function("() => /Enhancing/.test(document.querySelector('#panel-swap-progress')?.innerText)")
    assert server.health()["jobs"] == 1
    page.click("#stop")
    assert server.idle(60)
    page.wait_for_function("() => !document.body.hasAttribute('data-running')")
    assert page.locator("#panel-swap-result .fs-compare").count() == 0
    page.click(NONE)
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare")  # and the next one works


def test_a_closed_tab_stops_its_work(visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path]) -> None:
    seen = visit()
    page = seen.page
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    page.click(FULL)
    page.click("#fuse")
    page.wait_for_function("() => /Enhancing/.test(document.querySelector('#panel-swap-progress')?.innerText)")
    before = server.files()
    page.close()
    assert server.idle(60)
    assert server.files() <= before  # finished, it would have left its pictures


def test_two_people_never_see_each_others_pictures(
    visit: Callable[..., Any], portraits: tuple[Path, Path], astronaut: NDArray[np.uint8]
) -> None:
    """Case U-02."""
    anna, berta = visit(), visit()
    berta.expected.append("404")  # of Anna's, asked for below
    anna.give("source", portraits[0])
    anna.give("target", portraits[1])
    anna.fuse()
    anna.page.wait_for_selector("#panel-swap-result .fs-compare")
    addresses = set(re.findall(r"/media/[\w-]+", anna.page.content()))
    assert len(addresses) >= 6  # previews, thumbnails, before, after, downloads
    berta.reload()
    berta.page.wait_for_selector(".fs-box:visible")
    assert berta.page.locator(".fs-filled").count() == 0  # starts empty, also after a reload
    assert berta.page.locator(".fs-compare, .fs-error").count() == 0
    for address in addresses:
        assert berta.page.evaluate("a => fetch(a).then(r => r.status)", address) == 404
    berta.give("source", portraits[1])
    berta.give("target", portraits[0])
    anna.page.click("#fuse")
    berta.page.click("#fuse")
    for seen in (anna, berta):
        seen.page.wait_for_function("() => !document.body.hasAttribute('data-running')")
        seen.page.wait_for_selector("#panel-swap-result .fs-compare")
    hers = set(re.findall(r"/media/[\w-]+", anna.page.content()))
    others = set(re.findall(r"/media/[\w-]+", berta.page.content()))
    assert not hers & others
    assert result_mark(anna.page) != result_mark(berta.page)


def test_a_switch_of_language_keeps_what_is_there(visit: Callable[..., Any]) -> None:
    seen = visit()
    page = seen.page
    page.click("[data-example=good]")
    page.wait_for_selector("#box-target .fs-pick")
    seen.fuse()
    page.wait_for_selector(".fs-compare")
    mark = result_mark(page)
    seen.speak("zh-CN")
    page.wait_for_selector(".fs-compare")
    assert page.title() == "融合工作室"
    assert result_mark(page) == mark
    page.wait_for_selector(".fs-chip[data-state=ready]")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.evaluate("for (const own of ['.fs-mark code', '.fs-history p']) document.querySelector(own).textContent = ''")
    words = set(re.findall(r"[A-Za-z]{2,}", page.inner_text("body"))) - set(STILL_ENGLISH)
    assert words == set(), words
    spoken = page.eval_on_selector_all("[aria-label], [title], [alt]", "all => all.map(e => [e.ariaLabel, e.title, e.alt].join(' '))")
    words = set(re.findall(r"[A-Za-z]{2,}", " ".join(spoken))) - set(STILL_ENGLISH)
    assert {word for word in words if word not in ("jpg", "portrait")} == set()
    seen.fuse()  # what comes from now on is Chinese too, errors as well
    page.click("[data-slot=source] .fs-remove")
    seen.fuse()
    page.wait_for_selector(".fs-error")
    assert "源图片" in seen.text(".fs-error .fs-what")


def test_the_browsers_language_is_taken(visit: Callable[..., Any]) -> None:
    seen = visit(locale="zh-CN")
    assert seen.page.title() == "融合工作室"
    assert seen.page.get_by_role("button", name="融合", exact=False).count() >= 1
    assert seen.page.locator("[data-language='zh-CN']").get_attribute("aria-pressed") == "true"


def test_the_tab_is_in_the_address(visit: Callable[..., Any]) -> None:
    seen = visit("?tab=align")
    page = seen.page
    assert page.locator("#tab-align-button").get_attribute("aria-selected") == "true"
    page.click("#tab-verify-button")
    page.wait_for_url("**/?tab=verify")
    seen.reload()
    page.wait_for_selector("[data-slot=file]:visible")
    page.click("#tab-swap-button")
    page.wait_for_function("() => !location.search")


def test_light_and_dark(visit: Callable[..., Any]) -> None:
    for scheme, other in (("light", "dark"), ("dark", "light")):
        seen = visit(scheme=scheme)
        page = seen.page
        assert page.get_attribute("html", "data-theme") == scheme
        page.click(".fs-theme")
        assert page.get_attribute("html", "data-theme") == other
        seen.reload()
        page.wait_for_selector(".fs-box:visible")
        assert page.get_attribute("html", "data-theme") == other
        assert ("dark" in (page.get_attribute("body", "class") or "").split()) is (other == "dark")


def test_the_keyboard_is_enough(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    """Every stop of the Tab key can be seen and has a name; Ctrl+Enter fuses."""
    seen = visit()
    page = seen.page
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    page.focus("a.fs-brand")
    order = []
    for _ in range(40):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => { const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
            const label = e.labels?.[0]?.innerText;
            const around = e.closest('label'); const ring = around ? getComputedStyle(around).outlineStyle : 'none';
            return {tag: e.tagName, name: e.ariaLabel || label || e.innerText || e.title || e.alt || '', id: e.id,
                    outline: s.outlineStyle !== 'none' || s.boxShadow !== 'none' || ring !== 'none', shown: r.width > 0} }"""
        )
        if found["tag"] == "BODY":
            break
        order.append(found)
    assert len(order) >= 15
    assert [each for each in order if not each["name"].strip()] == []
    assert [each for each in order if not each["outline"]] == []
    ids = [each["id"] for each in order]
    assert ids.index("fuse") > 5
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => !document.body.hasAttribute('data-running')")
    page.wait_for_selector("#panel-swap-result .fs-compare")


def test_a_changed_slider_fuses_again_when_that_is_fast(visit: Callable[..., Any]) -> None:
    seen = visit()
    page = seen.page
    page.click("[data-example=good]")
    page.wait_for_selector("#box-target .fs-pick")
    seen.fuse()
    page.wait_for_selector(".fs-compare")
    first = result_mark(page)
    page.evaluate("fusionStudio.live(false)")
    page.locator("#strength input[type=range]").fill("80")
    time.sleep(0.5)
    assert not page.evaluate("document.body.hasAttribute('data-running')")
    page.evaluate("fusionStudio.live(true)")
    assert page.get_attribute("#fuse", "data-live")
    page.locator("#strength input[type=range]").fill("60")
    page.wait_for_function("mark => document.querySelector('.fs-mark code')?.innerText !== mark", arg=first)


def test_a_full_queue_is_told_in_the_readers_language(visit: Callable[..., Any]) -> None:
    seen = visit(locale="zh-CN")
    page = seen.page
    seen.expected.append("503")
    page.route(
        "**/queue/join*",
        lambda route: route.fulfill(status=503, content_type="application/json", body=json.dumps({"detail": "Queue is full."})),
    )
    page.click("#fuse")
    page.wait_for_selector("#panel-swap-result .fs-error")
    assert "等待" in seen.text("#panel-swap-result .fs-what")
    assert not page.evaluate("document.body.hasAttribute('data-running')")


def test_the_camera_and_the_clipboard_give_pictures(visit: Callable[..., Any]) -> None:
    seen = visit(permissions=["camera"])
    page = seen.page
    page.click("[data-slot=source] >> text=Camera")
    page.wait_for_function("() => document.querySelector('dialog video')?.videoWidth > 0")
    page.click("dialog >> text=Take the picture")
    page.wait_for_selector("[data-slot=source] .fs-count")
    assert seen.text("[data-slot=source] .fs-count") == "No face found"  # a test pattern
    page.evaluate(
        """async () => { const data = new DataTransfer(); const blob = await (await fetch('/examples/portrait_1.jpg')).blob();
        data.items.add(new File([blob], 'x.jpg', {type: 'image/jpeg'}));
        document.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})) }"""
    )
    page.wait_for_selector("[data-slot=target] .fs-pick")  # the box that was still empty


def test_a_picture_is_dropped(visit: Callable[..., Any]) -> None:
    seen = visit()
    page = seen.page
    page.evaluate(
        """async () => { const data = new DataTransfer(); const blob = await (await fetch('/examples/portrait_1.jpg')).blob();
        data.items.add(new File([blob], 'x.jpg', {type: 'image/jpeg'}));
        const event = new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true});
        document.querySelector('[data-slot=target] .fs-drop').dispatchEvent(event) }"""
    )
    page.wait_for_selector("[data-slot=target] .fs-pick")
