"""Stages: timed, reported, stopped. Clocks are played, so that no number depends on the machine."""

import threading

import pytest

from engines.errors import Cancelled
from engines.timing import STAGES, Progress, Run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that shows `clock[0]` seconds."""
    now = [100.0]
    monkeypatch.setattr("engines.timing.time.perf_counter", lambda: now[0])
    return now


def test_stages_add_up_in_the_order_in_which_they_began(clock: list[float]) -> None:
    run = Run()
    for name, seconds in (("mesh", 0.25), ("detect", 0.5), ("mesh", 1.0)):
        with run.stage(name):
            clock[0] += seconds
    clock[0] += 0.125
    timings = run.timings()
    assert timings.stages == (("mesh", 1250.0), ("detect", 500.0))
    assert timings.total == 1875.0
    assert timings.as_dict() == {"mesh": 1250.0, "detect": 500.0, "total": 1875.0}


def test_a_stage_within_another_counts_for_itself_alone(clock: list[float]) -> None:
    run = Run()
    with run.stage("prepare"):
        clock[0] += 1
        for seconds in (0.5, 0.25):
            with run.stage("enhance"):
                clock[0] += seconds
                with run.stage("prepare"):
                    clock[0] += 0.125
        clock[0] += 2
    with run.stage("fuse"):
        clock[0] += 4
    timings = run.timings()
    assert dict(timings.stages) == {"enhance": 750.0, "prepare": 3250.0, "fuse": 4000.0}
    assert sum(ms for _, ms in timings.stages) == timings.total


def test_a_stage_that_fails_is_timed_too(clock: list[float]) -> None:
    run = Run()

    def work() -> None:
        with run.stage("fuse"):
            clock[0] += 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert run.timings().stages == (("fuse", 2000.0),)


def test_timings_can_be_read_while_it_runs(clock: list[float]) -> None:
    run = Run()
    with run.stage("decode"):
        clock[0] += 1
        assert run.timings().stages == ()
        assert run.timings().total == 1000.0


def test_progress_is_told_at_the_start_of_each_stage() -> None:
    told: list[Progress] = []
    run = Run(told.append)
    with run.stage("fuse", 1, 3):
        assert told == [Progress("fuse", 1, 3)]
    with run.stage("save"):
        pass
    assert told == [Progress("fuse", 1, 3), Progress("save", 0, 1)]


def test_a_stopped_run_begins_no_stage() -> None:
    told: list[Progress] = []
    run = Run(told.append)
    run.check()
    run.cancel()
    with pytest.raises(Cancelled):
        run.check()
    with pytest.raises(Cancelled), run.stage("fuse"):
        pytest.fail("the stage began")
    assert told == []
    assert run.timings().stages == ()


def test_another_thread_stops_it() -> None:
    run = Run()
    begun = threading.Event()
    caught: list[BaseException] = []

    def work() -> None:
        try:
            with run.stage("enhance"):
                begun.set()
                while True:
                    run.check()
        except Cancelled as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(10)
    run.cancel()
    thread.join(10)
    assert not thread.is_alive()
    assert [type(error) for error in caught] == [Cancelled]


def test_a_stop_during_a_stage_shows_at_the_next_check_only() -> None:
    run = Run()
    with run.stage("blend"):
        run.cancel()
    assert [name for name, _ in run.timings().stages] == ["blend"]
    with pytest.raises(Cancelled), run.stage("mark"):
        pass


def test_a_long_call_is_told_to_stop_while_it_lasts_and_its_fault_is_a_stop() -> None:
    run, told = Run(), []
    with run.stopping(lambda: told.append("first")):
        pass

    def long_call() -> None:
        with run.stopping(lambda: told.append("second")):
            run.cancel()
            raise RuntimeError("broken off")

    with pytest.raises(Cancelled) as caught:
        long_call()
    assert told == ["second"]
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(Cancelled), run.stopping(lambda: told.append("third")):
        pytest.fail("it began")


def test_a_fault_of_a_long_call_that_nobody_stopped_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError), Run().stopping(lambda: None):
        raise ZeroDivisionError


def test_an_unknown_stage_is_a_fault_of_the_program() -> None:
    with pytest.raises(ValueError, match="polish"), Run().stage("polish"):
        pass


def test_stage_names_are_unique() -> None:
    assert len(set(STAGES)) == len(STAGES)


def test_stages_beside_each_other_share_the_time(clock: list[float]) -> None:
    run = Run()
    begun, timed = threading.Event(), threading.Event()

    def first() -> str:
        with run.stage("prepare"):
            assert begun.wait(10)
            clock[0] += 2
            timed.set()
            return "first"

    def second() -> str:
        with run.stage("embed"):
            begun.set()
            assert timed.wait(10)
            return "second"

    assert run.both(first, second) == ("first", "second")
    stages = dict(run.timings().stages)
    assert stages.keys() == {"prepare", "embed"}
    assert sum(stages.values()) == run.timings().total == 2000.0


@pytest.mark.parametrize(("fails", "raised"), [("both", ZeroDivisionError), ("first", ZeroDivisionError), ("second", LookupError)])
def test_of_two_parts_the_first_ones_fault_is_raised_and_both_have_ended(fails: str, raised: type[Exception]) -> None:
    ended = []

    def part(name: str, fault: type[Exception]) -> None:
        ended.append(name)
        if fails in (name, "both"):
            raise fault

    with pytest.raises(raised):
        Run().both(lambda: part("first", ZeroDivisionError), lambda: part("second", LookupError))
    assert sorted(ended) == ["first", "second"]


def test_both_parts_of_a_stopped_job_stop() -> None:
    run = Run()
    stopped = []

    def part() -> None:
        run.cancel()
        try:
            run.check()
        except Cancelled:
            stopped.append(True)
            raise

    with pytest.raises(Cancelled):
        run.both(part, part)
    assert stopped == [True, True]
