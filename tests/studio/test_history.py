"""Earlier results: the oldest go when they are too many or too heavy, and only results can be forgotten."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.options import FuseOptions
from engines.pipeline import Studio
from studio import history, pictures
from studio.media import Gone, Item, Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "sessions", 3600)
    yield shelf
    shelf.close()


def result(shelf: Shelf, size: int = 10, visitor: str = "me") -> Item:
    group = history.new_group()
    shelf.add(visitor, bytes(size), "before.jpg", "image/jpeg", group)
    return shelf.add(visitor, bytes(size), "after.png", "image/png", group)


def there(shelf: Shelf, item: Item, visitor: str = "me") -> bool:
    try:
        return shelf.get(visitor, item.token).path.exists()
    except Gone:
        return False


@pytest.mark.parametrize(("most", "limit", "left"), [(3, 1000, 3), (10, 45, 2), (10, 5, 1), (1, 1000, 1), (10, 1000, 5)])
def test_the_oldest_go_and_the_newest_stays(shelf: Shelf, most: int, limit: int, left: int) -> None:
    upload, other = shelf.add("me", b"mine", "a.png", "image/png"), result(shelf, visitor="you")
    results = [result(shelf) for _ in range(5)]
    shelf.trim("me", history.GROUP, most, limit)
    assert [there(shelf, item) for item in results] == [False] * (5 - left) + [True] * left
    assert there(shelf, upload)
    assert there(shelf, other, "you")


def test_memory_that_a_promise_keeps_counts(shelf: Shelf) -> None:
    groups = [history.new_group() for _ in range(2)]
    first, second = (shelf.promise("me", "a.png", "image/png", group, lambda: b"", 100) for group in groups)
    shelf.trim("me", history.GROUP, 10, 150)
    with pytest.raises(Gone):
        shelf.get("me", first.token)
    assert shelf.get("me", second.token)


def test_one_that_is_held_is_kept_beside_the_row(shelf: Shelf) -> None:
    kept, *rest = [result(shelf) for _ in range(4)]
    shelf.hold("me", kept.token)
    shelf.trim("me", history.GROUP, 2, 1000)
    shelf.trim("me", history.GROUP, 2, 1000)
    assert [there(shelf, item) for item in (kept, *rest)] == [True, False, True, True]


def test_only_results_are_forgotten_and_by_their_owner(shelf: Shelf) -> None:
    upload, mine = shelf.add("me", b"mine", "a.png", "image/png"), result(shelf)
    for visitor, token in (("me", upload.token), ("you", mine.token), ("me", "nothing")):
        with pytest.raises(Gone):
            history.forget(shelf, visitor, token)
    history.forget(shelf, "me", mine.token)
    assert there(shelf, upload)
    assert not there(shelf, mine)


def test_the_row_says_what_differs_and_its_picture_is_marked(
    studio: Studio, shelf: Shelf, astronaut: NDArray[np.uint8], officer: NDArray[np.uint8]
) -> None:
    done = studio.fuse(officer, astronaut, FuseOptions(strength=0.8, glasses=False))
    small = pictures.fused_preview(studio, shelf, "me", done.image, history.new_group(), history.THUMB_SIDE)
    entry = history.entry_value(done, "her.png", small)
    face = done.faces[0]
    assert entry["words"]["en"].startswith(f"her.png · face 0: {face.similarity_before:.0f} → {face.similarity_after:.0f} · Strength 80")
    assert "Texture" not in entry["words"]["en"]
    assert entry["words"]["zh-CN"].startswith("her.png · 第 0 张脸")
    assert studio.verify(small.path).labels.names()
