"""pip, watched: what it does in one line, why it failed in one sentence, and one wheel where two would share a name."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any, NoReturn

from tools.door.words import ROOT, Stop, say, words

HEADLESS = "opencv-python-headless"  # the others need libGL, which slim systems lack
CONSTRAINTS = ROOT / "constraints.txt"
# What pip or the operating system says, and the sentence that it means. The first that fits counts: a dead network also ends in
# "No matching distribution". Errno numbers beside the words, since those are translated.
REASONS = (
    ("disk_full", r"\[Errno 28\]|WinError 112\b|No space left on device"),
    ("not_writable", r"\[Errno 13\]|\[Errno 30\]|WinError 5\b|Permission denied"),
    ("managed", r"externally-managed-environment"),
    ("certificate", r"CERTIFICATE_VERIFY_FAILED|SSLError"),
    ("offline", r"NewConnectionError|Connect(ion|Timeout)Error|ReadTimeout|ProxyError|Connection (refused|reset|broken|aborted)|timed out"),
    ("no_wheel", r"No matching distribution found for (?P<package>[^\s;]+)"),
    ("conflict", r"ResolutionImpossible|conflicting dependencies"),
)
PROBE = """
import json
from importlib import metadata
owners, answer = metadata.packages_distributions(), {}
for module, family in (("onnxruntime", "onnxruntime"), ("cv2", "opencv")):
    try:
        if module == "cv2":
            import cv2
            from cv2 import version as build
            active = "opencv" + "-contrib" * build.contrib + "-python" + "-headless" * build.headless
        else:
            import onnxruntime
            from onnxruntime.capi.build_and_package_info import package_name as active
            onnxruntime.__version__
    except (ImportError, AttributeError):
        active = ""
    answer[module] = [sorted({name for name in owners.get(module, ()) if name.startswith(family)}), active]
print(json.dumps(answer))
"""


def clean() -> dict[str, str]:
    """This process's environment without what would let other packages into ours."""
    environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return {**environ, "PYTHONIOENCODING": "utf-8"}


def install(python: Path, extras: list[str]) -> None:
    """This project, editable, with `extras`, at the versions of constraints.txt."""
    pip(python, "install", "--editable", ".[{}]".format(",".join(extras)) if extras else ".", *_constraints())


def one_of_each(python: Path, extras: list[str], opencv: str) -> None:
    """Leaves one wheel for `onnxruntime` and one for `cv2`, and that one whole.

    pip installs `onnxruntime` beside `onnxruntime-gpu` over the same files, and `opencv-python` beside the headless one; the metadata
    doesn't tell which won. Removing either takes the shared files, so both go and one comes back, without its dependencies.

    Raises:
        Stop: what was put back doesn't import.
    """
    gpu = "gpu" in extras and sys.platform != "darwin"
    for module, name in (("onnxruntime", "onnxruntime-gpu" if gpu else "onnxruntime"), ("cv2", opencv)):
        claimants, active = probe(python)[module]
        if not claimants or (claimants == [name] and active == name):
            continue
        say("one_of_each", name=name, module=module, found=", ".join(claimants))
        pip(python, "uninstall", "--yes", *claimants)
        pip(python, "install", "--no-deps", name, *_constraints())
        if probe(python)[module] != [[name], name]:
            raise Stop("not_working", name=name, module=module)


def probe(python: Path) -> dict[str, Any]:
    """For `onnxruntime` and `cv2`: `[who claims the name, which build answers]`, "" when none does."""
    answer = subprocess.run([python, "-c", PROBE], stdout=subprocess.PIPE, text=True, env=clean(), check=True)
    return dict(json.loads(answer.stdout.splitlines()[-1]))


def pip(python: Path, *arguments: str) -> None:
    """Runs pip in the project's folder. Raises `Stop` with the reason of a failure."""
    command = [str(python), "-m", "pip", *arguments, *(["--progress-bar", "off"] if arguments[0] == "install" else [])]
    environ = {**clean(), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    environ["PIP_RETRIES"] = os.environ.get("PIP_RETRIES", "3").replace("0", "1")  # without any, pip doesn't say that the network is dead
    said: deque[str] = deque(maxlen=300)
    live, width = sys.stderr.isatty(), min(60, shutil.get_terminal_size().columns - 12)  # Chinese takes two columns a character
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "encoding": "utf-8", "errors": "replace"}
    # Handles that may be inherited are: the lock on this folder then holds until pip ends, even if we are killed.
    with subprocess.Popen(command, cwd=ROOT, env=environ, close_fds=os.name == "nt", **pipes) as process:
        try:
            for line in process.stdout or ():
                said.append(line.rstrip())
                shown = condensed(line, everything=live)
                if shown:
                    print(f"\r{shown:{width}.{width}}" if live else f"  {shown}", end="" if live else "\n", file=sys.stderr, flush=True)
        except BaseException:
            process.terminate()
            raise
    if live:
        print("\r" + " " * (width + 10), end="\r", file=sys.stderr, flush=True)
    if process.returncode != 0:
        give_up(list(said))


def condensed(line: str, everything: bool) -> str:
    """A line of pip's in a few words, "" for one that tells nothing; without `everything`, only what takes a while."""
    fetched = re.match(r"\s*(?:Downloading|Using cached) (?:\S*/)?([^-\s]+)-([^-\s]+)\S*(?<!\.metadata) \((.*)\)", line)
    if fetched and (everything or re.fullmatch(r"\d\d+(\.\d+)? MB|.* GB", fetched[3])):
        return words("fetching", name=fetched[1], version=fetched[2], size=fetched[3])
    if line.startswith("Installing collected packages:"):
        return words("installing", count=line.count(",") + 1)
    looked = re.match(r"Collecting ([\w.-]+)", line)
    return words("looking", name=looked[1]) if looked and everything else ""


def give_up(said: list[str]) -> NoReturn:
    """Raises `Stop` with the reason that stands in what a program said, or with its last lines."""
    for key, pattern in REASONS:
        found = re.search(pattern, "\n".join(said))
        if found:
            raise Stop(key, folder=ROOT, free=shutil.disk_usage(ROOT).free / 1e9, **found.groupdict())
    raise Stop("failed", said="\n".join(f"  {line}" for line in said[-12:]))


def _constraints() -> list[str]:
    return ["--constraint", CONSTRAINTS.name] if CONSTRAINTS.exists() else []
