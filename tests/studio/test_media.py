"""The shelf: whose file it is, and for how long."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from studio.media import Gone, Shelf, stem_of


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shelf(tmp_path: Path, clock: Clock) -> Shelf:
    return Shelf(tmp_path / "sessions", keep_seconds=60, hold_bytes=100, clock=clock)


def test_a_file_is_its_visitors_alone(shelf: Shelf) -> None:
    item = shelf.add("anna", b"picture", "x.png", "image/png")
    assert shelf.open("anna", item.token).path.read_bytes() == b"picture"
    for stranger in ("berta", ""):
        with pytest.raises(Gone):
            shelf.get(stranger, item.token)
        with pytest.raises(Gone):
            shelf.find(stranger, item.path)
    assert shelf.find("anna", item.path).token == item.token


def test_the_disk_shows_no_names(shelf: Shelf) -> None:
    """Neither what a visitor typed nor the cookie's value, and nobody else may read."""
    item = shelf.add("anna-cookie", b"x", "../../etc/password\n.png", "image/png")
    inside = item.path.relative_to(shelf.root)
    assert "anna" not in str(inside)
    assert "password" not in str(inside)
    assert shelf.root in item.path.resolve().parents
    assert item.path.parent.stat().st_mode & 0o077 == 0
    assert item.name == "../../etc/password\n.png"


def test_a_file_goes_after_its_time(shelf: Shelf, clock: Clock) -> None:
    old = shelf.add("anna", b"x", "a.png", "image/png")
    clock.now += 40
    young = shelf.add("anna", b"y", "b.png", "image/png")
    clock.now += 30
    with pytest.raises(Gone):
        shelf.get("anna", old.token)
    shelf.sweep()
    assert not old.path.exists()
    assert shelf.get("anna", young.token).path.exists()
    clock.now += 60
    shelf.sweep()
    assert list(shelf.root.iterdir()) == []


def test_a_promise_is_kept_once(shelf: Shelf) -> None:
    calls = []
    item = shelf.promise("anna", "x.webp", "image/webp", "swap", lambda: calls.append(1) or b"made", held=10)
    assert not item.path.exists()
    for _ in range(3):
        assert shelf.open("anna", item.token).path.read_bytes() == b"made"
    assert calls == [1]


def test_a_broken_promise_leaves_nothing_half_written(shelf: Shelf) -> None:
    def fails() -> bytes:
        raise ValueError("no")

    item = shelf.promise("anna", "x.webp", "image/webp", "swap", fails, held=10)
    with pytest.raises(ValueError, match="no"):
        shelf.open("anna", item.token)
    assert list(item.path.parent.iterdir()) == []


def test_memory_that_waits_for_downloads_is_bounded(shelf: Shelf) -> None:
    first = shelf.promise("anna", "a", "t", "one", lambda: b"", held=60)
    second = shelf.promise("anna", "b", "t", "two", lambda: b"", held=60)
    with pytest.raises(Gone):
        shelf.get("anna", first.token)
    assert shelf.get("anna", second.token)
    huge = shelf.promise("berta", "c", "t", "three", lambda: b"", held=1000)  # the newest stays, whatever its size
    assert shelf.get("berta", huge.token)
    with pytest.raises(Gone):
        shelf.get("anna", second.token)


def test_the_newest_group_stays_whole(shelf: Shelf) -> None:
    items = [shelf.promise("anna", name, "t", "same", lambda: b"", held=80) for name in "abc"]
    assert all(shelf.get("anna", item.token) for item in items)


def test_a_group_is_replaced_together(shelf: Shelf) -> None:
    gone = [shelf.add("anna", b"x", name, "t", group="swap") for name in "ab"]
    kept = shelf.add("anna", b"x", "c", "t", group="align"), shelf.add("berta", b"x", "d", "t", group="swap")
    shelf.clear("anna", "swap")
    assert not any(item.path.exists() for item in gone)
    assert all(item.path.exists() for item in kept)


