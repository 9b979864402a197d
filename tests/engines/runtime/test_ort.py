"""Sessions on ONNX Runtime: tiny networks against NumPy, the default pack beside them, and every way in which it falls back."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from engines.errors import Cancelled, FusionError, ModelCorrupt, ModelMissing, ProviderUnavailable, RunFailed, SessionContract
from engines.runtime.ort import OrtSession
from engines.runtime.providers import AUTO_ORDER, ORT_NAMES, probe
from engines.runtime.session import FREE_BATCH, Session, TensorSpec, open_session
from engines.text import ASSETS
from engines.timing import Run

CENTERFACE = ASSETS / "models" / "centerface.onnx"
EVERYTHING = tuple(ORT_NAMES.values())


@pytest.fixture(scope="module")
def centerface() -> OrtSession:
    return OrtSession.open(CENTERFACE, "cpu", 2)


def picture(batch: int, side: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 255, (batch, 3, side, side)).astype(np.float32)


def test_a_layer_gives_what_numpy_gives(dense: SimpleNamespace) -> None:
    session: Session = open_session(dense.path, "cpu")
    x = np.random.default_rng(1).normal(size=(4, 5)).astype(np.float32)
    answer = session.run({"x": x})
    assert list(answer) == ["y"]
    np.testing.assert_allclose(answer["y"], dense.reference(x), atol=1e-5)
    assert session.inputs == (TensorSpec("x", "float32", ("B", 5)),)
    assert session.outputs == (TensorSpec("y", "float32", ("B", 3)),)
    assert (session.provider, session.tried, session.max_batch) == ("cpu", (), FREE_BATCH)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (TensorProto.FLOAT, "float32"),
        (TensorProto.DOUBLE, "float64"),
        (TensorProto.FLOAT16, "float16"),
        (TensorProto.UINT8, "uint8"),
        (TensorProto.INT32, "int32"),
        (TensorProto.INT64, "int64"),
        (TensorProto.BOOL, "bool"),
    ],
)
def test_each_type_goes_through_unchanged(kind: int, name: str, network: Callable[..., Path]) -> None:
    path = network([helper.make_node("Identity", ["x"], ["y"])], {"x": (kind, (2, "N"))}, {"y": (kind, (2, "N"))})
    session = OrtSession.open(path, "cpu")
    x = np.random.default_rng(5).integers(0, 2, (2, 7)).astype(name)
    assert session.inputs[0].dtype == name
    assert session.max_batch == 2
    answer = session.run({"x": x})["y"]
    assert answer.dtype == x.dtype
    np.testing.assert_array_equal(answer, x)


def test_an_axis_without_a_name_gets_one(network: Callable[..., Path]) -> None:
    path = network([helper.make_node("Relu", ["x"], ["y"])], {"x": (1, (None, 3, None))}, {"y": (1, (None, 3, None))})
    assert OrtSession.open(path, "cpu").inputs[0].shape == ("axis0", 3, "axis2")


def test_feeds_need_not_be_contiguous(dense: SimpleNamespace) -> None:
    x = np.random.default_rng(1).normal(size=(5, 8)).astype(np.float32).T[::2]
    assert not x.flags.c_contiguous
    np.testing.assert_allclose(OrtSession.open(dense.path, "cpu").run({"x": x})["y"], dense.reference(x), atol=1e-5)


@pytest.mark.parametrize(
    "feeds",
    [
        {},
        {"x": np.zeros((1, 5))},
        {"x": np.zeros((1, 4), np.float32)},
        {"x": np.zeros(5, np.float32)},
        {"x": np.zeros((1, 5), ">f4")},
        {"x": np.zeros((1, 5), np.float32), "z": np.zeros(1, np.float32)},
    ],
)
def test_a_wrong_feed_breaks_the_contract(feeds: dict[str, np.ndarray], dense: SimpleNamespace) -> None:
    with pytest.raises(SessionContract, match="tiny"):
        OrtSession.open(dense.path, "cpu").run(feeds)


def test_many_threads_share_one_session(dense: SimpleNamespace) -> None:
    session = OrtSession.open(dense.path, "cpu", 2)
    feeds = [np.random.default_rng(seed).normal(size=(1 + seed % 5, 5)).astype(np.float32) for seed in range(64)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda x: session.run({"x": x})["y"], feeds))
    for x, answer in zip(feeds, answers, strict=True):
        np.testing.assert_allclose(answer, dense.reference(x), atol=1e-5)


def test_a_closed_session_refuses(dense: SimpleNamespace) -> None:
    session = OrtSession.open(dense.path, "cpu")
    session.close()
    session.close()
    with pytest.raises(SessionContract, match="closed"):
        session.run({"x": np.zeros((1, 5), np.float32)})
    with pytest.raises(SessionContract, match="closed"):
        session.node_share()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"version https://git-lfs.github.com/spec/v1\nsize 12\n",
        lambda data: b"<html><body>403 Forbidden</body></html>",
        lambda data: bytes(np.random.default_rng(0).integers(0, 256, 4096, np.uint8)),
    ],
    ids=["empty", "cut off", "pointer", "web page", "noise"],
)
def test_bytes_that_are_no_graph_are_a_corrupt_model(
    damage: Callable[[bytes], bytes], dense: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    dense.path.write_bytes(damage(dense.path.read_bytes()))
    with pytest.raises(ModelCorrupt) as caught:
        OrtSession.open(dense.path, "auto")
    assert caught.value.reason == "graph"
    assert {"name": "tiny", "file": "tiny.onnx", "folder": dense.path.parent}.items() <= caught.value.facts.items()
    assert capfd.readouterr() == ("", "")


def test_a_file_that_is_not_there_is_a_missing_model(tmp_path: Path) -> None:
    for path in (tmp_path / "none.onnx", tmp_path):
        with pytest.raises(ModelMissing):
            OrtSession.open(path, "cpu")


def test_a_graph_that_this_version_cannot_run_is_told_as_such(network: Callable[..., Path]) -> None:
    relu = [helper.make_node("Relu", ["x"], ["y"])]
    newer = network(relu, {"x": (1, ("B", 3))}, {"y": (1, ("B", 3))}, opset=99)
    with pytest.raises(SessionContract, match="opset"):
        OrtSession.open(newer, "cpu")
    unknown_type = network(relu, {"x": (TensorProto.BFLOAT16, ("B",))}, {"y": (TensorProto.BFLOAT16, ("B",))})
    with pytest.raises(SessionContract, match="Relu"):
        OrtSession.open(unknown_type, "cpu")
    no_tensor = network(
        [helper.make_node("Identity", ["x"], ["y"])], {"x": (TensorProto.BFLOAT16, ("B",))}, {"y": (TensorProto.BFLOAT16, ("B",))}
    )
    with pytest.raises(SessionContract, match="bfloat16"):
        OrtSession.open(no_tensor, "cpu")


def test_running_out_of_memory_has_a_name(network: Callable[..., Path], capfd: pytest.CaptureFixture[str]) -> None:
    path = network([helper.make_node("ConstantOfShape", ["x"], ["y"])], {"x": (TensorProto.INT64, (1,))}, {"y": (1, ("N",))})
    session = OrtSession.open(path, "cpu")
    with pytest.raises(RunFailed) as caught:
        session.run({"x": np.array([1 << 45])})
    assert caught.value.reason == "memory"
    assert session.run({"x": np.array([3])})["y"].tolist() == [0, 0, 0], "usable afterwards"
    assert capfd.readouterr() == ("", "")


def test_a_graph_that_breaks_off_inside_has_a_name(centerface: OrtSession, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RunFailed, match=r"centerface\.onnx"):
        centerface.run({"input.1": picture(1, 33)})  # its sides must be multiples of 32, which the graph doesn't declare
    assert capfd.readouterr() == ("", "")


def test_a_stop_breaks_a_running_graph_off(network: Callable[..., Path], capfd: pytest.CaptureFixture[str]) -> None:
    """A graph that would last minutes, however fast the machine: the answer can only be that it was broken off."""
    side, layers = 512, 4000
    nodes = [helper.make_node("MatMul", [f"x{i}", f"x{i}"], [f"x{i + 1}"]) for i in range(layers)]
    shape = (64, side, side)
    path = network(nodes, {"x0": (TensorProto.FLOAT, shape)}, {f"x{layers}": (TensorProto.FLOAT, shape)})
    session = OrtSession.open(path, "cpu", 2)
    run = Run()
    stop = Timer(0.2, run.cancel)
    stop.start()
    with pytest.raises(Cancelled):
        session.run({"x0": np.zeros(shape, np.float32)}, run)
    stop.join()
    with pytest.raises(Cancelled):  # nothing begins any more
        session.run({"x0": np.zeros(shape, np.float32)}, run)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("provider", [name for name in ORT_NAMES if name != "cpu"])
def test_what_is_asked_for_runs_or_is_refused_and_never_becomes_the_cpu(
    provider: str, dense: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    status = probe(provider)
    if status.usable:
        assert OrtSession.open(dense.path, provider).provider == provider
    else:
        with pytest.raises(ProviderUnavailable) as caught:
            OrtSession.open(dense.path, provider)
        assert (caught.value.reason, caught.value.facts) == (status.reason, {"provider": provider, "why": status.detail})
    assert capfd.readouterr() == ("", "")


def test_auto_tells_why_it_passed_each_over(dense: SimpleNamespace, capfd: pytest.CaptureFixture[str]) -> None:
    session = OrtSession.open(dense.path)
    passed = [name for name, _ in session.tried]
    assert [*passed, session.provider] == list(AUTO_ORDER[: len(passed) + 1])
    assert all(name in why for name, why in session.tried)
    assert capfd.readouterr() == ("", "")


def test_a_silent_fall_back_is_refused(dense: SimpleNamespace, stand_in: Callable[..., Any], machine: Callable[..., Any]) -> None:
    machine()
    module = stand_in(EVERYTHING, active="CPUExecutionProvider")
    with pytest.raises(ProviderUnavailable, match="CPUExecutionProvider instead of cuda") as caught:
        OrtSession.open(dense.path, "cuda")
    assert caught.value.reason == "silent"
    asked = module.opened[0]
    assert asked["enable_fallback"] == 0
    assert [name for name, _ in asked["providers"]] == ["CUDAExecutionProvider", "CPUExecutionProvider"]


def test_auto_goes_on_after_a_refusal(dense: SimpleNamespace, stand_in: Callable[..., Any], machine: Callable[..., Any]) -> None:
    machine()
    stand_in(("CUDAExecutionProvider", "CPUExecutionProvider"), active="CPUExecutionProvider")
    session = OrtSession.open(dense.path)
    assert session.provider == "cpu"
    assert "instead of cuda" in dict(session.tried)["cuda"]


@pytest.mark.parametrize(
    ("provider", "said", "error", "reason"),
    [
        ("cuda", "CUDA error 2: out of memory", ProviderUnavailable, "session"),
        ("cpu", "std::bad_alloc", RunFailed, "memory"),
        ("cpu", "No operator of that name", SessionContract, ""),
    ],
)
def test_whose_fault_it_is_that_a_session_does_not_open(
    provider: str,
    said: str,
    error: type[FusionError],
    reason: str,
    dense: SimpleNamespace,
    stand_in: Callable[..., Any],
    machine: Callable[..., Any],
) -> None:
    machine()
    stand_in(EVERYTHING, fault=RuntimeError(said))
    with pytest.raises(error) as caught:
        OrtSession.open(dense.path, provider)
    assert caught.value.reason == reason
    assert said in caught.value.facts.values() or said in caught.value.message()


def test_the_share_of_nodes_is_that_of_the_provider(
    dense: SimpleNamespace, stand_in: Callable[..., Any], machine: Callable[..., Any]
) -> None:
    machine()
    stand_in(EVERYTHING, nodes={"CUDAExecutionProvider": 3, "CPUExecutionProvider": 1})
    assert OrtSession.open(dense.path, "cuda").node_share() == 0.75
    assert OrtSession.open(dense.path, "cpu").node_share() == 0.25
    stand_in(EVERYTHING)
    assert OrtSession.open(dense.path, "cuda").node_share() == 1.0


@pytest.mark.parametrize(("threads", "used"), [(3, 3), (0, 5)])
def test_the_options_of_a_session(
    threads: int, used: int, dense: SimpleNamespace, stand_in: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.runtime.ort.usable_cores", lambda: 5)
    module = stand_in(EVERYTHING)
    OrtSession.open(dense.path, "cpu", threads)
    options = module.opened[0]["options"]
    assert (options.intra_op_num_threads, options.log_severity_level, options.graph_optimization_level) == (used, 4, 99)
    assert options.entries["session.intra_op.allow_spinning"] == "0"
    assert module.severity == 4


def test_centerface_runs_whole_on_the_cpu(centerface: OrtSession) -> None:
    assert centerface.node_share() == 1.0
    answer = centerface.run({"input.1": picture(1, 64)})
    assert [value.shape for value in answer.values()] == [(1, channels, 16, 16) for channels in (1, 2, 2, 10)]
    heat = answer[centerface.outputs[0].name]
    assert heat.min() >= 0
    assert heat.max() <= 1


def test_a_batch_gives_what_its_pictures_give_alone(centerface: OrtSession) -> None:
    pictures = picture(3, 64)
    together = centerface.run({"input.1": pictures})
    for index in range(3):
        alone = centerface.run({"input.1": pictures[index : index + 1]})
        for name, value in alone.items():
            np.testing.assert_allclose(together[name][index], value[0], atol=1e-3)


def test_the_card_gives_what_the_processor_gives(centerface: OrtSession, gpu_provider: str, capfd: pytest.CaptureFixture[str]) -> None:
    session = OrtSession.open(CENTERFACE, gpu_provider)
    assert session.provider == gpu_provider
    assert session.node_share() > 0.9
    feeds = {"input.1": picture(2, 320)}
    expected, answer = centerface.run(feeds), session.run(feeds)
    # TF32 keeps 10 bits of the mantissa: 1e-3 of a value, grown over 50 layers. A wrong graph is off by the values themselves.
    for name, value in expected.items():
        np.testing.assert_allclose(answer[name], value, atol=0.02 * np.abs(value).max())
    assert capfd.readouterr() == ("", "")


def test_a_feed_that_breaks_the_contract_is_refused_on_the_card_too(gpu_provider: str, dense: SimpleNamespace) -> None:
    session = OrtSession.open(dense.path, gpu_provider)
    x = np.random.default_rng(1).normal(size=(4, 5)).astype(np.float32)
    np.testing.assert_allclose(session.run({"x": x})["y"], dense.reference(x), atol=1e-2)
    with pytest.raises(SessionContract):
        session.run({"x": x.astype(np.float64)})
