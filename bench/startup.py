"""From the start of the process to the first answer of `/api/v1/health`, with and without what the studio does about Gradio's start.

    python -m bench.startup [--rounds 3]

Compared with: `import gradio` alone, in a fresh process.
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from bench.report import show

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


def ready(data_dir: Path) -> float:
    """Milliseconds until the studio answers."""
    environ = os.environ | {"FUSION_STUDIO_DATA_DIR": str(data_dir), "FUSION_STUDIO_PROVIDER": "cpu", "PYTHONUNBUFFERED": "1"}
    log = data_dir / "out.txt"
    begun = time.perf_counter()
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "studio.cli", "studio", "--no-browser"], cwd=ROOT, env=environ, stdout=out, stderr=out
        )
    try:
        opener = build_opener(ProxyHandler({}))
        while time.perf_counter() - begun < 120:
            found = ADDRESS.search(log.read_text())
            if found:
                try:
                    opener.open(found[0] + "/api/v1/health", timeout=1).close()
                    return (time.perf_counter() - begun) * 1e3
                except (URLError, TimeoutError):
                    pass
            if process.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.02)
        raise SystemExit("the studio did not answer within two minutes\n" + log.read_text())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def importing() -> float:
    """Milliseconds of a process that imports gradio and ends."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import gradio"], check=True, cwd=ROOT, env=os.environ | {"GRADIO_ANALYTICS_ENABLED": "False"})
    return (time.perf_counter() - begun) * 1e3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=3)
    rounds = options.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder)
        ready(data_dir)  # compiles what is compiled once, and makes the key
        both = [(ready(data_dir), importing()) for _ in range(rounds)]
    studio, gradio = (statistics.median(column) for column in zip(*both, strict=True))
    show(
        "startup",
        [
            {"job": "start of the process → /api/v1/health", "ms": studio, "ratio": studio / gradio, "goal_ms": 5000},
            {"job": "import gradio, as it comes", "ms": gradio, "ratio": 1.0},
        ],
    )


if __name__ == "__main__":
    main()
