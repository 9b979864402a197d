"""Each shipped tokenizer against the model's own, over a committed table; pieces, limits and files that are none."""

import json
import lzma
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.errors import InvalidOption, TokenizerUnusable
from engines.tokens import text as room
from engines.tokens.text import LONGEST, TextTokenizer, count, load, own, tokenizer
from tools.text_tokenizers import TABLE, TEXTS

TABLE_OF_IDS = json.loads(TABLE.read_text(encoding="utf-8"))
SHIPPED = load()


def ids(of: TextTokenizer, text: str) -> list[int]:
    return [token for piece in of.encode(text) for token in piece.ids]


def test_the_table_is_that_of_the_tool() -> None:
    assert TABLE_OF_IDS["texts"] == list(TEXTS)
    assert set(TABLE_OF_IDS["ids"]) == set(SHIPPED) == {"clip", "o200k", "cl100k", "qwen"}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_tokens_are_those_of_the_models_own_tokenizer(name: str) -> None:
    for text, expected in zip(TABLE_OF_IDS["texts"], TABLE_OF_IDS["ids"][name], strict=True):
        assert ids(SHIPPED[name], text) == expected, text
        assert SHIPPED[name].count(text) == len(expected)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("clip", "a photo of a cat", [320, 1125, 539, 320, 2368]),  # as OpenAI's CLIP encodes it
        ("cl100k", "tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),  # the example of OpenAI's cookbook
        ("o200k", "tiktoken is great!", [83, 8251, 2488, 382, 2212, 0]),
    ],
)
def test_published_examples(name: str, text: str, expected: list[int]) -> None:
    assert ids(SHIPPED[name], text) == expected


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
@given(text=st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_the_pieces_are_the_text(name: str, text: str) -> None:
    """OpenAI's tokenizers keep every character; only a lone surrogate is replaced, by one character."""
    pieces = SHIPPED[name].encode(text)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.ids for piece in pieces)


@pytest.mark.parametrize("name", ["clip", "qwen"])
@given(text=st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_pieces_lie_in_order_and_hold_all_tokens(name: str, text: str) -> None:
    pieces = SHIPPED[name].encode(text)
    assert all(piece.text == text[piece.start : piece.end] for piece in pieces)
    assert all(before.end <= after.start for before, after in pairwise(pieces))
    assert sum(len(piece.ids) for piece in pieces) == SHIPPED[name].count(text)


def test_an_emoji_of_several_tokens_is_one_piece() -> None:
    pieces = SHIPPED["cl100k"].encode("a🦩b")
    assert [piece.text for piece in pieces] == ["a", "🦩", "b"]
    assert len(pieces[1].ids) > 1


def test_half_a_surrogate_pair_is_counted_as_the_replacement_character() -> None:
    assert count("a\ud83d", "o200k") == count("a\ufffd", "o200k")


@pytest.mark.parametrize("unit", [" ", "a", "你", "\n ", "🎨", "e\u0301"], ids=["blank", "letter", "CJK", "lines", "emoji", "combining"])
@pytest.mark.parametrize("name", SHIPPED)
def test_a_long_run_of_anything_is_counted(name: str, unit: str) -> None:
    """A run of 100,000 blanks overflows the stack of pattern engines that go back on their steps."""
    many, few = SHIPPED[name].count(unit * 100_000), SHIPPED[name].count(unit * 10_000)
    assert few <= many <= 11 * max(few, 1)


def test_a_text_beyond_the_limit_is_refused() -> None:
    with pytest.raises(InvalidOption, match="text"):
        count("a" * (LONGEST + 1), "clip")


def test_an_unknown_tokenizer_is_named_with_those_there_are() -> None:
    with pytest.raises(InvalidOption) as caught:
        tokenizer("gpt-9")
    assert "clip" in caught.value.hint()


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    (tmp_path / "tokenizers").mkdir()
    return tmp_path


def test_a_dropped_tokenizer_is_one_more(data_dir: Path) -> None:
    plain = lzma.decompress((room.FOLDER / "clip.json.xz").read_bytes())
    (data_dir / "tokenizers" / "my-clip.json").write_bytes(plain)
    assert list(load(data_dir)) == [*SHIPPED, "my-clip"]
    assert count("a photo of a cat", "my-clip", data_dir) == 5


@pytest.mark.parametrize(
    "content", [b"", b"{", b"{}", b"\xff\xfe", b"[1]", b"null"], ids=["empty", "cut", "no keys", "no text", "list", "null"]
)
def test_a_file_that_is_no_tokenizer_is_said(data_dir: Path, content: bytes) -> None:
    path = data_dir / "tokenizers" / "bad.json"
    path.write_bytes(content)
    with pytest.raises(TokenizerUnusable) as caught:
        own(path).count("a")
    assert caught.value.reason == "damaged"


def test_a_missing_a_changed_and_a_huge_file_are_said(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = data_dir / "tokenizers" / "gone.json"
    with pytest.raises(TokenizerUnusable) as caught:
        own(path).count("a")
    assert caught.value.reason == "missing"
    shutil.copy(room.FOLDER / "clip.json.xz", path)
    with pytest.raises(TokenizerUnusable) as caught:
        TextTokenizer("c", "c", "", path, "0" * 64, 0, "", 0, "", "", "").count("a")
    assert caught.value.reason == "changed"
    monkeypatch.setattr(room, "LARGEST_FILE", 100)
    with pytest.raises(TokenizerUnusable) as caught:
        own(path).count("b")
    assert caught.value.reason == "too_large"
