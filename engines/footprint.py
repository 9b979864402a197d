"""How much memory a fusion takes, measured in a process that does nothing else.

In the studio's own process that can't be told: it holds networks of earlier jobs, and memory that one model gave back is taken again by
the next one, so that the order decides. Each measurement here is a fresh interpreter, which all start alike.
"""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engines.options import FuseOptions
from engines.runtime.memory import peak_memory
from engines.timing import Run
from engines.types import Frame

if TYPE_CHECKING:
    from engines.personas import Persona
    from engines.pipeline import Studio

COMMAND = "from engines.footprint import measure; measure()"
_HIDDEN = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows alone has it


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of resident memory; what a graphics card holds isn't among them.

    Attributes:
        rise: how far it rose over the interpreter with its libraries and both pictures: the runtime, all networks that take part (those
            that find, know and check faces too), and what they work in.
        peak: the most that the whole process had: what a machine needs that does nothing else.
    """

    rise: int
    peak: int


def footprint(studio: "Studio", source: "Frame | Persona", target: Frame, options: FuseOptions, run: Run) -> Footprint | None:
    """Fuses twice in a process of its own. None where that process couldn't be started, or didn't come to its end.

    Raises:
        Cancelled: the job was stopped; the process is ended.
    """
    run.check()
    asked = pickle.dumps((studio.settings, studio.manifest, studio.key, source, target, options))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            creationflags=_HIDDEN,
        )
    except OSError:  # no interpreter to start: frozen, or too little memory
        return None
    with process:
        try:
            with run.stopping(process.kill):
                answer, _ = process.communicate(asked)
        finally:
            process.kill()  # nothing, where it has ended
    run.check()
    words = answer.split()
    return Footprint(int(words[0]), int(words[1])) if process.returncode == 0 and len(words) == 2 else None


def measure() -> None:
    """The other side of `footprint`: takes the question from the standard input, and answers with the two numbers."""
    from engines.pipeline import Studio

    settings, manifest, key, source, target, options = pickle.load(sys.stdin.buffer)  # of the process that started this one
    with peak_memory() as idle:
        pass
    with Studio(settings, manifest, key) as studio, peak_memory() as busy:
        for _ in range(2):  # the first opens the networks; the second is what a job takes beside them
            studio.known.forget()
            studio.fuse(source, target, options)
    sys.stdout.write(f"{busy.bytes - idle.bytes} {busy.bytes}")
