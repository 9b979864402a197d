"""The Verify tab: where the mark answers, and the report to take along."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engines.provenance.keys import KEY_FILE, load_key
from engines.provenance.mark import mark
from engines.provenance.metadata import read_labels
from engines.provenance.save import encode
from engines.vision import io


@pytest.fixture(scope="module")
def output(server: Any, astronaut: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A picture with this studio's mark."""
    path = tmp_path_factory.mktemp("outputs") / "out <b>.png"
    key = load_key(server.data_dir / KEY_FILE)
    path.write_bytes(encode(mark(io.from_array(astronaut), key), "png", None, key).data)
    return path


def fetched(seen: Any, address: str) -> bytes:
    return bytes(seen.page.evaluate("a => fetch(a).then(r => r.arrayBuffer()).then(b => [...new Uint8Array(b)])", address))


@pytest.mark.parametrize(("locale", "warm"), [("en-US", "It answers in"), ("zh-CN", "作出响应")])
def test_the_mark_is_shown_where_it_answers_and_the_report_is_taken_along(
    visit: Callable[..., Any], output: Path, locale: str, warm: str, artifacts: Path
) -> None:
    seen = visit("?tab=verify", locale=locale, **({"width": 390, "height": 844, "scheme": "dark"} if locale == "zh-CN" else {}))
    seen.give("file", output)
    seen.page.wait_for_selector("#panel-verify-result .fs-heat img")
    assert warm in seen.text("#panel-verify-result .fs-layer >> nth=0")
    heat = fetched(seen, seen.page.get_attribute("#panel-verify-result .fs-heat img", "src"))
    assert read_labels(heat).labels.aigc == "1"  # what is made of an output says what the output says
    seen.page.wait_for_function("() => document.querySelector('.fs-heat img').naturalWidth > 0")
    assert seen.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    seen.page.screenshot(path=str(artifacts / f"verify-heat-{locale}.png"), full_page=True)
    page, facts = seen.page.eval_on_selector_all("#panel-verify-result [data-download]", "all => all.map(a => a.getAttribute('href'))")
    assert json.loads(fetched(seen, facts))["files"][0]["verdict"] == "made_here"
    told = fetched(seen, page).decode()
    assert f'<html lang="{"zh-CN" if locale == "zh-CN" else "en"}">' in told
    assert "out &lt;b&gt;.png" in told
    assert "data:image/jpeg;base64," in told


def test_no_mark_no_picture_of_it(visit: Callable[..., Any], tmp_path: Path) -> None:
    Image.fromarray(np.random.default_rng(5).integers(0, 256, (200, 300, 3)).astype(np.uint8)).save(tmp_path / "noise.png")
    seen = visit("?tab=verify")
    seen.give("file", tmp_path / "noise.png")
    seen.page.wait_for_selector("#panel-verify-result .fs-what")
    assert seen.page.locator("#panel-verify-result .fs-heat").count() == 0
    assert seen.page.locator("#panel-verify-result [data-download]").count() == 2


def test_many_files_are_gone_through_and_a_bad_one_stops_nothing(
    visit: Callable[..., Any], output: Path, tmp_path: Path, artifacts: Path
) -> None:
    Image.fromarray(np.random.default_rng(6).integers(0, 256, (120, 160, 3)).astype(np.uint8)).save(tmp_path / "plain.png")
    (tmp_path / "broken <i>.jpg").write_bytes(b"\xff\xd8\xff nothing")
    seen = visit("?tab=verify")
    seen.page.set_input_files("#fs-check-files", [str(output), str(tmp_path / "plain.png"), str(tmp_path / "broken <i>.jpg")])
    seen.page.wait_for_selector("#panel-verify-many [data-download]")
    assert seen.text("#panel-verify-many .fs-what >> nth=0").startswith("3 of 3 files: 1 from here, 0 marked by others")
    names = seen.page.locator("#panel-verify-many li strong").all_inner_texts()
    assert names == ["broken <i>.jpg", "out <b>.png", "plain.png"]
    seen.page.click("#panel-verify-many li:nth-child(2) summary")
    assert "It answers in" in seen.text("#panel-verify-many li:nth-child(2)")
    assert seen.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    seen.page.screenshot(path=str(artifacts / "verify-many.png"), full_page=True)
    _, facts = seen.page.eval_on_selector_all("#panel-verify-many [data-download]", "all => all.map(a => a.getAttribute('href'))")
    told = json.loads(fetched(seen, facts))["files"]
    assert [each.get("verdict", each.get("error", {}).get("code")) for each in told] == ["unreadable_image", "made_here", "unmarked"]


def test_a_stop_keeps_what_was_found_so_far(visit: Callable[..., Any], tmp_path: Path) -> None:
    chance = np.random.default_rng(8)  # noise, of which each is searched to the end: the first is small, the others take long
    for number in range(12):
        size = (1200, 1600, 3) if number else (300, 400, 3)
        Image.fromarray(chance.integers(0, 256, size).astype(np.uint8)).save(tmp_path / f"{number:02}.jpg")
    seen = visit("?tab=verify")
    stop = seen.page.locator("#check >> text=Stop")
    assert stop.is_disabled()  # it would stop a fusion
    seen.page.set_input_files("#fs-check-files", [str(path) for path in sorted(tmp_path.iterdir())])
    seen.page.wait_for_selector("#panel-verify-many li")
    stop.click()
    seen.page.wait_for_selector("#panel-verify-many [data-download]")
    done, count = re.findall(r"(\d+) of (\d+) files", seen.text("#panel-verify-many .fs-what >> nth=0"))[0]
    assert 1 <= int(done) < int(count) == 12
    assert stop.is_disabled()
    assert seen.page.locator("#panel-verify-many li").count() == int(done)
