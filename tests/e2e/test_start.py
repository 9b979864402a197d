"""Starting and stopping the command, as a person would."""

import signal
import socket
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture
def held() -> Any:
    """A port that somebody else listens on; counts who calls there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        taken.settimeout(0.2)
        yield taken


def calls(listener: socket.socket) -> int:
    count = 0
    while True:
        try:
            listener.accept()[0].close()
        except TimeoutError:
            return count
        count += 1


def test_it_starts_behind_a_dead_proxy_on_the_next_free_port(
    tmp_path: Path, held: socket.socket, studio_process: Callable[..., Any]
) -> None:
    """Case U-01. The proxy is a listener that counts: nothing of the studio's may knock there."""
    with socket.socket() as proxy:
        proxy.bind(("127.0.0.1", 0))
        proxy.listen()
        proxy.settimeout(0.2)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        wanted = held.getsockname()[1]
        server = studio_process(tmp_path, wanted, **dict.fromkeys(names, address))
        health = server.health()
        page = httpx.get(server.address, trust_env=False, timeout=30)
        knocks = calls(proxy)
    assert health["status"] == "ok"
    assert page.status_code == 200
    assert int(server.address.rstrip("/").rsplit(":", 1)[1]) > wanted
    assert f"{wanted}" in server.output().splitlines()[0]  # it says which port was taken
    assert knocks == 0
    assert calls(held) == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_and_deletes_the_pictures(
    tmp_path: Path, how: signal.Signals, studio_process: Callable[..., Any], stop_process: Any
) -> None:
    server = studio_process(tmp_path)
    with httpx.Client(base_url=server.address, trust_env=False, timeout=30) as client:
        client.get("/")
        token = client.post("/media", params={"name": "x.png"}, content=b"secret").json()["token"]
        assert client.get(f"/media/{token}").content == b"secret"
    kept = [path for path in (tmp_path / "sessions").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in kept] == [b"secret"]
    assert stop_process(server, how) == 0
    assert [path for path in (tmp_path / "sessions").rglob("*") if path.is_file()] == []


def test_an_open_page_is_no_reason_to_wait_or_to_complain(tmp_path: Path, studio_process: Callable[..., Any], stop_process: Any) -> None:
    server = studio_process(tmp_path)
    with httpx.Client(base_url=server.address, trust_env=False, timeout=30) as client:
        client.get("/")
        with client.stream("GET", "/gradio_api/heartbeat/abcdefghijk") as heartbeat:
            beats = heartbeat.iter_text()
            assert "ALIVE" in next(beats)
            assert stop_process(server) == 0
            assert "".join(beats) == ""  # ended as an answer ends, not broken off
    assert len(server.output().splitlines()) == 3, server.output()


def test_another_host_is_refused(tmp_path: Path, run_command: Callable[..., Any]) -> None:
    answer = run_command(tmp_path, FUSION_STUDIO_HOST="0.0.0.0")
    assert answer.returncode == 1
    assert "0.0.0.0" in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 2  # what happened; what to do


def test_a_window_without_its_extra_says_what_to_install(tmp_path: Path, run_command: Callable[..., Any]) -> None:
    if find_spec("webview"):
        pytest.skip("pywebview is installed here")
    answer = run_command(tmp_path, "--window")
    assert answer.returncode == 1
    assert "pip install" in answer.stderr
