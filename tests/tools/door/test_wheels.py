import sys
from pathlib import Path

import pytest

from tools.door.wheels import condensed, give_up, probe
from tools.door.words import Stop, words


@pytest.mark.parametrize(
    ("line", "long", "short"),
    [
        ("  Downloading gradio-6.31.0-py3-none-any.whl (31.4 MB)", "fetching gradio 6.31.0 (31.4 MB)", "fetching gradio 6.31.0 (31.4 MB)"),
        ("Using cached https://x/y/nvidia_cudnn_cu13-9.1-py3.whl (1.2 GB)", "fetching nvidia_cudnn_cu13 9.1 (1.2 GB)", None),
        ("  Downloading idna-3.20-py3-none-any.whl (71 kB)", "fetching idna 3.20 (71 kB)", ""),
        ("  Downloading idna-3.20-py3-none-any.whl.metadata (12.3 MB)", "", ""),
        ("Collecting numpy>=2 (from fusion-studio==0.1.0)", "looking at numpy", ""),
        ("Installing collected packages: a, b, c", "packages to install: 3", "packages to install: 3"),
        ("Successfully installed a-1", "", ""),
    ],
)
def test_a_line_of_pips_in_a_few_words(line: str, long: str, short: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSION_STUDIO_LANGUAGE", "en")
    assert condensed(line, everything=True).strip() == long
    assert condensed(line, everything=False).strip() == (long if short is None else short)


@pytest.mark.parametrize(
    ("said", "key", "words_in_it"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] Kein Platz", "disk_full", "GB free"),
        ("OSError: [WinError 112] There is not enough space on the disk", "disk_full", "GB free"),
        ("PermissionError: [Errno 13] Permission denied: '/x'", "not_writable", "can't be written"),
        ("error: externally-managed-environment", "managed", "--no-venv"),
        ("... SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "certificate", "PIP_CERT"),
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\nERROR: No matching distribution found for x",
            "offline",
            "network",
        ),
        ("WARNING: Retrying (Retry(total=2)) after connection broken by 'ReadTimeoutError(\"Read timed out.\")'", "offline", "network"),
        ("WARNING: ... 'ProxyError('Cannot connect to proxy.'", "offline", "HTTPS_PROXY"),
        ("ERROR: No matching distribution found for onnxruntime>=1.30; x", "no_wheel", "no onnxruntime>=1.30 for this system"),
        ("ERROR: ResolutionImpossible: for help visit", "conflict", "PIP_CONSTRAINT"),
        ("one\ntwo", "failed", "  one\n  two"),
    ],
)
def test_a_failure_has_one_reason(said: str, key: str, words_in_it: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSION_STUDIO_LANGUAGE", "en")
    with pytest.raises(Stop) as stop:
        give_up(said.splitlines())
    assert stop.value.key == key
    assert words_in_it in words(key, **stop.value.facts)


def test_this_environment_has_one_wheel_for_each_name() -> None:
    found = probe(Path(sys.executable))
    for module in ("onnxruntime", "cv2"):
        claimants, active = found[module]
        assert claimants == [active]
