"""The page's text encoder: a cache a visitor, whole pieces coloured, and what is told of both times."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.text import LANGUAGES
from engines.timing import Run
from engines.tokens.text import tokenizer
from studio.encoding import Encoders
from studio.encoding_panels import encoding_panel
from studio.visitors import MOST

FIRST, SECOND = "a photo of a cat, laughing", "a photo of a cat, asleep"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    pytest.importorskip("transformers", reason="needs the extra portrait")
    from engines.text_encoder.weights import seeded

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    path = tmp_path_factory.mktemp("weights") / "tiny"
    seeded({"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}).save_pretrained(path)
    yield path
    torch.set_num_threads(threads)


def encoded(encoders: Encoders, visitor: str, text: str) -> Any:
    return encoders.encode(visitor, text, tokenizer("clip"), Run())


def known(html: str) -> list[str]:
    """The words of the chips that came from the cache, in the rows."""
    return re.findall(r'data-known="yes">([^<]*)<', html.split('class="fs-tokens" lang', 1)[1])


def test_the_shared_beginning_comes_from_the_visitors_own_cache(folder: Path) -> None:
    encoders = Encoders(str(folder))
    assert encoded(encoders, "one", FIRST).compared.reused == (0,)
    assert encoded(encoders, "two", FIRST).compared.reused == (0,)
    found = encoded(encoders, "one", SECOND)
    assert found.compared.reused == (7,)  # start, a, photo, of, a, cat and the comma
    assert known(encoding_panel(found, "en")) == ["start", "a", "photo", "of", "a", "cat", ","]
    encoders.forget("one")
    assert encoded(encoders, "one", FIRST).compared.counters.misses == 1


def test_a_long_prompt_is_a_row_a_chunk_and_the_same_again_is_found_whole(folder: Path) -> None:
    encoders = Encoders(str(folder))
    encoded(encoders, "", "cat " * 100)
    found = encoded(encoders, "", "cat " * 100)
    assert found.compared.reused == (77, 77)
    assert [len(part) for part in found.parts] == [75, 25]
    assert encoding_panel(found, "en").count('data-known="no"') == 1  # the legend's


def test_no_more_visitors_are_kept_than_there_is_room_for(folder: Path) -> None:
    encoders = Encoders(str(folder))
    for number in range(MOST + 1):
        encoded(encoders, str(number), FIRST)
    assert encoded(encoders, str(MOST), FIRST).compared.reused == (77,)
    assert encoded(encoders, "0", FIRST).compared.reused == (0,)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_panel_tells_all_and_escapes_what_was_typed(folder: Path, language: str) -> None:
    found = encoded(Encoders(str(folder)), "", "<b>&amp; BREAK " + FIRST)
    html = encoding_panel(found, language)
    assert "<b>" not in html
    assert html.count('lang="und"') == 2
    assert "tiny" in html
    assert "FUSION_STUDIO_TEXT_MODEL" not in html
