"""The manifest: what it says of the pack is true, a broken file is named, and one command mends it."""

import hashlib
import http.server
import io
import os
import socket
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from engines import manifest as module
from engines.errors import (
    Cancelled,
    DownloadFailed,
    FusionError,
    InvalidOption,
    LicenceNotAccepted,
    ManifestInvalid,
    ModelCorrupt,
    ModelError,
    ModelMissing,
    ModelUnknown,
    OutputUnwritable,
)
from engines.manifest import MIRROR, Manifest
from engines.model_entry import ModelEntry
from engines.settings import Settings
from engines.text import ASSETS
from engines.timing import Run

NAMES = (
    *("centerface", "facemesh478", "facemesh468", "dlib_resnet29", "open_nsfw", "palm", "hand"),
    *("realesr_animevideov3", "realesrgan_x4plus", "face_topology"),
)
ENTRY = """
[models.{name}]
task = "identity"
file = "{name}.onnx"
sha256 = "{sha256}"
size = {size}
licence = "{licence}"
use = "{use}"
commercial = {commercial}
template = ""
minimum_memory_mb = 1
{origin}
input = {{ name = "x", axes = ["B", 3, 8, 8], layout = "NCHW", colour = "RGB", range = [0, 1], mean = [0, 0, 0], std = [1, 1, 1] }}
outputs = [{{ name = "y", axes = ["B", 4], meaning = "who" }}]
"""
CONTENT = {name: np.random.default_rng(i).bytes(900_000) for i, name in enumerate(("plain", "other", "study"))}


class Mirror:
    """A server on this machine that misbehaves as told: whole, no_range, cut, refuse, page, more."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.mode, self.asked, self.files, mirror = "whole", list[tuple[str, str | None]](), files, self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                data, span = mirror.files.get(self.path.strip("/")), self.headers["Range"]
                mirror.asked.append((self.path, span))
                if mirror.mode == "refuse" or data is None:
                    self.send_error(403)
                    return
                if mirror.mode == "page":
                    data = b"<html>Please sign in.</html>".ljust(len(data))
                data = data + b"more" if mirror.mode == "more" else data
                begin = int(span.removeprefix("bytes=").removesuffix("-")) if span and mirror.mode != "no_range" else 0
                self.send_response(206 if begin else 200)
                self.send_header("Content-Length", str(len(data) - begin))
                self.end_headers()
                self.wfile.write(data[begin : len(data) // 2] if mirror.mode == "cut" else data[begin:])

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> "Mirror":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    with Mirror({f"{name}.onnx": data for name, data in CONTENT.items()}) as running:
        yield running


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A folder of assets with two models of 900 KB, and a third that is only downloaded and for research only."""
    assets = tmp_path / "studio" / "assets"
    (assets / "models").mkdir(parents=True)
    source = 'source = { package = "p", version = "1", members = ["m"] }'
    entries = ["format = 1"]
    for name, data in CONTENT.items():
        study = name == "study"
        rights = {"licence": "research-only", "use": "research", "commercial": "false"} if study else {}
        entries.append(
            ENTRY.format(
                **{"name": name, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)},
                **{"licence": "MIT", "use": "any", "commercial": "true"} | rights,
                origin='url = "http://127.0.0.1:9/study.onnx"' if study else source,
            )
        )
        if not study:
            (assets / "models" / f"{name}.onnx").write_bytes(data)
    (assets / "models.toml").write_text("\n".join(entries), encoding="utf-8")
    return assets


@pytest.fixture
def load(tmp_path: Path, pack: Path, mirror: Mirror) -> Callable[..., Manifest]:
    def make(url: str | None = None) -> Manifest:
        return Manifest.load(Settings(data_dir=tmp_path / "data"), pack, {MIRROR: mirror.url if url is None else url})

    return make


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def swap(path: Path) -> None:
    path.write_bytes(CONTENT["other"])


def delete(path: Path) -> None:
    path.unlink()


def left(tmp_path: Path) -> list[str]:
    """What lies in the data folder's models, but for the lock."""
    folder = tmp_path / "data" / "models"
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock") if folder.is_dir() else []


