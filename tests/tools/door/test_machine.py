import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.door import machine
from tools.door.words import Stop


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it; the folder may be filled."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine, "BROWSER_FILES", ())
    monkeypatch.setattr(machine, "LIBRARY_FOLDERS", (str(tmp_path),))
    for name in ("FUSION_STUDIO_CHROMIUM", "FUSION_STUDIO_REQUIRE_BROWSER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def program(folder: Path, name: str) -> str:
    path = folder / (f"{name}.exe" if os.name == "nt" else name)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_browser_given_comes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chrome = program(bare, "google-chrome")
    assert machine.find_browser("") == chrome
    chromium = program(bare, "chromium")
    assert machine.find_browser("required") == chromium
    given = program(bare, "my-browser")
    monkeypatch.setenv("FUSION_STUDIO_CHROMIUM", given)
    assert machine.find_browser("") == given


def test_an_installed_app_is_found(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edge = program(bare, "edge-app")
    monkeypatch.setenv("ProgramFiles(x86)", str(bare))
    monkeypatch.setattr(machine, "BROWSER_FILES", ("{ProgramFiles(x86)}/" + Path(edge).name,))
    assert Path(machine.find_browser("")) == Path(edge)


def test_no_browser_is_said_or_is_an_error(bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert machine.find_browser("") == ""
    assert "chromium" in capsys.readouterr().err
    with pytest.raises(Stop) as stop:
        machine.find_browser("required")
    assert stop.value.key == "browser_required"
    monkeypatch.setenv("FUSION_STUDIO_REQUIRE_BROWSER", "1")
    with pytest.raises(Stop):
        machine.find_browser("")
    monkeypatch.setenv("FUSION_STUDIO_CHROMIUM", str(bare / "gone"))
    with pytest.raises(Stop) as stop:
        machine.find_browser("")
    assert stop.value.key == "browser_wrong"


@pytest.mark.skipif(sys.platform == "win32", reason="there the driver's library is in a fixed folder")
def test_a_driver_is_seen_by_its_program_or_its_library(bare: Path) -> None:
    assert not machine.nvidia()
    (bare / "libcuda.so.1").touch()
    assert machine.nvidia()
    (bare / "libcuda.so.1").unlink()
    program(bare, "nvidia-smi")
    assert machine.nvidia()


@pytest.mark.parametrize(
    ("answer", "usable"),
    [("580.65.06\n580.65.06\n", True), ("591.1", True), ("579.99", False), ("", False), ("NVIDIA-SMI has failed", False), (None, False)],
)
def test_the_driver_must_know_cuda_13(answer: str | None, usable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> Any:
        if answer is None:
            raise FileNotFoundError("nvidia-smi")
        return subprocess.CompletedProcess([], 0, stdout=answer)

    monkeypatch.setattr(subprocess, "run", run)
    assert machine.cuda_usable() is usable
