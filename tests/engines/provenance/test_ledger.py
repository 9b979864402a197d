"""The ledger: what it keeps and what not, how it is asked, and that it and the files agree whatever breaks off."""

import hashlib
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.errors import Cancelled, LedgerUnusable, OutputExists
from engines.provenance import ledger as room
from engines.provenance import looks
from engines.provenance.entry import Entry, entry_of
from engines.provenance.keys import MarkKey
from engines.provenance.ledger import FILE, Ledger
from engines.provenance.mark import FUSED, MarkedImage, mark
from engines.provenance.save import encode, save
from engines.timing import Progress, Run
from engines.types import Frame

DAY = 86400


def entry(number: int = 0, **changes: object) -> Entry:
    name = f"{number:09X}"
    look = np.random.default_rng(number).bytes(32)
    models = (("mesh_fusion", "Apache-2.0"),)
    plain = Entry(
        f"{name[:3]}-{name[3:6]}-{name[6:]}", 1_700_000_000 + number, "0.1.0", "fusion", "png", 640, 480, "ab" * 32, models,
        hashlib.sha256(name.encode()).digest(), look, ("watermark", "iptc"),
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def flipped(look: bytes, bits: int) -> bytes:
    number = int.from_bytes(look, "big")
    for bit in range(bits):
        number ^= 1 << (bit * 3)
    return number.to_bytes(32, "big")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "data" / FILE) as opened:
        yield opened


def unfinished(ledger: Ledger) -> int:
    return int(ledger._connected().execute("SELECT count(*) FROM outputs WHERE path IS NOT NULL").fetchone()[0])


def test_what_goes_in_comes_out(ledger: Ledger) -> None:
    numbers = [ledger.record(entry(number)) for number in range(5)]
    assert [each.number for each in ledger.entries()] == numbers
    assert [replace(each, number=0) for each in ledger.entries()] == [entry(number) for number in range(5)]
    assert ledger.count() == 5


def test_it_is_readable_by_its_owner_alone(ledger: Ledger) -> None:
    ledger.record(entry())
    files = list(ledger.path.parent.iterdir())
    assert ledger.path in files
    if os.name == "posix":
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_ledger_of_the_first_version_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with Ledger(path) as before:
        before.record(entry(1))
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE outputs DROP COLUMN derived")
        db.execute("PRAGMA user_version = 1")
    db.close()
    with Ledger(path) as now:
        now.record(entry(2, derived=entry(1).id))
        assert [each.derived for each in now.entries()] == ["", entry(1).id]
        assert [each.as_dict()["derived_from"] for each in now.entries()] == ["", entry(1).id]
    with Ledger(path) as again:
        assert again.count() == 2


def test_asked_by_bytes_id_label_and_look(ledger: Ledger) -> None:
    for number in range(200):
        ledger.record(entry(number))
    wanted = entry(77)
    assert wanted.pdq is not None
    asked = (
        ({"sha256": wanted.sha256}, "file", None),
        ({"id": wanted.id}, "id", None),
        ({"label": wanted.id}, "label", None),
        ({"look": wanted.pdq}, "same", 0),
        ({"look": flipped(wanted.pdq, 31)}, "same", 31),
        ({"look": flipped(wanted.pdq, 32)}, "possibly", 32),
        ({"look": flipped(wanted.pdq, 70)}, "possibly", 70),
    )
    for question, how, distance in asked:
        (found,) = ledger.match(**question)  # type: ignore[arg-type]
        assert (found.entry.id, found.how, found.distance) == (wanted.id, how, distance)
    assert ledger.match(look=flipped(wanted.pdq, 71)) == ()
    assert ledger.match(sha256=bytes(32), id="FFF-FFF-FFF", label="no") == ()
    assert ledger.match() == ()


def test_each_line_once_by_its_surest_sign(ledger: Ledger) -> None:
    one, other = entry(1), entry(2, id=entry(1).id, pdq=entry(1).pdq)
    ledger.record(one)
    ledger.record(other)
    found = ledger.match(one.sha256, one.id, one.id, one.pdq)
    assert [(each.how, each.entry.sha256) for each in found] == [("file", one.sha256), ("id", other.sha256)]


def test_a_plain_picture_is_nobody_s_look_alike(ledger: Ledger) -> None:
    ledger.record(entry(1, pdq=None))
    assert ledger.match(look=bytes(32)) == ()


def test_looks_over_the_edge_of_a_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "PER_PAGE", 4)
    for number in range(11):
        ledger.record(entry(number))
    for number in range(11):
        assert [match.entry.id for match in ledger.match(look=entry(number).pdq)] == [entry(number).id]
    ledger.delete([entry(number).id for number in (3, 4, 5, 6, 9)])
    left = [number for number in range(11) if ledger.match(look=entry(number).pdq)]
    assert left == [0, 1, 2, 7, 8, 10]
    assert ledger._connected().execute("SELECT count(*) FROM looks").fetchone()[0] == 2  # pages; that of the numbers 4 to 7 is gone


