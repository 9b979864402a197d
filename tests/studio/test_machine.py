"""Memory, folders and browsers, as this machine has them and as others might."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from studio.machine import BROWSER_VARIABLE, find_browser, folder, memory


@pytest.mark.parametrize(("limit", "is_limit"), [("max\n", False), ("67108864\n", True), ("nonsense", False), (None, False)])
def test_a_containers_limit_counts(limit: str | None, is_limit: bool, tmp_path: Path) -> None:
    path = tmp_path / "memory.max"
    if limit is not None:
        path.write_text(limit, encoding="ascii")
    found = memory(path)
    assert found.total == (64 << 20 if is_limit else psutil.virtual_memory().total)
    assert 0 < found.available <= found.total


def test_a_folder_that_is_missing_is_asked_for_by_its_parent_and_not_made(tmp_path: Path) -> None:
    found = folder(tmp_path / "a" / "b")
    assert (found.path, found.writable, found.detail) == (tmp_path / "a" / "b", True, "")
    assert found.free > 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    found = folder(tmp_path / "file" / "data")
    assert not found.writable
    assert found.detail


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the owner of the system may write anywhere")
def test_a_folder_without_permission_is_not_writable(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert not folder(tmp_path).writable


@pytest.mark.skipif(sys.platform == "win32", reason="programs are found by their suffix there")
def test_a_browser_is_named_or_found_on_the_path(tmp_path: Path) -> None:
    for name in ("google-chrome", "mine"):
        (tmp_path / name).write_bytes(b"")
        (tmp_path / name).chmod(0o755)
    path = str(tmp_path)
    assert find_browser({"PATH": path}) == str(tmp_path / "google-chrome")
    assert find_browser({"PATH": path, BROWSER_VARIABLE: str(tmp_path / "mine")}) == str(tmp_path / "mine")
    assert find_browser({"PATH": path, BROWSER_VARIABLE: str(tmp_path / "none")}) == "", "a wrong name isn't passed over in silence"
    assert find_browser({"PATH": str(tmp_path / "nothing")}) == ""
