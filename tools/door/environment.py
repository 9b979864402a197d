"""The project's own environment, `.venv`, and what has to be done to it, if anything.

It is ours when one of two files lies in it: BUILDING while it is being changed, STAMP, written last, when it is whole. BUILDING found
at a start means that the last one was cut off, so the environment is built again. An environment with neither is somebody's own:
it is added to, never cleared.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from tools.door.machine import cuda_usable, nvidia
from tools.door.options import Options
from tools.door.wheels import CONSTRAINTS, HEADLESS, give_up, install, one_of_each
from tools.door.words import ROOT, Stop, say

VENV = ROOT / ".venv"
BUILDING, STAMP = VENV / "fusion-studio.building", VENV / "fusion-studio.json"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
PYPROJECT = ROOT / "pyproject.toml"
VERSION = "{}.{}".format(*sys.version_info[:2])


def own_python(options: Options) -> Path:
    """The Python of `.venv`, which is made or renewed where needed. Raises `Stop` with what to do."""
    if not stands(options, read_stamp()):
        with locked():
            stamp = read_stamp()
            if not stands(options, stamp):  # another start may just have done it
                signal.signal(signal.SIGTERM, _interrupt)
                wanted = plan(options, stamp)
                if _rebuild(options, stamp) or any(stamp.get(key) != wanted[key] for key in ("sources", "opencv", "installed")):
                    set_up(options, stamp, wanted)
                write_stamp(wanted)
    return PYTHON


def this_python(options: Options) -> Path:
    """The Python that runs this. Installs into it only with `--reinstall`; otherwise raises `Stop` when something is missing."""
    from importlib import metadata, util

    extras = sorted({*choose(options.extras or []), *(["dev"] if options.test else [])})
    python = Path(sys.executable)
    if options.reinstall:
        install(python, extras)
        one_of_each(python, extras, options.opencv or HEADLESS)
        return python
    table, missing = project(), []
    modules = {"onnxruntime": "onnxruntime", HEADLESS: "cv2"}  # any of the wheels that bring the module will do
    for requirement in [*table["dependencies"], *(one for extra in extras for one in table["optional-dependencies"][extra])]:
        name = re.split(r"[^\w.-]", requirement)[0]
        try:
            found = util.find_spec(modules[name]) is not None if name in modules else bool(metadata.version(name))
        except metadata.PackageNotFoundError:
            found = ";" in requirement  # for another platform, perhaps
        missing += [] if found else [name]
    if missing:
        raise Stop("missing_here", python=python, names=", ".join(missing))
    return python


def project() -> dict[str, Any]:
    """The `[project]` table of pyproject.toml, with a list of dependencies and a table of extras in any case."""
    import tomllib

    table: dict[str, Any] = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    return {"dependencies": [], "optional-dependencies": {}, **table}


def choose(asked: list[str]) -> list[str]:
    """The extras to install: `auto` becomes what fits this machine. Raises `Stop` for an extra that doesn't exist."""
    known = ["auto", *project()["optional-dependencies"]]
    for name in asked:
        if name not in known:
            raise Stop("extra_unknown", name=name, known=", ".join(known))
    chosen = {name for name in asked if name != "auto"}
    if "auto" in asked and "gpu" in known and nvidia() and cuda_usable():
        chosen.add("gpu")
    return sorted(chosen)


def read_stamp() -> dict[str, Any]:
    """What the environment was built from; empty when it isn't whole."""
    try:
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def write_stamp(stamp: dict[str, Any]) -> None:
    """Notes what the environment was built from, all of it or nothing."""
    STAMP.with_suffix(".tmp").write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    os.replace(STAMP.with_suffix(".tmp"), STAMP)


def stands(options: Options, stamp: dict[str, Any]) -> bool:
    """Whether the environment is as `options` want it. Every start asks: reads three files and looks for four."""
    return (
        bool(stamp)
        and not options.reinstall
        and not BUILDING.exists()
        and PYTHON.exists()
        and all(stamp.get(key) == value for key, value in _facts(options, stamp).items())
        and (not options.test or "dev" in stamp["installed"])
    )


