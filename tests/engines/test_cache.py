"""The byte-bounded cache."""

from hypothesis import given
from hypothesis import strategies as st

from engines.cache import ByteCache


def test_a_value_is_made_once() -> None:
    cache, made = ByteCache(100), []

    def make() -> bytes:
        made.append(1)
        return b"x" * 10

    assert cache.get("a", make, len) is cache.get("a", make, len)
    assert len(made) == 1


def test_the_least_recently_used_goes_first() -> None:
    cache = ByteCache(30)
    for name in "abc":
        cache.get(name, lambda: bytes(10), len)
    cache.get("a", lambda: b"", len)  # used again: "b" is now the oldest
    cache.get("d", lambda: bytes(10), len)
    made: list[str] = []
    for name in "acd":
        cache.get(name, lambda name=name: made.append(name) or b"", len)
    assert made == []
    cache.get("b", lambda: made.append("b") or bytes(10), len)
    assert made == ["b"]


def test_a_value_larger_than_the_limit_is_returned_and_not_kept() -> None:
    cache = ByteCache(5)
    assert cache.get("a", lambda: bytes(6), len) == bytes(6)
    assert (len(cache), cache.nbytes) == (0, 0)


def test_clearing_gives_the_bytes_back() -> None:
    cache = ByteCache(50)
    cache.get("a", lambda: bytes(20), len)
    assert cache.nbytes == 20
    cache.clear()
    assert (len(cache), cache.nbytes) == (0, 0)


@given(st.integers(0, 200), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 60)), max_size=60))
def test_never_over_the_limit(limit: int, uses: list[tuple[int, int]]) -> None:
    cache = ByteCache(limit)
    for key, size in uses:
        cache.get((key, size), lambda size=size: bytes(size), len)
        assert cache.nbytes <= limit
