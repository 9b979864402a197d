"""`FeatureStore`: tensors by key, under a limit of bytes in memory and another on disk."""

import contextlib
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

SUFFIX = ".safetensors"
NAME, SECONDS = "features", "seconds"
MEMORY_BYTES, DISK_BYTES = 256 << 20, 2 << 30


@dataclass(frozen=True, slots=True)
class Counters:
    """Since the start. memory, disk: hits there; misses. damaged: files that couldn't be read and were removed. evicted: entries.

    saved: seconds that the hits would have taken to compute, as measured when they were.
    """

    memory: int = 0
    disk: int = 0
    misses: int = 0
    damaged: int = 0
    evicted: int = 0
    saved: float = 0.0


class FeatureStore:
    """May be used by several threads at once; several processes may share a folder.

    Args:
        folder: where features outlive the process; None keeps them in memory alone.
        memory_bytes, disk_bytes: most that is kept in each; what was used longest ago goes first.
    """

    def __init__(self, folder: Path | None = None, memory_bytes: int = MEMORY_BYTES, disk_bytes: int = DISK_BYTES) -> None:
        self._folder, self._memory_limit, self._disk_limit = folder, memory_bytes, disk_bytes
        self._kept: OrderedDict[str, tuple[torch.Tensor, float]] = OrderedDict()  # used longest ago first: tensor, seconds
        self._bytes = 0
        self._lock = threading.RLock()
        self.counters = Counters()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def memory_bytes(self) -> int:
        return self._bytes

    @property
    def disk_bytes(self) -> int:
        return sum(size for _, size, _ in self._files())

    def get(self, key: str) -> "torch.Tensor | None":
        """The tensor of a key, on the device where it was put (from disk: the CPU); None where there is none."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                self._count("memory", found[1])
                return found[0]
            found = self._read(key)
            if found is None:
                self._count("misses")
                return None
            self._keep(key, *found)
            self._count("disk", found[1])
            return found[0]

    def put(self, key: str, tensor: "torch.Tensor", seconds: float = 0.0) -> None:
        """Keeps a tensor. seconds: what it took to make it.

        Raises:
            OSError: the folder can't be written; memory has it all the same.
        """
        with self._lock:
            self._keep(key, tensor.detach(), seconds)
        if self._folder is not None:
            self._write(key, tensor, seconds)

    def clear(self) -> None:
        """Forgets everything, on disk too."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0
            for path, _, _ in self._files():
                path.unlink(missing_ok=True)

    def _keep(self, key: str, tensor: "torch.Tensor", seconds: float) -> None:
        if key in self._kept:
            self._bytes -= self._kept.pop(key)[0].nbytes
        self._kept[key] = (tensor, seconds)
        self._bytes += tensor.nbytes
        while self._bytes > self._memory_limit and self._kept:
            self._bytes -= self._kept.popitem(last=False)[1][0].nbytes
            if self._folder is None:
                self._count("evicted")

    def _read(self, key: str) -> "tuple[torch.Tensor, float] | None":
        path = self._path(key)
        if path is None or not path.is_file():
            return None
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="pt") as file:
                tensor, seconds = file.get_tensor(NAME), float((file.metadata() or {}).get(SECONDS, 0))
            os.utime(path)
        except FileNotFoundError:  # another process has just dropped it
            return None
        except (SafetensorError, OSError, ValueError):
            path.unlink(missing_ok=True)
            self._count("damaged")
            return None
        return tensor, seconds

    def _write(self, key: str, tensor: "torch.Tensor", seconds: float) -> None:
        """In one step: a reader finds the whole file or none."""
        import safetensors.torch

        path = self._path(key)
        assert path is not None
        data = safetensors.torch.save({NAME: tensor.detach().cpu().contiguous()}, {SECONDS: f"{seconds:.6f}"})
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        try:
            temporary.write_bytes(data)
            temporary.chmod(0o600)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        self._trim()

    def _trim(self) -> None:
        files = sorted(self._files(), key=lambda file: file[2])
        total = sum(size for _, size, _ in files)
        for path, size, _ in files:
            if total <= self._disk_limit:
                return
            path.unlink(missing_ok=True)
            total -= size
            with self._lock:
                self._count("evicted")

    def _files(self) -> list[tuple[Path, int, int]]:
        """Path, bytes and when it was used last, of each."""
        found = []
        for path in self._folder.glob(f"*{SUFFIX}") if self._folder else ():
            with contextlib.suppress(FileNotFoundError):  # another process has just dropped it
                state = path.stat()
                found.append((path, state.st_size, state.st_mtime_ns))
        return found

    def _path(self, key: str) -> Path | None:
        return self._folder / f"{key}{SUFFIX}" if self._folder is not None else None

    def _count(self, name: str, seconds: float = 0.0) -> None:
        now = self.counters
        self.counters = replace(now, **{name: getattr(now, name) + 1, "saved": now.saved + seconds})
