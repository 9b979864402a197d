"""What every bench prints: a table for people, JSON for machines."""

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def interleaved(jobs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median milliseconds of each job; the jobs take turns, so that a busy moment of the machine hits all of them.

    Their order turns round each time: whoever always ran after a job that sweeps the caches would look slower (up to twice).
    """
    times: dict[str, list[float]] = {name: [] for name in jobs}
    order = list(jobs.items())
    for _ in range(rounds):
        order.reverse()
        for name, job in order:
            begun = time.perf_counter()
            job()
            times[name].append((time.perf_counter() - begun) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def show(name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Prints the rows as a table and writes them, with the machine's facts, to `bench/results/<name>.json`."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in [columns, *cells]) for i in range(len(columns))]
    for line in [columns, ["-" * width for width in widths], *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    RESULTS.mkdir(exist_ok=True)
    answer = {"bench": name, "machine": machine | {"arguments": sys.argv[1:]}, "rows": list(rows)}
    (RESULTS / f"{name}.json").write_text(json.dumps(answer, indent=1), encoding="utf-8")
    print(json.dumps(answer))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}"
    return "" if value is None else str(value)
