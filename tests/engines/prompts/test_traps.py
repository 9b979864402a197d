"""Prompts that a shortener gets wrong when it goes by words, with what must become of each: `traps.txt`."""

from pathlib import Path

import pytest

from engines.prompts.optimise import optimise

Case = tuple[str, str, str, str]  # level, source, text, negative


def _cases() -> list[Case]:
    level, found = "", list[Case]()
    for line in (Path(__file__).parent / "traps.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            level = line[3:]
        elif line.endswith(" ="):
            found += [(each, line[:-2], line[:-2], "") for each in ("safe", "compact")]
        elif line and not line.startswith("# "):
            source, _, rest = line.partition(" → ")
            text, _, negative = rest.partition(" ¬ ")
            found.append((level, source, text, negative))
    return found


CASES = _cases()


@pytest.mark.parametrize(("level", "source", "text", "negative"), CASES, ids=[f"{level}: {source}" for level, source, *_ in CASES])
def test_a_trap(level: str, source: str, text: str, negative: str) -> None:
    found = optimise(source, level)
    assert (found.text, found.negative) == (text, negative), found.changes
