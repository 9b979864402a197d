"""Writes constraints.txt: one exact version of every package, for all extras together, each supported Python and each platform.

    python3 tools/renew_constraints.py

uv resolves `pyproject.toml` once for all of them (pip evaluates markers for the machine it runs on only); it is installed into
a throw-away environment. One set for every combination of extras holds a few packages back, but an extra that is added later
never moves what is there. Names and versions only: where packages come from is the reader's own setting.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST, BEYOND = "3.11", "3.14"  # as `requires-python`
PYTHONS = f"python_full_version < '{BEYOND}'"
PLATFORMS = "(sys_platform == 'darwin' or sys_platform == 'linux' or sys_platform == 'win32')"
# A torch release demands exact CUDA libraries; pinned here they would shut out the other release that the range allows.
FREE = re.compile(r"(torch|triton|nvidia-.*|cuda-.*)$")
HEADER = f"""\
# Written by tools/renew_constraints.py; don't edit. Exact versions for all extras together, Python {OLDEST} up to, not including, {BEYOND}.
# Left free: torch, and the CUDA libraries that come with it.
"""


def resolve(pyproject: str) -> str:
    """uv's answer for all extras: lines of `name==version`, or `name==version ; marker`. Raises `CalledProcessError`."""
    environment = f'\n[tool.uv]\nenvironments = ["{PYTHONS} and {PLATFORMS}"]\n'
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "env"), with_pip=True)
        python = str(Path(folder, "env", "Scripts/python.exe" if os.name == "nt" else "bin/python"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        Path(folder, "pyproject.toml").write_text(pyproject + environment, encoding="utf-8")
        command = [python, "-m", "uv", "pip", "compile", "pyproject.toml", "--universal", "--all-extras", "--python-version", OLDEST]
        certificates = {"SSL_CERT_FILE": os.environ["PIP_CERT"]} if "PIP_CERT" in os.environ else {}
        answer: subprocess.CompletedProcess[str] = subprocess.run(
            [*command, "--no-header", "--no-annotate", "--quiet"],
            cwd=folder,
            env=os.environ | certificates,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return answer.stdout


def pins(answer: str) -> list[str]:
    """The lines to keep, without what holds everywhere in their markers. Raises `ValueError` for a line that isn't an exact pin."""
    kept = []
    for line in filter(None, map(str.strip, answer.splitlines())):
        pin, _, marker = (part.strip() for part in line.partition(";"))
        if not re.fullmatch(r"[a-z0-9._-]+==[^\s/@]+", pin):
            raise ValueError(f"not an exact pin: {line}")
        for everywhere in (PLATFORMS, PYTHONS):
            marker = marker.replace(f"{everywhere} and ", "").replace(f" and {everywhere}", "")
            marker = "" if marker == everywhere else marker
        if not FREE.match(pin.partition("==")[0]):
            kept.append(f"{pin} ; {marker}" if marker else pin)
    return kept


def main() -> int:
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    tomllib.loads(pyproject)
    lines = pins(resolve(pyproject))
    (ROOT / "constraints.txt").write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"constraints.txt: {len(lines)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
