"""How many processors this process may really use."""

import os
from pathlib import Path

CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(quota: Path = CGROUP_QUOTA) -> int:
    """Processors that the scheduler grants: at least 1.

    ONNX Runtime's own count is the machine's. In a container with a quota of 2 on a host of 64 it would start 64 threads, which the
    kernel then stops for most of each 100 ms period; so the affinity mask and the cgroup's quota (v2, `cpu.max`: "quota period"
    in microseconds, or "max") count.
    """
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        limit, period = quota.read_text(encoding="ascii").split()[:2]
        granted = min(granted, round(int(limit) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        pass  # no cgroup v2, no quota ("max"), or a file of another shape: the mask alone counts
    return max(granted, 1)
