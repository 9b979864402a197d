"""One key per installation: made once, kept private, never replaced."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engines.errors import KeyUnusable
from engines.provenance.keys import KEY_BYTES, MarkKey, list_keys, load_key, rotate

posix = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "keys" / "mark.key"


def test_it_is_made_once(path: Path) -> None:
    first = load_key(path)
    assert load_key(path) == first
    assert path.read_bytes() == first.secret
    assert len(first.secret) == KEY_BYTES
    assert [entry.name for entry in path.parent.iterdir()] == ["mark.key"]


@posix
def test_it_is_private_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        load_key(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_processes_that_start_at_once_share_one_key(path: Path) -> None:
    lines = (
        "import pathlib, sys; from engines.provenance.keys import load_key",
        "sys.stdout.write(load_key(pathlib.Path(sys.argv[1])).secret.hex())",
    )
    started = [subprocess.Popen([sys.executable, "-c", "\n".join(lines), str(path)], stdout=subprocess.PIPE) for _ in range(4)]
    told = {process.communicate(timeout=60)[0] for process in started}
    assert told == {path.read_bytes().hex().encode()}


def test_the_loser_of_a_race_takes_the_winner_s_key(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir(parents=True)
    winner = bytes(32)

    def lexists(_: object) -> bool:
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
        os.write(descriptor, winner)
        os.close(descriptor)
        return False

    monkeypatch.setattr(os.path, "lexists", lexists)
    assert load_key(path).secret == winner


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33, b"x" * 5000])
def test_a_damaged_one_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyUnusable) as caught:
        load_key(path)
    assert caught.value.reason == "damaged"
    assert path.read_bytes() == content


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o610])
def test_one_that_others_may_read_is_refused(path: Path, mode: int) -> None:
    load_key(path)
    path.chmod(mode)
    with pytest.raises(KeyUnusable) as caught:
        load_key(path)
    assert caught.value.reason == "permissions"


def test_a_folder_in_its_place_or_a_file_in_its_folder_s_place(tmp_path: Path) -> None:
    (tmp_path / "keys").write_bytes(b"")
    for path in (tmp_path / "keys" / "mark.key", tmp_path):
        with pytest.raises(KeyUnusable) as caught:
            load_key(path)
        assert caught.value.reason == "unwritable"
        assert str(path) in caught.value.message()
        assert caught.value.message("zh-CN") != caught.value.message("en")


def test_it_is_not_shown_and_has_one_length() -> None:
    key = MarkKey(b"secret--" * 4)
    assert "secret" not in repr(key) + str(key)
    assert key.derive(b"tag") != key.derive(b"carrier")
    with pytest.raises(ValueError, match="32 bytes"):
        MarkKey(b"short")


def test_a_new_key_leaves_the_old_ones_beside_it(path: Path) -> None:
    first = load_key(path)
    second = rotate(path)
    third = rotate(path)
    assert len({first.secret, second.secret, third.secret}) == 3
    assert load_key(path) == third
    assert set(third.older) == {first, second}
    assert third.all[0] == third
    assert {(key.name, key.current) for key in list_keys(path)} == {(third.name, True), (second.name, False), (first.name, False)}
    if os.name == "posix":
        assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}


def test_new_keys_made_at_once_are_all_kept(path: Path) -> None:
    """Each process marks with the key that it made: one that another wrote over would be lost with its marks."""
    first = load_key(path)
    lines = (
        "import pathlib, sys; from engines.provenance.keys import rotate",
        "sys.stdin.read(1)",  # until all have started
        "print(*(rotate(pathlib.Path(sys.argv[1])).name for _ in range(4)))",
    )
    command = [sys.executable, "-c", "\n".join(lines), str(path)]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    made = [name for process in started for name in process.communicate(timeout=60)[0].split()]
    assert len(set(made)) == 16
    assert {key.name for key in load_key(path).all} == {first.name, *made}
    assert sum(key.current for key in list_keys(path)) == 1


def test_listing_makes_no_key(path: Path) -> None:
    assert list_keys(path) == ()
    assert not path.exists()


def test_a_rotation_that_was_killed_halfway_loses_nothing(path: Path) -> None:
    """The old key has its second name, and the new one isn't there yet."""
    first = load_key(path)
    path.with_name(f"mark-{first.name}.key").write_bytes(first.secret)
    path.with_name(f"mark-{first.name}.key").chmod(0o600)
    assert load_key(path).older == ()
    assert [key.current for key in list_keys(path)] == [True]
    assert rotate(path).older == (first,)


@posix
def test_an_older_key_that_others_can_read_is_refused(path: Path) -> None:
    first = load_key(path)
    rotate(path)
    path.with_name(f"mark-{first.name}.key").chmod(0o644)
    with pytest.raises(KeyUnusable) as caught:
        load_key(path)
    assert caught.value.reason == "permissions"


def test_a_name_tells_nothing_of_the_secret(path: Path) -> None:
    key = load_key(path)
    assert len(key.name) == 8
    assert key.name not in key.secret.hex()
    assert key.secret.hex() not in repr(rotate(path))
