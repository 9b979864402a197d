"""`Shelf`: the visitors' files, each reachable only by the visitor whose it is.

A visitor is a random name in a cookie; a file is a random token under it. Whoever knows an address but isn't its visitor gets
the same answer as for an address that never existed. Files live in one folder per visitor and go after `keep_seconds`.
"""

import secrets
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from engines.provenance import output

ADDRESS = "/media"
MEDIA_TYPES = output.MEDIA_TYPES | {
    "zip": "application/zip",
    "json": "application/json",
    "html": "text/html",
    "csv": "text/csv",
    "persona": "application/octet-stream",
}


NAME_BYTES = 180  # of a stem: with what is added, under the 255 that file systems take


def stem_of(name: str) -> str:
    """A file's name without its suffix, short enough to be added to; whole characters only."""
    stem = Path(name).stem or "picture"
    return stem.encode("utf-8", "replace")[:NAME_BYTES].decode("utf-8", "ignore")


class Gone(LookupError):
    """No such file for this visitor: never there, somebody else's, or its time is over."""


@dataclass(frozen=True, slots=True)
class Item:
    """One file of one visitor.

    Attributes:
        group: items of one group are replaced together (the results of one page).
        name: what a download is called; the file on disk has a name of ours.
        made: how to make the bytes when they are first asked for; None when the file is there.
        held: bytes in memory that `made` keeps alive.
    """

    token: str
    path: Path
    name: str
    media_type: str
    born: float
    group: str = ""
    made: Callable[[], bytes] | None = None
    held: int = 0

    @property
    def address(self) -> str:
        return f"{ADDRESS}/{self.token}"


@dataclass(slots=True)
class _Visitor:
    """`held`: what each hold keeps; `left`: files whose group was cleared while one of them kept them."""

    folder: Path
    items: dict[str, Item] = field(default_factory=dict)
    held: dict[str, frozenset[str]] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)

    def holds(self, token: str) -> bool:
        return any(token in tokens for tokens in self.held.values())


