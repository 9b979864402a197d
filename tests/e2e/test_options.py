"""What may be turned: the panel, the five points by hand, and a person of several photos; in a browser."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageOps

Pixels = NDArray[np.int32]
CAT = Path(__file__).resolve().parents[2] / "assets" / "examples" / "cat.jpg"
VALUE = "() => JSON.parse(sessionStorage.getItem('fusion:target')).hand"


def shown(page: Any) -> Pixels:
    """The fused picture that stands on the page, coarse: each has a mark of its own, which averages out."""
    page.wait_for_selector("#panel-swap-result .fs-compare")
    address = page.get_attribute("#panel-swap-result .fs-compare img", "src")
    data = page.evaluate("a => fetch(a).then(r => r.arrayBuffer()).then(b => [...new Uint8Array(b)])", address)
    with Image.open(io.BytesIO(bytes(data))) as picture:
        return np.asarray(picture.convert("RGB").reduce(8)).astype(np.int32)


def fuse(seen: Any) -> None:
    """Fuses, and waits until the new result stands there."""
    old = seen.page.evaluate("() => document.querySelector('.fs-mark code')?.innerText ?? ''")
    seen.fuse()
    seen.page.wait_for_function("old => (document.querySelector('.fs-mark code')?.innerText ?? old) !== old", arg=old)


def details(page: Any) -> str:
    page.evaluate("document.querySelectorAll('#panel-swap-result details').forEach(d => d.open = true)")
    return str(page.inner_text("#panel-swap-result .fs-facts"))


def distances(page: Any) -> tuple[str, str]:
    """The identity's distance to the source, before and after."""
    before, after = re.findall(r"(\d\.\d{3}) → (\d\.\d{3})", details(page))[0]
    return before, after


def where(page: Any, slot: str = "target") -> tuple[int, int]:
    """What the page says of the point that has the focus."""
    x, y = re.findall(r"(\d+), (\d+)$", page.inner_text(f"#box-{slot} .fs-where"))[0]
    return int(x), int(y)


def centre(page: Any, which: int | str, slot: str = "target") -> tuple[float, float]:
    box = page.locator(f"#box-{slot} .fs-point-{which}").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, which: int | str, dx: float, dy: float) -> None:
    x, y = centre(page, which)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


