#!/usr/bin/env python3
"""The door of Fusion Studio: sets everything up on its first start, then opens the studio or runs one of its commands.

    python3 launch.py                      the studio, in the browser
    python3 launch.py fuse A B -o C        any command
    python3 launch.py test [PYTEST …]      every test
    python3 launch.py --help               the options, which stand before the command

Standard library only, like `tools/door/`. This file and `tools/door/words.py` run on Python 3.8, so that they can say that 3.8 is too old.
"""

import errno
import os
import shutil
import subprocess
import sys
from typing import Dict, List, Tuple  # noqa: UP035  # Python 3.8 knows no other way

from tools.door.words import ROOT, Stop, say, words

OLDEST, NEWEST = (3, 11), (3, 13)
SENTENCES = {errno.ENOSPC: "disk_full", errno.EACCES: "not_writable", errno.EPERM: "not_writable", errno.EROFS: "not_writable"}


def check_python(version: Tuple[int, int], bits: int = 64 if sys.maxsize > 2**32 else 32) -> None:  # noqa: UP006
    """Raises `Stop` on a Python that the packages have no wheels for, naming one on this machine that they have."""
    if OLDEST <= version <= NEWEST and bits == 64:
        return
    facts = {"version": ".".join(map(str, version)), "bits": bits}
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        command = ["py", f"-3.{minor}"] if os.name == "nt" else [f"python3.{minor}"]
        if shutil.which(command[0]) and subprocess.run([*command, "-c", ""], capture_output=True, check=False).returncode == 0:
            raise Stop("python_other", command=" ".join([*command, "launch.py"]), **facts)
    raise Stop("python_none", **facts)


def start(command: List[str], environ: Dict[str, str]) -> int:  # noqa: UP006
    """Becomes `command`. Windows can't, so there we wait for it; Ctrl-C is the command's business then."""
    if os.name != "nt":
        os.execve(command[0], command, environ)
    with subprocess.Popen(command, env=environ) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def run(arguments: List[str]) -> int:  # noqa: UP006
    """Sets up what is missing and starts what was asked for. Raises `Stop`, or `OSError` from the disk."""
    check_python(sys.version_info[:2])
    from tools.door import environment, machine, options, wheels

    given, rest = options.parse(arguments)
    if given.help:
        print(words("usage", extras=", ".join(environment.project()["optional-dependencies"])))
        return 0
    environ = wheels.clean()
    if given.no_venv:
        python = environment.this_python(given)
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    else:
        python = environment.own_python(given)
    if not given.test:
        return start([str(python), "-P", "-m", "studio.cli", *rest], environ)  # -P: nothing is imported from the person's folder
    browser = machine.find_browser(given.browser)
    environ.pop("FUSION_STUDIO_CHROMIUM", None)
    os.chdir(ROOT)
    if browser:
        environ["FUSION_STUDIO_CHROMIUM"] = browser
    if given.browser:
        environ["FUSION_STUDIO_REQUIRE_BROWSER"] = "1"
    return start([str(python), "-m", "pytest", *rest], environ)


def main(arguments: List[str]) -> int:  # noqa: UP006
    """The exit status; what went wrong stands on stderr in a sentence that says what to do."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal without our letters is no reason to fail
    try:
        return run(arguments)
    except Stop as stop:
        say(stop.key, **stop.facts)
    except OSError as fault:
        free = shutil.disk_usage(str(ROOT)).free / 1e9
        say(SENTENCES.get(fault.errno or 0, "failed"), folder=ROOT, free=free, said=f"  {fault}")
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
