"""What the studio needs, looked at one by one: what is there, what isn't and why, and how to mend it."""

import platform
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from engines import __version__
from engines.errors import FusionError, ModelCorrupt, ModelMissing
from engines.manifest import Manifest, ModelState
from engines.provenance.keys import KEY_FILE, load_key
from engines.runtime.cores import usable_cores
from engines.runtime.ort import OrtSession
from engines.runtime.packages import PackageStatus, package_report
from engines.runtime.providers import ProviderStatus, has_nvidia, provider_report
from engines.runtime.session import Array
from engines.settings import Settings
from studio.findings import DoctorReport, Finding, Level, finding
from studio.machine import Folder, Memory, find_browser, folder, memory

LOWEST, HIGHEST = (3, 11), (3, 13)  # of Python, as pyproject.toml says
REQUIRED = (
    "numpy", "pillow", "pi-heif", "defusedxml", "cryptography", "c2pa-python", "tokenizers", "platformdirs", "psutil", "httpx", "typer",
    "gradio", "fastapi", "uvicorn", "websockets",
)  # fmt: skip
OPTIONAL = ("torch", "insightface", "onnxruntime-ep-nv-tensorrt-rtx-cu13", "tensorrt-rtx-cu13-bindings", "ray", "tritonclient", "pywebview")
LITTLE_SPACE = 500 << 20  # bytes: the pictures of some sessions and the largest model fit into it
STUDIO_MEMORY = 300 << 20  # bytes beside the models: the page takes 173 MB when idle, a picture of 24 megapixels 72 MB
TRIED_MODEL = "centerface"  # every job begins with it
TRIED_SIDE = 64  # pixels: a multiple of 32, as it wants, and small


def examine(settings: Settings) -> DoctorReport:
    """Looks at everything. Changes nothing: no folder, key or model is made.

    A model is opened on `settings.provider` and run once, since only that proves a provider.
    """
    packages, statuses, now = package_report(), provider_report(), memory()
    states, models = _models(settings)
    active, share, tried = _try(settings, states)
    places = (folder(settings.data_dir), folder(Path(tempfile.gettempdir())))
    versions = {name: _version(name) for name in (*REQUIRED, *OPTIONAL)} | {each.active: each.version for each in packages if each.active}
    key, browser = settings.data_dir / KEY_FILE, find_browser()
    findings = (
        _python(),
        finding("machine", "ok", "machine", system=platform.platform(terse=True), cores=usable_cores()),
        _memory(now, states),
        *_packages(versions, packages),
        tried,
        *_providers(statuses, settings.provider, settings.provider if tried.key != "untried" else ""),
        *models,
        *map(_folder, places),
        _key(key),
        finding("browser", "ok", "browser" if browser else "browser_none", path=browser),
    )
    values = {
        "version": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": usable_cores(),
        "memory": {"total_mb": now.total >> 20, "available_mb": now.available >> 20},
        "packages": {name: found for name, found in versions.items() if found},
        "conflicts": [
            {"module": each.module, "installed": dict(each.claimants), "active": each.active, "mend": list(each.mend)}
            for each in packages
            if each.mend
        ],
        "provider": {"asked": settings.provider, "active": active, "node_share": share},
        "models": [
            {"name": each.entry.name, "state": each.state, "optional": each.entry.optional, "path": str(each.path)} for each in states
        ],
        "folders": [{"path": str(each.path), "writable": each.writable, "free_mb": each.free >> 20} for each in places],
        "key": {"path": str(key), "present": key.exists()},
        "browser": browser or None,
    }
    return DoctorReport(findings, statuses, tuple(values.items()))


def _python() -> Finding:
    fine = LOWEST <= sys.version_info[:2] <= HIGHEST
    lowest, highest = (".".join(map(str, pair)) for pair in (LOWEST, HIGHEST))
    facts = {"version": platform.python_version(), "path": sys.executable, "lowest": lowest, "highest": highest}
    return finding("python", "ok" if fine else "bad", "python" if fine else "python_wrong", **facts)


def _memory(now: Memory, states: tuple[ModelState, ...]) -> Finding:
    needed = STUDIO_MEMORY + sum(state.entry.minimum_memory_mb << 20 for state in states if not state.entry.optional)
    enough = now.available >= needed
    facts = {"total": now.total / 1e9, "available": now.available / 1e9, "needed": needed / 1e9}
    return finding("memory", "ok" if enough else "warn", "memory" if enough else "memory_short", **facts)