def plan(options: Options, stamp: dict[str, Any]) -> dict[str, Any]:
    """The stamp to reach. What was added once stays, so that tests and studio in turn don't install in turn; only `gpu`,
    which replaces a base package, goes when it isn't asked for any more."""
    facts = _facts(options, stamp)
    wanted = {*choose(facts["asked"]), *(["dev"] if options.test else [])}
    known = project()["optional-dependencies"]
    kept = set() if _rebuild(options, stamp) else {one for one in stamp.get("installed", ()) if one in known and one != "gpu"}
    return {**facts, "installed": sorted(wanted | kept)}


def set_up(options: Options, stamp: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Makes the environment what `wanted` says. Interrupted, it leaves BUILDING behind."""
    began, rebuild = time.monotonic(), _rebuild(options, stamp)
    free = shutil.disk_usage(ROOT).free / 1e9
    say("setting_up", folder=VENV, extras=", ".join(wanted["installed"]) or "-", free=free)
    VENV.mkdir(exist_ok=True)
    if not rebuild and not stamp:
        _check_foreign()
    BUILDING.touch()
    if rebuild:
        make_venv()
    try:
        install(PYTHON, wanted["installed"])
    except Stop:
        if not rebuild:
            BUILDING.unlink()  # pip puts back what it had begun, so what stood before still stands
        raise
    one_of_each(PYTHON, wanted["installed"], wanted["opencv"])
    BUILDING.unlink()
    say("ready", seconds=time.monotonic() - began)


def make_venv() -> None:
    """An empty environment. Everything in the folder goes, except the note that it is being built."""
    say("making")
    for child in VENV.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        elif child != BUILDING:
            child.unlink()
    command = [sys.executable, "-m", "venv", str(VENV)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if answer.returncode != 0:
        if re.search(r"ensurepip|No module named '?venv", answer.stdout):
            raise Stop("venv_missing", version=VERSION)
        give_up(answer.stdout.splitlines())


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """One set-up at a time in this folder. The lock is on pyproject.toml: no litter, and it ends with its last holder."""
    with open(PYPROJECT, "r+b" if os.access(PYPROJECT, os.W_OK) else "rb") as file:  # NFS wants a writable handle for a lock
        waiting = False
        while not _try_lock(file):
            if not waiting:
                say("waiting")
            waiting = True
            time.sleep(0.2)
        os.set_inheritable(file.fileno(), True)  # pip keeps it, should this process be killed meanwhile
        yield


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 30)  # behind the end: a lock there keeps nobody from reading
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        if fault.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def _facts(options: Options, stamp: dict[str, Any]) -> dict[str, Any]:
    """What the stamp must say for the environment to do, all of it cheap to find out. It knows its folder and its Python by heart."""
    asked = options.extras if options.extras is not None else stamp.get("asked", ["auto"])
    sources = b"\0".join(path.read_bytes() for path in (PYPROJECT, CONSTRAINTS) if path.exists())
    return {
        "folder": str(ROOT),
        "python": VERSION,
        "sources": hashlib.sha256(sources).hexdigest(),
        "asked": asked,
        "nvidia": "auto" in asked and nvidia(),
        "opencv": options.opencv or stamp.get("opencv", HEADLESS),
    }


def _rebuild(options: Options, stamp: dict[str, Any]) -> bool:
    """Whether to begin with an empty environment rather than with the one that is there."""
    if options.reinstall or BUILDING.exists() or not VENV.is_dir() or not any(VENV.iterdir()):
        return True
    return bool(stamp) and (stamp.get("folder"), stamp.get("python"), PYTHON.exists()) != (str(ROOT), VERSION, True)


def _check_foreign() -> None:
    """Raises `Stop` when an environment that isn't ours can't serve: broken, without pip, of another Python."""
    check = "import pip, sys; print('{}.{}'.format(*sys.version_info[:2]))"
    answer = subprocess.run([PYTHON, "-c", check], capture_output=True, text=True, check=False).stdout if PYTHON.exists() else ""
    if answer.strip() != VERSION:
        raise Stop("foreign", folder=VENV)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