def caught(manifest: Manifest, name: str = "plain", **options: Any) -> FusionError:
    with pytest.raises(FusionError) as found:
        manifest.fetch(name, **options)
    return found.value


# -- the pack that comes with the studio


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return Manifest.load(Settings(data_dir=tmp_path_factory.mktemp("data")), environ={})


def test_the_pack_is_whole(real: Manifest) -> None:
    pack = [entry for entry in real.entries if entry.pack]
    assert tuple(entry.name for entry in pack) == NAMES
    assert {state.state for state in real.check() if state.entry.pack} == {"present"}
    assert [real.resolve(name).name for name in NAMES] == [entry.file for entry in pack]
    assert {path.name for path in (ASSETS / "models").iterdir()} == {entry.file for entry in pack} | {"NOTICE"}
    assert all(entry.commercial and not entry.needs_acceptance for entry in pack)


def test_what_others_made_is_for_those_who_accept_its_licence(real: Manifest) -> None:
    others = [entry for entry in real.entries if not entry.pack]
    assert {entry.contract for entry in others} == {"scrfd", "arcface", "landmarks_106", "inswapper", "gfpgan", "codeformer"}
    assert not any(real.accepted(entry.name) or entry.commercial for entry in others)
    assert all(real.entry(entry.identity).task == "identity" for entry in others if entry.identity)
    assert real.expand("buffalo_l") == ("det_10g", "w600k_r50", "2d106det")
    assert real.expand("codeformer") == ("codeformer",)
    with pytest.raises(ModelUnknown):
        real.expand("buffalo_m")


def test_a_sets_licences_are_asked_for_and_accepted_together(tmp_path: Path) -> None:
    manifest = Manifest.load(Settings(data_dir=tmp_path), environ={})
    with pytest.raises(LicenceNotAccepted) as refused:
        manifest.admit("buffalo_l")
    assert refused.value.facts["name"] == "buffalo_l"  # what the way on names
    assert not manifest.accepted("det_10g")
    names = manifest.admit("buffalo_l", accept_licence=True)
    assert names == manifest.admit("buffalo_l") == manifest.expand("buffalo_l")
    assert all(Manifest.load(Settings(data_dir=tmp_path), environ={}).accepted(name) for name in names)


def test_every_file_and_licence_is_in_the_notice(real: Manifest) -> None:
    notice = (ASSETS / "models" / "NOTICE").read_text(encoding="utf-8")
    for entry in (entry for entry in real.entries if entry.pack):
        assert entry.file in notice
        assert entry.licence in notice
    for title in ("MIT License", "BSD 2-Clause License", "BSD 3-Clause License", "Apache License", "CC0 1.0 Universal"):
        assert title in notice


@pytest.mark.parametrize("name", NAMES[:-1])
def test_the_tensors_are_those_of_the_graph(real: Manifest, name: str) -> None:
    def axes(value: onnx.ValueInfoProto) -> tuple[int | str, ...]:
        return tuple(axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim)

    graph, entry = onnx.load(real.resolve(name), load_external_data=False).graph, real.entry(name)
    assert entry.input is not None
    assert [(entry.input.name, entry.input.axes[1:])] == [(value.name, axes(value)[1:]) for value in graph.input]
    assert [(output.name, output.axes[1:]) for output in entry.outputs] == [(value.name, axes(value)[1:]) for value in graph.output]
    assert entry.input.axes[1 if entry.input.layout == "NCHW" else 3] == 3


def test_an_unknown_name_is_answered_with_the_known_ones(real: Manifest) -> None:
    with pytest.raises(ModelUnknown) as found:
        real.resolve("nobody")
    assert all(name in found.value.hint() for name in NAMES)


# -- broken files


