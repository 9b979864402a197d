import os
from pathlib import Path

import pytest

from engines.runtime.cores import usable_cores


@pytest.mark.parametrize(
    ("quota", "granted", "cores"),
    [
        ("max 100000\n", 8, 8),
        ("200000 100000\n", 8, 2),
        ("150000 100000\n", 8, 2),  # a quota of one and a half is rounded
        ("20000 100000\n", 8, 1),  # a fifth of a processor is still one thread
        ("1600000 100000\n", 8, 8),  # more than the machine has
        ("0 0", 8, 8),
        ("not a quota at all", 8, 8),
        ("", 8, 8),
        (None, 3, 3),
    ],
)
def test_mask_and_quota_both_count(quota: str | None, granted: int, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(granted)), raising=False)
    path = tmp_path / "cpu.max"
    if quota is not None:
        path.write_text(quota, encoding="ascii")
    assert usable_cores(path) == cores


def test_without_a_mask_the_machine_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores(tmp_path / "nothing") == 1
