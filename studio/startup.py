"""What has to be settled before Gradio is imported, and where the studio can listen."""

import os
import shutil
import socket
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from urllib.request import getproxies

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORTS_TRIED = 100  # from the wanted one upwards
_QUIET = {
    "GRADIO_ANALYTICS_ENABLED": "False",  # else a request leaves at launch, and one for each event that is set up
    "GRADIO_SSR_MODE": "False",  # else Node is started where there is one, and outlives us
    "GRADIO_RUN_HISTORY": "False",
    "GRADIO_MCP_SERVER": "False",
    "GRADIO_WATCH_DIRS": "",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


class WithoutInterfaceFiles(MetaPathFinder):
    """Keeps Gradio from rewriting its `.pyi` files at each start.

    `gradio.component_meta.create_or_modify_pyi` parses the source of every component and writes into site-packages: half of
    Gradio's import (3.3–3.8 s with, 1.7–2.4 s without, interleaved on two cores), and a fault where that folder is read-only.
    Nothing at run time reads those files. Where a later Gradio has no such function, nothing happens.
    """

    MODULE, FUNCTION = "gradio.component_meta", "create_or_modify_pyi"

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != self.MODULE:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            if hasattr(module, self.FUNCTION):
                setattr(module, self.FUNCTION, lambda *_args, **_kwargs: None)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def prepare(folder: Path, hook: bool = True) -> None:
    """Sets the environment that Gradio reads, and the import hook. Call it before the first `import gradio`.

    Args:
        folder: where Gradio may keep files; made here, readable by the owner only.
        hook: False leaves Gradio's import as it is (to measure what the hook gains).
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ.update(_QUIET, GRADIO_TEMP_DIR=str(folder), GRADIO_EXAMPLES_CACHE=str(folder / "examples"))
    keep_loopback_direct()
    if hook and WithoutInterfaceFiles.MODULE not in sys.modules and not any(isinstance(f, WithoutInterfaceFiles) for f in sys.meta_path):
        sys.meta_path.insert(0, WithoutInterfaceFiles())


def keep_loopback_direct() -> None:
    """Adds this machine to NO_PROXY, where a proxy is set: a VPN's proxy doesn't know our address."""
    if not getproxies():
        return
    for name in ("NO_PROXY", "no_proxy"):
        have = [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
        os.environ[name] = ",".join([*have, *(host for host in LOOPBACK if host not in have)])


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on `port`, or on the next free one above it.

    Handing the bound socket on, and not its number, leaves no gap in which somebody else takes the port.

    Raises:
        OSError: none of `PORTS_TRIED` ports is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last = min(port + PORTS_TRIED, 65536) - 1
    for candidate in range(port, last + 1):
        bound = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":  # on Windows this option lets two programs share a port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, candidate))
            bound.listen(128)
            return bound
        except OSError:
            bound.close()
            if candidate == last:
                raise
    raise OSError(f"no free port from {port} to {last}")


def has_screen() -> bool:
    """Whether a browser window could be seen by anybody here."""
    if os.environ.get("SSH_CONNECTION") and not os.environ.get("DISPLAY"):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("WSL_DISTRO_NAME"))


def remove_leftovers(root: Path, older_than: float) -> None:
    """Deletes session folders that a killed process left behind: those last changed before `older_than` (seconds since 1970)."""
    if not root.is_dir():
        return
    for folder in root.iterdir():
        try:
            stale = folder.stat().st_mtime < older_than
        except FileNotFoundError:  # another studio's sweep was faster
            continue
        if stale:
            shutil.rmtree(folder, ignore_errors=True)
