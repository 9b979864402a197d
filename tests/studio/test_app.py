"""The server and its window, as far as they go without a screen."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from engines.errors import DesktopMissing, InvalidOption
from engines.settings import Settings
from studio import app

ROOT = Path(__file__).resolve().parents[2]


class Server:
    """Runs until it is told to stop."""

    def __init__(self) -> None:
        self.should_exit, self.ran = False, threading.Event()

    def run(self, sockets: list[socket.socket]) -> None:
        self.ran.set()
        while not self.should_exit:
            threading.Event().wait(0.005)


class Window:
    """pywebview, as far as we call it: `start` blocks until the window is gone."""

    def __init__(self, closed_by: str) -> None:
        self.closed_by, self.gone, self.windows, self.made = closed_by, threading.Event(), [self], ()

    def create_window(self, *given: Any, **_: Any) -> None:
        self.made = given

    def destroy(self) -> None:
        self.gone.set()

    def start(self) -> None:
        if self.closed_by == "person":
            self.destroy()
        else:
            os.kill(os.getpid(), signal.SIGTERM)
        assert self.gone.wait(5)


@pytest.mark.parametrize("closed_by", ["person", "signal"])
def test_the_studio_ends_with_its_window(closed_by: str) -> None:
    server, window, before = Server(), Window(closed_by), signal.getsignal(signal.SIGTERM)
    app._in_window(window, server, None, "http://127.0.0.1:1/", "Studio")
    assert server.ran.is_set()
    assert server.should_exit
    assert window.made == ("Studio", "http://127.0.0.1:1/")
    assert signal.getsignal(signal.SIGTERM) == before
    assert "server" not in {thread.name for thread in threading.enumerate()}


def test_a_window_needs_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "webview", None)
    with pytest.raises(DesktopMissing):
        app.serve(Settings(data_dir=tmp_path), window=True)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "example.org"])
def test_another_host_is_refused_before_anything_is_made(host: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, host=host)
    for start in (lambda: app.create_app(settings), lambda: app.serve(settings)):
        with pytest.raises(InvalidOption):
            start()
    assert list(tmp_path.iterdir()) == []


def test_the_application_is_made_without_a_warning(tmp_path: Path) -> None:
    """In a process of its own, since Gradio keeps an event loop. It warns of handlers that don't fit their inputs."""
    pytest.importorskip("gradio")
    code = (
        "from pathlib import Path; from engines.settings import Settings; from studio.app import create_app\n"
        f"create_app(Settings(data_dir=Path({str(tmp_path)!r})))"
    )
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
