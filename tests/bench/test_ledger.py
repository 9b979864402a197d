"""A few of the kills that the bench makes: files and ledger agree, whatever was killed."""

import os
from pathlib import Path

import pytest

from bench.ledger import asked, killed


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_killed_at_random_moments(tmp_path: Path) -> None:
    counted = killed(tmp_path, 5, seed=3)
    assert counted["files"] > 10
    assert (counted["unmarked"], counted["files without a line"], counted["lines without a file"], counted["left behind"]) == (0, 0, 0, 0)


def test_the_rows_are_asked() -> None:
    assert {row["what"] for row in asked(300)} >= {"id", "SHA-256", "look"}
