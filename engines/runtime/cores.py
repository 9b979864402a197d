"""How many processors this process may really use."""

import os
from pathlib import Path

CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(quota: Path = CGROUP_QUOTA) -> int:
    """Processors that the scheduler grants: at least 1.

    ONNX Runtime's own count is the machine's. In a container with a quota of 2 on a host of 64 it would start 64 threads, which the
    kernel then stops for most of each 100 ms period; so the affinity mask and the cgroup's quota count.

    Args:
        quota: a cgroup v2 `cpu.max`: "quota period" in microseconds, or "max period" without a limit.
    """
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit, period = _quota(quota)
    return max(1, min(granted, round(limit / period)) if limit and period else granted)


def _quota(path: Path) -> tuple[int, int]:
    """(quota, period); zeros where there is no cgroup v2 or no limit."""
    if not path.is_file():
        return 0, 0
    words = path.read_text(encoding="ascii").split()
    return (int(words[0]), int(words[1])) if len(words) == 2 and all(word.isdigit() for word in words) else (0, 0)
