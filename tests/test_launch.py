"""The real launch.py in a throw-away house (tests/house): real environments, real pip, no network."""

import ast
import errno
import json
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import launch
from tools.door.words import Stop, words

ROOT = Path(__file__).resolve().parent.parent
write_wheel = runpy.run_path(str(ROOT / "tests" / "house" / "backend.py"))["write_wheel"]
NOWHERE = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9", "PIP_RETRIES": "0"}  # port 9, discard: nobody listens


class House:
    """A copy of the project in miniature, and starts of its launch.py."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.venv, self.log = folder, folder / ".venv", folder / "pip.log"
        self.wheels = folder.parent / "wheels"  # pip splits PIP_FIND_LINKS at spaces
        shutil.copytree(ROOT / "tests" / "house", folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "tools" / "door", folder / "tools" / "door", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "tools" / "__init__.py", folder / "tools")
        shutil.copy(ROOT / "launch.py", folder)
        for language in ("en", "zh-CN"):
            target = folder / "assets" / "locales" / language
            target.mkdir(parents=True)
            shutil.copy(ROOT / "assets" / "locales" / language / "launch.json", target)
        self.pyproject = folder / "pyproject.toml"
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "FUSION_STUDIO_"))}
        self.environ |= {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": str(self.wheels)}
        self.environ |= {"PIP_LOG": str(self.log), "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}
        self.wheels.mkdir()

    def begin(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(self.folder / "launch.py"), *arguments]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, env={**self.environ, **environ}, cwd=self.folder.parent, **pipes)

    def start(self, *arguments: str, **environ: str) -> tuple[int, str, str]:
        """Exit status, stdout, stderr."""
        with self.begin(*arguments, **environ) as process:
            answer, said = process.communicate(timeout=120)
        return process.returncode, answer, said

    def answer(self, *arguments: str) -> dict[str, Any]:
        """What the house's own command says, when the start goes well."""
        status, answer, said = self.start(*arguments)
        assert status == 0, said
        return dict(json.loads(answer))

    def pip_ran(self) -> bool:
        """Whether pip was called since the last question."""
        ran = self.log.exists()
        with suppress(FileNotFoundError):
            self.log.unlink()
        return ran


@pytest.fixture
def empty(tmp_path: Path) -> House:
    return House(tmp_path / "house with spaces")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[House, list[tuple[int, str, str]]]:
    """A new house, and what two first starts at once said."""
    house = House(tmp_path_factory.mktemp("door") / "house with spaces")
    first, second = house.begin("--extras", "none", "one"), house.begin("--extras", "none", "two")
    answers = [process.communicate(timeout=120) for process in (first, second)]
    return house, [(process.returncode, *answer) for process, answer in zip((first, second), answers, strict=True)]


@pytest.fixture
def house(pair: tuple[House, object]) -> Iterator[House]:
    """A house that was set up. Whatever a test did to it is mended by the door."""
    house = pair[0]
    before = house.pyproject.read_text(encoding="utf-8")
    house.answer("--extras", "none", "--opencv", "opencv-python-headless")
    house.pip_ran()
    yield house
    house.pyproject.write_text(before, encoding="utf-8")


def depend_on(house: House, name: str) -> None:
    changed = house.pyproject.read_text(encoding="utf-8").replace("dependencies = []", f'dependencies = ["{name}"]', 1)
    house.pyproject.write_text(changed, encoding="utf-8")


def test_the_first_of_two_starts_at_once_sets_up_for_both(pair: tuple[House, list[tuple[int, str, str]]]) -> None:
    answers = pair[1]
    assert [status for status, _, _ in answers] == [0, 0], answers
    assert [json.loads(answer)["arguments"] for _, answer, _ in answers] == [["one"], ["two"]]
    assert sum("Setting up in" in said for _, _, said in answers) == 1
    assert sum(said.count("Another start is setting this folder up") for _, _, said in answers) <= 1


