"""The prefix cache under the Prompt tab, in a browser: with a tiny model in a folder, and without torch."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

WORDS, ANSWER = "#prompt-words textarea", "#panel-encode"
TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("transformers") is not None


def encode(page: Any, words: str, waits: str) -> None:
    page.fill(WORDS, words)
    page.wait_for_function("said => document.querySelector('#panel-prompt pre')?.textContent === said", arg=words)
    page.click("#encode-go")
    page.wait_for_selector(f"{ANSWER} {waits}")


@pytest.mark.skipif(TORCH, reason="torch is installed")
def test_without_torch_it_is_told_what_to_install(visit_once: Any) -> None:
    page = visit_once("?tab=prompt").page
    encode(page, "photo of man", ".fs-notice")
    assert "fusion-studio[portrait]" in page.inner_text(ANSWER)


@pytest.mark.skipif(not TORCH, reason="needs the extra portrait")
def test_what_came_from_the_cache_is_coloured(visit_studio: Any, tmp_path: Path, artifacts: Path) -> None:
    from engines.text_encoder.weights import seeded

    seeded({"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}).save_pretrained(
        tmp_path / "tiny"
    )
    (tmp_path / "data").mkdir()
    page = visit_studio(tmp_path / "data", "?tab=prompt", FUSION_STUDIO_TEXT_MODEL=str(tmp_path / "tiny")).page
    known = f"{ANSWER} .fs-tokens[lang] [data-known=yes]"
    encode(page, "photo of man, laughing", "dl")
    assert page.locator(known).count() == 0
    encode(page, "photo of man, asleep", ".fs-tokens[lang] [data-known=yes]")
    assert page.locator(known).all_inner_texts() == ["start", "photo", "of", "man", ","]
    page.screenshot(path=artifacts / "encode.png", full_page=True)
    page.click("#encode-forget")
    page.wait_for_selector(f"{ANSWER} .fs-empty")