def test_a_name_is_as_hard_to_guess_as_a_key(shelf: Shelf) -> None:
    tokens = {shelf.add("anna", b"", "a", "t").token for _ in range(50)}
    assert len(tokens) == 50
    assert min(len(token) for token in tokens) >= 32  # 24 random bytes


def test_close_deletes_everything(shelf: Shelf) -> None:
    shelf.add("anna", b"x", "a", "t")
    shelf.close()
    assert not shelf.root.exists()


def test_two_who_ask_at_once_both_get_it(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that shows a picture while its visitor downloads it: both have written it before either puts it in its place."""
    both, write = threading.Barrier(2, timeout=60), Path.write_bytes

    def written(path: Path, data: bytes) -> int:
        count = write(path, data)
        both.wait()
        return count

    monkeypatch.setattr(Path, "write_bytes", written)
    item = shelf.promise("anna", "x.png", "image/png", "g", lambda: b"1", held=1)
    with ThreadPoolExecutor(2) as pool:
        found = [each.result() for each in [pool.submit(shelf.open, "anna", item.token) for _ in range(2)]]
    assert [each.path.read_bytes() for each in found] == [b"1", b"1"]
    assert [path.name for path in item.path.parent.iterdir()] == [item.path.name]


def test_what_is_dropped_while_it_is_made_is_gone(shelf: Shelf) -> None:
    def made() -> bytes:
        shelf.clear("anna", "g")
        return b"1"

    item = shelf.promise("anna", "x.png", "image/png", "g", made, held=1)
    with pytest.raises(Gone):
        shelf.open("anna", item.token)


def test_many_threads_at_once(shelf: Shelf) -> None:
    shelf.hold_bytes = 1 << 30
    made: dict[int, bytes] = {}

    def visit(number: int) -> None:
        for turn in range(20):
            item = shelf.promise(f"v{number}", "x.png", "image/png", f"g{turn}", lambda: b"%d" % number, held=1)
            made[number] = shelf.open(f"v{number}", item.token).path.read_bytes()

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == {number: b"%d" % number for number in range(6)}


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a.b.jpg", "a.b"),
        ("", "picture"),
        ("人像 テスト.png", "人像 テスト"),
        ("no-suffix", "no-suffix"),
        ("n" * 250 + ".jpg", "n" * 180),
        ("人" * 80 + ".png", "人" * 60),
    ],
)
def test_a_name_leaves_room_for_what_is_added(name: str, stem: str) -> None:
    assert stem_of(name) == stem
    assert len(f"{stem}-face12-512.png".encode()) < 255


def test_what_is_held_outlives_its_group(shelf: Shelf) -> None:
    """The next result takes the group's place; the one that was kept stays, whole, until it isn't kept any more."""
    kept = [shelf.add("anna", b"x", name, "image/png", "swap") for name in ("after.png", "before.jpg")]
    shelf.hold("anna", kept[0].token)
    shelf.clear("anna", "swap")
    fresh = shelf.add("anna", b"y", "b.png", "image/png", "swap")
    assert [shelf.open("anna", item.token).path.read_bytes() for item in kept] == [b"x", b"x"]
    shelf.hold("anna", kept[0].token)  # once more: what belongs to it is as it was
    shelf.release("anna", kept[0].token)
    for item in kept:
        assert not item.path.exists()
    assert fresh.path.exists()
    shelf.release("anna", kept[0].token)  # nothing is held: nothing happens


def test_what_is_still_shown_outlives_its_release(shelf: Shelf) -> None:
    shown = shelf.add("anna", b"x", "a.png", "image/png", "swap")
    shelf.hold("anna", shown.token)
    shelf.release("anna", shown.token)
    assert shown.path.exists()


def test_nobody_holds_what_is_anothers_or_beyond_its_time(shelf: Shelf, clock: Clock) -> None:
    item = shelf.add("anna", b"x", "a.png", "image/png", "swap")
    with pytest.raises(Gone):
        shelf.hold("berta", item.token)
    shelf.release("berta", item.token)
    shelf.hold("anna", item.token)
    clock.now += 61
    shelf.sweep()
    assert not item.path.exists()
