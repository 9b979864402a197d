"""CLIP's window of 77 and the chunks of 75."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.tokens.text import load
from engines.tokens.window import BREAK, chunks, split

CLIP, O200K = load()["clip"], load()["o200k"]
ROOM = 75
PROMPTS = st.lists(st.sampled_from(["cat", "supercalifragilistic", "BREAK", "🎨", "戴眼镜", ",", "(red:1.2)", "x" * 90]), max_size=120).map(
    " ".join
)


@pytest.mark.parametrize(("words", "read", "lost"), [(0, 0, 0), (75, 75, 0), (76, 75, 1), (100, 75, 25)])
def test_what_falls_off_the_window(words: int, read: int, lost: int) -> None:
    window = split(CLIP.encode("cat " * words), CLIP)
    assert (len(window.read), len(window.lost)) == (read, lost)


def test_a_character_is_read_whole_or_not_at_all() -> None:
    text = "cat " * 74 + "🦩"
    assert len(CLIP.encode(text)[-1].ids) > 1
    assert [piece.text for piece in split(CLIP.encode(text), CLIP).lost] == ["🦩"]


def test_without_a_window_everything_is_read() -> None:
    assert split(O200K.encode("cat " * 500), O200K).lost == ()
    assert len(chunks("cat " * 500, O200K)) == 1


def test_chunks_end_at_break_and_before_a_word() -> None:
    text = "red hair BREAK " + "cat " * 74 + "supercalifragilisticexpialidocious end"
    found = [text[chunk.start : chunk.end] for chunk in chunks(text, CLIP)]
    assert found == ["red hair", "cat " * 74, "supercalifragilisticexpialidocious end"]


def test_break_inside_a_word_or_in_small_letters_is_a_word() -> None:
    assert len(chunks("BREAKFAST, break", CLIP)) == 1


def test_a_word_longer_than_the_window_is_cut() -> None:
    found = chunks("x" * 900, CLIP)
    assert len(found) > 1
    assert [token for chunk in found for token in chunk.ids] == [token for piece in CLIP.encode("x" * 900) for token in piece.ids]


@pytest.mark.parametrize("text", ["", "  ", "BREAK", "BREAK BREAK"])
def test_a_text_without_a_token_is_one_empty_chunk(text: str) -> None:
    assert [chunk.ids for chunk in chunks(text, CLIP)] == [()]


@given(text=PROMPTS)
@settings(max_examples=80, deadline=None)
def test_no_token_is_lost_and_every_chunk_fits(text: str) -> None:
    found = chunks(text, CLIP)
    parts = [token for part in BREAK.split(text) for piece in CLIP.encode(part) for token in piece.ids]
    assert [token for chunk in found for token in chunk.ids] == parts
    assert all(len(chunk.ids) <= ROOM for chunk in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