def test_deleted_is_deleted(ledger: Ledger) -> None:
    for number in range(4):
        ledger.record(entry(number))
    assert ledger.delete([entry(1).id, entry(1).id, "FFF-FFF-FFF"]) == 1
    assert ledger.delete(before=entry(2).at) == 1
    assert [each.id for each in ledger.entries()] == [entry(2).id, entry(3).id]
    looked = entry(0).pdq
    assert looked is not None
    kept = b"".join(file.read_bytes() for file in ledger.path.parent.iterdir())
    for gone in (entry(0), entry(1)):
        assert gone.id.encode() not in kept
        assert gone.sha256 not in kept
        assert gone.pdq is not None
        assert gone.pdq not in kept
    assert entry(2).id.encode() in kept
    assert ledger.record(entry(9)) == 5  # numbers aren't given twice


def test_a_span_of_time(ledger: Ledger) -> None:
    for number in range(2500):
        ledger.record(entry(number)) if number % 500 == 0 else None
    begin = entry(0).at
    assert [each.at - begin for each in ledger.entries(begin + 500, begin + 1500)] == [500, 1000]


def test_lines_go_when_their_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    with Ledger(tmp_path / FILE) as ledger:
        for days in (1, 29, 31, 400):
            ledger.record(entry(days, at=int(now) - days * DAY))
    with Ledger(tmp_path / FILE, keep_days=30) as ledger:
        assert [each.id for each in ledger.entries()] == [entry(1).id, entry(29).id]
        monkeypatch.setattr(room.time, "time", lambda: now + 2 * DAY)
        assert [each.id for each in ledger.entries()] == [entry(1).id]  # once a day in one that stays open


@pytest.mark.parametrize("kind", ["fusion", "crop", "preview"])
def test_an_output_has_its_line(ledger: Ledger, portraits: dict[str, Frame], key: MarkKey, kind: str) -> None:
    image = mark(portraits["officer"], key, kind, models=[("mesh", "Apache-2.0")], said=FUSED)  # type: ignore[arg-type]
    encoded = encode(image, "webp", None, key, ledger=ledger)
    if kind == "preview":
        assert ledger.count() == 0
        return
    (line,) = ledger.entries()
    assert (line.id, line.kind, line.format, line.width, line.height) == (image.mark.id, kind, "webp", 512, 600)
    assert (line.sha256, line.models) == (hashlib.sha256(encoded.data).digest(), (("mesh", "Apache-2.0"),))
    assert {"watermark", "iptc", "aigc"} <= set(line.labels)
    assert abs(line.at - time.time()) < 600
    assert line.pdq is not None


def test_no_picture_and_no_name_is_kept(tmp_path: Path, ledger: Ledger, marked: dict[str, MarkedImage], key: MarkKey) -> None:
    save(marked["officer"], tmp_path / "CANARY" / "CANARY.png", key=key, ledger=ledger)
    ledger.close()
    kept = b"".join(file.read_bytes() for file in ledger.path.parent.iterdir())
    assert b"CANARY" not in kept
    assert len(kept) < 300_000


def test_a_small_picture_s_line(ledger: Ledger, portraits: dict[str, Frame], key: MarkKey) -> None:
    tiny = Frame(np.ascontiguousarray(portraits["officer"].pixels[:64, :64]), portraits["officer"].origin, "")
    line = entry_of(mark(tiny, key), b"data", "png", ["iptc"])
    assert line.labels == ("iptc",)


def test_a_saved_file_has_a_finished_line(tmp_path: Path, ledger: Ledger, marked: dict[str, MarkedImage], key: MarkKey) -> None:
    path = tmp_path / "out.jpg"
    save(marked["officer"], path, key=key, ledger=ledger)
    (match,) = ledger.match(hashlib.sha256(path.read_bytes()).digest())
    assert match.how == "file"
    assert unfinished(ledger) == 0


def test_what_is_not_written_has_no_line(tmp_path: Path, ledger: Ledger, marked: dict[str, MarkedImage], key: MarkKey) -> None:
    def stop(progress: Progress) -> None:
        if progress.stage == "save":
            run.cancel()

    run = Run(on_progress=stop)
    with pytest.raises(Cancelled):
        save(marked["officer"], tmp_path / "out.png", key=key, run=run, ledger=ledger)
    assert ledger.count() == 0
    (tmp_path / "new.png").write_bytes(b"")
    with pytest.raises(OutputExists), ledger.writing(entry(), tmp_path / "new.png"):
        raise OutputExists(path="")
    assert (ledger.count(), ledger.match(look=entry().pdq)) == (0, ())


