"""Several targets in the page: numbered files, one bad picture among good ones, and an end that goes on where it was."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.errors import Cancelled, NoFace
from engines.options import FuseOptions
from engines.pipeline import Studio
from engines.timing import Progress, Run
from studio.batches import Batch, batch_of, key_of, work
from studio.media import Item, Shelf

Pixels = NDArray[np.uint8]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "sessions", 3600)
    yield shelf
    shelf.close()


def given(shelf: Shelf, name: str, pixels: Pixels) -> Item:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return shelf.add("me", out.getvalue(), name, "image/png")


@pytest.fixture
def batch(shelf: Shelf, astronaut: Pixels) -> Batch:
    """Two good targets of one name, and one without a face between them."""
    gray = np.full((200, 200, 3), 128, np.uint8)
    targets = [given(shelf, name, pixels) for name, pixels in (("a.png", astronaut), ("b.png", gray), ("a.png", astronaut[:, ::-1]))]
    return batch_of("key", targets, shelf, "me", "group")


def test_files_whose_names_meet_are_numbered(batch: Batch) -> None:
    assert [line.output.name for line in batch.lines] == ["a-fused.jpg", "b-fused.jpg", "a-fused-2.jpg"]
    assert not any(line.output.path.exists() for line in batch.lines)


def test_one_without_a_face_never_stops_the_rest(batch: Batch, studio: Studio, officer: Pixels, shelf: Shelf) -> None:
    work(batch, studio, officer, FuseOptions(), shelf, "me", Run())
    first, second, third = batch.lines
    assert len(batch.saved) == 2
    assert batch.saved == (first, third)
    assert batch.failed == (second,)
    assert isinstance(second.fault, NoFace)
    assert first.faces[0].identity_after < first.faces[0].identity_before
    for line in batch.saved:
        found = studio.verify(shelf.get("me", line.output.token).path)
        assert found.verdict == "made_here"
        assert line.saved
        assert found.id == line.saved.mark.id
        assert line.thumb
        assert studio.verify(line.thumb.path).labels.names()
    assert batch.archive
    with zipfile.ZipFile(shelf.open("me", batch.archive.token).path) as archive:
        assert archive.namelist() == ["a-fused.jpg", "a-fused-2.jpg"]
        assert archive.read("a-fused.jpg") == first.output.path.read_bytes()


def test_what_was_stopped_goes_on_where_it_was(batch: Batch, studio: Studio, officer: Pixels, shelf: Shelf) -> None:
    def until_third(progress: Progress) -> None:
        if progress.stage == "fuse" and progress.done == 2:
            run.cancel()

    run = Run(until_third)
    with pytest.raises(Cancelled):
        work(batch, studio, officer, FuseOptions(), shelf, "me", run)
    first, second, third = batch.lines
    assert batch.saved == (first,)
    assert batch.failed == (second,)
    made = first.output.path.stat().st_mtime_ns
    work(batch, studio, officer, FuseOptions(), shelf, "me", Run())
    assert batch.saved == (first, third)
    assert batch.failed == (second,)
    assert first.output.path.stat().st_mtime_ns == made


def test_one_target_can_have_options_of_its_own(batch: Batch, studio: Studio, officer: Pixels, shelf: Shelf) -> None:
    """As the brush gives one: what was painted on it is no other's."""
    own = {batch.lines[2].target.token: FuseOptions(mode="live", strength=0.4)}
    work(batch, studio, officer, FuseOptions(mode="live"), shelf, "me", Run(), own=own)
    assert [line.faces[0].options.strength for line in batch.saved] == [1.0, 0.4]


def test_a_source_that_cannot_serve_stops_it_before_any_target(batch: Batch, studio: Studio, shelf: Shelf) -> None:
    with pytest.raises(NoFace):
        work(batch, studio, np.full((200, 200, 3), 128, np.uint8), FuseOptions(), shelf, "me", Run())
    assert batch.saved == batch.failed == ()
    assert batch.archive is None


def test_another_question_has_another_key(shelf: Shelf, astronaut: Pixels) -> None:
    one, two = given(shelf, "one.png", astronaut), given(shelf, "two.png", astronaut)
    keys = {
        key_of([one], [two], FuseOptions()),
        key_of([two], [one], FuseOptions()),
        key_of([one], [two, one], FuseOptions()),
        key_of([one], [two], FuseOptions(strength=0.5)),
        key_of([one], [two], FuseOptions(), brush="painted"),
    }
    assert len(keys) == 5
    assert key_of([one], [two], FuseOptions()) in keys
