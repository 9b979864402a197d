"""The watermark's secret. Whoever has it can read and forge this installation's marks; without it none can be read again.

`mark.key` marks. A key that was replaced lies beside it as `mark-<name>.key` and still reads; the name is a digest, and tells nothing.
"""

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from engines.errors import KeyUnusable
from engines.model_files import LOCK, alone
from engines.provenance import files
from engines.timing import Run

KEY_BYTES = 32
KEY_FILE = Path("keys", "mark.key")  # in the data folder


@dataclass(frozen=True, slots=True)
class MarkKey:
    """32 secret bytes. Not shown by `repr`, so that no log carries them.

    Attributes:
        older: the keys that it replaced, latest first. They read marks and open files; nothing new is made with them.

    Raises:
        ValueError: another length.
    """

    secret: bytes = field(repr=False)
    older: tuple["MarkKey", ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")

    @property
    def all(self) -> tuple["MarkKey", ...]:
        """This key and the older ones."""
        return (self, *self.older)

    @property
    def name(self) -> str:
        """8 hexadecimal digits that tell keys apart; the secret can't be found from them."""
        return self.derive(b"name")[:4].hex()

    def derive(self, purpose: bytes) -> bytes:
        """32 bytes for one use (HMAC-SHA-256): the pattern and the tag share no key material."""
        return hmac.digest(self.secret, purpose, hashlib.sha256)


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A key on the disk. `since`: when the file was made, UTC. `current`: it marks; the others only read."""

    name: str
    path: Path
    since: datetime
    current: bool


def load_key(path: Path) -> MarkKey:
    """Reads the key and the older ones beside it; on first use makes one, with mode 0600 in a folder with mode 0700.

    Several processes may start at once: one file wins, and all of them get its key. Nothing is ever written over a file that is
    there, however damaged: marks made with the old key could then never be read again.

    Raises:
        KeyUnusable: damaged (not 32 bytes), permissions (readable by group or others; POSIX only), unwritable (the folder or file
            can't be made or read; the system's words in `detail`). Of an older key as well.
    """
    try:
        if not os.path.lexists(path):
            _create(path)
    except OSError as fault:
        raise _unwritable(path, fault) from fault
    key = _read(path)
    older = (_read(each) for each in _older(path))
    return replace(key, older=tuple(each for each in older if each != key))


def rotate(path: Path, run: Run | None = None) -> MarkKey:
    """Makes a new key; the one before stays beside it and goes on reading. A program that runs takes the new one when it starts again.

    The old key gets its second name before the new one takes its place, so that at no moment it is nowhere. Of several at once each waits
    for the one before it: all of their keys are kept.

    Returns:
        The new key, with all older ones.

    Raises:
        KeyUnusable: as `load_key`. Cancelled: `run` was stopped while it waited.
    """
    load_key(path)  # makes the folder, for its owner alone, where there is none
    try:
        (path.parent / LOCK).touch(mode=0o600)
        with alone(path.parent, run or Run()):
            before = _read(path)
            kept = path.with_name(f"{path.stem}-{before.name}{path.suffix}")
            if not kept.exists():
                with files.Temporary(kept, mode=0o600) as temporary:
                    temporary.write(before.secret)
                    temporary.publish(overwrite=False)
            with files.Temporary(path, mode=0o600) as temporary:
                temporary.write(secrets.token_bytes(KEY_BYTES))
                temporary.publish(overwrite=True)
            return load_key(path)
    except OSError as fault:
        raise _unwritable(path, fault) from fault


def list_keys(path: Path) -> tuple[KeyFile, ...]:
    """The keys that are there, the current one first; none is made. Raises `KeyUnusable` as `load_key`."""
    if not path.exists():
        return ()
    current = _read(path)
    found = [(path, current), *((each, _read(each)) for each in _older(path))]
    return tuple(
        KeyFile(key.name, each, datetime.fromtimestamp(each.stat().st_mtime, UTC), each == path)
        for each, key in found
        if each == path or key != current
    )


def _older(path: Path) -> list[Path]:
    beside = path.parent.glob(f"{path.stem}-*{path.suffix}")
    return sorted(beside, key=lambda each: (-each.stat().st_mtime, each.name))


def _read(path: Path) -> MarkKey:
    try:
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise KeyUnusable("permissions", path=path)
            secret = file.read(KEY_BYTES + 1)
    except OSError as fault:
        raise _unwritable(path, fault) from fault
    if len(secret) != KEY_BYTES:
        raise KeyUnusable("damaged", path=path)
    return MarkKey(secret)


def _unwritable(path: Path, fault: OSError) -> KeyUnusable:
    return KeyUnusable("unwritable", path=path, detail=fault.strerror or type(fault).__name__)


def _create(path: Path) -> None:
    if not path.parent.exists():
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
    with files.Temporary(path, mode=0o600) as temporary:
        temporary.write(secrets.token_bytes(KEY_BYTES))
        try:
            temporary.publish(overwrite=False)
        except FileExistsError:
            return  # another process was first: its key is the key
