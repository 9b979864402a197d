"""A build backend (PEP 517, PEP 660) of its own, so that pip needs no other; and the writer of wheels that it uses."""

import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def write_wheel(folder: str | Path, name: str, version: str, files: Mapping[str, str], metadata: Iterable[str] = ()) -> str:
    """A wheel with `files` (path → text) in `folder`; returns its file name."""
    inside = name.replace("-", "_")
    info = f"{inside}-{version}.dist-info"
    everything = {
        **files,
        f"{info}/METADATA": "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *metadata, ""]),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: house\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*everything, f"{info}/RECORD"])
    file = f"{inside}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder, file), "w") as wheel:
        for path, content in {**everything, f"{info}/RECORD": record}.items():
            wheel.writestr(path, content)
    return file


def build_editable(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    metadata = [f"Requires-Dist: {one}" for one in project["dependencies"]]
    metadata += [f"Provides-Extra: {extra}" for extra in extras]
    metadata += [f'Requires-Dist: {one}; extra == "{extra}"' for extra, names in extras.items() for one in names]
    return write_wheel(wheel_directory, project["name"], project["version"], {"house.pth": str(Path.cwd())}, metadata)
