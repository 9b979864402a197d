"""What the machine has, as far as the doctor tells it: memory, folders, a browser."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

BROWSER_VARIABLE = "FUSION_STUDIO_CHROMIUM"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
CGROUP_MEMORY = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that this process may come to use, and those of them that are free now."""

    total: int
    available: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A place that the studio writes to.

    Attributes:
        path: as asked for; it need not exist yet.
        writable: a file could be made in it or, where it is still missing, in the folder that it would be made in.
        free: bytes on its disk.
        detail: why it isn't writable.
    """

    path: Path
    writable: bool
    free: int
    detail: str = ""


def memory(limit: Path = CGROUP_MEMORY) -> Memory:
    """The machine's memory, or what the container may use of it (`limit`: a cgroup v2 `memory.max`)."""
    machine = psutil.virtual_memory()
    words = limit.read_text(encoding="ascii").strip() if limit.is_file() else "max"
    total = min(machine.total, int(words)) if words.isdigit() else machine.total
    return Memory(total, min(machine.available, total))


def folder(path: Path) -> Folder:
    """Tries the folder out, by a nameless file where the system has such; makes no folder."""
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    free = shutil.disk_usage(nearest).free
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return Folder(path, True, free)
    except OSError as fault:
        return Folder(path, False, free, fault.strerror or str(fault))


def find_browser(environ: Mapping[str, str] | None = None) -> str:
    """A Chromium, Chrome or Edge: the one that FUSION_STUDIO_CHROMIUM names, else the first on PATH; "" without any."""
    environ = os.environ if environ is None else environ
    given = environ.get(BROWSER_VARIABLE, "")
    names = (given,) if given else BROWSERS
    return next((found for found in (shutil.which(name, path=environ.get("PATH")) for name in names) if found), "")
