"""The Prompt tab, in a browser."""

import re
from pathlib import Path
from typing import Any

import pytest

WORDS, ANSWER = "#prompt-words textarea", "#panel-prompt"
LONG = "Please create a photo of a smiling 35-year-old man with a pair of glasses, no hat, 8k, 4k, very detailed"


@pytest.fixture(scope="module")
def tab(visit_once: Any) -> Any:
    watched = visit_once("?tab=prompt")
    watched.page.wait_for_selector(f"{WORDS}:visible")
    return watched


def says(tab: Any, text: str) -> None:
    """Waits until the shorter prompt is that."""
    tab.page.wait_for_function("said => document.querySelector('#panel-prompt pre')?.textContent === said", arg=text)


def test_a_prompt_is_shortened_and_a_click_puts_a_word_back(tab: Any, artifacts: Path) -> None:
    tab.page.fill(WORDS, LONG)
    says(tab, "photo of smiling age:35 man with glasses, 8k, detailed")
    assert tab.page.locator(f"{ANSWER} pre").nth(1).inner_text() == "hat"
    tab.page.screenshot(path=artifacts / "prompt.png", full_page=True)
    tab.page.click(f"{ANSWER} .fs-diff button:has-text('4k')")
    says(tab, "photo of smiling age:35 man with glasses, 8k, 4k, detailed")
    assert tab.page.evaluate("document.activeElement.className") == "fs-back"
    tab.page.keyboard.press("Enter")
    says(tab, "photo of smiling age:35 man with glasses, 8k, detailed")
    tab.page.click(f"{ANSWER} .fs-reasons button:has-text('no hat')")
    says(tab, "photo of smiling age:35 man with glasses, no hat, 8k, detailed")


def test_level_money_and_negative_prompt(tab: Any) -> None:
    tab.page.fill(WORDS, "a man, very very detailed, 8k, 4k")
    says(tab, "man, detailed, 8k")
    tab.page.get_by_label("Safe", exact=True).check()
    says(tab, "man, very detailed, 8k, 4k")
    tab.page.fill("#prompt-price input", "1000000")
    tab.page.fill("#prompt-calls input", "1")
    tab.page.wait_for_function("() => document.querySelector('#panel-prompt td:last-child').innerText === '2.00'")
    tab.page.get_by_label("Strict template").check()
    says(tab, "man, detailed, 8k")
    tab.page.get_by_label("Compact").check()


def test_a_fixed_beginning_stays_and_a_broken_one_is_told(tab: Any) -> None:
    tab.page.fill(WORDS, "a man")
    tab.page.click("#prompt-template input")
    tab.page.get_by_role("option", name="Passport photo").click()
    says(tab, "passport photo, front view, neutral expression, plain white background, even light, man")
    tab.page.fill(WORDS, "passport, a man")
    tab.page.wait_for_selector(f"{ANSWER} .fs-aside:has-text('character 9')")
    tab.page.click("#prompt-template input")
    tab.page.get_by_role("option", name="None").click()


def test_in_chinese(visit_once: Any, artifacts: Path) -> None:
    """Words, reasons and a word put back, on a phone; no English but what the prompt and the tokenizers' names bring along."""
    tab = visit_once("?tab=prompt", locale="zh-CN", width=390)
    tab.page.wait_for_selector(f"{WORDS}:visible")
    tab.page.fill(WORDS, "请生成一张照片：一位三十五岁的男人，没有戴眼镜，非常清晰，非常清晰")
    says(tab, "一张照片：一位三十五岁的男人，清晰")
    assert tab.page.locator(f"{ANSWER} pre").nth(1).inner_text() == "眼镜"
    said = tab.text(ANSWER)
    for words in ("缩短后的提示词", "点击即可恢复任何一处", "对机器说的客套话", "移到负面提示词", "重复", "每百万词元价格", "力度"):
        assert words in said + tab.text("#tab-prompt"), words
    names = {"CLIP", "OpenAI", "Qwen", "cl", "base", "FUSION", "STUDIO", "SENTENCE", "MODEL"}
    assert set(re.findall(r"[A-Za-z]{2,}", said)) <= names
    tab.page.screenshot(path=artifacts / "prompt-zh.png", full_page=True)
    tab.page.click(f"{ANSWER} .fs-reasons button:has-text('没有戴眼镜')")
    says(tab, "一张照片：一位三十五岁的男人，没有戴眼镜，清晰")
