"""Which provider is usable, and the reason for each that isn't, on machines that are played."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from engines.errors import ProviderUnavailable
from engines.runtime.providers import AUTO_ORDER, ORT_NAMES, PLUGIN, first_line, load_onnxruntime, probe, provider_report
from engines.runtime.session import PROVIDERS

EVERYTHING = tuple(ORT_NAMES.values())
CPU = ("CPUExecutionProvider",)


def test_every_name_is_known_and_auto_ends_on_the_cpu() -> None:
    assert set(ORT_NAMES) == set(PROVIDERS) - {"auto"}
    assert set(AUTO_ORDER) <= set(ORT_NAMES)
    assert AUTO_ORDER[-1] == "cpu"


def test_the_report_has_a_line_for_each_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    report = provider_report()
    assert tuple(status.name for status in report) == PROVIDERS
    assert all(status.usable != bool(status.reason) for status in report)
    by_name = {status.name: status for status in report}
    assert by_name["cpu"].usable
    assert by_name["auto"].detail == next(name for name in AUTO_ORDER if by_name[name].usable)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "available", "played", "reason", "detail"),
    [
        ("cpu", CPU, {}, "", ""),
        ("cuda", CPU, {}, "not_built", "onnxruntime-stand-in 9.9.9"),
        ("directml", CPU, {}, "not_built", "onnxruntime-stand-in 9.9.9"),
        ("directml", EVERYTHING, {"driver": False}, "", ""),
        ("coreml", EVERYTHING, {"driver": False}, "", ""),
        ("openvino", EVERYTHING, {"driver": False}, "", ""),
        ("openvino", EVERYTHING, {"missing": "openvino"}, "library", "openvino"),
        ("cuda", EVERYTHING, {}, "", ""),
        ("tensorrt", EVERYTHING, {}, "", ""),
        ("cuda", EVERYTHING, {"driver": False}, "driver", "cuda"),
        ("cuda", EVERYTHING, {"driver": False, "missing": "providers_cuda"}, "driver", "cannot open"),
        ("cuda", EVERYTHING, {"devices": 0}, "no_device", "0"),
        ("cuda", EVERYTHING, {"devices": -100}, "no_device", "cuInit 100"),
        ("cuda", EVERYTHING, {"missing": "providers_cuda"}, "library", "providers_cuda"),
        ("tensorrt", EVERYTHING, {"missing": "providers_tensorrt"}, "library", "providers_tensorrt"),
        ("tensorrt", EVERYTHING, {"missing": "providers_cuda"}, "", ""),
        ("tensorrt-rtx", EVERYTHING, {}, "plugin", PLUGIN),
    ],
)
def test_a_played_machine(
    name: str,
    available: tuple[str, ...],
    played: dict[str, Any],
    reason: str,
    detail: str,
    stand_in: Callable[..., Any],
    machine: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("engines.runtime.providers.importlib.util.find_spec", lambda module: None)
    stand_in(available)
    machine(**played)
    status = probe(name)
    assert (status.usable, status.reason) == (not reason, reason)
    assert detail in status.detail
    assert capfd.readouterr() == ("", "")  # the stand-in's preload_dlls prints, as the real one does
    if reason:
        assert all(name in status.error().message(language) for language in ("en", "zh-CN"))


@pytest.mark.parametrize(
    ("devices", "played", "fault", "reason"),
    [
        (["NvTensorRTRTXExecutionProvider"], {}, None, ""),
        (["NvTensorRTRTXExecutionProvider"], {"driver": False}, None, "driver"),
        (["CPUExecutionProvider"], {}, None, "no_device"),
        ([], {}, RuntimeError("libnvidia-ml.so.1: cannot open shared object file"), "library"),
        ([], {}, RuntimeError("the library is already registered"), "no_device"),
    ],
)
def test_the_plug_in(
    devices: list[str],
    played: dict[str, Any],
    fault: Exception | None,
    reason: str,
    stand_in: Callable[..., Any],
    machine: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = SimpleNamespace(get_ep_name=lambda: "NvTensorRTRTXExecutionProvider", get_library_path=lambda: "the/plug-in.so")
    monkeypatch.setitem(sys.modules, PLUGIN, plugin)
    monkeypatch.setattr("engines.runtime.providers.importlib.util.find_spec", lambda module: SimpleNamespace(name=module))
    module = stand_in(CPU, devices=devices, fault=fault)
    machine(**played)
    assert probe("tensorrt-rtx").reason == reason
    assert probe("tensorrt-rtx").reason == reason
    assert len(module.registered) <= 2
    if not reason:
        assert module.registered == ["the/plug-in.so"], "registered once, found again the second time"


@pytest.mark.parametrize("module", [None, SimpleNamespace()])
def test_a_broken_onnxruntime_is_told(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", module)  # None: the import fails; the other: an empty folder
    with pytest.raises(ProviderUnavailable) as caught:
        load_onnxruntime()
    assert caught.value.reason == "broken"
    assert not any(status.usable for status in provider_report())


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Load model from /a b/x.onnx failed:Protobuf parsing failed.",
            "Protobuf parsing failed",
        ),
        ("Load model from x failed:/src/graph/load.h:46 void a::b(const c<d>&, int) Opset 99 is not known.\n", "Opset 99 is not known"),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code. Status Message: /src/core/alloc.cc:96 void* a::Alloc(size_t) No room",
            "Non-zero status code. Status Message: No room",
        ),
        ("libcublasLt.so.13: cannot open shared object file\nsecond line", "libcublasLt.so.13: cannot open shared object file"),
        ("", "ValueError"),
    ],
)
def test_an_exception_is_told_without_its_noise(said: str, line: str) -> None:
    assert first_line(ValueError(said)) == line
