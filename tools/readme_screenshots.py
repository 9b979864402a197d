"""Makes docs/page-*.jpg: the tabs of the page as they are, with the two public-domain portraits of the dev packages.

    python -m tools.readme_screenshots [NAME …]

Starts a studio of its own with an empty data folder, and a headless Chromium. The pictures go through the writer like any other output.
"""

import argparse
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.cbook import get_sample_data
from PIL import Image
from skimage.data import astronaut

from engines import Studio
from engines.provenance.save import write_encoded
from studio.machine import find_browser

ROOT = Path(__file__).resolve().parent.parent
SIZE = {"width": 1280, "height": 860}
PROMPT = (
    "A portrait photo of a woman who is about 35 years old, she is smiling, no glasses, wearing an orange suit, soft light from the left"
)


def swap(page: Any, source: Path, target: Path) -> None:
    for slot, file in (("source", source), ("target", target)):
        page.set_input_files(f"#fs-{slot}-file", str(file))
        page.wait_for_selector(f"[data-slot={slot}].fs-filled")
        page.wait_for_function(f"() => !document.querySelector('[data-slot={slot}] .fs-busy:not([hidden])')")
    page.click("#fuse")
    page.wait_for_selector("#panel-swap-result .fs-compare img")
    page.wait_for_function("() => !document.body.hasAttribute('data-running')")


def align(page: Any, source: Path, target: Path) -> None:
    page.set_input_files("#fs-photo-file", str(target))
    page.wait_for_selector("#panel-align-face .fs-crop img")


def tokens(page: Any, source: Path, target: Path) -> None:
    page.set_input_files("#fs-counted-file", str(target))
    page.wait_for_selector("#panel-visual-result table")


def prompt(page: Any, source: Path, target: Path) -> None:
    page.fill("#prompt-words textarea", PROMPT)
    page.wait_for_selector("[id^=panel-prompt] table")


SHOTS: dict[str, Callable[[Any, Path, Path], None]] = {"swap": swap, "align": align, "tokens": tokens, "prompt": prompt}


def start(folder: Path) -> tuple["subprocess.Popen[bytes]", str]:
    """A studio on a free port, and its address."""
    environ = os.environ | {"FUSION_STUDIO_DATA_DIR": str(folder), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    log = folder / "output.txt"
    command = [sys.executable, "-m", "studio.cli", "studio", "--port", "8799", "--no-browser"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=subprocess.STDOUT)
    for _ in range(600):
        address = next((word for word in log.read_text().split() if word.startswith("http://")), "")
        if address:
            return process, address
        time.sleep(0.1)
    raise SystemExit(log.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(SHOTS))
    names = parser.parse_args().names
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, Studio.open() as studio, sync_playwright() as playwright:
        source, target = Path(place, "source.png"), Path(str(get_sample_data("grace_hopper.jpg", asfileobj=False)))
        Image.fromarray(astronaut()).save(source)
        process, address = start(Path(place))
        try:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=["--headless", "--no-sandbox", "--disable-gpu"])
            for name in names:
                page = browser.new_page(viewport=SIZE, locale="en-US")
                page.set_default_timeout(120_000)
                page.goto(f"{address}?tab={name}", wait_until="commit")
                page.wait_for_selector(".fs-chip[data-state=ready]")
                SHOTS[name](page, source, target)
                page.evaluate("scrollTo(0, 0)")
                page.wait_for_timeout(1500)
                with Image.open(io.BytesIO(page.screenshot())) as shot:
                    marked = studio.mark(np.asarray(shot.convert("RGB")), "fusion" if name == "swap" else "preview")
                write_encoded(studio.encode(marked, "jpg", 85), ROOT / "docs" / f"page-{name}.jpg", overwrite=True)
                page.close()
            browser.close()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


if __name__ == "__main__":
    main()