def _packages(versions: dict[str, str], packages: tuple[PackageStatus, ...]) -> Iterator[Finding]:
    yield finding("packages", "ok", "packages", names=", ".join(f"{name} {found}" for name, found in versions.items() if found))
    missing = [name for name in REQUIRED if not versions[name]]
    if missing:
        yield finding("packages", "bad", "packages_missing", names=" ".join(missing))
    for each in packages:
        if not each.mend:
            continue
        # Two that happen to work are a warning only; but the next installation of anything can turn the one that answers.
        level: Level = "warn" if each.active in dict(each.claimants) else "bad"
        key = "packages_conflict" if len(each.claimants) > 1 else "packages_broken"
        claimants = " + ".join(f"{name} {number}" for name, number in each.claimants) or "–"
        yield finding(
            "packages", level, key, module=each.module, claimants=claimants, active=each.active or "–", commands="\n".join(each.mend)
        )


def _try(settings: Settings, states: tuple[ModelState, ...]) -> tuple[str | None, float | None, Finding]:
    """Opens and runs a model where the settings want it: the active provider, its share of the nodes, and what to say of it."""
    path = next((each.path for each in states if each.entry.name == TRIED_MODEL and each.state == "present"), None)
    if path is None:
        return None, None, finding("provider", "bad", "untried", model=TRIED_MODEL)
    try:
        session = OrtSession.open(path, settings.provider, settings.threads)
        session.run({spec.name: _zeros(spec.shape, spec.dtype) for spec in session.inputs})
    except FusionError as fault:
        return None, None, Finding("provider", "bad", fault=fault)
    share = session.node_share()
    session.close()
    facts = {"provider": session.provider, "asked": settings.provider, "share": share}
    level: Level = "ok" if share >= 0.5 else "warn"
    return session.provider, share, finding("provider", level, "active" if level == "ok" else "active_little", **facts)


def _zeros(shape: tuple[int | str, ...], dtype: str) -> Array:
    sizes = [size if isinstance(size, int) else 1 if axis == 0 else TRIED_SIDE for axis, size in enumerate(shape)]
    return np.zeros(sizes, dtype)


def _providers(statuses: tuple[ProviderStatus, ...], asked: str, told: str) -> Iterator[Finding]:
    """One for each provider but `auto` and `told`, of which `_try` spoke.

    That one isn't here is no fault, unless it was asked for or leaves a card idle.
    """
    idle = has_nvidia() and not any(each.usable for each in statuses if each.name in ("cuda", "tensorrt-rtx"))
    for each in statuses:
        if each.name in ("auto", told):
            continue
        if each.usable:
            yield finding("provider", "ok", "provider", name=each.name)
        elif each.name == "cuda" and idle:
            yield finding("provider", "warn", "provider_idle", name=each.name, why=each.detail)
        else:
            yield Finding("provider", "bad" if each.name == asked or each.reason == "broken" else "ok", fault=each.error())


def _models(settings: Settings) -> tuple[tuple[ModelState, ...], tuple[Finding, ...]]:
    try:
        states = Manifest.load(settings).check()
    except FusionError as fault:
        return (), (Finding("models", "bad", fault=fault),)
    present = [each.entry.size for each in states if each.state == "present"]
    absent = [each.entry.name for each in states if each.entry.optional and each.state == "missing"]
    findings = [finding("models", "ok", "models", present=len(present), count=len(states) - len(absent), size=sum(present) / 1e6)]
    if absent:
        findings.append(finding("models", "ok", "models_optional", names=", ".join(absent)))
    for each in states:
        if each.state == "corrupt" or (each.state == "missing" and not each.entry.optional):
            kind = ModelCorrupt if each.state == "corrupt" else ModelMissing
            findings.append(Finding("models", "bad", fault=kind(name=each.entry.name, file=each.entry.file, folder=each.path.parent)))
    return states, tuple(findings)


def _folder(place: Folder) -> Finding:
    if not place.writable:
        return finding("folder", "bad", "folder_unwritable", path=place.path, detail=place.detail)
    little = place.free < LITTLE_SPACE
    facts = {"path": place.path, "free": place.free / 1e9}
    return finding("folder", "warn" if little else "ok", "folder_full" if little else "folder", **facts)


def _key(path: Path) -> Finding:
    if not path.exists():  # asked first, since load_key makes one
        return finding("key", "ok", "key_none", path=path)
    try:
        load_key(path)
    except FusionError as fault:
        return Finding("key", "bad", fault=fault)
    return finding("key", "ok", "key", path=path)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
