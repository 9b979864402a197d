"""What the page says of the visual cache."""

from types import SimpleNamespace
from typing import Any

import pytest

from engines.text import LANGUAGES
from engines.visual_cache.model import Looked
from engines.visual_cache.store import Counters
from studio.looking_panel import looking_panel


def told(language: str, hit: bool, name: str) -> str:
    done = Looked(hit, (256, 32), 0.5, 20.0, 0.0, Counters(memory=3, misses=1, saved=0.0625), 32 << 20)
    vision: Any = SimpleNamespace(name=name, seeded=not name, parameters=2_000_000, device="cpu")
    return looking_panel(done, vision, 224, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_hits_misses_bytes_and_time_saved(language: str) -> None:
    html = told(language, True, "<b>model")
    for words in ("256 × 32", "62.5", "40.00", "75%", "32.0", "&lt;b&gt;model"):
        assert words in html
    assert "FUSION_STUDIO_VISION_MODEL" not in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_demonstration_says_that_it_is_one(language: str) -> None:
    assert "FUSION_STUDIO_VISION_MODEL" in told(language, False, "")
    assert told(language, False, "") != told(language, True, "")
