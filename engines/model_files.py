"""What fetching, rebuilding and mending share: the hash, the one way for a file to get its name, and a folder's lock."""

import contextlib
import errno
import hashlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from engines.errors import DownloadFailed, OutputUnwritable
from engines.model_entry import ModelEntry
from engines.timing import Run

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
    with (folder / ".lock").open("a+b") as file:
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
