"""What was computed once, kept by content and bounded by bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class ByteCache:
    """A least-recently-used cache with a limit in bytes, not in entries. Thread-safe.

    Keys name content (a picture's digest, a face's number, a model), so that nothing ever has to be invalidated.

    Args:
        limit: bytes that all values together may take; a value larger than it is returned but not kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._held = limit, 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes held now."""
        return self._held

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """The value of `key`; made, and kept when it fits, if there is none.

        Two threads that ask for the same missing key both make it (the values are equal; holding a lock through a second of
        work would let one visitor's cancelled job block another's).
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return cast(T, self._values[key][0])
        value = make()
        nbytes = size(value)
        with self._lock:
            if key not in self._values and nbytes <= self._limit:
                self._values[key] = (value, nbytes)
                self._held += nbytes
            while self._held > self._limit:
                _, (_, freed) = self._values.popitem(last=False)
                self._held -= freed
        return value

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._values.clear()
            self._held = 0