class Shelf:
    """Thread-safe.

    Args:
        root: made here, 0700; deleted by `close`.
        keep_seconds: how long a file stays after it was put here.
        hold_bytes: memory that results waiting for a download may keep; the oldest go first, never the newest group.
    """

    def __init__(self, root: Path, keep_seconds: float, hold_bytes: int = 512 << 20, clock: Callable[[], float] = time.time) -> None:
        self.root, self.keep_seconds, self.hold_bytes, self._clock = root, keep_seconds, hold_bytes, clock
        self._visitors: dict[str, _Visitor] = {}
        self._lock = threading.RLock()
        root.mkdir(parents=True, exist_ok=True, mode=0o700)

    def add(self, visitor: str, data: bytes, name: str, media_type: str, group: str = "") -> Item:
        """Writes a file of ours (a result, a preview)."""
        item = self.reserve(visitor, name, media_type, group, stored=f"file{Path(name).suffix}")
        item.path.write_bytes(data)
        return item

    def reserve(self, visitor: str, name: str, media_type: str = "application/octet-stream", group: str = "", stored: str = "file") -> Item:
        """A place to write to. `stored` is the name on disk: never what a visitor typed."""
        with self._lock:
            token = secrets.token_urlsafe(24)
            folder = self._visitor(visitor).folder / token
            folder.mkdir(mode=0o700)
            item = Item(token, folder / stored, name, media_type, self._clock(), group)
            self._visitors[visitor].items[token] = item
            return item

    def register(self, visitor: str, path: Path, name: str) -> Item:
        """Takes in a file that already lies in the visitor's folder (an upload of the API's clients)."""
        with self._lock:
            item = Item(secrets.token_urlsafe(24), path, name, "application/octet-stream", self._clock())
            self._visitor(visitor).items[item.token] = item
            return item

    def promise(self, visitor: str, name: str, media_type: str, group: str, made: Callable[[], bytes], held: int) -> Item:
        """A file that is made when it is first asked for."""
        with self._lock:
            self._visitor(visitor)
            self._make_room(group, held)
            item = self.reserve(visitor, name, media_type, group, stored=f"file{Path(name).suffix}")
            item = Item(item.token, item.path, name, media_type, item.born, group, made, held)
            self._visitors[visitor].items[item.token] = item
            return item

    def folder(self, visitor: str) -> Path:
        """A fresh folder of the visitor's, with a name that can't be guessed."""
        with self._lock:
            folder = self._visitor(visitor).folder / secrets.token_urlsafe(24)
            folder.mkdir(mode=0o700)
            return folder

    def get(self, visitor: str, token: str) -> Item:
        """Raises `Gone`."""
        with self._lock:
            known = self._visitors.get(visitor)
            item = known.items.get(token) if known else None
            if item is None or self._clock() - item.born > self.keep_seconds:
                raise Gone(token)
            return item

    def open(self, visitor: str, token: str) -> Item:
        """As `get`, with the file on disk: a promised one is made now, on the calling thread. Raises `Gone` and what `made` raises."""
        item = self.get(visitor, token)
        if item.made is not None and not item.path.exists():
            data = item.made()
            waiting = item.path.with_name(f"waiting-{secrets.token_hex(8)}")  # its own: two may ask for it at once
            try:
                waiting.write_bytes(data)
                waiting.replace(item.path)
            except FileNotFoundError as dropped:  # while it was made
                raise Gone(token) from dropped
        return item

    def find(self, visitor: str, path: Path) -> Item:
        """The visitor's item that lies at `path`. Raises `Gone`."""
        with self._lock:
            known = self._visitors.get(visitor)
            for item in known.items.values() if known else ():
                if item.path == path:
                    return self.get(visitor, item.token)
        raise Gone(str(path))

    def clear(self, visitor: str, group: str) -> None:
        """Deletes a group; of what is held, as soon as it isn't any more."""
        with self._lock:
            known = self._visitors.get(visitor) or _Visitor(self.root)
            for item in [item for item in known.items.values() if item.group == group]:
                if known.holds(item.token):
                    known.left.add(item.token)
                else:
                    self._drop(visitor, item)

    def member(self, visitor: str, token: str, prefix: str) -> str:
        """The group of a file, where its name begins so. Raises `Gone`."""
        group = self.get(visitor, token).group
        if not group.startswith(prefix):
            raise Gone(token)
        return group

    def trim(self, visitor: str, prefix: str, most: int, limit: int) -> None:
        """Deletes the oldest groups whose names begin so, until there are no more than `most` and they take no more than `limit` bytes.

        The newest stays in any case.
        """
        with self._lock:
            known = self._visitors.get(visitor)
            groups: dict[str, int] = {}  # in the order in which they were begun
            for item in known.items.values() if known else ():
                if item.group.startswith(prefix) and known is not None and item.token not in known.left:
                    groups[item.group] = groups.get(item.group, 0) + item.held + (item.path.stat().st_size if item.path.exists() else 0)
            total, count = sum(groups.values()), len(groups)
            for group, weight in list(groups.items())[:-1]:
                if count <= most and total <= limit:
                    return
                self.clear(visitor, group)
                total, count = total - weight, count - 1

    def hold(self, visitor: str, token: str) -> None:
        """Keeps a file, and those of its group as it is now, over `clear` until `release`; never beyond `keep_seconds`. Raises `Gone`."""
        with self._lock:
            group = self.get(visitor, token).group
            known = self._visitors[visitor]
            if token not in known.held:
                beside = (item.token for item in known.items.values() if group and item.group == group and item.token not in known.left)
                known.held[token] = frozenset((token, *beside))

    def release(self, visitor: str, token: str) -> None:
        """Ends what `hold` began with the same token; nothing, where nothing was held."""
        with self._lock:
            known = self._visitors.get(visitor) or _Visitor(self.root)
            for each in known.held.pop(token, frozenset()):
                if each in known.left and not known.holds(each):
                    self._drop(visitor, known.items[each])

    def sweep(self) -> None:
        """Deletes what is past its time, and visitors that have nothing left."""
        with self._lock:
            for name, visitor in list(self._visitors.items()):
                for item in list(visitor.items.values()):
                    if self._clock() - item.born > self.keep_seconds:
                        self._drop(name, item)
                if not visitor.items:
                    shutil.rmtree(visitor.folder, ignore_errors=True)
                    del self._visitors[name]

    def close(self) -> None:
        """Deletes everything."""
        with self._lock:
            self._visitors.clear()
            shutil.rmtree(self.root, ignore_errors=True)

    def _visitor(self, name: str) -> _Visitor:
        if name not in self._visitors:
            folder = self.root / secrets.token_urlsafe(24)  # not the cookie's value: a listing of the disk is no key
            folder.mkdir(parents=True, mode=0o700)
            self._visitors[name] = _Visitor(folder)
        return self._visitors[name]

    def _make_room(self, group: str, held: int) -> None:
        waiting = sorted(
            ((item.born, name, item) for name, visitor in self._visitors.items() for item in visitor.items.values() if item.held),
            key=lambda entry: entry[0],
        )
        total = held + sum(item.held for _, _, item in waiting)
        for _, name, item in waiting:
            if total <= self.hold_bytes:
                return
            if item.group != group:
                total -= item.held
                self._drop(name, item)

    def _drop(self, visitor: str, item: Item) -> None:
        known = self._visitors[visitor]
        del known.items[item.token]
        known.left.discard(item.token)
        known.held.pop(item.token, None)
        shutil.rmtree(item.path.parent, ignore_errors=True)
