"""Which of several Python packages stands behind one import name.

`onnxruntime` and `onnxruntime-gpu` install the same files, as do `opencv-python` and `opencv-python-headless`. pip installs both side
by side, the later one's files win, and the metadata of both stays: so the files themselves are asked. Nothing is imported here,
since a package of two halves may not be importable.
"""

import ast
import importlib.util
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Per import name: the packages that write it, the ones that we ask for first.
FAMILIES: dict[str, tuple[str, ...]] = {
    "onnxruntime": ("onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino", "onnxruntime"),
    "cv2": ("opencv-contrib-python-headless", "opencv-python-headless", "opencv-contrib-python", "opencv-python"),
}


@dataclass(frozen=True, slots=True)
class PackageStatus:
    """Who stands behind one import name.

    Attributes:
        module: the import name.
        claimants: the installed packages that claim it, with their versions; none where it came by another way than pip.
        active: the package that the files belong to; "" where they are missing or don't say.
        version: of `active`, as the files say.
        mend: commands to be run one after the other; empty when all is well.
    """

    module: str
    claimants: tuple[tuple[str, str], ...]
    active: str
    version: str
    mend: tuple[str, ...]


def package_report() -> tuple[PackageStatus, ...]:
    """The status of each family, from the metadata and the files of the running Python."""
    return tuple(package_status(module, _installed(module), _folder(module)) for module in FAMILIES)


def package_status(module: str, claimants: dict[str, str], folder: Path | None) -> PackageStatus:
    """One family's status.

    Args:
        module: a key of `FAMILIES`.
        claimants: package → version, of those of the family that are installed.
        folder: where the files lie; None where there are none.
    """
    active, active_version = _active(module, folder) if folder else ("", "")
    one_of_one = len(claimants) == 1 and active in ("", *claimants)
    fine = folder is not None and (one_of_one or not claimants)
    return PackageStatus(module, tuple(claimants.items()), active, active_version, () if fine else _commands(module, claimants))


def _commands(module: str, claimants: dict[str, str]) -> tuple[str, ...]:
    """Uninstalling one of two removes the files of both: so all go, then one comes back, alone, since with its dependencies the other
    might come again. Of several the one that can do more stays; of OpenCV's a headless one, since the others need libGL."""
    if not claimants:
        return (f"pip install {'onnxruntime' if module == 'onnxruntime' else 'opencv-python-headless'}",)
    order = FAMILIES[module]
    chosen = min(claimants, key=order.index)
    exact = claimants[chosen]
    if module == "cv2" and "headless" not in chosen:
        chosen = f"{chosen}-headless"
    return f"pip uninstall -y {' '.join(claimants)}", f"pip install --no-deps {chosen}=={exact}"


def _installed(module: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for package in FAMILIES[module]:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _folder(module: str) -> Path | None:
    """The package's folder; None where only an empty one is left, which Python takes for a namespace."""
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _active(module: str, folder: Path) -> tuple[str, str]:
    """(package, version) as the files say."""
    if module == "onnxruntime":
        facts = _constants(folder / "capi" / "build_and_package_info.py")
        return str(facts.get("package_name", "")), str(facts.get("__version__", ""))
    facts = _constants(folder / "version.py")
    if "headless" not in facts:
        return "", ""
    name = f"opencv{'-contrib' if facts.get('contrib') else ''}-python{'-headless' if facts['headless'] else ''}"
    return name, str(facts.get("opencv_version", ""))


def _constants(path: Path) -> dict[str, object]:
    """The literals that a module assigns at its top level, read without running it."""
    if not path.is_file():
        return {}
    found: dict[str, object] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value.value
    return found
