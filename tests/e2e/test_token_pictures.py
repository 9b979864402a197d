"""The Tokens tab's picture half, in a browser."""

import json
import os
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from engines.tokens.visual import load

ORIENTED = Image.Exif()
ORIENTED[0x112] = 6  # a quarter turn


@pytest.fixture(scope="module")
def tab(visit_once: Any, portraits: tuple[Path, Path]) -> Any:
    watched = visit_once("?tab=tokens")
    watched.give("counted", portraits[1])
    watched.page.wait_for_selector("#panel-visual-result tbody tr")
    return watched


def cell(tab: Any, model: str, column: int) -> str:
    return str(tab.text(f"#panel-visual-result tr[data-model={model}] td >> nth={column}"))


def until(tab: Any, words: str, inside: str) -> None:
    tab.page.wait_for_function("([where, what]) => document.querySelector(where)?.innerText.includes(what)", arg=[inside, words])


def test_a_row_a_model_and_the_grid_over_photo_and_crop(tab: Any, artifacts: Path) -> None:
    assert tab.page.locator("#panel-visual-result tbody tr").count() == len(load())
    assert cell(tab, "qwen2_5_vl", 0) == f"{load()['qwen2_5_vl'].count(512, 600):,}"
    assert cell(tab, "clip_l14", 2) == "0 %"
    assert cell(tab, "qwen2_5_vl", 2).endswith("%")
    assert re.search(r"Complexity of the photo 0\.\d\d: 2\d diffusion steps", tab.text("#panel-visual-result"))
    for place in ("#box-counted .fs-photo", "#panel-visual-crop .fs-crop"):
        assert tab.page.locator(f"{place} .touched").get_attribute("d")
        image, drawing = (tab.page.locator(f"{place} {what}").bounding_box() for what in ("img", ".fs-cells"))
        assert image == pytest.approx(drawing, abs=0.5)
    tab.page.screenshot(path=artifacts / "tokens-pictures.png", full_page=True)


def test_another_model_and_another_crop_are_drawn_at_once(tab: Any) -> None:
    tab.page.click("#visual-size >> text='512'")
    until(tab, "512 × 512", "#panel-visual-crop")
    assert cell(tab, "qwen2_5_vl", 1) == "324"
    tab.page.click("#visual-model input")
    tab.page.get_by_role("option", name="Claude", exact=True).click()
    until(tab, "Claude: 361", "#panel-visual-crop")
    tab.page.click("#visual-size >> text='224'")
    until(tab, "224 × 224", "#panel-visual-crop")


def test_a_price_that_is_typed_counts(tab: Any) -> None:
    tab.page.click("#visual-model input")
    tab.page.get_by_role("option", name="Pixtral 12B", exact=True).click()
    until(tab, "Pixtral 12B: 210", "#panel-visual-crop")
    assert cell(tab, "pixtral", 8) == "–"
    tab.page.fill("#visual-price input", "2")
    until(tab, "0.420 USD", "tr[data-model=pixtral]")
    until(tab, "Prices you typed: 1", "#panel-visual-kept")
    again = tab.page.context.new_page()  # the same browser, later
    again.goto(tab.page.url)
    again.wait_for_selector("#panel-visual-kept :text('Prices you typed: 1')")
    again.close()
    tab.page.click("#visual-reset")
    until(tab, "Prices you typed: 0", "#panel-visual-kept")
    tab.page.wait_for_function("() => document.querySelector('tr[data-model=pixtral] td:last-child').innerText === '–'")
    tab.page.fill("#visual-price input", "2")
    until(tab, "0.420 USD", "tr[data-model=pixtral]")
    tab.page.fill("#visual-price input", "")
    tab.page.wait_for_function("() => document.querySelector('tr[data-model=pixtral] td:last-child').innerText === '–'")


def test_the_report_the_table_and_the_chart_can_be_taken_along(tab: Any, tmp_path: Path) -> None:
    for label, check in (("Report", b"<!doctype html>"), ("Table", b"\xef\xbb\xbfmodel,"), ("Chart", b"\x89PNG")):
        with tab.page.expect_download() as waiting:
            tab.page.click(f"#panel-visual-result .fs-downloads >> text={label}")
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        assert path.read_bytes().startswith(check)
        if label == "Chart":
            with Image.open(path) as chart:
                assert chart.width == 1800
                assert len(chart.convert("RGB").resize((90, 90)).getcolors(9000) or []) > 20


