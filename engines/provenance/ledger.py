"""The ledger: a line for each output that left, in one SQLite file, so that an id, a file or a look leads back to when and how.

Order of a file's coming into being: its line, with its name and its temporary file's → the file, read back → its name, in one step →
the line without them. Each step is on the disk before the next begins (write-ahead log, synchronous FULL). Whatever is killed in
between, the next start finds the line that still has a name: the file is there with these bytes, then the line stays; or it isn't, then
the temporary file and the line go. A file without a line can't come about.

Kept: see `entry.Entry`. Deleted lines are overwritten in the file (`secure_delete`).
"""

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self, cast

from engines.errors import LedgerUnusable
from engines.provenance import looks
from engines.provenance.entry import Entry, How, Match
from engines.provenance.output import part_name
from engines.provenance.pdq import POSSIBLY, SAME

FILE = "ledger.sqlite"
SCHEMA_VERSION = 2  # 2: derived
MOST = 100  # look-alikes of one search
DAY = 86400
PATIENCE = 30  # seconds that another's change may take
_WRITING: set[str] = set()  # temporary files of this process
_COLUMNS = ("id", "at", "version", "kind", "format", "width", "height", "settings", "models", "sha256", "pdq", "labels", "link", "derived")
_SCHEMA = f"""
CREATE TABLE outputs (number INTEGER PRIMARY KEY AUTOINCREMENT, {", ".join(_COLUMNS)}, path, part, owner);
CREATE INDEX by_id ON outputs (id);
CREATE INDEX by_sha256 ON outputs (sha256);
CREATE INDEX by_time ON outputs (at);
CREATE INDEX unfinished ON outputs (number) WHERE path IS NOT NULL;
{looks.SCHEMA};
PRAGMA user_version = {SCHEMA_VERSION};
"""
_CHANGES = (  # from each version to the last one
    "ALTER TABLE outputs ADD COLUMN derived DEFAULT ''",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
_SELECT = f"SELECT number, {', '.join(_COLUMNS)} FROM outputs "


class Ledger:
    """Thread-safe; several processes may use one file. Opened, mended and thinned out when it is first used.

    Args:
        keep_days: lines older than that are deleted, at the start and once a day; 0 keeps all.

    Raises:
        LedgerUnusable: in every method: damaged, unwritable, newer (made by a later version).
    """

    def __init__(self, path: Path, keep_days: int = 0) -> None:
        self.path, self.keep_days = path, keep_days
        self._db: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._thinned = 0.0

    def record(self, entry: Entry) -> int:
        """Keeps the line of an output that leaves as bytes. Returns its number."""
        with self._transaction() as db:
            return _insert(db, entry)

    @contextlib.contextmanager
    def writing(self, entry: Entry, path: Path) -> Iterator[str]:
        """Keeps the line of a file while it is written. Gives the name that its temporary file must have; see the module's text."""
        part = part_name()
        _WRITING.add(part)
        try:
            with self._transaction() as db:
                number = _insert(db, entry, (str(path.absolute()), part, os.getpid()))
            try:
                yield part
            except BaseException:
                self._finish([number])
                raise
            with self._transaction() as db:
                if not _settle(db, number):  # another process took this one for dead
                    _insert(db, entry)
        finally:
            _WRITING.discard(part)

    def mend(self) -> tuple[int, int]:
        """Finishes what broken-off processes left. Returns how many lines were kept, and how many went. Runs at each start."""
        with self._transaction() as db:
            unfinished = db.execute("SELECT number, owner, part, at FROM outputs WHERE path IS NOT NULL").fetchall()
        return self._finish([number for number, owner, part, at in unfinished if not _alive(owner, part, at)])

    def match(self, sha256: bytes = b"", id: str = "", label: str = "", look: bytes | None = None) -> tuple[Match, ...]:
        """The lines that a file leads to, each once, by the first that does: its bytes, its mark's id, its label's, its look."""
        with self._transaction("BEGIN") as db:
            found: dict[int, Match] = {}

            def add(how: How, entries: Sequence[Entry], distance: int | None = None) -> None:
                for entry in entries:
                    found.setdefault(entry.number, Match(entry, how, distance))

            if sha256:
                add("file", _entries(db, "WHERE sha256 = ? ORDER BY number", sha256))
            for how, wanted in (("id", id), ("label", label)):
                if wanted:
                    add(cast(How, how), _entries(db, "WHERE id = ? ORDER BY number", wanted))
            for distance, number in looks.near(db, look, POSSIBLY, MOST) if look else ():
                add("same" if distance <= SAME else "possibly", _entries(db, "WHERE number = ? AND pdq IS NOT NULL", number), distance)
            return tuple(found.values())

    def entries(self, since: int = 0, until: int | None = None) -> Iterator[Entry]:
        """All lines in their order, those of a span of seconds since 1970."""
        last, step = 0, 1000
        while True:
            with self._transaction("BEGIN") as db:
                where = "WHERE number > ? AND at >= ? AND at < ? ORDER BY number LIMIT ?"
                part = _entries(db, where, last, since, 1 << 62 if until is None else until, step)
            yield from part
            if len(part) < step:
                return
            last = part[-1].number

    def delete(self, ids: Sequence[str] = (), before: int | None = None) -> int:
        """Deletes the lines of ids, and those from before a time. Returns how many."""
        with self._transaction() as db:
            numbers = [number for id in ids for (number,) in db.execute("SELECT number FROM outputs WHERE id = ?", (id,))]
            if before is not None:
                numbers += [number for (number,) in db.execute("SELECT number FROM outputs WHERE at < ?", (before,))]
            db.executemany("DELETE FROM outputs WHERE number = ?", ((number,) for number in numbers))
            looks.drop(db, numbers)
        if numbers:
            with self._lock, _told(self.path):
                self._connected().execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what was deleted isn't left in the log
        return len(set(numbers))

    def count(self) -> int:
        with self._transaction("BEGIN") as db:
            return int(db.execute("SELECT count(*) FROM outputs").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _finish(self, numbers: Sequence[int]) -> tuple[int, int]:
        kept = gone = 0
        for number in numbers:
            with self._transaction() as db:
                row = db.execute("SELECT path, part, sha256 FROM outputs WHERE number = ? AND path IS NOT NULL", (number,)).fetchone()
                if row is None:
                    continue
                path = Path(row[0])
                if _holds(path, row[2]):
                    kept += _settle(db, number)
                else:
                    gone += db.execute("DELETE FROM outputs WHERE number = ?", (number,)).rowcount
                    looks.drop(db, [number])
                with contextlib.suppress(OSError):  # the folder may be gone, or not ours any more
                    path.with_name(row[1]).unlink(missing_ok=True)
        return kept, gone

    @contextlib.contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
        with self._lock, _told(self.path):
            db = self._connected()
            if self.keep_days and time.time() - self._thinned > DAY:
                self._thinned = time.time()
                self.delete(before=int(time.time()) - self.keep_days * DAY)
            db.execute(begin)
            try:
                yield db
            except BaseException:
                if db.in_transaction:  # SQLite may have rolled back by itself
                    db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _connected(self) -> sqlite3.Connection:
        if self._db is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600)  # SQLite's log beside it takes its permissions
            self._db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                _log_ahead(self._db)
                for pragma in ("synchronous = FULL", "secure_delete = ON"):
                    self._db.execute(f"PRAGMA {pragma}")
                _prepare(self._db, self.path)
                self.mend()
            except BaseException:
                self.close()
                raise
        return self._db


def _log_ahead(db: sqlite3.Connection) -> None:
    """Turns the write-ahead log on. While others open the file, SQLite refuses this change at once and never asks its busy handler
    (sqlite.org/c3ref/busy_handler.html, on deadlocks): of 600 openings by four at once, 8 were refused."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:  # the low byte is the primary code
                raise
        time.sleep(0.01)


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Makes the tables in a new file. Several processes may come at once: one makes them."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise LedgerUnusable("newer", path=path)
    if version < SCHEMA_VERSION:
        db.execute("BEGIN IMMEDIATE")
        found = db.execute("PRAGMA user_version").fetchone()[0]
        for statement in filter(str.strip, _SCHEMA.split(";")) if found == 0 else _CHANGES[found - 1 :]:
            db.execute(statement)
        db.execute("COMMIT")


def _insert(db: sqlite3.Connection, entry: Entry, unfinished: tuple[str, str, int] | tuple[None, None, None] = (None, None, None)) -> int:
    values = {name: getattr(entry, name) for name in _COLUMNS}
    values |= {name: json.dumps(values[name], ensure_ascii=False) for name in ("models", "labels")}
    places = ", ".join("?" * (len(_COLUMNS) + 3))
    row = db.execute(f"INSERT INTO outputs ({', '.join(_COLUMNS)}, path, part, owner) VALUES ({places})", (*values.values(), *unfinished))
    number = int(row.lastrowid or 0)
    if entry.pdq is not None:
        looks.put(db, number, entry.pdq)
    return number


def _settle(db: sqlite3.Connection, number: int) -> int:
    return db.execute("UPDATE outputs SET path = NULL, part = NULL, owner = NULL WHERE number = ?", (number,)).rowcount


def _entries(db: sqlite3.Connection, where: str, *values: Any) -> list[Entry]:
    made = []
    for number, *row in db.execute(_SELECT + where, values):
        fields = dict(zip(_COLUMNS, row, strict=True))
        fields |= {"models": tuple(map(tuple, json.loads(fields["models"]))), "labels": tuple(json.loads(fields["labels"]))}
        made.append(Entry(**fields, number=number))
    return made


def _holds(path: Path, sha256: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest() == sha256
    except OSError:
        return False


def _alive(owner: int, part: str, at: int) -> bool:
    """Whether that process still writes its file. After a day its number is somebody else's; where the system can't tell, time must."""
    if owner == os.getpid():
        return part in _WRITING
    if at < time.time() - DAY:
        return False
    if os.name != "posix":
        return True
    try:
        os.kill(owner, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as fault:
        reason = "unwritable" if isinstance(fault, sqlite3.OperationalError | OSError) else "damaged"
        raise LedgerUnusable(reason, path=path, detail=str(fault)) from fault
