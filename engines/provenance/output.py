"""Where an output goes: its format by name, whether it can be written, and writing it whole or not at all."""

import errno
import os
from pathlib import Path
from typing import Literal, get_args

from PIL import features

from engines.errors import FusionError, OutputExists, OutputUnwritable
from engines.provenance.files import Temporary
from engines.provenance.files import part_name as part_name
from engines.timing import Run

Format = Literal["png", "jpg", "webp", "avif", "tiff"]
FORMATS: tuple[Format, ...] = get_args(Format)
MEDIA_TYPES: dict[str, str] = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp", "avif": "image/avif", "tiff": "image/tiff"}
NAMES: dict[Format, str] = {"png": "PNG", "jpg": "JPEG", "webp": "WebP", "avif": "AVIF", "tiff": "TIFF"}
_OTHER_NAMES = {"jpeg": "jpg", "jpe": "jpg", "jfif": "jpg", "tif": "tiff"}
_CODECS: dict[Format, str] = {"jpg": "jpg", "webp": "webp", "avif": "avif", "tiff": "libtiff"}  # parts that a Pillow may be built without
_REASONS = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: "disk_full",
    errno.ENAMETOOLONG: "name_too_long",
    errno.EACCES: "permission",
    errno.EPERM: "permission",
    errno.EROFS: "permission",
    errno.ENOTDIR: "not_a_folder",
    errno.EISDIR: "is_a_folder",
}


def format_of(name: str) -> Format:
    """The format that a name or suffix means. Raises `OutputUnwritable` (format, or no_suffix for an empty one)."""
    plain = name.lower().removeprefix(".")
    found = _OTHER_NAMES.get(plain, plain)
    for known in FORMATS:
        if found == known:
            return known
    raise OutputUnwritable("format" if plain else "no_suffix", path="", detail=name)


def check_codec(format: Format) -> None:
    """Raises `OutputUnwritable` (codec) where this machine's Pillow was built without a format's encoder."""
    if format in _CODECS and not features.check(_CODECS[format]):
        raise OutputUnwritable("codec", path="", detail=NAMES[format])


def check_writable(path: Path, format: str | None = None, overwrite: bool = False) -> Format:
    """Tells before the work what `save` would say after it, as far as that can be known. Makes nothing.

    Raises:
        OutputExists, OutputUnwritable (format, codec, is_a_folder, not_a_folder, permission, name_too_long).
    """
    name = format_of(format or path.suffix)
    check_codec(name)
    check_place(path, overwrite)
    return name


def check_place(path: Path, overwrite: bool = False) -> None:
    """The same for a file of any format. Makes nothing.

    Raises:
        OutputExists, OutputUnwritable (is_a_folder, not_a_folder, permission, name_too_long).
    """
    try:
        if os.path.lexists(path):
            if path.is_dir():
                raise OutputUnwritable("is_a_folder", path=path, detail="")
            if not overwrite:
                raise OutputExists(path=path)
        folder = path.parent
        while not os.path.lexists(folder) and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir():
            raise OutputUnwritable("not_a_folder", path=path, detail=str(folder))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputUnwritable("permission", path=path, detail=str(folder))
        os.stat(folder / path.name)  # too long a name shows here, whether the file is there or not
    except FileNotFoundError:
        pass  # what should be written isn't there yet
    except OSError as fault:
        raise _unwritable(fault, path) from fault
    except ValueError as fault:  # a zero byte
        raise OutputUnwritable(path=path, detail=str(fault)) from fault


def target_of(path: Path, overwrite: bool) -> Path:
    """Where the bytes go: to the file that a link leads to, when it is replaced."""
    return Path(os.path.realpath(path)) if overwrite else path


def write_bytes(
    data: bytes, path: Path, overwrite: bool = False, run: Run | None = None, mode: int = 0o666, part: str | None = None
) -> None:
    """Writes what `bundle` or `encode` made, or a persona: temporary file beside it → flushed → read back → renamed.

    Folders that are missing are made, and removed again when the write fails.

    Args:
        mode: permissions of a new file, before the umask. A file that is replaced hands on its own.
        part: name of the temporary file, where somebody must know it.

    Raises:
        OutputExists, OutputUnwritable (folder, not_a_folder, is_a_folder, permission, disk_full, name_too_long), Cancelled.
    """
    target = target_of(path, overwrite)
    made: list[Path] = []
    try:
        made = _make_folders(target.parent, path)
        with Temporary(target, mode, part) as temporary:
            temporary.write(data)
            if run is not None:
                run.check()
            if not temporary.holds(data):
                raise OutputUnwritable(path=path, detail="the disk gave back other bytes")
            temporary.publish(overwrite)
    except BaseException as fault:
        for folder in made:
            _remove_empty(folder)
        if isinstance(fault, FileExistsError):
            raise OutputExists(path=path) from fault
        if isinstance(fault, OSError):
            raise _unwritable(fault, path) from fault
        if isinstance(fault, ValueError):  # a zero byte in the name
            raise OutputUnwritable(path=path, detail=str(fault)) from fault
        raise


def write_text(text: str, path: Path, overwrite: bool = False) -> None:
    """Writes a list or a report, whole or not at all, as UTF-8. Raises as `write_bytes`."""
    write_bytes(text.encode(), path, overwrite)


def _make_folders(folder: Path, path: Path) -> list[Path]:
    """Makes what is missing, and lists it, deepest first."""
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as fault:
        raise OutputUnwritable("not_a_folder", path=path, detail=str(folder)) from fault
    except OSError as fault:
        for part in missing:
            _remove_empty(part)
        raise _unwritable(fault, path, "folder") from fault
    return missing


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError as fault:
        if fault.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.EBUSY):
            raise


def _unwritable(fault: OSError, path: Path, otherwise: str = "") -> FusionError:
    reason = _REASONS.get(fault.errno or 0, otherwise)
    return OutputUnwritable(reason, path=path, detail=fault.strerror or type(fault).__name__)
