"""Starting: the hook, the port, proxies, leftovers."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio import startup

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("hook", "writes"), [(True, False), (False, True)])
def test_the_hook_takes_only_the_interface_writer_out(tmp_path: Path, hook: bool, writes: bool) -> None:
    """Gradio's module is stood in for by a file of the same name: the hook must work on any loader, and leave the rest alone."""
    package = tmp_path / "gradio"
    package.mkdir()
    (package / "__init__.py").write_text("from gradio import component_meta\n")
    (package / "component_meta.py").write_text("def create_or_modify_pyi(): return 'written'\ndef other(): return 'kept'\n")
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]\n"
        f"from pathlib import Path; from studio import startup; startup.prepare(Path({str(tmp_path / 'files')!r}), hook={hook})\n"
        "import gradio; m = gradio.component_meta\n"
        "print(m.create_or_modify_pyi(), m.other(), sum('Interface' in type(finder).__name__ for finder in sys.meta_path))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert answer == ["written" if writes else "None", "kept", "0"]


def test_the_hook_steps_aside_where_gradio_has_no_such_function(tmp_path: Path) -> None:
    package = tmp_path / "gradio"
    package.mkdir()
    (package / "__init__.py").write_text("from gradio import component_meta\n")
    (package / "component_meta.py").write_text("value = 7\n")
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]\n"
        f"from pathlib import Path; from studio import startup; startup.prepare(Path({str(tmp_path / 'files')!r}))\n"
        "import gradio; print(gradio.component_meta.value, hasattr(gradio.component_meta, 'create_or_modify_pyi'))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == ["7", "False"]


def test_a_taken_port_gives_the_next_free_one() -> None:
    first = startup.listen("127.0.0.1", 17860)
    try:
        second = startup.listen("127.0.0.1", first.getsockname()[1])
        try:
            assert second.getsockname()[1] > first.getsockname()[1]
        finally:
            second.close()
    finally:
        first.close()


def test_ports_end_at_65535() -> None:
    last = startup.listen("127.0.0.1", 65535)
    try:
        with pytest.raises(OSError, match=r"."):
            startup.listen("127.0.0.1", 65535)
    finally:
        last.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "127.0.0.1,localhost,::1"), ("intranet, localhost", "intranet,localhost,127.0.0.1,::1")],
)
def test_a_proxy_is_not_asked_for_our_own_address(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", before)
    monkeypatch.setenv("no_proxy", before)
    startup.keep_loopback_direct()
    assert os.environ["NO_PROXY"] == os.environ["no_proxy"] == after


def test_without_a_proxy_the_environment_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    startup.keep_loopback_direct()
    assert "NO_PROXY" not in os.environ


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a screen")
@pytest.mark.parametrize(("variables", "seen"), [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "wayland-0"}, True)])
def test_has_screen(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], seen: bool) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert startup.has_screen() is seen


def test_only_stale_leftovers_go(tmp_path: Path) -> None:
    old, young = tmp_path / "old", tmp_path / "young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "picture").write_bytes(b"x")
    os.utime(old, (time.time() - 7200,) * 2)
    startup.remove_leftovers(tmp_path, older_than=time.time() - 3600)
    assert [path.name for path in tmp_path.iterdir()] == ["young"]
    startup.remove_leftovers(tmp_path / "nowhere", older_than=0)
