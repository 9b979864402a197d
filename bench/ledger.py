"""The ledger under load, and under `kill -9`.

    python -m bench.ledger [--rows 1000000] [--kills 200]

First a ledger of that many rows is filled and asked, by a process that has just begun and by one that has asked before. Then a process
that writes pictures is killed that often, at random moments; afterwards each file must be marked and have its line, and each line its
file. `--write` is that process.
"""

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.report import interleaved, show
from engines.provenance import ledger as room
from engines.provenance import looks
from engines.provenance.entry import Entry
from engines.provenance.keys import MarkKey
from engines.provenance.ledger import Ledger
from engines.provenance.mark import mark
from engines.provenance.metadata import read_labels
from engines.provenance.save import save
from engines.vision import io

ROOT = Path(__file__).resolve().parent.parent
KEY = MarkKey(bytes(range(32)))


def fill(path: Path, rows: int) -> list[Entry]:
    """Writes rows with random hashes, in transactions of 4096, and gives some of them back."""
    chance = np.random.default_rng(7)
    kept = []
    with Ledger(path) as ledger:
        for first in range(0, rows, looks.PER_PAGE):
            count = min(looks.PER_PAGE, rows - first)
            made = [_entry(number, first, chance.bytes(32)) for number in range(first, first + count)]
            with ledger._transaction() as db:
                for entry in made:
                    room._insert(db, entry)
            kept += ledger.match(id=made[count // 2].id)[:1]
    return [match.entry for match in kept]


def _entry(number: int, at: int, look: bytes) -> Entry:
    digits = f"{number:09X}"
    digest = hashlib.sha256(digits.encode()).digest()
    return Entry(f"{digits[:3]}-{digits[3:6]}-{digits[6:]}", at, "0.1.0", "fusion", "png", 512, 512, "", (), digest, look, ())


def asked(rows: int) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        some = fill(path, rows)[0]
        size = path.stat().st_size

        def cold() -> None:
            with Ledger(path) as fresh:
                assert fresh.match(look=some.pdq)[0].entry.id == some.id

        with Ledger(path) as ledger:
            jobs = {
                "id": lambda: ledger.match(id=some.id),
                "SHA-256": lambda: ledger.match(sha256=some.sha256),
                "look": lambda: ledger.match(look=some.pdq),
                "all three": lambda: ledger.match(some.sha256, some.id, "", some.pdq),
                "look, ledger just opened": cold,
                "another output kept": lambda: ledger.record(some),
            }
            return [{"rows": rows, "MB": round(size / 1e6), "what": name, "ms": ms} for name, ms in interleaved(jobs, 9).items()]


def write(folder: Path) -> None:
    """Writes pictures until it is killed: small ones, which carry labels alone, and some that carry the mark."""
    ledger = Ledger(folder / "ledger.sqlite")
    chance = np.random.default_rng(os.getpid() + time.time_ns())
    for number in range(100_000):
        side = 256 if number % 4 == 3 else 48
        blocks = chance.integers(0, 256, (side // 8, side // 8, 3), np.uint8)
        image = mark(io.from_array(np.ascontiguousarray(blocks.repeat(8, 0).repeat(8, 1))), KEY)
        save(image, folder / f"{os.getpid()}-{number}.{('png', 'jpg', 'webp')[number % 3]}", key=KEY, ledger=ledger)


def killed(folder: Path, times: int, seed: int) -> dict[str, int]:
    """Kills a writing process that often, 0 to 250 ms after its first file, and counts what doesn't fit together afterwards."""
    chance = random.Random(seed)
    for _ in range(times):
        before = len(list(folder.iterdir()))
        process = subprocess.Popen([sys.executable, "-m", "bench.ledger", "--write", str(folder)], cwd=ROOT)
        try:
            while len(list(folder.iterdir())) <= before + 3 and process.poll() is None:
                time.sleep(0.005)
            time.sleep(chance.random() * 0.25)
        finally:
            process.kill()
            process.wait()
    broken = len(list(folder.glob(".fusion-*.part")))
    with Ledger(folder / "ledger.sqlite") as ledger:
        lines = {entry.sha256: entry for entry in ledger.entries()}
        count = ledger.count()
    pictures = {path: path.read_bytes() for path in folder.iterdir() if path.suffix in (".png", ".jpg", ".webp")}
    hashes = {hashlib.sha256(data).digest() for data in pictures.values()}
    return {
        "kills": times,
        "files": len(pictures),
        "broken off": broken,
        "unmarked": sum(not read_labels(data).labels.algorithmic for data in pictures.values()),
        "files without a line": len(hashes - set(lines)),
        "lines without a file": count - len(hashes & set(lines)),
        "left behind": len(list(folder.glob(".fusion-*.part"))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    if given.write is not None:
        write(given.write)
        return
    if given.rows:
        show("ledger", asked(given.rows))
    if given.kills:
        with tempfile.TemporaryDirectory() as folder:
            show("ledger-killed", [killed(Path(folder), given.kills, 1)])


if __name__ == "__main__":
    main()
