"""A file is complete under its name or isn't there: whatever fails, and whenever."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engines.errors import Cancelled, FusionError, OutputExists, OutputUnwritable
from engines.provenance import files, output
from engines.provenance.output import check_writable, format_of, write_bytes, write_text
from engines.timing import Run

DATA = bytes(range(256)) * 500
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.rglob("*"))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("png", "png"),
        (".PNG", "png"),
        ("JPG", "jpg"),
        (".jpeg", "jpg"),
        ("jfif", "jpg"),
        ("WebP", "webp"),
        ("TIF", "tiff"),
        (".avif", "avif"),
    ],
)
def test_formats_by_name(said: str, meant: str) -> None:
    assert format_of(said) == meant


@pytest.mark.parametrize(("said", "reason"), [("gif", "format"), (".bmp", "format"), ("", "no_suffix"), (".", "no_suffix")])
def test_other_formats_are_refused(said: str, reason: str) -> None:
    with pytest.raises(OutputUnwritable) as caught:
        format_of(said)
    assert caught.value.reason == reason


NAMES = [
    "plain.png",
    "with [brackets] & 'quotes' 100%.png",
    "příliš žluťoučký.png",
    "图片 写真 사진.png",
    "صورة.png",
    "👩‍👩‍👧.png",
    "e\u0301.png",
    "n" * 246 + ".png",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_any_name_that_the_disk_takes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert check_writable(path) == "png"
    write_bytes(DATA, path)
    assert names(tmp_path) == [name]
    assert path.read_bytes() == DATA


@posix
def test_new_files_follow_the_umask_and_replaced_ones_keep_their_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_bytes(DATA, tmp_path / "new.png")
    finally:
        os.umask(before)
    assert (tmp_path / "new.png").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new.png").chmod(0o604)
    write_bytes(b"other", tmp_path / "new.png", overwrite=True)
    assert (tmp_path / "new.png").stat().st_mode & 0o777 == 0o604


def test_missing_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.png"
    check_writable(path)
    assert names(tmp_path) == []
    write_bytes(DATA, path)
    assert path.read_bytes() == DATA


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "old.png"
    path.write_bytes(b"old")
    for attempt in (lambda: check_writable(path), lambda: write_bytes(DATA, path)):
        with pytest.raises(OutputExists):
            attempt()
    assert check_writable(path, overwrite=True) == "png"
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["old.png"]


@pytest.mark.parametrize("links", [True, False])
def test_even_one_that_appears_at_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    path = tmp_path / "out.png"
    if not links:
        monkeypatch.setattr(os, "link", refuse(errno.EPERM))

    def meanwhile(self: files.Temporary, data: bytes) -> bool:
        path.write_bytes(b"somebody else's")
        return True

    monkeypatch.setattr(files.Temporary, "holds", meanwhile)
    with pytest.raises(OutputExists):
        write_bytes(DATA, path)
    assert path.read_bytes() == b"somebody else's"
    assert names(tmp_path) == ["out.png"]


def test_a_disk_without_hard_links_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refuse(errno.EPERM))
    write_bytes(DATA, tmp_path / "out.png")
    assert (tmp_path / "out.png").read_bytes() == DATA
    with pytest.raises(OutputExists):
        write_bytes(b"", tmp_path / "out.png")


@posix
def test_overwriting_through_links(tmp_path: Path) -> None:
    real, symbolic, hard, dangling = (tmp_path / name for name in ("real.png", "symbolic.png", "hard.png", "dangling.png"))
    real.write_bytes(b"old")
    symbolic.symlink_to(real.name)
    hard.hardlink_to(real)
    dangling.symlink_to("nowhere.png")
    for path in (symbolic, hard, dangling, tmp_path / "." / "x" / ".." / "real.png"):
        with pytest.raises(OutputExists):
            write_bytes(DATA, path)
    write_bytes(DATA, symbolic, overwrite=True)
    assert symbolic.is_symlink()
    assert real.read_bytes() == DATA
    assert hard.read_bytes() == b"old"
    write_bytes(DATA, dangling, overwrite=True)
    assert (tmp_path / "nowhere.png").read_bytes() == DATA


def refuse(number: int) -> Callable[..., None]:
    def call(*arguments: object, **named: object) -> None:
        raise OSError(number, os.strerror(number))

    return call


FAULTS = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: "disk_full",
    errno.EROFS: "permission",
    errno.EACCES: "permission",
    errno.ENAMETOOLONG: "name_too_long",
    errno.EIO: "",
}


@pytest.mark.parametrize(("number", "reason"), FAULTS.items(), ids=FAULTS.values())
def test_faults_of_the_disk_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str) -> None:
    monkeypatch.setattr(os, "write", refuse(number))
    with pytest.raises(OutputUnwritable) as caught:
        write_bytes(DATA, tmp_path / "made" / "out.png")
    assert caught.value.reason == reason
    assert str(tmp_path) in caught.value.message("zh-CN")
    assert names(tmp_path) == []


@posix
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the system call itself fails, half-way."""
    lines = (
        "import pathlib, resource, signal, sys; from engines.provenance.output import write_bytes; from engines.errors import FusionError",
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))",
        "try: write_bytes(bytes(100000), pathlib.Path(sys.argv[1]))",
        "except FusionError as fault: sys.exit(fault.code + '.' + fault.reason)",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines), str(tmp_path / "out.png")], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "output_unwritable.disk_full"
    assert names(tmp_path) == []