@pytest.mark.parametrize("fault", [half, flip, swap, delete])
def test_r02_a_broken_model_is_named_and_mended(
    tmp_path: Path, pack: Path, load: Callable[..., Manifest], fault: Callable[[Path], None]
) -> None:
    path, manifest = pack / "models" / "plain.onnx", load()
    assert manifest.resolve("plain") == path
    fault(path)
    with pytest.raises(ModelError) as found:
        manifest.resolve("plain")
    assert type(found.value) is (ModelMissing if fault is delete else ModelCorrupt)
    for language in ("en", "zh-CN"):
        assert "plain.onnx" in found.value.message(language)
        assert str(path.parent) in found.value.message(language)
        assert "fusion-studio models fetch plain" in found.value.hint(language)
    assert [state.state for state in manifest.check()] == ["missing" if fault is delete else "corrupt", "present", "missing"]

    assert manifest.fetch("plain") == path
    assert path.read_bytes() == CONTENT["plain"]
    assert load().resolve("plain") == path
    assert left(tmp_path) == []


def test_r02_the_data_folder_mends_a_pack_that_cant_be_written(
    tmp_path: Path, pack: Path, load: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    half(pack / "models" / "plain.onnx")
    replace = os.replace

    def refuse(source: Path, target: Path) -> None:
        if Path(target).parent == pack / "models":
            raise PermissionError("read-only")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    mended = load().fetch("plain")
    assert mended == tmp_path / "data" / "models" / "plain.onnx"
    assert load().resolve("plain") == mended
    assert sorted(path.name for path in (pack / "models").iterdir()) == ["other.onnx", "plain.onnx"]


def test_a_broken_file_in_the_data_folder_is_not_passed_over(tmp_path: Path, load: Callable[..., Manifest], mirror: Mirror) -> None:
    path = tmp_path / "data" / "models" / "plain.onnx"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a model")
    manifest = load()
    with pytest.raises(ModelCorrupt, match="data"):
        manifest.resolve("plain")
    assert manifest.fetch("plain") == path
    assert path.read_bytes() == CONTENT["plain"]
    assert mirror.asked == []  # the pack had a sound copy
    assert left(tmp_path) == ["plain.onnx"]


def test_a_file_is_hashed_once_for_each_state(pack: Path, load: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []
    digest = module.digest
    monkeypatch.setattr(module, "digest", lambda path: hashed.append(path) or digest(path))
    path, manifest = pack / "models" / "plain.onnx", load()
    manifest.resolve("plain")
    manifest.resolve("plain")
    load().resolve("plain")
    assert hashed == [path]
    before = path.stat()
    flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # an edit that keeps size and modification time
    with pytest.raises(ModelCorrupt):
        manifest.resolve("plain")
    assert hashed == [path, path]
    half(path)
    with pytest.raises(ModelCorrupt):
        manifest.resolve("plain")
    assert hashed == [path, path]  # the size alone tells


def test_a_look_at_the_sizes_hashes_nothing(pack: Path, load: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_digest", None)
    half(pack / "models" / "plain.onnx")
    assert [state.as_dict()["state"] for state in load().check(hashed=False)] == ["corrupt", "present", "missing"]


# -- downloads


@pytest.mark.parametrize("then", ["whole", "no_range"])
def test_r02_an_interrupted_download_is_continued(
    tmp_path: Path, pack: Path, load: Callable[..., Manifest], mirror: Mirror, then: str
) -> None:
    path, manifest = pack / "models" / "plain.onnx", load()
    path.unlink()
    mirror.mode = "cut"
    fault = caught(manifest)
    assert (type(fault), fault.reason) == (DownloadFailed, "cut_off")
    (part,) = left(tmp_path)
    assert part.endswith(".part")
    assert not path.exists()

    mirror.mode, steps = then, list[tuple[int, int]]()
    assert manifest.fetch("plain", on_progress=lambda done, total: steps.append((done, total))) == path
    assert path.read_bytes() == CONTENT["plain"]
    assert mirror.asked[1][1] == f"bytes={900_000 // 2}-"
    assert steps == sorted(steps)
    assert steps[-1] == (900_000, 900_000)
    assert (steps[0][0] > 450_000) is (then == "whole")
    assert left(tmp_path) == []


def test_what_an_earlier_try_left_may_be_of_another_file(tmp_path: Path, pack: Path, load: Callable[..., Manifest], mirror: Mirror) -> None:
    (pack / "models" / "plain.onnx").unlink()
    mirror.mode = "cut"
    caught(load())
    (part,) = left(tmp_path)
    flip(tmp_path / "data" / "models" / part)
    mirror.mode = "whole"
    assert load().fetch("plain").read_bytes() == CONTENT["plain"]
    assert [span is None for _, span in mirror.asked] == [True, False, True]


@pytest.mark.parametrize(("mode", "reason"), [("refuse", "refused"), ("page", "wrong_file"), ("more", "wrong_file")])
def test_r02_a_server_that_gives_something_else(
    tmp_path: Path, pack: Path, load: Callable[..., Manifest], mirror: Mirror, mode: str, reason: str
) -> None:
    path = pack / "models" / "plain.onnx"
    path.unlink()
    mirror.mode = mode
    fault = caught(load())
    assert (type(fault), fault.reason) == (DownloadFailed, reason)
    assert "plain" in fault.message("zh-CN")
    assert left(tmp_path) == []
    assert not path.exists()


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_r02_without_a_network_the_rest_still_works(pack: Path, load: Callable[..., Manifest]) -> None:
    (pack / "models" / "plain.onnx").unlink()
    manifest = load(f"http://127.0.0.1:{closed_port()}")
    fault = caught(manifest)
    assert (type(fault), fault.reason) == (DownloadFailed, "offline")
    assert manifest.resolve("other").is_file()


@pytest.mark.parametrize(
    ("variable", "scheme"), [("HTTP_PROXY", "http"), ("ALL_PROXY", "http"), ("ALL_PROXY", "gopher"), ("HTTP_PROXY", "")]
)
def test_r02_a_dead_proxy_is_blamed(
    pack: Path, load: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch, variable: str, scheme: str
) -> None:
    (pack / "models" / "plain.onnx").unlink()
    monkeypatch.setenv(variable, f"{scheme}://127.0.0.1:{closed_port()}".removeprefix("://"))
    fault = caught(load("http://models.invalid/files"))
    assert (type(fault), fault.reason) == (DownloadFailed, "proxy")


def test_u01_loopback_never_goes_through_a_proxy(pack: Path, load: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch) -> None:
    (pack / "models" / "plain.onnx").unlink()
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    assert load().fetch("plain").is_file()


def test_a_stopped_download_leaves_only_its_part(tmp_path: Path, pack: Path, load: Callable[..., Manifest], mirror: Mirror) -> None:
    path, run = pack / "models" / "plain.onnx", Run()
    path.unlink()
    fault = caught(load(), run=run, on_progress=lambda done, total: run.cancel())
    assert type(fault) is Cancelled
    (part,) = left(tmp_path)
    assert 0 < (tmp_path / "data" / "models" / part).stat().st_size < 900_000
    assert load().fetch("plain") == path
    assert mirror.asked[1][1] is not None


def test_two_fetches_at_once_download_once(pack: Path, load: Callable[..., Manifest], mirror: Mirror) -> None:
    (pack / "models" / "plain.onnx").unlink()
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(load().fetch("plain"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [pack / "models" / "plain.onnx"] * 4
    assert len(mirror.asked) == 1


def test_a_data_folder_that_is_a_file(tmp_path: Path, pack: Path, load: Callable[..., Manifest]) -> None:
    (pack / "models" / "plain.onnx").unlink()
    (tmp_path / "data").write_text("in the way")
    assert type(caught(load())) is OutputUnwritable


@pytest.mark.parametrize("url", ["ftp://there/", "there", "http://", "http://[::1", "http://a:b"])
def test_a_mirror_must_be_an_address(load: Callable[..., Manifest], url: str) -> None:
    with pytest.raises(InvalidOption, match=MIRROR):
        load(url)


# -- licences


def test_a_research_licence_is_accepted_once_by_name(tmp_path: Path, pack: Path, load: Callable[..., Manifest], mirror: Mirror) -> None:
    with pytest.raises(LicenceNotAccepted, match="research-only"):
        load().resolve("study")
    fault = caught(load(), "study")
    assert type(fault) is LicenceNotAccepted
    assert mirror.asked == []
    assert load().fetch("study", accept_licence=True) == tmp_path / "data" / "models" / "study.onnx"
    assert load().accepted("study")
    assert load().resolve("study").read_bytes() == CONTENT["study"]

    toml = pack / "models.toml"
    toml.write_text(toml.read_text().replace("research-only", "research-only-2"))
    assert not load().accepted("study")  # another licence asks again
    with pytest.raises(LicenceNotAccepted):
        load().resolve("study")


def test_a_file_alone_accepts_nothing(tmp_path: Path, load: Callable[..., Manifest]) -> None:
    path = tmp_path / "data" / "models" / "study.onnx"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT["study"])
    (tmp_path / "data" / "licences.json").write_text("[1, 2")
    with pytest.raises(LicenceNotAccepted):
        load().resolve("study")


# -- models of others

THEIRS = {name: np.random.default_rng(9 + i).bytes(40_000) for i, name in enumerate(("looker", "knower"))}


def entry_of(name: str, data: bytes, contract: str, task: str, origin: str = "") -> str:
    facts = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "licence": "L", "use": "research", "commercial": "false"}
    text = ENTRY.format(name=name, origin=f'contract = "{contract}"\n{origin}', **facts)
    return text.replace('task = "identity"', f'task = "{task}"')


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def both(pack: Path, mirror: Mirror, home: Path) -> Callable[[dict[str, bytes]], None]:
    """Adds two models to the list that come in one ZIP, with the members that are given."""

    def add(members: dict[str, bytes]) -> None:
        data = zipped(members)
        mirror.files["both.zip"] = data
        facts = f'name = "both", sha256 = "{hashlib.sha256(data).hexdigest()}", size = {len(data)}'
        toml = pack / "models.toml"
        for name, contract, task in (("looker", "scrfd", "detect"), ("knower", "arcface", "identity")):
            origin = f'url = "{mirror.url}/both.zip"\narchive = {{ {facts}, member = "in/{name}.onnx" }}'
            toml.write_text(toml.read_text() + entry_of(name, THEIRS[name], contract, task, origin))

    return add


def test_an_archive_is_downloaded_once_for_all_that_come_in_it(
    tmp_path: Path, load: Callable[..., Manifest], both: Callable[[dict[str, bytes]], None], mirror: Mirror
) -> None:
    both({f"in/{name}.onnx": data for name, data in THEIRS.items()} | {"in/other.onnx": b"x"})
    manifest = load("")
    assert manifest.expand("both") == ("looker", "knower")
    assert manifest.fetch("looker", accept_licence=True).read_bytes() == THEIRS["looker"]
    assert left(tmp_path) == ["looker.onnx"]  # nobody accepted the other's licence
    assert manifest.fetch("knower", accept_licence=True).read_bytes() == THEIRS["knower"]
    for name in THEIRS:
        (tmp_path / "data" / "models" / f"{name}.onnx").unlink()
    manifest.fetch("looker")
    assert left(tmp_path) == ["knower.onnx", "looker.onnx"]
    assert len(mirror.asked) == 3


def test_an_interrupted_archive_is_continued(
    tmp_path: Path, load: Callable[..., Manifest], both: Callable[[dict[str, bytes]], None], mirror: Mirror
) -> None:
    both({f"in/{name}.onnx": data for name, data in THEIRS.items()})
    mirror.mode = "cut"
    assert caught(load(""), "looker", accept_licence=True).reason == "cut_off"
    mirror.mode = "whole"
    assert load("").fetch("looker").read_bytes() == THEIRS["looker"]
    assert mirror.asked[1][1] is not None


@pytest.mark.parametrize("data", [None, THEIRS["looker"] + b"more", THEIRS["knower"]])
def test_another_file_in_an_archive_is_thrown_away(
    data: bytes | None, tmp_path: Path, load: Callable[..., Manifest], both: Callable[[dict[str, bytes]], None]
) -> None:
    both({"in/looker.onnx": data} if data else {"in/odd.onnx": b"x"})
    fault = caught(load(""), "looker", accept_licence=True)
    assert (type(fault), fault.reason) == (DownloadFailed, "wrong_file")
    assert not any(name.endswith((".onnx", ".part")) for name in left(tmp_path))


def test_a_mirror_gives_the_file_itself(load: Callable[..., Manifest], both: Callable[[dict[str, bytes]], None], mirror: Mirror) -> None:
    both({"in/odd.onnx": b"x"})
    mirror.files["looker.onnx"] = THEIRS["looker"]
    assert load().fetch("looker", accept_licence=True).read_bytes() == THEIRS["looker"]


@pytest.mark.parametrize("folder", ["", "both"])
def test_what_the_insightface_package_has_is_not_downloaded_again(
    folder: str, home: Path, load: Callable[..., Manifest], both: Callable[[dict[str, bytes]], None], mirror: Mirror
) -> None:
    both({"in/odd.onnx": b"x"})
    kept = home / ".insightface" / "models" / folder / "looker.onnx"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(THEIRS["looker"])
    assert load("").fetch("looker", accept_licence=True).read_bytes() == THEIRS["looker"]
    assert mirror.asked == []


def test_a_file_that_an_entry_knows_is_known_by_its_hash_alone(tmp_path: Path, load: Callable[..., Manifest], mirror: Mirror) -> None:
    folder = tmp_path / "data" / "models"
    folder.mkdir(parents=True)
    (folder / "dropped in.onnx").write_bytes(CONTENT["study"])
    (folder / "same size.onnx").write_bytes(CONTENT["other"])
    assert [state.state for state in load().check()] == ["present", "present", "present"]
    with pytest.raises(LicenceNotAccepted):
        load().resolve("study")
    assert load().fetch("study", accept_licence=True) == folder / "dropped in.onnx"
    assert mirror.asked == []
    (folder / "dropped in.onnx").write_bytes(CONTENT["plain"])
    with pytest.raises(ModelMissing):
        load().resolve("study")


def test_a_list_of_ones_own_adds_models(tmp_path: Path, load: Callable[..., Manifest]) -> None:
    folder = tmp_path / "data" / "models"
    folder.mkdir(parents=True)
    (folder / "models.toml").write_text("format = 1\n" + entry_of("knower", THEIRS["knower"], "arcface", "identity"))
    fault = caught(load(), "knower", accept_licence=True)
    assert (type(fault), fault.reason) == (DownloadFailed, "refused")  # the mirror has none
    fault = caught(load(""), "knower")
    assert (type(fault), fault.reason) == (DownloadFailed, "own")
    for language in ("en", "zh-CN"):
        assert str(folder) in fault.hint(language)
    (folder / "knower.onnx").write_bytes(THEIRS["knower"])
    assert load("").resolve("knower") == folder / "knower.onnx"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (("models.knower", "models.plain"), "models.plain"),
        (("knower.onnx", "plain.onnx"), "models.knower.file"),
        (('contract = "arcface"', 'contract = "inswapper"\nidentity = "nobody"'), "models.knower.identity"),
        (('contract = "arcface"', ""), "models.knower.contract"),
    ],
)
def test_a_fault_in_ones_own_list_is_named(tmp_path: Path, load: Callable[..., Manifest], change: tuple[str, str], where: str) -> None:
    folder = tmp_path / "data" / "models"
    folder.mkdir(parents=True)
    text = "format = 1\n" + entry_of("knower", THEIRS["knower"], "arcface", "identity").replace(*change)
    (folder / "models.toml").write_text(text.replace('task = "identity"', 'task = "swap"') if "inswapper" in text else text)
    with pytest.raises(ManifestInvalid) as found:
        load()
    assert (found.value.facts["where"], found.value.facts["path"]) == (where, folder / "models.toml")


# -- rebuilding

TOOL = """
import pathlib, sys, time
name, _, folder = sys.argv[1:]
pathlib.Path({marker!r}).touch()
{body}
"""


@pytest.fixture
def tool(pack: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Puts a tool of our own beside the assets; gives the file that it touches when it starts."""

    def write(body: str) -> Path:
        folder, marker = pack.parent / "tools" / "modelpack", tmp_path / "started"
        folder.mkdir(parents=True)
        (folder.parent / "__init__.py").touch()
        (folder / "__init__.py").touch()
        (folder / "__main__.py").write_text(TOOL.format(marker=str(marker), body=body))
        return marker

    return write


@pytest.fixture
def without(pack: Path, load: Callable[..., Manifest]) -> Manifest:
    """A manifest without a mirror, and a pack without one of its files."""
    (pack / "models" / "plain.onnx").unlink()
    return load("")


def test_a_pack_file_is_rebuilt_where_there_is_no_mirror(
    tmp_path: Path, pack: Path, without: Manifest, tool: Callable[[str], Path]
) -> None:
    (tmp_path / "content").write_bytes(CONTENT["plain"])
    tool(f"pathlib.Path(folder, name + '.onnx').write_bytes(open({str(tmp_path / 'content')!r}, 'rb').read())")
    steps: list[tuple[int, int]] = []
    assert without.fetch("plain", on_progress=lambda done, total: steps.append((done, total))) == pack / "models" / "plain.onnx"
    assert steps == [(0, 900_000), (900_000, 900_000)]
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        ("sys.exit('chatter\\noffline\\tno way out')", "offline", "no way out"),
        ("sys.exit('proxy\\tdead')", "proxy", "dead"),
        ("raise RuntimeError('broken tool')", "no_source", "RuntimeError: broken tool"),
        ("sys.exit('oddly\\tput')", "no_source", "oddly\tput"),
        ("pass", "no_source", ""),
        ("pathlib.Path(folder, name + '.onnx').write_bytes(b'other')", "wrong_file", "SHA-256"),
    ],
)
def test_the_tools_reason_is_the_fetchs(
    tmp_path: Path, without: Manifest, tool: Callable[[str], Path], body: str, reason: str, detail: str
) -> None:
    tool(body)
    fault = caught(without)
    assert (type(fault), fault.reason) == (DownloadFailed, reason)
    assert detail in str(fault.facts["detail"])
    assert left(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="looks for the process by a POSIX signal")
def test_a_stopped_rebuild_ends_the_tool_and_what_it_started(tmp_path: Path, without: Manifest, tool: Callable[[str], Path]) -> None:
    numbers = tmp_path / "numbers"
    marker = tool(
        "import os, subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(numbers)!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(60)"
    )
    run = Run()

    def stop() -> None:
        while not (marker.exists() and numbers.exists() and len(numbers.read_text().split()) == 2):
            time.sleep(0.02)
        run.cancel()

    watcher = threading.Thread(target=stop)
    watcher.start()
    assert type(caught(without, run=run)) is Cancelled
    watcher.join()
    assert left(tmp_path) == []
    deadline = time.monotonic() + 10
    while any(map(alive, map(int, numbers.read_text().split()))) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, map(int, numbers.read_text().split())))


def alive(process: int) -> bool:
    """Whether a process runs; one that ended and that nobody waited for doesn't."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_a_killed_rebuild_left_is_removed(tmp_path: Path, without: Manifest, tool: Callable[[str], Path]) -> None:
    stale = tmp_path / "data" / "models" / ".rebuild-abc"
    stale.mkdir(parents=True)
    (stale / "plain.onnx").write_bytes(b"half")
    tool("sys.exit('offline\\tno')")
    caught(without)
    assert left(tmp_path) == []


def test_without_mirror_and_tool_there_is_no_source(without: Manifest) -> None:
    fault = caught(without)
    assert fault.reason == "no_source"
    assert MIRROR in fault.hint("zh-CN")


def test_an_entry_is_what_results_carry(real: Manifest) -> None:
    entry = real.entry("centerface")
    assert isinstance(entry, ModelEntry)
    assert entry.as_dict()["licence"] == "MIT"