def test_arguments_are_passed_on_and_nothing_is_installed_twice(house: House) -> None:
    answer = house.answer("fuse", "a b.png", "--json", "--extras", "mine", "测试")
    assert answer["arguments"] == ["fuse", "a b.png", "--json", "--extras", "mine", "测试"]
    assert answer["folder"] == str(house.folder.parent)
    assert answer["prefix"] == str(house.venv)
    assert answer["safe"] is True
    assert house.answer("--port", "7861", "--no-browser")["arguments"] == ["--port", "7861", "--no-browser"]
    assert house.answer()["arguments"] == []
    assert not house.pip_ran()


def test_a_changed_project_is_installed_again(house: House) -> None:
    write_wheel(house.wheels, "lamp", "1", {"lamp.py": ""})
    depend_on(house, "lamp")
    house.answer()
    assert house.pip_ran()
    assert list(house.venv.rglob("lamp.py"))
    house.answer()
    assert not house.pip_ran()


def test_an_environment_without_its_stamp_is_added_to_not_cleared(house: House) -> None:
    (house.venv / "mine.txt").write_text("keep")
    (house.venv / "fusion-studio.json").unlink()
    house.answer("--extras", "none")
    assert house.pip_ran()
    assert (house.venv / "mine.txt").exists()


def test_no_index_is_said_plainly_and_leaves_what_stood(house: House) -> None:
    before = house.pyproject.read_text(encoding="utf-8")
    depend_on(house, "not-to-be-had")
    status, answer, said = house.start("version", **NOWHERE)
    assert (status, answer) == (1, "")
    assert "The package index can't be reached" in said
    assert "Traceback" not in said
    house.pip_ran()
    house.pyproject.write_text(before, encoding="utf-8")
    house.answer()
    assert not house.pip_ran()


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM ends a process at once there")
def test_a_set_up_that_was_cut_off_is_done_again(house: House) -> None:
    before = house.pyproject.read_text(encoding="utf-8")
    depend_on(house, "never-arrives")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        index = {**NOWHERE, "PIP_INDEX_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        with house.begin("version", **index) as process:
            connection, _ = silent.accept()  # pip asks now, and would wait long
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
            connection.close()
    assert process.returncode == 130
    assert "The next start does it again" in said
    shutil.rmtree(next(house.venv.rglob("site-packages/pip")))  # a half-written environment
    house.pyproject.write_text(before, encoding="utf-8")
    house.answer()
    assert next(house.venv.rglob("site-packages/pip")).is_dir()
    assert not list(house.venv.glob("*.building"))


def test_one_wheel_is_left_where_two_share_a_name(house: House) -> None:
    for name in ("onnxruntime", "onnxruntime-gpu"):
        files = {"onnxruntime/__init__.py": "__version__ = '1'", "onnxruntime/capi/__init__.py": ""}
        files["onnxruntime/capi/build_and_package_info.py"] = f"package_name = {name!r}"
        write_wheel(house.wheels, name, "1", files)
    for name in ("opencv-python", "opencv-python-headless"):
        write_wheel(house.wheels, name, "5", {"cv2/__init__.py": "", "cv2/version.py": f"contrib = False\nheadless = {'headless' in name}"})
    for asked, opencv, expected in (
        ("gpu,base,insightface", "opencv-python-headless", {"onnxruntime-gpu", "opencv-python-headless"}),
        ("base", "opencv-python", {"onnxruntime", "opencv-python"}),  # what was added once stays, except gpu
    ):
        house.answer("--extras", asked, "--opencv", opencv)
        packages = next(house.venv.rglob("site-packages"))
        assert {path.name.partition("-")[0].replace("_", "-") for path in packages.glob("o*.dist-info")} == expected
        assert (packages / "onnxruntime" / "capi" / "build_and_package_info.py").read_text() == f"package_name = {min(expected)!r}"
        assert (packages / "cv2" / "version.py").read_text().endswith(str(opencv == "opencv-python-headless"))


def test_no_venv_uses_this_python_and_installs_nothing(empty: House) -> None:
    answer = empty.answer("--no-venv", "doctor")
    assert (answer["arguments"], answer["prefix"]) == (["doctor"], sys.prefix)
    depend_on(empty, "not-to-be-had>=2")
    status, _, said = empty.start("--no-venv", "doctor")
    assert status == 1
    assert "lacks: not-to-be-had. To install them there: python3 launch.py --no-venv --reinstall" in said
    assert not empty.pip_ran()
    assert not empty.venv.exists()


@pytest.mark.parametrize(
    ("stub", "sentence"),
    [
        ("print('The virtual environment was not created because ensurepip is not available.'); raise SystemExit(1)", "python3-venv"),
        ("raise ModuleNotFoundError(\"No module named 'venv'\")", "python3-venv"),
        ("raise OSError(28, 'voll')", "The disk is full"),
        ("raise SystemExit('something else')", "The last words were:\n  something else"),
    ],
)
def test_an_environment_that_cannot_be_made(empty: House, stub: str, sentence: str) -> None:
    (empty.folder / "stubs").mkdir()
    (empty.folder / "stubs" / "venv.py").write_text(stub)
    status, _, said = empty.start("version", PYTHONPATH=str(empty.folder / "stubs"))
    assert status == 1
    assert sentence in said
    assert "Traceback" not in said


def test_somebody_elses_broken_environment_is_left_alone(empty: House) -> None:
    empty.venv.mkdir()
    (empty.venv / "mine.txt").write_text("keep")
    status, _, said = empty.start("version")
    assert status == 1
    assert "didn't make and can't use" in said
    assert [path.name for path in empty.venv.iterdir()] == ["mine.txt"]


def test_help_sets_nothing_up(empty: House) -> None:
    status, answer, _ = empty.start("--help", FUSION_STUDIO_LANGUAGE="zh")
    assert status == 0
    assert "首次启动" in answer
    assert "gpu, base, insightface, dev" in answer
    assert not empty.venv.exists()


@pytest.mark.parametrize(("version", "bits", "good"), [((3, 11), 64, True), ((3, 13), 64, True), ((3, 12), 32, False)])
def test_pythons_in_and_out_of_range(version: tuple[int, int], bits: int, good: bool) -> None:
    if good:
        launch.check_python(version, bits)
    else:
        with pytest.raises(Stop) as stop:
            launch.check_python(version, bits)
        assert "32 bit" in words(stop.value.key, **stop.value.facts)


@pytest.mark.parametrize("version", [(2, 7), (3, 8), (3, 10), (3, 14)])
def test_a_python_out_of_range_names_what_to_do(version: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Stop) as stop:
        launch.check_python(version)
    assert stop.value.key == "python_none"
    assert f"This is Python {version[0]}.{version[1]} " in words(stop.value.key, **stop.value.facts)
    monkeypatch.setattr(shutil, "which", lambda name: sys.executable)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0))
    with pytest.raises(Stop) as stop:
        launch.check_python(version)
    assert "3.13" in str(stop.value.facts["command"])


@pytest.mark.parametrize("name", ["launch.py", "tools/door/words.py"])
def test_what_must_run_on_an_old_python_parses_there(name: str) -> None:
    ast.parse((ROOT / name).read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize(
    ("fault", "status", "sentence"),
    [
        (OSError(errno.ENOSPC, "full"), 1, "The disk is full"),
        (PermissionError(errno.EACCES, "no"), 1, "can't be written"),
        (OSError(errno.EIO, "broken disk"), 1, "broken disk"),
        (Stop("option_value", option="--extras"), 1, "--extras has no value"),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    fault: BaseException, status: int, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: list[str]) -> int:
        raise fault

    monkeypatch.setenv("FUSION_STUDIO_LANGUAGE", "en")
    monkeypatch.setattr(launch, "run", fail)
    monkeypatch.setattr(launch.sys, "stdout", sys.__stdout__)
    assert launch.main([]) == status
    assert sentence in capsys.readouterr().err