def test_a_models_own_file_adds_it_and_another_file_says_why_not(tab: Any, tmp_path: Path) -> None:
    config = {"image_processor_type": "PixtralImageProcessor", "size": {"longest_edge": 448}, "patch_size": 32}
    mine = tmp_path / "preprocessor_config.json"
    mine.write_text(json.dumps(config))
    tab.give("processor", mine)
    tab.page.wait_for_selector("#panel-visual-result tr[data-model=own]")
    assert cell(tab, "own", 1) == "56"
    mine.write_text(json.dumps({**config, "patch_size": None}))
    tab.give("processor", mine)
    until(tab, "patch_size", "#box-processor")
    tab.page.wait_for_function("() => !document.querySelector('#panel-visual-result tr[data-model=own]')")
    tab.page.click("[data-slot=processor] .fs-remove")


def test_a_photo_without_a_face_is_counted_all_the_same(tab: Any, tmp_path: Path) -> None:
    plain = tmp_path / "plain.png"
    Image.new("RGB", (560, 280), (90, 120, 150)).save(plain)
    tab.give("counted", plain)
    until(tab, "No face was found", "#panel-visual-result")
    assert cell(tab, "claude", 0) == "200"
    assert cell(tab, "claude", 3) == "–"
    until(tab, "appears here", "#panel-visual-crop")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def test_many_pictures_are_counted_from_their_headers(tab: Any, tmp_path: Path, artifacts: Path) -> None:
    for number in range(6):
        Image.effect_noise((1200, 900), 80).convert("RGB").save(tmp_path / f"{number}.{'png' if number % 2 else 'jpg'}")
    turned = (tmp_path / "1.png").read_bytes()  # as editors write it that only add to a file: behind the pixels
    (tmp_path / "1.png").write_bytes(turned[:-12] + _chunk(b"eXIf", ORIENTED.tobytes().removeprefix(b"Exif\0\0")) + turned[-12:])
    (tmp_path / "bad.jpg").write_bytes(b"no picture at all")
    (tmp_path / "bad.png").write_bytes(turned[:400_000])
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    (tmp_path / "notes.txt").write_text("not looked at")
    tab.page.set_input_files("#fs-folder-files", sorted(str(path) for path in tmp_path.iterdir()))
    until(tab, "6 pictures counted", "#panel-folder")
    model = load()["pixtral"]  # which a turned picture costs another number
    assert tab.text("#panel-folder tr[data-model=pixtral] td >> nth=0") == f"{5 * model.count(1200, 900) + model.count(900, 1200):,}"
    assert [url for url in asked if "/media/size?" in url] == [url for url in asked if "bad.png" in url] != []
    assert "bad.png" in tab.text("#panel-folder .fs-aside")
    assert "bad.jpg" in tab.text("#panel-folder .fs-aside")
    assert "notes.txt" not in tab.text("#panel-folder")
    assert tab.page.locator("#folder .fs-progress").is_hidden()
    with tab.page.expect_download() as download:
        tab.page.click("#panel-folder a:has-text('JSON')")
    assert json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["pictures"] == 6
    tab.page.screenshot(path=artifacts / "tokens-folder.png", full_page=True)
    (tmp_path / "0.jpg").unlink()
    tab.page.set_input_files("#fs-folder-whole", str(tmp_path))
    until(tab, "5 pictures counted", "#panel-folder")


WORDS = {  # Cancel; how far it came; why one isn't counted; all were counted
    "en-US": (
        "Cancel",
        "Stopped after 32 of 100: what was counted stays. 32 pictures counted",
        "moved, deleted or changed",
        "98 pictures counted",
    ),
    "zh-CN": ("取消", "已在第 32 / 100 张处停止，已统计的保留。 已统计 32 张图片", "被移动、删除或更改", "已统计 98 张图片"),
}


@pytest.fixture(params=WORDS)
def folder(request: pytest.FixtureRequest, visit: Callable[..., Any], tmp_path: Path) -> Any:
    """The tab in a language, its words, and a hundred pictures: four requests, of which two are made at once."""
    for number in range(100):
        Image.new("RGB", (100 + number, 80), (number, 90, 120)).save(tmp_path / f"{number:02}.png")
    return visit("?tab=tokens", locale=request.param), WORDS[request.param], sorted(tmp_path.iterdir())


