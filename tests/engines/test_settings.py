"""Settings: command line over environment over file over default, each checked."""

from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import InvalidOption
from engines.settings import PREFIX, Settings

NUMBERS = {
    "max_megapixels": (1, 2000),
    "safety_limit": (0.2, 0.95),
    "threads": (0, 256),
    "cache_mb": (16, 65536),
    "mark_psnr": (38.0, 48.0),
    "port": (1, 65535),
    "queue_size": (1, 1000),
    "keep_seconds": (60, 7 * 86400),
    "upload_mb": (1, 4096),
}


def load(tmp_path: Path, file: str = "", environ: dict[str, str] | None = None, **overrides: Any) -> Settings:
    if file:
        (tmp_path / "settings.toml").write_text(file, encoding="utf-8")
    return Settings.load({PREFIX + "DATA_DIR": str(tmp_path), **(environ or {})}, **overrides)


def test_the_defaults_are_valid_and_local(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings == Settings(data_dir=tmp_path)
    assert (settings.host, settings.provider, settings.threads, settings.language) == ("127.0.0.1", "auto", 0, "")


def test_every_source_wins_over_the_one_below(tmp_path: Path) -> None:
    file = 'port = 1001\nthreads = 2\nproducer = "the file"\n'
    environ = {PREFIX + "PORT": "1002", PREFIX + "THREADS": "3"}
    settings = load(tmp_path, file, environ, port=1003)
    assert (settings.port, settings.threads, settings.producer, settings.queue_size) == (1003, 3, "the file", 20)


def test_an_override_of_none_and_an_empty_variable_count_as_absent(tmp_path: Path) -> None:
    settings = load(tmp_path, "port = 1001", {PREFIX + "THREADS": ""}, port=None, provider=None)
    assert (settings.port, settings.threads, settings.provider) == (1001, 0, "auto")


@pytest.mark.parametrize("field", fields(Settings), ids=lambda field: field.name)
def test_every_field_can_be_set_by_its_variable(field: Any, tmp_path: Path) -> None:
    samples = {"language": "zh-CN", "data_dir": str(tmp_path), "safety_limit": "0.5", "mark_psnr": "45", "credentials": "on"}
    samples |= {
        "history": "off",
        "second_mark": "dwtDct",
        "region": "us-ca",
        "visible_label": "on",
        "label_position": "top",
        "label_size": "0.1",
    }
    value = samples.get(field.name, "64")
    settings = load(tmp_path, environ={PREFIX + field.name.upper(): value})
    default = getattr(Settings(data_dir=tmp_path), field.name)
    assert type(getattr(settings, field.name)) is type(default)
    assert str(getattr(settings, field.name)) in (value, f"{value}.0")


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_outside_its_range_is_refused_and_its_ends_are_not(name: str, tmp_path: Path) -> None:
    low, high = NUMBERS[name]
    for value in (low, high):
        assert getattr(load(tmp_path, **{name: value}), name) == value
    step = 1 if isinstance(low, int) else 0.01
    for value in (low - step, high + step, -1e9, float("nan"), float("inf")):
        with pytest.raises(InvalidOption) as caught:
            Settings(data_dir=tmp_path, **{name: value})
        assert caught.value.facts["name"] == name


@given(st.sampled_from(sorted(NUMBERS)), st.one_of(st.integers(), st.floats()))
def test_whatever_number_is_given_the_result_is_in_range_or_refused(name: str, value: float) -> None:
    low, high = NUMBERS[name]
    try:
        settings = Settings(data_dir=Path("x"), **{name: value})
    except InvalidOption:
        assert not low <= value <= high
    else:
        assert low <= getattr(settings, name) <= high


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"PORT": "abc"}, "port"),
        ({"PORT": "80.5"}, "port"),
        ({"THREADS": "two"}, "threads"),
        ({"SAFETY_LIMIT": "0.5.1"}, "safety_limit"),
        ({"LANGUAGE": "de"}, "language"),
        ({"MAX_MEGAPIXELS": "0"}, "max_megapixels"),
    ],
)
def test_a_variable_that_does_not_fit_is_named(environ: dict[str, str], name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidOption) as caught:
        load(tmp_path, environ={PREFIX + key: value for key, value in environ.items()})
    assert caught.value.facts["name"] == name


def test_an_unknown_name_in_the_file_is_refused_and_an_unknown_variable_is_not_ours(tmp_path: Path) -> None:
    assert load(tmp_path, environ={PREFIX + "MIRROR": "http://localhost"}) == Settings(data_dir=tmp_path)
    with pytest.raises(InvalidOption) as caught:
        load(tmp_path, "prot = 1")
    assert caught.value.facts["name"] == "prot"
    assert "port" in str(caught.value.facts["allowed"])


def test_a_copy_with_changes_is_checked_again(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    assert settings.with_(port=99).port == 99
    assert settings.port == 7860
    with pytest.raises(InvalidOption):
        settings.with_(port=0)


def test_settings_do_not_change(tmp_path: Path) -> None:
    with pytest.raises(FrozenInstanceError):
        Settings(data_dir=tmp_path).port = 1  # type: ignore[misc]


def test_the_data_folder_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert Settings.load({PREFIX + "DATA_DIR": "~/studio"}).data_dir == tmp_path / "studio"


@pytest.mark.parametrize("broken", ["port = ", "port = 1\nport = 2", "[[["])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, broken: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        load(tmp_path, broken)
    assert caught.value.facts["name"] == tmp_path / "settings.toml"


def test_the_file_is_found_in_a_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "settings.toml").write_text("threads = 3", encoding="utf-8")
    settings = Settings.load({PREFIX + "DATA_DIR": "~/x"})
    assert (settings.data_dir, settings.threads) == (tmp_path / "x", 3)
