"""The ledger's PDQ hashes, packed: a page of the table holds those of 4096 outputs, each at the place of its number.

A million hashes read as single values take a second; as 245 pages they take some ten milliseconds.
"""

import sqlite3
from collections.abc import Iterable

import numpy as np

from engines.provenance.pdq import BYTES, distances

PER_PAGE = 4096
SCHEMA = "CREATE TABLE looks (page INTEGER PRIMARY KEY, packed BLOB NOT NULL)"


def put(db: sqlite3.Connection, number: int, look: bytes) -> None:
    """Writes the hash of an output, within the caller's transaction: 32 bytes in place."""
    page, place = divmod(number, PER_PAGE)
    db.execute("INSERT OR IGNORE INTO looks VALUES (?, zeroblob(?))", (page, PER_PAGE * BYTES))
    with db.blobopen("looks", "packed", page) as blob:
        blob.seek(place * BYTES)
        blob.write(look)


def drop(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Blanks hashes, within the caller's transaction; pages without an output go."""
    places: dict[int, list[int]] = {}
    for number in numbers:
        places.setdefault(number // PER_PAGE, []).append(number % PER_PAGE)
    for page, gone in places.items():
        first = page * PER_PAGE
        if db.execute("SELECT 1 FROM outputs WHERE number >= ? AND number < ? LIMIT 1", (first, first + PER_PAGE)).fetchone() is None:
            db.execute("DELETE FROM looks WHERE page = ?", (page,))
        elif db.execute("SELECT 1 FROM looks WHERE page = ?", (page,)).fetchone():
            with db.blobopen("looks", "packed", page) as blob:
                for place in gone:
                    blob.seek(place * BYTES)
                    blob.write(bytes(BYTES))


def near(db: sqlite3.Connection, look: bytes, within: int, most: int) -> list[tuple[int, int]]:
    """Distance and number of the nearest outputs, nearest first. Numbers without an output may be among them."""
    found: list[tuple[int, int]] = []
    for page, packed in db.execute("SELECT page, packed FROM looks"):
        apart = distances(np.frombuffer(packed, np.uint64).reshape(-1, 4), look)
        found += [(int(apart[place]), page * PER_PAGE + int(place)) for place in np.flatnonzero(apart <= within)]
    return sorted(found)[:most]