def test_a_cancel_keeps_what_was_counted_and_nothing_goes_on(folder: Any, artifacts: Path) -> None:
    seen, (cancel, stopped, _, _), files = folder
    page, held = seen.page, []

    def answer(route: Any) -> None:  # the first request is answered, the others wait
        held.append(route)
        if len(held) == 1:
            route.continue_()

    page.route("**/media/sizes", answer)
    page.set_input_files("#fs-folder-files", [str(path) for path in files])
    page.wait_for_function("() => document.querySelector('#folder progress').value === 32")
    while len(held) < 3:  # the second and the third are under way
        page.wait_for_timeout(20)
    page.click(f"#folder >> text={cancel}")
    until(seen, stopped, "#panel-folder")
    assert page.locator("#folder .fs-progress").is_hidden()
    assert page.locator("#folder .fs-ways button:not([disabled])").count() == 2
    count = load()["qwen2_5_vl"].count
    totals = [sum(count(100 + number, 80) for number in range(first, first + 32)) for first in (0, 32)]  # either may arrive first
    assert seen.text("#panel-folder tr[data-model=qwen2_5_vl] td >> nth=0") in [f"{total:,}" for total in totals]
    for route in held[1:]:
        route.abort()
    page.wait_for_timeout(500)
    assert len(held) == 3  # the fourth is never made
    assert stopped in seen.text("#panel-folder")
    page.screenshot(path=artifacts / f"tokens-folder-stopped-{cancel}.png", full_page=True)
    page.unroute("**/media/sizes")
    page.set_input_files("#fs-folder-files", [str(path) for path in files[:40]])  # another run begins anew
    page.wait_for_function("() => document.querySelector('#panel-folder .fs-what').innerText.includes('40')")
    assert "32" not in seen.text("#panel-folder .fs-what")
    seen.problems[:] = [each for each in seen.problems if "ERR_FAILED" not in each]  # of the two that this test cut off


def test_a_file_that_goes_or_changes_meanwhile_is_named(folder: Any, artifacts: Path) -> None:
    seen, (_, _, why, counted), files = folder
    page, held = seen.page, []
    page.route("**/media/sizes", lambda route: held.append(route) if len(held) < 2 else route.continue_())
    page.set_input_files("#fs-folder-files", [str(path) for path in files])
    while len(held) < 2:  # until one of them is answered, the last files aren't read
        page.wait_for_timeout(20)
    files[97].unlink()
    Image.new("RGB", (20, 20)).save(files[98])
    os.utime(files[98], (1, 1))
    for route in held:
        route.continue_()
    until(seen, counted, "#panel-folder")
    said = seen.page.locator("#panel-folder .fs-aside li").all_inner_texts()
    assert [line.split(" ")[0] for line in said] == ["97.png", "98.png"]
    assert [line for line in said if why not in line] == []
    page.screenshot(path=artifacts / f"tokens-folder-vanished-{counted[:2].strip()}.png", full_page=True)
    seen.problems[:] = [each for each in seen.problems if "ERR_" not in each]  # Chromium says of each what it couldn't read


def test_a_reload_doesnt_ask_for_a_crop_that_is_gone(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    """As after a reload between the server's new crop and the page's hearing of it; a 404 in the console would be a problem."""
    seen = visit("?tab=tokens")
    seen.give("counted", portraits[1])
    seen.page.wait_for_selector("#panel-visual-crop img")
    seen.page.wait_for_function("() => sessionStorage.getItem('fusion:panel-visual-crop')?.includes('/media/')")
    kept = "sessionStorage.getItem('fusion:panel-visual-crop')"
    gone = re.sub(r"/media/[\w-]+", "/media/" + "A" * 32, seen.page.evaluate(kept))
    seen.page.evaluate("value => sessionStorage.setItem('fusion:panel-visual-crop', value)", gone)
    asked: list[str] = []
    seen.page.on("request", lambda request: asked.append(request.url))
    seen.reload()
    until(seen, "appears here", "#panel-visual-crop")
    seen.page.wait_for_selector("#panel-visual-result tbody tr")  # which is there still
    seen.page.click("#visual-size >> text='256'")
    seen.page.wait_for_selector("#panel-visual-crop img")
    assert [url.split("/media/")[1] for url in asked if "A" * 32 in url] == ["A" * 32 + "/there"]
