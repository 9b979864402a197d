"""The doctor: healthy here, and on installations with one thing broken."""

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engines.errors import ManifestInvalid, ProviderUnavailable
from engines.manifest import Manifest
from engines.provenance.keys import load_key
from engines.runtime.packages import PackageStatus
from engines.runtime.providers import ProviderStatus
from engines.runtime.session import PROVIDERS
from engines.settings import Settings
from engines.text import ASSETS, LANGUAGES
from studio import doctor
from studio.doctor import REQUIRED, examine
from studio.findings import DoctorReport, Finding, finding
from studio.machine import Memory


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", provider="cpu")


def told(report: DoctorReport, area: str, key: str = "") -> list[Finding]:
    return [each for each in report.findings if each.area == area and (not key or each.key == key)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_healthy_installation(language: str, settings: Settings) -> None:
    report = examine(settings)
    values = report.as_dict(language)
    assert json.loads(json.dumps(values)) == values, "plain values"
    assert values["provider"] == {"asked": "cpu", "active": "cpu", "node_share": 1.0}
    assert [row["name"] for row in values["providers"]] == list(PROVIDERS)
    assert all(row["reason"] and row["message"] for row in values["providers"] if not row["usable"])
    assert {model["state"] for model in values["models"] if not model["optional"]} == {"present"}
    assert not values["key"]["present"]
    assert values["packages"]["numpy"] == np.__version__
    lines = report.lines(language)
    assert len(lines) > len(report.findings)
    assert all(lines)
    # Levels that depend on the machine that tests: its memory, its disk, its packages.
    assert all(each.level == "ok" for each in report.findings if each.area in ("python", "machine", "models", "key", "browser"))


def test_the_doctor_changes_nothing(settings: Settings) -> None:
    examine(settings)
    assert not settings.data_dir.exists()


def test_it_prints_nothing(settings: Settings, capfd: pytest.CaptureFixture[str]) -> None:
    examine(settings.with_(provider="auto"))
    assert capfd.readouterr() == ("", "")


def test_both_languages_find_the_same(settings: Settings) -> None:
    report = examine(settings)
    english, chinese = (report.as_dict(language)["findings"] for language in LANGUAGES)
    assert [(row["area"], row["level"]) for row in english] == [(row["area"], row["level"]) for row in chinese]
    assert sum(a["message"] != b["message"] for a, b in zip(english, chinese, strict=True)) >= len(english) - 1  # "Python 3.11 (…)"


def test_a_provider_that_was_asked_for_and_is_not_here_is_bad(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    report = examine(settings.with_(provider="cuda"))
    rows = {each.name: each for each in report.providers}
    if rows["cuda"].usable:
        pytest.skip("CUDA runs here")
    bad = [each for each in told(report, "provider") if each.level == "bad"]
    assert len(bad) == 1
    assert isinstance(bad[0].fault, ProviderUnavailable)
    assert rows["cuda"].error().message() == bad[0].message()
    assert report.as_dict()["provider"]["active"] is None
    assert report.level == "bad"
    for language in LANGUAGES:
        assert bad[0].mend(language)


@pytest.mark.parametrize(
    ("card", "cuda", "rtx", "level"),
    [
        (False, "not_built", "plugin", "ok"),
        (True, "not_built", "plugin", "warn"),
        (True, "library", "plugin", "warn"),
        (True, "library", "", "ok"),  # the other provider uses the card
        (True, "", "plugin", "ok"),
    ],
)
def test_an_idle_card_is_worth_a_note(
    card: bool, cuda: str, rtx: str, level: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses = tuple(ProviderStatus(name, not reason, reason, "x") for name, reason in (("cpu", ""), ("cuda", cuda), ("tensorrt-rtx", rtx)))
    monkeypatch.setattr(doctor, "provider_report", lambda: statuses)
    monkeypatch.setattr(doctor, "has_nvidia", lambda: card)
    report = examine(settings)
    assert max(told(report, "provider"), key=lambda each: ("ok", "warn", "bad").index(each.level)).level == level


@pytest.mark.parametrize(
    ("claimants", "active", "key", "level"),
    [
        ((("onnxruntime-gpu", "1.31"), ("onnxruntime", "1.32")), "onnxruntime", "packages_conflict", "warn"),
        ((("onnxruntime-gpu", "1.31"), ("onnxruntime", "1.32")), "", "packages_conflict", "bad"),
        ((("onnxruntime", "1.32"),), "", "packages_broken", "bad"),
        ((), "", "packages_broken", "bad"),
    ],
)
def test_two_packages_of_one_name_come_with_the_commands_that_mend_them(
    claimants: tuple[tuple[str, str], ...], active: str, key: str, level: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = PackageStatus("onnxruntime", claimants, active, "1.32" if active else "", ("first command", "second command"))
    monkeypatch.setattr(doctor, "package_report", lambda: (status,))
    report = examine(settings)
    (found,) = told(report, "packages", key)
    assert found.level == level
    for language in LANGUAGES:
        assert found.mend(language).splitlines()[:2] == ["first command", "second command"]
        assert all(f"{name} {number}" in found.message(language) for name, number in claimants)
    assert report.as_dict()["conflicts"][0]["mend"] == ["first command", "second command"]
    assert "      second command" in report.lines()


def test_a_missing_package_is_bad(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: "" if name in ("httpx", "torch") else "1.0")
    (found,) = told(examine(settings), "packages", "packages_missing")
    assert (found.level, found.mend()) == ("bad", "pip install httpx")


def test_the_required_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((ASSETS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {line.split(">")[0].split("=")[0].split("[")[0].strip() for line in project["dependencies"]}
    families = {"onnxruntime", "opencv-python-headless"}  # told by package_report
    assert set(REQUIRED) == declared - families
    assert project["requires-python"] == f">={doctor.LOWEST[0]}.{doctor.LOWEST[1]},<{doctor.HIGHEST[0]}.{doctor.HIGHEST[1] + 1}"


def test_a_damaged_model_is_named_with_its_mend(settings: Settings) -> None:
    damaged = settings.data_dir / "models" / Manifest.load(settings).entry("centerface").file
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"not a network")
    report = examine(settings)
    bad = [each for each in told(report, "models") if each.level == "bad"]
    assert len(bad) == 1
    assert "centerface" in bad[0].message()
    assert "models fetch centerface" in bad[0].mend()
    (untried,) = told(report, "provider", "untried")
    assert untried.level == "bad"
    assert report.level == "bad"


def test_a_broken_list_of_models_is_a_finding_not_a_crash(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(settings: Settings) -> Manifest:
        raise ManifestInvalid(path="models.toml", where="models.x.size", detail="missing")

    monkeypatch.setattr(doctor.Manifest, "load", broken)
    report = examine(settings)
    (found,) = told(report, "models")
    assert found.level == "bad"
    assert "models.x.size" in found.message()


def test_little_memory_is_worth_a_note(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "memory", lambda: Memory(2 << 30, 500 << 20))
    (found,) = told(examine(settings), "memory")
    assert found.level == "warn"
    assert all(found.mend(language) for language in LANGUAGES)


@pytest.mark.parametrize(("free", "level"), [(499 << 20, "warn"), (500 << 20, "ok"), (0, "warn")])
def test_a_full_disk_is_worth_a_note(free: int, level: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.machine.shutil.disk_usage", lambda path: SimpleNamespace(free=free))
    assert {each.level for each in told(examine(settings), "folder")} == {level}


def test_a_data_folder_that_is_a_file_is_bad(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    report = examine(Settings(data_dir=tmp_path / "file", provider="cpu"))
    assert told(report, "folder")[0].level == "bad"
    assert str(tmp_path / "file") in told(report, "folder")[0].message()


def test_the_key_is_told_and_a_damaged_one_is_bad(settings: Settings) -> None:
    path = settings.data_dir / "keys" / "mark.key"
    load_key(path)
    report = examine(settings)
    assert [each.level for each in told(report, "key", "key")] == ["ok"]
    assert report.as_dict()["key"]["present"]
    path.write_bytes(b"short")
    (found,) = told(examine(settings), "key")
    assert found.level == "bad"
    assert str(path) in found.message()


def test_a_python_outside_the_range_is_bad(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "HIGHEST", (3, 10))
    monkeypatch.setattr(doctor, "LOWEST", (3, 9))
    (found,) = told(examine(settings), "python")
    assert (found.level, found.key) == ("bad", "python_wrong")


def test_the_worst_finding_is_the_reports_level() -> None:
    fine, poor = finding("machine", "ok", "provider", name="cpu"), finding("folder", "warn", "folder_full", path="/", free=0.1)
    assert DoctorReport((fine, poor), (), ()).level == "warn"
    assert DoctorReport((fine,), (), ()).level == "ok"
    assert fine.mend() == ""
