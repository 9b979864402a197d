"""A real studio in a process of its own, and a real browser."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from studio.machine import find_browser

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
]  # fmt: skip
COMMAND = "from studio.cli import main; main()"
PATIENCE = 60_000  # ms; a loaded machine, not a wish


@dataclass(frozen=True)
class Server:
    """A running studio."""

    address: str
    data_dir: Path
    process: "subprocess.Popen[bytes]"

    def output(self) -> str:
        """What the command has printed."""
        return (self.data_dir / "output.txt").read_text(encoding="utf-8")

    def health(self) -> dict[str, Any]:
        answer: dict[str, Any] = httpx.get(f"{self.address}api/v1/health", trust_env=False, timeout=30).json()
        return answer

    def files(self) -> set[Path]:
        """The visitors' files. Some may go while they are looked for, which `os.walk` takes as it is and `rglob` doesn't."""
        return {Path(folder, name) for folder, _, names in os.walk(self.data_dir / "sessions") for name in names}

    def idle(self, seconds: float) -> bool:
        """Whether no job runs or waits within that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.health()["jobs"] == 0:
                return True
            time.sleep(0.05)
        return self.health()["jobs"] == 0


def _environment(data_dir: Path, more: dict[str, str]) -> dict[str, str]:
    clean = {
        name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy") and not name.startswith("FUSION_STUDIO_")
    }
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    ours = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "LANG": "C.UTF-8", "FUSION_STUDIO_DATA_DIR": str(data_dir)}
    return {**clean, **ours, **more}


def start(data_dir: Path, port: int, **environment: str) -> Server:
    """Starts the command as a person would, and waits until it answers."""
    command = [sys.executable, "-c", COMMAND, "studio", "--port", str(port), "--no-browser"]
    log = data_dir / "output.txt"  # a file and not a pipe: nobody reads along, and a full pipe would stop the studio
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=data_dir, env=_environment(data_dir, environment), stdout=output, stderr=subprocess.STDOUT)
    server = Server("", data_dir, process)
    for _ in range(600):
        found = next((word for word in server.output().split() if word.startswith("http://")), "")
        server = replace(server, address=found)
        try:
            health = server.health() if found else {"ready": False}
            if health["ready"]:
                return server
            assert "error" not in health, health["error"]
        except httpx.TransportError:
            pass
        assert process.poll() is None, server.output()
        time.sleep(0.1)
    raise AssertionError("the studio never got ready: " + server.output())


def stop(server: Server, how: signal.Signals = signal.SIGTERM) -> int:
    server.process.send_signal(how)
    try:
        return server.process.wait(PATIENCE / 1000)
    finally:
        server.process.kill()


