"""Many prompts from files."""

from pathlib import Path

import pytest

from engines.errors import PromptsUnreadable
from engines.prompts import files
from engines.prompts.files import entries


def test_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "all.txt"
    path.write_bytes("\ufeffa man\r\n\r\n 男人 \n".encode())
    assert [(each.place, each.text) for each in entries(path)] == [("all.txt:1", "a man"), ("all.txt:3", "男人")]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.jsonl", b'{"prompt": "x"}\n{"name": "x"}', "line"),
        ("a.jsonl", b'{"prompt": 1}', "line"),
        ("a.jsonl", b"a man", "line"),
        ("a.jsonl", b"[" * 100_000, "line"),
        ("a.txt", b"\xff\xfe\x00", "encoding"),
        ("a.txt", b"x" * 101, "too_large"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, reason: str) -> None:
    if reason == "too_large":
        monkeypatch.setattr(files, "LARGEST", 100)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(PromptsUnreadable) as raised:
        list(entries(tmp_path / name))
    assert raised.value.reason == reason


def test_nothing_there(tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "none"), (tmp_path / "x.txt", "missing")):
        with pytest.raises(PromptsUnreadable) as raised:
            list(entries(path))
        assert raised.value.reason == reason