@pytest.fixture
def both_given(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> Any:
    seen = visit()
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    return seen


def test_options_are_turned_told_used_and_put_back(both_given: Any) -> None:
    seen, page = both_given, both_given.page
    assert seen.text(".fs-differs") == "standard settings"
    assert not page.locator("[data-reset]").is_visible()
    assert not page.locator("#fs-more-body").is_visible()
    page.locator(".fs-disclose").scroll_into_view_if_needed()
    before = page.locator("#fuse").bounding_box()
    page.click(".fs-disclose")
    assert page.locator(".fs-disclose").get_attribute("aria-expanded") == "true"
    assert page.locator("#fuse").bounding_box() == before  # the button stays where it is
    page.focus("[data-option=shape]")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.check("[data-option=keep_eyes]")
    page.uncheck("[data-option=marks]")
    page.click("#fs-more-body >> text=Live (fast)")
    assert seen.text(".fs-differs") == "Shape 97 · Keep eyes · Marks and make-up: off · Mode: Live (fast)"
    fuse(seen)
    told = details(page)
    for words in ("Shape 97", "Keep eyes: on", "Marks and make-up: off", "Mode: Live (fast)", "Colour 100"):
        assert words in told
    seen.speak("zh-CN")  # the page is loaded anew; what was turned stays
    page.wait_for_selector(".fs-disclose[aria-expanded=true]")
    assert "97" in seen.text(".fs-differs")
    page.click("[data-reset]")
    assert seen.text(".fs-differs") == "标准设置"
    assert not page.locator("[data-reset]").is_visible()
    assert page.input_value("[data-option=shape]") == "100"
    assert page.evaluate("document.activeElement.className") == "fs-disclose"  # the focus isn't lost with the button


def test_each_field_of_the_panel_has_a_name_and_a_sentence(visit: Callable[..., Any]) -> None:
    page = visit().page
    page.click(".fs-disclose")
    page.click("#mask-place summary")
    fields = page.eval_on_selector_all(
        "#fs-more-body [data-option]:not(.fs-mask), .fs-mask input[data-mask]",
        "all => all.map(e => [e.labels[0].innerText, document.getElementById(e.getAttribute('aria-describedby')).innerText])",
    )
    assert len(fields) >= 11
    assert all(name.strip() and sentence.strip().endswith(".") for name, sentence in fields)


def test_a_turned_option_fuses_again_when_that_is_fast(both_given: Any) -> None:
    page = both_given.page
    page.click(".fs-disclose")
    fuse(both_given)
    first = page.inner_text(".fs-mark code")
    page.evaluate("fusionStudio.live(true)")
    page.check("[data-option=keep_mouth]")
    page.wait_for_function("mark => document.querySelector('.fs-mark code')?.innerText !== mark", arg=first)
    assert "Keep mouth: on" in details(page)


def test_a_dragged_point_changes_the_result_and_reset_takes_it_back(both_given: Any) -> None:
    page = both_given.page
    fuse(both_given)
    plain, told = shown(page), distances(page)
    page.click("#box-target .fs-hand-toggle")
    assert page.evaluate("document.activeElement.dataset.point") == "0"
    start = where(page)
    drag(page, "all", 14, 10)
    page.focus("#box-target .fs-point-0")
    assert where(page)[0] > start[0] + 2
    assert page.evaluate(VALUE)[0] == pytest.approx(where(page), abs=0.6)
    page.keyboard.press("Escape")
    assert "fs-hand-toggle" in page.evaluate("document.activeElement.className")
    assert "Points set by hand" in both_given.text("#box-target .fs-count")
    assert page.locator("#box-target .ov-points circle").count() == 5
    fuse(both_given)
    moved = shown(page)
    assert "Target's points set by hand" in details(page)
    assert distances(page) != told
    page.click("#box-target .fs-hand-toggle")
    page.click("#box-target .fs-hand-reset")
    assert page.evaluate(VALUE) is None
    assert page.locator("#box-target .fs-hand-reset").is_disabled()
    page.focus("#box-target .fs-point-0")
    assert where(page) == start
    page.click("#box-target >> text=Done")
    fuse(both_given)
    again = shown(page)
    assert distances(page) == told  # measured before the mark, which is another each time
    assert np.abs(moved - plain).max() > 2 * np.abs(again - plain).max()


@pytest.mark.parametrize("width", [1440, 390])
def test_points_are_in_the_pictures_pixels(visit: Callable[..., Any], portraits: tuple[Path, Path], width: int) -> None:
    """Whatever the width, the zoom, and the way in which they are moved."""
    seen = visit(width=width, height=900)
    page = seen.page
    seen.give("target", portraits[1])  # 512 × 600
    page.click("#box-target .fs-hand-toggle")
    page.evaluate("document.querySelector('#box-target').scrollIntoView({block: 'start'})")
    for _ in range(2):  # near, then the whole picture
        frame = page.locator("#box-target .fs-points").bounding_box()
        x, y = centre(page, 2)
        drag(page, 2, frame["x"] + 0.55 * frame["width"] - x, frame["y"] + 0.4 * frame["height"] - y)
        assert where(page) == pytest.approx((0.55 * 512 - 0.5, 0.4 * 600 - 0.5), abs=1 + 512 / frame["width"])
        page.click("#box-target >> text=Closer")
    page.focus("#box-target .fs-point-3")
    at = where(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    step = max(1.0, 512 / page.locator("#box-target .fs-points").bounding_box()["width"])
    assert where(page) == pytest.approx((at[0] + step, at[1] + 10 * step), abs=1)
    label = page.get_attribute("#box-target .fs-point-3", "aria-label")
    assert label.startswith("Corner of the mouth on the left: ")


def test_a_finger_moves_a_point_and_not_the_page(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    seen = visit(width=390, height=844, has_touch=True, is_mobile=True)
    page = seen.page
    seen.give("target", portraits[1])
    page.click("#box-target .fs-hand-toggle")
    page.locator("#box-target .fs-points").scroll_into_view_if_needed()
    assert page.evaluate("getComputedStyle(document.querySelector('#box-target .fs-point-4')).touchAction") == "none"
    scrolled = page.evaluate("scrollY")
    page.focus("#box-target .fs-point-4")
    at, (x, y) = where(page), centre(page, 4)
    touch = page.context.new_cdp_session(page)
    for kind, points in (("touchStart", [(x, y)]), ("touchMove", [(x - 10, y + 10)]), ("touchMove", [(x - 20, y + 20)]), ("touchEnd", [])):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": px, "y": py} for px, py in points]})
    page.wait_for_function(f"() => {VALUE[6:]} !== null")
    assert where(page)[0] < at[0] - 5
    assert where(page)[1] > at[1] + 5
    assert page.evaluate("scrollY") == scrolled


def test_points_are_set_where_no_face_was_found(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    seen = visit()
    page = seen.page
    seen.give("source", portraits[0])
    seen.give("target", CAT)
    assert seen.text("#box-target .fs-none") == "No face found"
    page.click("#box-target .fs-set-points")
    points = np.array(page.evaluate(VALUE))
    width, height = page.evaluate("() => { const v = JSON.parse(sessionStorage.getItem('fusion:target')); return [v.width, v.height] }")
    assert np.allclose(points.mean(0), (width / 2, height / 2), atol=0.1 * width)
    assert points[:2, 1].max() < points[2, 1] < points[3:, 1].min()  # upright
    drag(page, 0, 500, 0)
    assert page.evaluate(VALUE)[0][0] == width - 1  # nothing leaves the picture
    page.click("#box-target .fs-hand-reset")
    assert np.allclose(page.evaluate(VALUE), points)
    page.keyboard.press("Escape")
    assert seen.text("#box-target .fs-count") == "Points set by hand"
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-error")  # a cat is no face, wherever its points are said to be
    assert "target picture" in seen.text("#panel-swap-result .fs-what")
    seen.give("target", portraits[1])  # another picture, its own points
    assert page.evaluate(VALUE) is None


@pytest.fixture(scope="module")
def photos(portraits: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two photos of one person."""
    path = tmp_path_factory.mktemp("person") / "mirrored.png"
    with Image.open(portraits[0]) as picture:
        ImageOps.mirror(picture).save(path)
    return portraits[0], path


@pytest.fixture(scope="module")
def persona_file(visit_once: Callable[..., Any], photos: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the page gives it, after it was made of two photos and fused."""
    seen = visit_once()
    page = seen.page
    seen.give("source", CAT)
    seen.give("source", *photos)  # several at once stand in place of what was there
    assert page.locator("#box-source .fs-gathered li").count() == 2
    assert seen.text("#box-source .fs-gathered").count("usable") == 2
    assert page.locator("#box-source >> text=Make persona").is_disabled()  # without a name
    page.fill("#box-source .fs-name", "Ann 人")
    page.keyboard.press("Enter")
    page.wait_for_selector("#box-source .fs-persona")
    said = seen.text("#box-source .fs-persona")
    assert "Ann 人" in said
    assert "2 photos" in said
    assert page.locator("#box-source .fs-photo img").count() == 0  # no face is shown
    seen.give("target", CAT.with_name("portrait_2.jpg"))
    fuse(seen)
    assert "Ann 人" in details(page)
    folder = tmp_path_factory.mktemp("personas")
    for button, name in (("Download", "kept.persona"), ("Export unencrypted", "exported.persona")):
        with page.expect_download() as waiting:
            page.click(f"#box-source .fs-person >> text={button}")
        assert waiting.value.suggested_filename == "Ann 人.persona"
        waiting.value.save_as(folder / name)
    assert (folder / "kept.persona").read_bytes()[:200] != (folder / "exported.persona").read_bytes()[:200]
    return folder / "kept.persona"


@pytest.mark.parametrize("name", ["kept.persona", "exported.persona"])
def test_a_personas_file_is_a_source(visit: Callable[..., Any], portraits: tuple[Path, Path], persona_file: Path, name: str) -> None:
    seen = visit(locale="zh-CN")
    seen.give("source", persona_file.with_name(name))
    assert "Ann 人" in seen.text("#box-source .fs-persona")
    assert seen.page.locator("#box-source .fs-hand-toggle").count() == 0  # it has no picture to set points in
    seen.give("target", portraits[1])
    fuse(seen)
    seen.page.wait_for_selector("#panel-swap-result .fs-compare")


@pytest.mark.parametrize(("damage", "message"), [("cut", "damaged or cut off"), ("flipped", "damaged"), ("text", "not a persona")])
def test_a_damaged_persona_is_refused(visit: Callable[..., Any], persona_file: Path, tmp_path: Path, damage: str, message: str) -> None:
    data = bytearray(persona_file.read_bytes())
    if damage == "cut":
        del data[len(data) // 2 :]
    elif damage == "flipped":
        data[len(data) // 2] ^= 1
    else:
        data = bytearray(b"Dear diary, " * 20)
    path = tmp_path / "broken.persona"
    path.write_bytes(data)
    seen = visit()
    seen.give("source", path)
    assert message in seen.text("#box-source .fs-note .fs-what")
    assert "broken.persona" in seen.text("#box-source .fs-note .fs-what")
    assert seen.text("#box-source .fs-note .fs-hint")
    assert seen.text("#box-source .fs-filename") == "broken.persona"


def test_photos_are_gathered_one_by_one_and_may_be_fused_at_once(
    visit: Callable[..., Any], photos: tuple[Path, Path], portraits: tuple[Path, Path]
) -> None:
    seen = visit()
    page = seen.page
    seen.give("source", photos[0])
    with page.expect_file_chooser() as chooser:
        page.click("#box-source >> text=Add photos")
    chooser.value.set_files([str(photos[1]), str(CAT)])
    page.wait_for_selector("#box-source .fs-gathered li:nth-child(3) .fs-bad")
    page.fill("#box-source .fs-name", "Ann")
    page.click("#box-source >> text=Make persona")
    page.wait_for_selector("#box-source .fs-note .fs-what")
    assert "Photo 3" in seen.text("#box-source .fs-note .fs-what")  # what was given stays, with the name
    assert page.input_value("#box-source .fs-name") == "Ann"
    page.click("#box-source [aria-label='Remove photo 3']")
    assert page.locator("#box-source .fs-gathered li").count() == 2
    assert page.locator("#box-source .fs-note .fs-what").count() == 0
    seen.reload()
    page.wait_for_selector("#box-source .fs-gathered li:nth-child(2)")  # and over a reload
    assert page.input_value("#box-source .fs-name") == "Ann"
    seen.give("target", portraits[1])
    fuse(seen)
    page.wait_for_selector("#panel-swap-result .fs-compare")
    seen.give("source", photos[1], photos[0])  # more for those that are gathered
    assert page.locator("#box-source .fs-gathered li").count() == 4
    page.click("#box-source .fs-remove")
    assert page.locator("#box-source.fs-filled, #box-source .fs-filled").count() == 0


def test_anothers_photos_make_no_persona(visit: Callable[..., Any], server: Any, photos: tuple[Path, Path]) -> None:
    """A token of somebody else is as good as none."""
    owner, other = visit(), visit()
    owner.give("source", *photos)
    tokens = owner.page.evaluate("() => JSON.parse(sessionStorage.getItem('fusion:source')).gathered.map(p => p.token)")
    other.give("source", *photos)
    other.page.evaluate(
        """tokens => { const v = JSON.parse(sessionStorage.getItem('fusion:source'));
        v.gathered.forEach((p, i) => { p.token = tokens[i] }); sessionStorage.setItem('fusion:source', JSON.stringify(v)) }""",
        tokens,
    )
    other.reload()
    other.page.wait_for_selector("#box-source .fs-gathered li")
    other.page.fill("#box-source .fs-name", "Taken")
    other.page.click("#box-source >> text=Make persona")
    other.page.wait_for_selector("#box-source .fs-note .fs-what")
    assert "no longer kept" in other.text("#box-source .fs-note .fs-what")
    assert httpx.get(f"{server.address}media/{tokens[0]}", trust_env=False, timeout=60).status_code == 404
