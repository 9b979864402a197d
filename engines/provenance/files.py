"""A file that appears complete or not at all: written beside its name, flushed to the disk, then put in place in one step."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

_BINARY: int = getattr(os, "O_BINARY", 0)
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EACCES, errno.EINVAL}
_STEP = 1 << 20


def part_name() -> str:
    """Of a temporary file: hidden, unique, and short whatever the file is called, so that a name as long as the disk allows still works."""
    return f".fusion-{secrets.token_hex(8)}.part"


class Temporary:
    """A temporary file in the folder of `path`, open for writing inside a `with`. Leaving the block removes it unless published.

    Args:
        mode: permissions of a new file, before the umask. A file that is replaced hands on its own.
        part: its name, see `part_name`; None makes one.

    Raises:
        OSError: as the system raises it, here and in every method.
    """

    def __init__(self, path: Path, mode: int = 0o666, part: str | None = None) -> None:
        self._target = path
        self._temporary = path.with_name(part or part_name())
        self._mode = mode
        self._descriptor = -1

    def __enter__(self) -> Self:
        try:
            self._descriptor = os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, self._mode)
        except BaseException:  # Ctrl-C right behind the call: `__exit__` isn't reached then
            self._temporary.unlink(missing_ok=True)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._close()
        self._temporary.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Writes all of `data` and flushes it to the disk."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view[: 64 * _STEP]) :]
        os.fsync(self._descriptor)

    def holds(self, data: bytes) -> bool:
        """Whether the file's bytes are `data`, read back."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        view = memoryview(data)
        while view:
            part = os.read(self._descriptor, min(_STEP, len(view)))
            if not part or part != view[: len(part)]:
                return False
            view = view[len(part) :]
        return not os.read(self._descriptor, 1)

    def publish(self, overwrite: bool) -> None:
        """Gives the file its name.

        Args:
            overwrite: replaces a file of that name. Without it a file that is there stays, even one that appeared a moment ago:
                the name is taken in one step that fails when it is in use.

        Raises:
            FileExistsError: the name is in use.
        """
        target = self._target
        if overwrite:
            if target.exists():
                os.chmod(self._temporary, stat.S_IMODE(target.stat().st_mode))
            self._close()
            os.replace(self._temporary, target)
        else:
            self._close()
            _take_name(self._temporary, target)
        _flush_folder(target.parent)

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _take_name(temporary: Path, target: Path) -> None:
    if os.name == "nt":
        os.rename(temporary, target)  # fails there when the name is in use
        return
    try:
        os.link(temporary, target)
    except OSError as fault:
        if fault.errno not in _NO_LINKS or isinstance(fault, FileExistsError):
            raise
        # FAT, some network and container disks have no hard links: an empty file of ours holds the name for the moment.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IMODE(temporary.stat().st_mode)))
        try:
            os.replace(temporary, target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _flush_folder(folder: Path) -> None:
    """Makes the new name itself last through a power cut. Where folders can't be opened (Windows) the system does it."""
    if os.name != "posix":
        return
    # Some network disks refuse it. The file is complete and named by now, so that is no failure.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
