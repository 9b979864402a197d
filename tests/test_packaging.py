"""What is installed: the pins fit the project, and a built wheel holds all that the code reads."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
TOML: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = TOML["project"]
LINES = [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
MACHINES = [
    {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.4", "sys_platform": platform, "platform_machine": "x86_64"}
    for minor in (11, 12, 13)
    for platform in ("linux", "darwin", "win32")
]


def pinned(machine: dict[str, str]) -> dict[str, str]:
    """Name → version on that machine."""
    pins = [line.partition(" ; ") for line in LINES]
    held = [pin.split("==") for pin, _, marker in pins if not marker or Marker(marker).evaluate(machine)]
    assert len({name for name, _ in held}) == len(held), "one version of each"
    return dict(held)


def test_every_line_is_an_exact_pin_without_an_address() -> None:
    for line in LINES:
        assert re.fullmatch(r"[a-z0-9._-]+==[^\s/@:]+( ; .+)?", line), line


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: f"{machine['sys_platform']}-{machine['python_version']}")
def test_what_the_project_asks_for_is_pinned_within_its_range(machine: dict[str, str]) -> None:
    pins = pinned(machine)
    for text in [*PROJECT["dependencies"], *(one for extra in PROJECT["optional-dependencies"].values() for one in extra)]:
        wanted = Requirement(text)
        if wanted.name != "torch" and (wanted.marker is None or wanted.marker.evaluate(machine)):
            assert wanted.specifier.contains(pins[wanted.name]), text
    assert not [name for name in pins if name in ("torch", "opencv-contrib-python") or name.startswith("nvidia-")]


def test_the_base_needs_no_torch_and_no_gpu() -> None:
    names = {Requirement(text).name for text in PROJECT["dependencies"]}
    assert {"onnxruntime", "opencv-python-headless"} <= names
    assert not names & {"torch", "onnxruntime-gpu", "opencv-python", "insightface", "invisible-watermark"}


def test_both_torches_fit() -> None:
    torch = next(Requirement(text) for text in PROJECT["optional-dependencies"]["torch"])
    assert all(torch.specifier.contains(version) for version in ("2.13.0", "2.14.1"))


def test_a_wheel_holds_the_assets(tmp_path: Path) -> None:
    """Built for real, with the model files cut to their names: they are 80 MB."""
    source = tmp_path / "source"
    skip = shutil.ignore_patterns("__pycache__")
    for folder in ("engines", "studio"):
        shutil.copytree(ROOT / folder, source / folder, ignore=skip)
    shutil.copytree(ROOT / "assets", source / "assets", copy_function=lambda _, to: Path(to).touch())
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, source)
    (source / "README.md").write_text("# Fusion Studio\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(tmp_path),
        str(source),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        inside = set(wheel.namelist())
        entry_points = next(wheel.read(name).decode() for name in inside if name.endswith("entry_points.txt"))
    files = [path for folder in ("assets", "engines", "studio") for path in (source / folder).rglob("*") if path.is_file()]
    wanted = {path.relative_to(source).as_posix() for path in files if path.suffix not in (".pyc", ".so")}
    assert {"assets/models.toml", "assets/locales/zh-CN/errors.json", "assets/models/centerface.onnx", "engines/text.py"} <= wanted
    assert wanted <= inside
    assert not [name for name in inside if name.startswith(("tests/", "tools/", "build/"))]
    assert "fusion-studio = studio.cli:main" in entry_points
