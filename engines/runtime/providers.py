"""What this installation and this machine can run a graph on, and why not the rest.

ONNX Runtime lists a provider as soon as it was compiled in, and without the card, the driver or a library it silently runs on the
CPU. So each provider is asked here, from the bottom up: is it a part of the build, is there a driver, a device, every library?
The last word is the session's (`engines.runtime.ort`), which compares the provider that it got with the one that it wanted.
"""

import contextlib
import ctypes
import importlib
import importlib.util
import io
import logging
import re
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from engines.errors import ProviderUnavailable
from engines.runtime.packages import package_report as package_report
from engines.runtime.session import PROVIDERS

ORT_NAMES = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "tensorrt-rtx": "NvTensorRTRTXExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}

# What `auto` tries. The TensorRT provider isn't among them: it builds an engine when a session opens and again for each new picture
# size, which takes seconds to minutes, and wherever it runs, CUDA runs too. It is there for those who ask for it by name.
AUTO_ORDER = ("cuda", "tensorrt-rtx", "directml", "coreml", "openvino", "cpu")

PLUGIN = "onnxruntime_ep_nv_tensorrt_rtx"
# Providers that live in a library of their own beside ONNX Runtime's; the others are inside it.
_LIBRARIES = {"cuda": "cuda", "tensorrt": "tensorrt", "openvino": "openvino"}
_NVIDIA = ("cuda", "tensorrt", "tensorrt-rtx")
# "[ONNXRuntimeError] : 1 : FAIL : ", "Load model from … failed:", "/src/core/graph.cc:46 void onnxruntime::check(int, …) "
_NOISE = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : |Load model from .*? failed:|\S+\.(?:cc|h|cpp):\d+ .*?\) ")
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """Whether a provider can run a graph here.

    Attributes:
        name: ours, one of `PROVIDERS`.
        usable: all that can be asked without opening a session says yes. For `auto`: true when anything is.
        reason: "" when usable, else a reason of `ProviderUnavailable`.
        detail: of the reason: a library's name, a version. For `auto`: the provider that it would take first.
    """

    name: str
    usable: bool
    reason: str = ""
    detail: str = ""

    def error(self) -> ProviderUnavailable:
        """The error that a session on this provider raises."""
        return ProviderUnavailable(self.reason, provider=self.name, why=self.detail)


def load_onnxruntime() -> ModuleType:
    """`onnxruntime`, whole and silent: it logs nothing from here on, since every fault becomes a typed error.

    Raises:
        ProviderUnavailable: broken; it isn't installed, or two of its packages overwrote each other, or a system library is missing.
    """
    try:
        import onnxruntime
    except (ImportError, OSError) as fault:
        raise ProviderUnavailable("broken", provider="cpu", why=first_line(fault)) from fault
    if not hasattr(onnxruntime, "InferenceSession"):
        # Uninstalling one of two wheels removes the files of both and leaves an empty folder, which Python imports without a word.
        raise ProviderUnavailable("broken", provider="cpu", why="the package is there, its files are not")
    onnxruntime.set_default_logger_severity(4)  # 4 = fatal only; the default, 2, prints each silent fall-back to stderr
    return onnxruntime  # type: ignore[no-any-return]


def probe(name: str) -> ProviderStatus:
    """Asks everything about one provider that can be asked without opening a session.

    Loads the provider's libraries into the process, as a session would; prints nothing.
    """
    try:
        if name == "auto":
            return next((ProviderStatus("auto", True, detail=each) for each in AUTO_ORDER if probe(each).usable), _UNUSABLE)
        ort = load_onnxruntime()
        if name == "tensorrt-rtx":
            plugin_devices(ort)
        else:
            _ask_build(ort, name)
            if name in _NVIDIA:
                _ask_driver(name)
                preload(ort)
            if name in _LIBRARIES:
                _ask_libraries(ort, name)
    except ProviderUnavailable as fault:
        return ProviderStatus(name, False, fault.reason, str(fault.facts["why"]))
    return ProviderStatus(name, True)


