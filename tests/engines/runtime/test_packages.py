"""Two packages behind one import name: who is active, and what mends it."""

from importlib.metadata import version
from pathlib import Path

import pytest

from engines.runtime.packages import package_report, package_status


def runtime_files(folder: Path, package: str, number: str) -> Path:
    (folder / "capi").mkdir(parents=True)
    (folder / "capi" / "build_and_package_info.py").write_text(f"package_name = {package!r}\n__version__ = {number!r}\n", encoding="utf-8")
    return folder


def opencv_files(folder: Path, contrib: bool, headless: bool) -> Path:
    folder.mkdir(parents=True)
    (folder / "version.py").write_text(f'opencv_version = "5.0.0.93"\ncontrib = {contrib}\nheadless = {headless}\n', encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("claimants", "files", "mend"),
    [
        ({"onnxruntime": "1.32.0"}, "onnxruntime", ()),
        ({"onnxruntime-gpu": "1.31.1"}, "onnxruntime-gpu", ()),
        ({}, "ort-nightly", ()),  # built or installed by another way: not ours to mend
        (
            {"onnxruntime-gpu": "1.31.1", "onnxruntime": "1.32.0"},
            "onnxruntime",
            ("pip uninstall -y onnxruntime-gpu onnxruntime", "pip install --no-deps onnxruntime-gpu==1.31.1"),
        ),
        (
            {"onnxruntime-gpu": "1.31.1", "onnxruntime": "1.32.0"},
            "onnxruntime-gpu",
            ("pip uninstall -y onnxruntime-gpu onnxruntime", "pip install --no-deps onnxruntime-gpu==1.31.1"),
        ),
        # The metadata say one, the files are the other's.
        (
            {"onnxruntime": "1.32.0"},
            "onnxruntime-gpu",
            ("pip uninstall -y onnxruntime", "pip install --no-deps onnxruntime==1.32.0"),
        ),
        # One of two was uninstalled and took the files of both.
        ({"onnxruntime": "1.32.0"}, None, ("pip uninstall -y onnxruntime", "pip install --no-deps onnxruntime==1.32.0")),
        ({}, None, ("pip install onnxruntime",)),
    ],
)
def test_onnxruntime(claimants: dict[str, str], files: str | None, mend: tuple[str, ...], tmp_path: Path) -> None:
    folder = runtime_files(tmp_path / "onnxruntime", files, "1.2.3") if files else None
    status = package_status("onnxruntime", claimants, folder)
    assert status.mend == mend
    assert (status.active, status.version) == ((files, "1.2.3") if files else ("", ""))
    assert dict(status.claimants) == claimants


@pytest.mark.parametrize(
    ("claimants", "contrib", "headless", "active", "kept"),
    [
        ({"opencv-python-headless": "5.0"}, False, True, "opencv-python-headless", ""),
        ({"opencv-python": "5.0"}, False, False, "opencv-python", ""),
        ({"opencv-contrib-python": "5.0"}, True, False, "opencv-contrib-python", ""),
        ({"opencv-python-headless": "5.0", "opencv-python": "4.9"}, False, False, "opencv-python", "opencv-python-headless==5.0"),
        (
            {"opencv-contrib-python": "4.9", "opencv-python": "4.9"},
            True,
            False,
            "opencv-contrib-python",
            "opencv-contrib-python-headless==4.9",
        ),
    ],
)
def test_opencv(claimants: dict[str, str], contrib: bool, headless: bool, active: str, kept: str, tmp_path: Path) -> None:
    status = package_status("cv2", claimants, opencv_files(tmp_path / "cv2", contrib, headless))
    assert status.active == active
    assert (status.mend[1].split()[-1] if status.mend else "") == kept


def test_files_that_do_not_say_whose_they_are_count_as_the_claimants(tmp_path: Path) -> None:
    assert package_status("cv2", {"opencv-python-headless": "5.0"}, tmp_path).mend == ()


def test_this_installation_is_told_as_it_is() -> None:
    import cv2
    import onnxruntime

    statuses = {status.module: status for status in package_report()}
    assert statuses["onnxruntime"].version == onnxruntime.__version__
    assert dict(statuses["cv2"].claimants)[statuses["cv2"].active] == version(statuses["cv2"].active)
    assert statuses["cv2"].version.startswith(cv2.__version__)
