"""The Tokens tab's text half, in a browser."""

import lzma
import re
from pathlib import Path
from typing import Any

import pytest

from engines.tokens.text import FOLDER

WORDS = "#text-words textarea"


@pytest.fixture(scope="module")
def tab(visit_once: Any) -> Any:
    watched = visit_once("?tab=tokens")
    watched.page.wait_for_selector(f"{WORDS}:visible")
    return watched


def type_in(tab: Any, text: str, tokens: int) -> None:
    tab.page.fill(WORDS, text)
    tab.page.wait_for_function(f"() => document.querySelector('#panel-text-result td b')?.innerText === '{tokens:,}'")


def test_a_text_is_counted_while_it_is_typed(tab: Any) -> None:
    tab.page.fill(WORDS, "")
    tab.page.type(WORDS, "a photo of a cat")
    tab.page.wait_for_selector("#panel-text-result .fs-token >> nth=4 >> text=2368")  # "a photo of a ca" has as many
    rows = tab.page.locator("#panel-text-result tbody tr")
    assert [row.locator("td").nth(0).inner_text() for row in rows.all()] == ["5"] * 4
    assert tab.text("#panel-text-result .fs-token >> nth=4").split() == ["cat", "2368"]


def test_what_clip_cuts_off_is_struck_through_and_chunks_are_offered(tab: Any, artifacts: Path) -> None:
    type_in(tab, "cat " * 80 + "BREAK end", 82)
    assert tab.page.locator("#panel-text-result s").count() == 7
    assert "75 + 5 + 1" in tab.text("#panel-text-result .fs-aside")
    tab.page.screenshot(path=artifacts / "tokens-text.png", full_page=True)
    tab.page.get_by_label("OpenAI o200k").check()
    tab.page.wait_for_function("() => !document.querySelector('#panel-text-result s')")
    tab.page.get_by_label("CLIP", exact=True).check()


def test_a_price_gives_a_cost(tab: Any) -> None:
    type_in(tab, "a photo of a cat", 5)
    tab.page.fill("#text-price input", "1000000")
    tab.page.fill("#text-calls input", "10")
    tab.page.wait_for_function("() => document.querySelector('#panel-text-result td:last-child').innerText === '70.0000'")


def test_a_tokenizer_of_ones_own_is_one_more_row_and_another_file_is_refused(tab: Any, tmp_path: Path) -> None:
    type_in(tab, "a photo of a cat", 5)
    mine = tmp_path / "my model.json"
    mine.write_bytes(lzma.decompress((FOLDER / "clip.json.xz").read_bytes()))
    tab.give("tokenizer", mine)
    tab.page.wait_for_function("() => document.querySelectorAll('#panel-text-result tbody tr').length === 5")
    assert "my model" in tab.text("#panel-text-result tbody tr:last-child")
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    tab.give("tokenizer", bad)
    tab.page.wait_for_selector("#panel-text-result .fs-error")
    tab.page.click("[data-slot=tokenizer] .fs-remove")
    type_in(tab, "a photo of a cat", 5)


def test_in_chinese(visit_once: Any, artifacts: Path) -> None:
    """Chips, ids and what falls off of a Chinese text, on a phone; no English but names."""
    tab = visit_once("?tab=tokens", locale="zh-CN", width=390)
    tab.page.wait_for_selector(f"{WORDS}:visible")
    tab.page.fill(WORDS, "戴眼镜的男人，" * 20)
    tab.page.wait_for_selector("#panel-text-result s")
    said = tab.text("#panel-text-result")
    for words in ("只读取 77 个词元", "请缩短文本", "的词元及编号", "实际发送"):
        assert words in said, words
    assert tab.page.locator("#panel-text-result .fs-token").count() > 77
    assert set(re.findall(r"[A-Za-z]{2,}", said)) <= {"CLIP", "OpenAI", "Qwen", "cl", "base", "BREAK", "MIT", "Apache"}
    tab.page.screenshot(path=artifacts / "tokens-text-zh.png", full_page=True)
