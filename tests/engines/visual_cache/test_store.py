"""Features in memory and on disk."""

import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("safetensors", reason="needs the extra portrait")

from engines.visual_cache.store import SUFFIX, FeatureStore  # noqa: E402

ONE = 4 * 100  # bytes of a tensor of 100


def tensor(value: int) -> "torch.Tensor":
    return torch.full((10, 10), float(value))


def test_what_was_put_is_got_and_counted() -> None:
    store = FeatureStore()
    assert store.get("a") is None
    store.put("a", tensor(1), seconds=0.25)
    assert torch.equal(store.get("a"), tensor(1))
    assert (store.counters.memory, store.counters.misses, store.counters.saved) == (1, 1, 0.25)
    assert store.memory_bytes == ONE


def test_memory_keeps_what_was_used_last() -> None:
    store = FeatureStore(memory_bytes=2 * ONE)
    for i, key in enumerate("ab"):
        store.put(key, tensor(i))
    store.get("a")
    store.put("c", tensor(2))
    assert [store.get(key) is not None for key in "abc"] == [True, False, True]
    assert (store.memory_bytes, store.counters.evicted) == (2 * ONE, 1)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_folder_outlives_the_store_to_the_last_bit(tmp_path: Path, dtype: str) -> None:
    made = torch.randn(7, 5).to(getattr(torch, dtype))
    FeatureStore(tmp_path).put("a", made, seconds=2.0)
    again = FeatureStore(tmp_path)
    assert torch.equal(again.get("a"), made)
    assert (again.counters.disk, again.counters.saved) == (1, 2.0)
    again.get("a")
    assert again.counters.memory == 1
    assert (tmp_path / f"a{SUFFIX}").stat().st_mode & 0o077 == 0


def test_the_disk_keeps_its_limit(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, memory_bytes=0, disk_bytes=1_200)
    for i in range(6):
        store.put(str(i), tensor(i))
    assert 0 < store.disk_bytes <= 1_200
    assert store.get("5") is not None
    assert store.get("0") is None
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("content", [b"", b"\x00" * 40, b"not a tensor"], ids=["empty", "zeros", "text"])
def test_a_damaged_file_is_a_miss_that_is_counted(tmp_path: Path, content: bytes) -> None:
    store = FeatureStore(tmp_path, memory_bytes=0)
    store.put("a", tensor(1))
    (tmp_path / f"a{SUFFIX}").write_bytes(content)
    assert store.get("a") is None
    assert (store.counters.damaged, store.counters.misses) == (1, 1)
    assert not (tmp_path / f"a{SUFFIX}").exists()


def test_clear_forgets_the_disk_too(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path)
    store.put("a", tensor(1))
    store.clear()
    assert (store.get("a"), store.memory_bytes, store.disk_bytes) == (None, 0, 0)


def test_threads_may_share_it(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, memory_bytes=3 * ONE)
    wrong: list[str] = []

    def work() -> None:
        for i in range(40):
            store.put(str(i % 7), tensor(i % 7))
            found = store.get(str(i % 7))
            if found is not None and not torch.equal(found, tensor(i % 7)):
                wrong.append(str(i))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert store.memory_bytes <= 3 * ONE