def free_port() -> int:
    """One that nobody has and nobody is given: a taken port is a line of its own in what the studio says.

    A studio takes seconds until it listens. A port of the system's choice could be another connection's by then; below 32768 no system
    chooses any, and two runs of these tests at once choose the same of 12,000 hardly ever.
    """
    while True:
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", random.randrange(20_000, 32_000)))
            return int(free.getsockname()[1])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One studio for all tests; at the end it must be running still, and have said nothing but its address."""
    running = start(tmp_path_factory.mktemp("data"), free_port())
    yield running
    assert running.process.poll() is None, running.output()
    assert stop(running) == 0, running.output()
    assert len(running.output().splitlines()) == 3, running.output()


@pytest.fixture
def studio_process() -> Iterator[Callable[..., Server]]:
    """Starts studios that end with the test."""
    running: list[Server] = []

    def begin(data_dir: Path, port: int = 0, **environment: str) -> Server:
        running.append(start(data_dir, port or free_port(), **environment))
        return running[-1]

    yield begin
    for each in running:
        if each.process.poll() is None:
            stop(each)


@pytest.fixture
def stop_process() -> Callable[..., int]:
    return stop


@pytest.fixture
def run_command() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs the command to its end."""

    def run(data_dir: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", COMMAND, "studio", "--no-browser", *arguments]
        return subprocess.run(command, cwd=data_dir, env=_environment(data_dir, environment), capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium: FUSION_STUDIO_CHROMIUM, or the first on PATH."""
    required = os.environ.get("FUSION_STUDIO_REQUIRE_BROWSER") == "1"
    path = find_browser()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = ""
    if not path:
        assert not required, "FUSION_STUDIO_REQUIRE_BROWSER=1, and there is no Chromium or no playwright"
        pytest.skip("needs playwright and a Chromium (FUSION_STUDIO_CHROMIUM or on PATH)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Watched:
    """A page, with what went wrong on it and what left the machine."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.outside: list[str] = []
        self.problems: list[str] = []
        self.expected: list[str] = []  # words of problems that the test itself made; the browser may tell of them later than it makes them
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda fault: self.problems.append(str(fault)))
        self.page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)

    def _asked(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1":
            self.outside.append(request.url)

    def give(self, slot: str, *files: Path | str) -> None:
        """Chooses a file, or several together, and waits until the studio has looked at it."""
        self.page.set_input_files(f"#fs-{slot}-file", [str(file) for file in files])
        self.settled(slot)

    def settled(self, slot: str) -> None:
        """Waits until the studio has done what a picture's box asked for."""
        self.page.wait_for_function(f"() => !document.querySelector('[data-slot={slot}] .fs-busy:not([hidden])')")

    def fuse(self) -> None:
        self.page.click("#fuse")
        self.page.wait_for_function("() => !document.body.hasAttribute('data-running')")

    def reload(self) -> None:
        with self.leaving():
            self.page.reload()

    def speak(self, language: str) -> None:
        """Switches the page's language, which loads it anew."""
        with self.leaving():
            self.page.click(f"[data-language='{language}']")
            self.page.wait_for_selector(f"html[lang='{language}'] .fs-chip")

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """What Gradio says of its stream, cut off by the page that is left, is no fault: nobody sees it.

        Whether it is open still depends on how soon the server says that nothing more comes.
        """
        before = len(self.problems)
        yield
        cut = ("AbortError", "Connection errored out")
        self.problems[before:] = [each for each in self.problems[before:] if not any(word in each for word in cut)]

    def drawn(self) -> None:
        """Waits until the page has been laid out as it is now, with what its observers of sizes do about it."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))


@contextmanager
def visiting(chromium: Any, server: Server) -> Iterator[Callable[..., Watched]]:
    """Opens pages, each in a browser profile of its own; at the end nothing may have gone wrong on them, or left the machine."""
    opened: list[tuple[Any, Watched]] = []

    def open_page(
        path: str = "", locale: str = "en-US", width: int = 1440, height: int = 1000, scheme: str = "light", init: str = "", **more: Any
    ) -> Watched:
        context = chromium.new_context(locale=locale, viewport={"width": width, "height": height}, color_scheme=scheme, **more)
        if init:  # runs before the page's own scripts
            context.add_init_script(init)
        watched = Watched(context)
        opened.append((context, watched))
        watched.page.goto(server.address + path, wait_until="commit")
        watched.page.wait_for_selector(".fs-box:visible, #prompt-words:visible")
        watched.page.wait_for_selector(".fs-chip[data-state=ready]")
        return watched

    yield open_page
    for context, watched in opened:
        context.close()
        assert watched.outside == []
        assert [each for each in watched.problems if not any(words in each for words in watched.expected)] == []


@pytest.fixture
def visit_studio(chromium: Any, studio_process: Callable[..., Server]) -> Iterator[Callable[..., Watched]]:
    """A page of a studio of the test's own, which has these settings."""
    with ExitStack() as stack:

        def open_page(data_dir: Path, path: str, **environment: str) -> Watched:
            return stack.enter_context(visiting(chromium, studio_process(data_dir, **environment)))(path)

        yield open_page


@pytest.fixture
def visit(chromium: Any, server: Server) -> Iterator[Callable[..., Watched]]:
    """A page of the test's own."""
    with visiting(chromium, server) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def visit_once(chromium: Any, server: Server) -> Iterator[Callable[..., Watched]]:
    """A page for tests that only look, or that leave it as they found it: opening one is most of their time."""
    with visiting(chromium, server) as open_page:
        yield open_page


@pytest.fixture(scope="session")
def portraits(tmp_path_factory: pytest.TempPathFactory, astronaut: NDArray[np.uint8], officer_path: Path) -> tuple[Path, Path]:
    """Two people, as files: PNG and JPEG."""
    path = tmp_path_factory.mktemp("portraits") / "first 人 [1].png"
    Image.fromarray(astronaut).save(path)
    return path, officer_path


@pytest.fixture(scope="session")
def artifacts() -> Path:
    folder = Path(os.environ.get("FUSION_STUDIO_ARTIFACTS") or ROOT / "artifacts") / "page"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
