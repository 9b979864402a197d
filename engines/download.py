"""`download`: a model's file from an address to its place, whole or not at all.

The bytes go to `<name>.<hash>.part` beside the target, which the next try continues; the target itself appears by one rename, after
the hash was right.
"""

import contextlib
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from engines.errors import DownloadFailed
from engines.model_entry import ModelEntry
from engines.model_files import digest, install
from engines.timing import Run

OnProgress = Callable[[int, int], None]  # bytes that are there, bytes in all

TIMEOUT = httpx.Timeout(15.0, connect=10.0)  # seconds without a byte
LOOPBACK = ("localhost", "127.", "::1")


def download(entry: ModelEntry, url: str, target: Path, on_progress: OnProgress | None, run: Run) -> None:
    """Fetches `entry`'s file from `url` to `target`, whose folder must be held (`engines.model_files.alone`).

    Raises:
        DownloadFailed: offline, refused (an HTTP status), cut_off (what came is kept for the next try), proxy, wrong_file.
        OSError: the folder can't be written to, or the disk is full.
        Cancelled: between two chunks; what came is kept.
    """
    part = target.with_name(f"{target.name}.{entry.sha256[:8]}.part")
    resumed = _receive(entry, url, part, on_progress, run)
    if resumed and digest(part) != entry.sha256:  # the beginning was of another file: once more from the start
        part.unlink()
        _receive(entry, url, part, on_progress, run)
    install(entry, part, target)


def proxy_for(url: str) -> str | None:
    """The proxy that the environment (or the system) wants for an address; never one for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host.startswith(LOOPBACK) or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _receive(entry: ModelEntry, url: str, part: Path, on_progress: OnProgress | None, run: Run) -> bool:
    """Brings the part file to its full size. True when it began with what an earlier try had left."""
    have = part.stat().st_size if part.is_file() else 0
    if have >= entry.size:  # complete but for the hash, or not ours at all
        return True
    run.check()
    proxy = proxy_for(url)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with _client(entry, proxy) as client, _faults(entry, proxy), client.stream("GET", url, headers=headers) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink()  # it is longer than what the server has: the next try starts anew
        response.raise_for_status()
        resumed = bool(have) and response.status_code == httpx.codes.PARTIAL_CONTENT
        have = have if resumed else 0
        with part.open("ab" if resumed else "wb") as file:
            for chunk in response.iter_raw():  # as it comes, 64 KB at most: a fixed size would lose up to that much of a cut-off download
                file.write(chunk)
                have += len(chunk)
                if on_progress is not None:
                    on_progress(min(have, entry.size), entry.size)
                run.check()
                if have > entry.size:
                    break
    if have < entry.size:
        raise DownloadFailed("cut_off", name=entry.name, detail=f"{have} of {entry.size} bytes")
    return resumed


def _client(entry: ModelEntry, proxy: str | None) -> httpx.Client:
    """httpx's own reading of the environment is off, since it sends even loopback addresses through a proxy; certificates still count."""
    try:
        return httpx.Client(proxy=proxy, trust_env=False, verify=httpx.create_ssl_context(), timeout=TIMEOUT, follow_redirects=True)
    except (ImportError, ValueError, httpx.InvalidURL) as fault:  # a kind of proxy that nothing here speaks (SOCKS needs a package)
        raise DownloadFailed("proxy", name=entry.name, detail=fault) from fault


@contextlib.contextmanager
def _faults(entry: ModelEntry, proxy: str | None) -> Iterator[None]:
    """Turns what goes wrong on the way into the reason that a person can act on."""
    try:
        yield
    except httpx.HTTPStatusError as fault:
        status = fault.response.status_code
        reason = "proxy" if status == httpx.codes.PROXY_AUTHENTICATION_REQUIRED else "refused"
        raise DownloadFailed(reason, name=entry.name, detail=f"HTTP {status}") from fault
    except httpx.ProxyError as fault:
        raise DownloadFailed("proxy", name=entry.name, detail=fault) from fault
    except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
        raise DownloadFailed("proxy" if proxy else "offline", name=entry.name, detail=str(fault) or type(fault).__name__) from fault
    except httpx.HTTPError as fault:
        raise DownloadFailed("cut_off", name=entry.name, detail=str(fault) or type(fault).__name__) from fault
