"""What fetching, rebuilding and mending share: the hash, the one way for a file to get its name, and a folder's lock."""

import contextlib
import errno
import hashlib
import os
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from engines.errors import DownloadFailed, OutputUnwritable
from engines.model_entry import ModelEntry
from engines.timing import Run

CHUNK = 1 << 20  # bytes unpacked between two looks at whether the job was stopped
LOCK = ".lock"  # the file whose lock stands for its folder's
POLL = 0.1  # seconds between two tries for a lock
REASONS = {errno.ENOSPC: "disk_full", errno.EDQUOT: "disk_full", errno.EACCES: "permission", errno.EPERM: "permission"}


def digest(path: Path) -> str:
    """SHA-256 of a file, hexadecimal. About 0.7 GB/s on a processor with SHA instructions."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def install(entry: ModelEntry, part: Path, target: Path) -> None:
    """Gives a complete file its name by one rename, if it is the one that it should be; otherwise removes it.

    Raises:
        DownloadFailed: wrong_file.
    """
    found = digest(part)
    if found != entry.sha256:
        part.unlink()
        raise DownloadFailed("wrong_file", name=entry.name, detail=f"SHA-256 {found[:12]}…, not {entry.sha256[:12]}…")
    os.replace(part, target)


def unpack(archive: Path, entries: Sequence[ModelEntry], folder: Path, run: Run) -> None:
    """Puts members of a ZIP in their places, each whole and only if it is what its entry says; then removes the ZIP.

    Args:
        entries: models that come in it. folder: the place of them all; must be held (`alone`).

    Raises:
        DownloadFailed (wrong_file): no such member, or another one. OSError: the disk. Cancelled: the ZIP stays for the next try.
    """
    with zipfile.ZipFile(archive) as opened:
        for entry in entries:
            member = entry.archive.member if entry.archive else entry.file
            part = folder / f"{entry.file}.{entry.sha256[:8]}.part"
            try:
                info = opened.getinfo(member)
                if info.file_size != entry.size:  # looked at before a byte is unpacked: a small archive can hold terabytes
                    raise KeyError(member)
                with opened.open(info) as packed, part.open("wb") as file:
                    while chunk := packed.read(CHUNK):
                        file.write(chunk)
                        run.check()
            except (KeyError, zipfile.BadZipFile, zlib.error) as fault:
                part.unlink(missing_ok=True)
                raise DownloadFailed("wrong_file", name=entry.name, detail=member) from fault
            install(entry, part, folder / entry.file)
    archive.unlink()


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turns the faults of a disk into `OutputUnwritable`."""
    try:
        yield
    except OSError as fault:
        raise OutputUnwritable(REASONS.get(fault.errno or 0, ""), path=target, detail=fault.strerror or fault) from fault


@contextlib.contextmanager
def alone(folder: Path, run: Run) -> Iterator[None]:
    """Makes a folder and holds its lock: a second fetch waits for the first and then finds its file.

    The lock belongs to an open file, so the system frees it when a process dies.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a+b") as file:
        while not _try_lock(file):
            run.check()
            time.sleep(POLL)
        try:
            yield
        finally:
            _unlock(file)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