STAGES = [(os, "open"), (os, "write"), (os, "fsync"), (os, "lseek"), (os, "read"), (os, "link"), (files.Temporary, "publish")]


@pytest.mark.parametrize("where", STAGES, ids=lambda where: where[1])
@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError, lambda: OSError(errno.EIO, "broken")])
def test_whatever_stops_it_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: tuple[object, str], fault: Callable[[], BaseException]
) -> None:
    def stop(*arguments: object) -> None:
        raise fault()

    monkeypatch.setattr(*where, stop)
    expected = fault()
    with pytest.raises(OutputUnwritable if isinstance(expected, OSError) else type(expected)):
        write_bytes(DATA, tmp_path / "made" / "out.png")
    monkeypatch.undo()
    assert names(tmp_path) == []


@pytest.mark.parametrize("where", [(os, "write"), (os, "fsync"), (os, "replace")], ids=lambda where: where[1])
def test_what_is_overwritten_stays_until_the_new_file_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: tuple[object, str]
) -> None:
    path = tmp_path / "old.png"
    path.write_bytes(b"old")
    monkeypatch.setattr(*where, refuse(errno.ENOSPC))
    with pytest.raises(OutputUnwritable):
        write_bytes(DATA, path, overwrite=True)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["old.png"]


def test_a_disk_that_gives_back_other_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: true_write(descriptor, bytes(len(data))))
    with pytest.raises(OutputUnwritable, match="other bytes"):
        write_bytes(DATA, tmp_path / "out.png")
    assert names(tmp_path) == []


def test_stopped_by_the_person(tmp_path: Path) -> None:
    run = Run()
    run.cancel()
    with pytest.raises(Cancelled):
        write_bytes(DATA, tmp_path / "out.png", run=run)
    assert names(tmp_path) == []


def test_folders_where_files_should_be_and_the_other_way_round(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder.png").mkdir()
    for path, overwrite, reason in (
        (tmp_path / "file" / "out.png", False, "not_a_folder"),
        (tmp_path / "file" / "deep" / "out.png", True, "not_a_folder"),
        (tmp_path / "folder.png", True, "is_a_folder"),
        (tmp_path / ("n" * 300 + ".png"), False, "name_too_long"),
        (tmp_path / "missing" / ("n" * 300 + ".png"), False, "name_too_long"),
    ):
        for attempt in (check_writable, lambda path, _, overwrite: write_bytes(DATA, path, overwrite)):
            with pytest.raises(OutputUnwritable) as caught:
                attempt(path, None, overwrite)
            assert caught.value.reason == reason
    assert names(tmp_path) == ["file", "folder.png"]


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(OutputUnwritable) as caught:
        check_writable(tmp_path / "out.png")
    assert caught.value.reason == "permission"


def test_a_name_with_a_zero_byte(tmp_path: Path) -> None:
    for attempt in (check_writable, lambda path: write_bytes(DATA, path)):
        with pytest.raises(FusionError) as caught:
            attempt(tmp_path / "a\0b.png")
        assert caught.value.code == "output_unwritable"


def test_folders_that_others_filled_meanwhile_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(self: files.Temporary, data: bytes) -> None:
        (tmp_path / "made" / "other.txt").write_text("hello")
        raise KeyboardInterrupt

    monkeypatch.setattr(output.Temporary, "write", fill)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(DATA, tmp_path / "made" / "out.png")
    assert names(tmp_path) == ["made", "other.txt"]


def test_a_text_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a folder" / "报告.txt"
    write_text("früher\n", path)
    assert path.read_bytes() == "früher\n".encode()
    with pytest.raises(OutputExists):
        write_text("later", path)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputUnwritable):
        write_text("later", path, overwrite=True)
    assert path.read_bytes() == "früher\n".encode()
    assert list(path.parent.iterdir()) == [path]