def provider_report() -> tuple[ProviderStatus, ...]:
    """The status of each of `PROVIDERS`, in that order."""
    return tuple(probe(name) for name in PROVIDERS)


def has_nvidia() -> bool:
    """Whether there are an NVIDIA driver and a card that this process may see, whatever of ONNX Runtime is installed."""
    try:
        _ask_driver("cuda")
    except ProviderUnavailable:
        return False
    return True


def plugin_devices(ort: ModuleType) -> list[Any]:
    """Registers NVIDIA's TensorRT-RTX plug-in once and returns its devices, for `SessionOptions.add_provider_for_devices`.

    Raises:
        ProviderUnavailable: plugin, driver, no_device or library.
    """
    if importlib.util.find_spec(PLUGIN) is None:
        raise ProviderUnavailable("plugin", provider="tensorrt-rtx", why=PLUGIN)
    _ask_driver("tensorrt-rtx")
    # Importing it mends symbolic links in site-packages, and where those are read-only it warns; without a handler the logging
    # module would print that to stderr. If it matters, registering fails below, with a reason.
    logging.getLogger(PLUGIN).addHandler(logging.NullHandler())
    with _lock:
        plugin = importlib.import_module(PLUGIN)
        name = plugin.get_ep_name()
        found = [device for device in ort.get_ep_devices() if device.ep_name == name]
        if not found:
            try:
                ort.register_execution_provider_library(name, plugin.get_library_path())
            except Exception as fault:  # ONNX Runtime's own classes share no base but Exception
                if "already registered" not in str(fault).lower():
                    raise ProviderUnavailable("library", provider="tensorrt-rtx", why=first_line(fault)) from fault
            found = [device for device in ort.get_ep_devices() if device.ep_name == name]
    if not found:
        raise ProviderUnavailable("no_device", provider="tensorrt-rtx", why="the plug-in lists none")
    return found


def preload(ort: ModuleType) -> None:
    """Loads the CUDA and cuDNN libraries that came as wheels, so that the provider's library finds them.

    `preload_dlls` prints what it misses to stdout; the probe of the provider's own library, next, tells the same as an error.
    """
    with _lock, contextlib.redirect_stdout(io.StringIO()):
        ort.preload_dlls()


def first_line(fault: BaseException) -> str:
    """An exception's first line, without ONNX Runtime's prefixes and source positions, for `why` and `detail`."""
    lines = str(fault).strip().splitlines()
    line = _NOISE.sub("", lines[0]) if lines else type(fault).__name__
    return line.strip().rstrip(".")[:300]


def _ask_build(ort: ModuleType, name: str) -> None:
    if ORT_NAMES[name] not in ort.get_available_providers():
        package = getattr(ort, "package_name", "onnxruntime")
        raise ProviderUnavailable("not_built", provider=name, why=f"{package} {ort.__version__}")


def _ask_driver(name: str) -> None:
    """A driver, and at least one card that this process may see."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(library)
    except OSError as fault:
        raise ProviderUnavailable("driver", provider=name, why=first_line(fault)) from fault
    count = ctypes.c_int(0)
    # Result codes of the CUDA driver API: 0 = success; 100 = no device (hidden by CUDA_VISIBLE_DEVICES, too); 803 = versions mixed.
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code or not count.value:
        raise ProviderUnavailable("no_device", provider=name, why=f"cuInit {code}" if code else "0")


def _ask_libraries(ort: ModuleType, name: str) -> None:
    """Loads the provider's library the way ONNX Runtime does; the linker then names what is missing."""
    pattern = "onnxruntime_providers_{}.dll" if sys.platform == "win32" else "libonnxruntime_providers_{}.so"
    folder = Path(str(ort.__file__)).parent / "capi"
    try:
        ctypes.CDLL(str(folder / pattern.format("shared")), ctypes.RTLD_GLOBAL)
        ctypes.CDLL(str(folder / pattern.format(_LIBRARIES[name])))
    except OSError as fault:
        raise ProviderUnavailable("library", provider=name, why=first_line(fault)) from fault


_UNUSABLE = ProviderStatus("auto", False, "broken", "not even the CPU")
