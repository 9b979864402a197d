"""models.toml is read strictly: each fault is named with the key where it is."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import ManifestInvalid
from engines.model_entry import ModelEntry, read_entries

GOOD: dict[str, Any] = {
    "format": 1,
    "models": {
        "looker": {
            "task": "detect",
            "file": "looker.onnx",
            "sha256": "0123456789abcdef" * 4,
            "size": 1234,
            "licence": "MIT",
            "use": "any",
            "commercial": True,
            "template": "",
            "minimum_memory_mb": 10,
            "source": {"package": "lookers", "version": "1.0", "members": ["lookers/a.bin"]},
            "input": {
                **{"name": "x", "axes": ["B", 3, "H", "W"], "layout": "NCHW", "colour": "BGR"},
                **{"range": [0, 255], "mean": [1, 2.5, 3], "std": [1, 1, 1]},
            },
            "outputs": [{"name": "y", "axes": ["B", 2], "meaning": "yes and no"}],
        }
    },
}
LOOKER = GOOD["models"]["looker"]
LEAVES = [("models", "looker", key) for key in LOOKER] + [("models", "looker", "input", key) for key in LOOKER["input"]] + [("format",)]


def toml(value: Any) -> str:
    """A value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text("\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in content.items()), encoding="utf-8")
    return path


def changed(keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    """`GOOD` with one value replaced, or (for `...`) taken out."""
    content = copy.deepcopy(GOOD)
    *way, last = keys
    table = content
    for key in way:
        table = table[key]
    if value is ...:
        del table[last]
    else:
        table[last] = value
    return content


def test_every_fact_is_read(tmp_path: Path) -> None:
    (entry,) = read_entries(write(tmp_path / "models.toml", GOOD))
    assert (entry.name, entry.task, entry.file, entry.size, entry.licence) == ("looker", "detect", "looker.onnx", 1234, "MIT")
    assert entry.source is not None
    assert (entry.source.package, entry.source.members) == ("lookers", ("lookers/a.bin",))
    assert entry.input is not None
    assert (entry.input.axes, entry.input.colour, entry.input.mean) == (("B", 3, "H", "W"), "BGR", (1.0, 2.5, 3.0))
    assert [(output.name, output.axes) for output in entry.outputs] == [("y", ("B", 2))]
    assert (entry.pack, entry.optional, entry.needs_acceptance) == (True, False, False)
    assert entry.as_dict()["source"] == "lookers 1.0"


@pytest.mark.parametrize(("use", "commercial", "gated"), [("any", True, False), ("any", False, True), ("research", False, True)])
def test_only_a_free_licence_needs_no_acceptance(tmp_path: Path, use: str, commercial: bool, gated: bool) -> None:
    content = changed(("models", "looker", "use"), use)
    content["models"]["looker"]["commercial"] = commercial
    (entry,) = read_entries(write(tmp_path / "models.toml", content))
    assert entry.needs_acceptance is gated


@pytest.mark.parametrize(
    ("keys", "value", "where"),
    [
        (("format",), 2, "format"),
        (("format",), ..., "format"),
        (("models",), ..., "models"),
        (("models",), 3, "models"),
        (("extra",), 3, "extra"),
        (("models", "looker", "sha256"), "0123", "models.looker.sha256"),
        (("models", "looker", "sha256"), "0123456789ABCDEF" * 4, "models.looker.sha256"),
        (("models", "looker", "size"), 0, "models.looker.size"),
        (("models", "looker", "size"), True, "models.looker.size"),
        (("models", "looker", "size"), 1.5, "models.looker.size"),
        (("models", "looker", "file"), "../looker.onnx", "models.looker.file"),
        (("models", "looker", "file"), "", "models.looker.file"),
        (("models", "looker", "licence"), ..., "models.looker.licence"),
        (("models", "looker", "use"), "all", "models.looker.use"),
        (("models", "looker", "use"), "research", "models.looker.commercial"),
        (("models", "looker", "commercial"), 1, "models.looker.commercial"),
        (("models", "looker", "task"), "cook", "models.looker.task"),
        (("models", "looker", "license"), "MIT", "models.looker.license"),
        (("models", "looker", "url"), "ftp://there", "models.looker.url"),
        (("models", "looker", "source"), ..., "models.looker.source"),
        (("models", "looker", "source"), "lookers", "models.looker.source"),
        (("models", "looker", "source", "members"), [], "models.looker.source.members"),
        (("models", "looker", "source", "host"), "x", "models.looker.source.host"),
        (("models", "looker", "input"), ..., "models.looker.input"),
        (("models", "looker", "input", "range"), [1, 0], "models.looker.input.range"),
        (("models", "looker", "input", "range"), [0], "models.looker.input.range"),
        (("models", "looker", "input", "std"), [1, 0, 1], "models.looker.input.std"),
        (("models", "looker", "input", "mean"), [1, "2", 1], "models.looker.input.mean"),
        (("models", "looker", "input", "axes"), ["B", 3, -1, "W"], "models.looker.input.axes"),
        (("models", "looker", "input", "layout"), "HWC", "models.looker.input.layout"),
        (("models", "looker", "outputs"), ..., "models.looker.input"),
        (("models", "looker", "outputs"), [{"name": "y", "axes": ["B"]}], "models.looker.outputs[0].meaning"),
        (("models", "looker", "outputs"), "y", "models.looker.outputs"),
        (("models", "other"), LOOKER, "models.other.file"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, keys: tuple[str, ...], value: Any, where: str) -> None:
    path = write(tmp_path / "models.toml", changed(keys, value))
    with pytest.raises(ManifestInvalid) as caught:
        read_entries(path)
    assert caught.value.facts["where"] == where
    for language in ("en", "zh-CN"):
        assert where in caught.value.message(language)
        assert str(path) in caught.value.message(language)


SWAPPER = {
    **{key: value for key, value in LOOKER.items() if key != "source"},
    **{"task": "swap", "contract": "inswapper", "identity": "looker"},
    "url": "https://example.org/all.zip",
    "archive": {"name": "all", "sha256": "ab" * 32, "size": 99, "member": "models/x.onnx"},
}


def swapper(**changes: Any) -> dict[str, Any]:
    merged = SWAPPER | changes
    return {"format": 1, "models": {"swapper": {key: value for key, value in merged.items() if value is not ...}}}


def test_a_swapper_names_its_contract_its_identity_and_the_archive_that_it_comes_in(tmp_path: Path) -> None:
    (entry,) = read_entries(write(tmp_path / "models.toml", swapper()))
    assert (entry.task, entry.contract, entry.identity) == ("swap", "inswapper", "looker")
    assert entry.archive is not None
    assert (entry.archive.name, entry.archive.size, entry.archive.member) == ("all", 99, "models/x.onnx")
    assert (entry.pack, entry.optional, entry.own) == (False, True, False)
    assert entry.as_dict()["contract"] == "inswapper"


@pytest.mark.parametrize(
    ("changes", "own", "where"),
    [
        ({"contract": ...}, False, "contract"),
        ({"contract": "simswap"}, False, "contract"),
        ({"contract": "arcface"}, False, "contract"),
        ({"task": "restore"}, False, "contract"),
        ({"identity": ...}, False, "identity"),
        ({"task": "detect", "contract": "scrfd"}, False, "identity"),
        ({"url": ...}, False, "source"),
        ({"url": ...}, True, "url"),
        ({"task": "detect", "contract": ..., "identity": ...}, True, "contract"),
        ({"archive": {"name": "all"}}, False, "archive.sha256"),
    ],
)
def test_what_a_model_of_others_lacks_is_named(tmp_path: Path, changes: dict[str, Any], own: bool, where: str) -> None:
    with pytest.raises(ManifestInvalid) as caught:
        read_entries(write(tmp_path / "models.toml", swapper(**changes)), own)
    assert caught.value.facts["where"] == f"models.swapper.{where}"


def test_a_list_of_ones_own_needs_no_address(tmp_path: Path) -> None:
    (entry,) = read_entries(write(tmp_path / "models.toml", swapper(url=..., archive=...)), own=True)
    assert (entry.own, entry.optional, entry.pack) == (True, True, False)


@pytest.mark.parametrize("content", [b"format = ", b"\xff\xfe", None])
def test_an_unreadable_file_is_a_manifest_fault(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "models.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ManifestInvalid):
        read_entries(path)


values = st.recursive(
    st.booleans() | st.integers(-10, 10) | st.floats(-9, 9) | st.text("aB3./-", max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(keys=st.sampled_from(LEAVES), value=values)
def test_any_value_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, keys: tuple[str, ...], value: Any) -> None:
    path = write(tmp_path_factory.getbasetemp() / "any.toml", changed(keys, value))
    try:
        entries = read_entries(path)
    except ManifestInvalid as found:
        where = str(found.facts["where"])
    else:
        where = ""
        assert isinstance(entries[0], ModelEntry)
    assert not where or where.startswith(".".join(keys[:2]))
