"""The watermark's secret. Whoever has it can read and forge this installation's marks; without it none can be read again."""

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from engines.errors import KeyUnusable
from engines.provenance import files

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class MarkKey:
    """32 secret bytes. Not shown by `repr`, so that no log carries them.

    Raises:
        ValueError: another length.
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")

    def derive(self, purpose: bytes) -> bytes:
        """32 bytes for one use (HMAC-SHA-256): the pattern and the tag share no key material."""
        return hmac.digest(self.secret, purpose, hashlib.sha256)


def load_key(path: Path) -> MarkKey:
    """Reads the key; on first use makes one, with mode 0600 in a folder with mode 0700.

    Several processes may start at once: one file wins, and all of them get its key. Nothing is ever written over a file that is
    there, however damaged: marks made with the old key could then never be read again.

    Raises:
        KeyUnusable: damaged (not 32 bytes), permissions (readable by group or others; POSIX only), unwritable (the folder or file
            can't be made or read; the system's words in `detail`).
    """
    try:
        if not os.path.lexists(path):
            _create(path)
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise KeyUnusable("permissions", path=path)
            secret = file.read(KEY_BYTES + 1)
    except OSError as fault:
        raise KeyUnusable("unwritable", path=path, detail=fault.strerror or type(fault).__name__) from fault
    if len(secret) != KEY_BYTES:
        raise KeyUnusable("damaged", path=path)
    return MarkKey(secret)


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
