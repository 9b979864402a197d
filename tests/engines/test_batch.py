"""Many pictures, one after the other. What fuses is played, but for the one real run in `tests/studio/test_batch_commands.py`."""

from pathlib import Path
from typing import Any

import pytest

from engines.batch import Done, Job, jobs_of, work_off
from engines.errors import Cancelled, InvalidOption, NoFace, UnreadableImage
from engines.timing import Run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "in"
    (inside / "deeper").mkdir(parents=True)
    for name in ("b.JPG", "a.png", "a.jpg", "notes.txt", ".hidden", "deeper/c.png"):
        (inside / name).touch()
    return inside


def test_a_folder_is_its_pictures_by_name(folder: Path, tmp_path: Path) -> None:
    jobs = jobs_of([folder], tmp_path, "png")
    assert [job.target.name for job in jobs] == ["a.jpg", "a.png", "b.JPG"]
    assert [job.output.name for job in jobs] == ["a-fused.png", "a-fused-2.png", "b-fused.png"]  # two names that meet


def test_a_picture_named_twice_is_done_once(folder: Path, tmp_path: Path) -> None:
    again = folder / ".." / folder.name / "a.png"
    assert len(jobs_of([folder / "a.png", again, folder], tmp_path, "jpg")) == 3


def test_no_output_over_a_target(folder: Path) -> None:
    (folder / "a-fused.jpg").touch()
    outputs = {job.output.resolve() for job in jobs_of([folder], folder, "jpg")}
    assert not outputs & {path.resolve() for path in folder.iterdir()}


def test_nothing_to_do_is_an_error(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UnreadableImage):
        jobs_of([folder / "none.jpg"], tmp_path, "jpg")
    with pytest.raises(InvalidOption):
        jobs_of([empty], tmp_path, "jpg")


def jobs(folder: Path, count: int) -> tuple[Job, ...]:
    return tuple(Job(folder / f"{n}.jpg", folder / f"{n}-fused.jpg") for n in range(count))


def test_a_bad_picture_is_reported_and_stops_nothing(tmp_path: Path) -> None:
    seen: list[str] = []

    def fuse(job: Job, run: Run) -> Any:
        seen.append(job.target.name)
        if job.target.name == "1.jpg":
            raise NoFace(role="target", minimum=16)
        return "result"

    done = list(work_off(jobs(tmp_path, 3), fuse, Run()))
    assert [one.status for one in done] == ["fused", "failed", "fused"]
    assert seen == ["0.jpg", "1.jpg", "2.jpg"]
    line = done[1].as_dict()
    assert line["output"] is None
    assert line["error"]["code"] == "no_face"


def test_what_is_there_is_left_when_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "0-fused.jpg").touch()
    fused: list[Job] = []

    def fuse(job: Job, run: Run) -> Any:
        fused.append(job)
        return "result"

    assert [one.status for one in work_off(jobs(tmp_path, 2), fuse, Run(), resume=True)] == ["there", "fused"]
    assert [job.target.name for job in fused] == ["1.jpg"]


def test_stop_ends_the_picture_that_is_worked_on_and_the_batch(tmp_path: Path) -> None:
    whole, done = Run(), []

    def fuse(job: Job, run: Run) -> Any:
        if job.target.name == "1.jpg":
            whole.cancel()
            run.check()  # the picture's own run was stopped, too
            pytest.fail("it went on")
        return "result"

    def follow() -> None:
        for one in work_off(jobs(tmp_path, 3), fuse, whole):
            done.append(one)

    with pytest.raises(Cancelled):
        follow()
    assert done == [Done(jobs(tmp_path, 1)[0], "fused", "result")]  # type: ignore[arg-type]


def test_a_fault_that_is_no_answer_is_not_hidden(tmp_path: Path) -> None:
    def fuse(job: Job, run: Run) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(work_off(jobs(tmp_path, 1), fuse, Run()))
