"""Settings with a name, in a browser."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engines.presets import load


def open_panel(page: Any) -> None:
    if page.get_attribute(".fs-disclose", "aria-expanded") != "true":
        page.click(".fs-disclose")


def strength(page: Any) -> str:
    return str(page.input_value("#strength input[type=number]"))


def test_a_preset_turns_what_it_names_and_nothing_else(visit: Callable[..., Any]) -> None:
    page = visit().page
    open_panel(page)
    page.select_option(".fs-preset", label="Gentle")
    assert strength(page) == "70"
    assert not page.is_checked("[data-option=marks]")
    page.select_option(".fs-preset", label="Standard")
    assert strength(page) == "100"
    assert page.is_checked("[data-option=marks]")
    assert page.inner_text(".fs-differs") == "standard settings"


def test_ones_own_is_kept_given_away_and_taken_in(visit: Callable[..., Any], tmp_path: Path) -> None:
    seen = visit()
    page = seen.page
    open_panel(page)
    page.fill("[data-option=shape]", "35")
    page.check("[data-option=glasses]")
    page.fill(".fs-presets .fs-name", "Mine 人")
    page.click(".fs-preset-save")
    assert "Mine 人" in page.inner_text(".fs-presets [role=status]")
    page.select_option(".fs-preset", label="Standard")
    seen.reload()
    page.wait_for_selector(".fs-disclose")
    open_panel(page)
    page.select_option(".fs-preset", label="Mine 人")
    assert page.input_value("[data-option=shape]") == "35"
    with page.expect_download() as waiting:
        page.click(".fs-preset-export")
    path = tmp_path / "mine.json"
    waiting.value.save_as(path)
    mine = load(path.read_bytes(), path.name)  # as the commands read it
    assert (mine.name, mine.options) == ("Mine 人", {"shape": 0.35, "glasses": True})

    page.click(".fs-preset-delete")
    assert "Mine 人" not in page.inner_text(".fs-preset")
    value = json.loads(path.read_text(encoding="utf-8")) | {"name": "Back", "options": {"strength": 0.5, "beard": "source"}}
    path.write_text(json.dumps(value), encoding="utf-8")
    page.set_input_files(".fs-presets input[type=file]", str(path))
    page.wait_for_function("() => document.querySelector('.fs-preset').selectedOptions[0].textContent === 'Back'")
    assert strength(page) == "50"
    assert page.is_checked("[data-option=beard][value=source]")
    assert page.input_value("[data-option=shape]") == "100"


def test_what_is_no_preset_changes_nothing(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit().page
    open_panel(page)
    path = tmp_path / "x.json"
    for text in ("{", '{"format": "fusion-studio-preset", "version": 1, "name": "X", "options": {"shape": 7}}', "[]"):
        path.write_text(text, encoding="utf-8")
        page.evaluate("document.querySelector('.fs-presets [role=status]').textContent = ''")
        page.set_input_files(".fs-presets input[type=file]", str(path))
        page.wait_for_function("() => document.querySelector('.fs-presets [role=status]').textContent.includes('x.json')")
    assert page.input_value("[data-option=shape]") == "100"