def test_no_file_without_a_line(tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey) -> None:
    (tmp_path / "here").write_text("a file where the folder should be")
    ledger = Ledger(tmp_path / "here" / FILE)
    with pytest.raises(LedgerUnusable):
        save(marked["officer"], tmp_path / "out.png", key=key, ledger=ledger)
    with pytest.raises(LedgerUnusable):
        encode(marked["officer"], "png", None, key, ledger=ledger)
    assert not (tmp_path / "out.png").exists()


def broken_off(path: Path, line: Entry, owner: int, part: str) -> None:
    """A ledger as a process leaves it that ends while it writes."""
    with Ledger(path) as ledger, ledger._transaction() as db:
        room._insert(db, line, (str(path.parent / "out.png"), part, owner))


def ended() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("stage", ["nothing written", "temporary file", "named", "another file there"])
def test_what_a_killed_process_left_is_mended(tmp_path: Path, stage: str) -> None:
    part, data = ".fusion-0123456789abcdef.part", b"a picture"
    line = entry(1, sha256=hashlib.sha256(data).digest())
    broken_off(tmp_path / FILE, line, ended(), part)
    if stage == "temporary file":
        (tmp_path / part).write_bytes(data[:4])
    if stage in ("named", "another file there"):
        (tmp_path / "out.png").write_bytes(data if stage == "named" else b"an older one")
    with Ledger(tmp_path / FILE) as ledger:
        assert ledger.count() == (stage == "named")
        assert unfinished(ledger) == 0
        assert bool(ledger.match(look=line.pdq)) == (stage == "named")
    assert not (tmp_path / part).exists()
    assert (tmp_path / "out.png").exists() == (stage in ("named", "another file there"))


def test_a_living_process_is_left_alone(tmp_path: Path) -> None:
    broken_off(tmp_path / FILE, entry(1, at=int(time.time())), os.getppid(), "a.part")
    broken_off(tmp_path / FILE, entry(2, at=int(time.time()) - 2 * DAY), os.getppid(), "b.part")  # the number is somebody else's by now
    with Ledger(tmp_path / FILE) as ledger:
        assert [each.id for each in ledger.entries()] == [entry(1).id]
    with Ledger(tmp_path / FILE) as ledger, ledger.writing(entry(3), tmp_path / "other.png"):
        with Ledger(tmp_path / FILE) as beside:  # in this very process
            assert beside.count() == 2
        assert ledger.delete([entry(3).id]) == 1  # somebody deletes it, or takes this process for dead: it comes back
    with Ledger(tmp_path / FILE) as ledger:
        assert len(ledger.match(id=entry(3).id)) == 1


def test_several_at_once(tmp_path: Path) -> None:
    """Threads with a ledger each, as processes have, from the first moment on."""
    faults: list[BaseException] = []

    def work(first: int) -> None:
        try:
            with Ledger(tmp_path / FILE) as ledger:
                for number in range(first, first + 20):
                    ledger.record(entry(number))
        except BaseException as fault:  # handed to the test's own thread
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with Ledger(tmp_path / FILE) as ledger:
        assert len({each.number for each in ledger.entries()}) == 80
        assert all(ledger.match(look=entry(number).pdq) for number in (0, 119, 205, 319))


def test_a_file_that_another_holds_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log can't be changed while somebody is in it, and there SQLite doesn't wait by itself."""
    held = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    held.execute("BEGIN EXCLUSIVE")
    connect, waited = sqlite3.connect, []

    def impatient(*given: Any, **more: Any) -> sqlite3.Connection:
        return connect(*given, **more | {"timeout": 0})

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        held.execute("ROLLBACK")

    monkeypatch.setattr(sqlite3, "connect", impatient)
    monkeypatch.setattr(room.time, "sleep", sleep)
    with Ledger(tmp_path / FILE) as ledger:
        assert ledger.count() == 0
    assert len(waited) == 1
    held.close()


@pytest.mark.parametrize(("content", "reason"), [(b"no database at all" * 100, "damaged"), (b"SQLite format 3\0" + bytes(100), "damaged")])
def test_a_damaged_ledger_is_said_and_left(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(LedgerUnusable) as caught:
        Ledger(tmp_path / FILE).count()
    assert caught.value.reason == reason
    assert (tmp_path / FILE).read_bytes() == content


def test_a_newer_ledger_is_said(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(LedgerUnusable) as caught:
        Ledger(tmp_path / FILE).count()
    assert caught.value.reason == "newer"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40), st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=3), st.text(max_size=20))
def test_any_text(ledger: Ledger, id: str, models: list[tuple[str, str]], link: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in id + link):
        return
    line = entry(0, id=id, models=tuple(models), link=link)
    number = ledger.record(line)
    assert next(each for each in ledger.entries() if each.number == number) == replace(line, number=number)
