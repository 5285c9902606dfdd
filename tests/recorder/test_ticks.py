"""However a loop over ticks is left, every entered tick has its compare-point."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import twice
from programs import names, recorded, verified
from twice.errors import TickMisuse
from twice.recorder.runrecord import RunRecord


def loop(out: Path, body: Callable[[twice.Run], int]) -> tuple[int, RunRecord]:
    """Record a loop in this process: what it says it entered, and its record."""
    with twice.recording(out, seed=1) as run:
        entered = body(run)
    return entered, RunRecord.open(out)


def closed(record: RunRecord) -> list[int]:
    return [tick for tick, name in names(record) if name == "tick"]


def complete(run: twice.Run) -> int:
    return len(list(run.ticks(4)))


def broken(run: twice.Run) -> int:
    for tick in run.ticks(9):
        if tick == 3:
            break
    return 4


def returned(run: twice.Run) -> int:
    for tick in run.ticks(9):
        if tick == 2:
            return 3
    return 0


def raised(run: twice.Run) -> int:
    with suppress(ZeroDivisionError):
        for tick in run.ticks(9):
            1 / (1 - tick)
    return 2


def zipped_short(run: twice.Run) -> int:
    return len(list(zip("xyz", run.ticks(9), strict=False)))


def zipped_long(run: twice.Run) -> int:
    return len(list(zip(run.ticks(9), "xyz", strict=False))) + 1


def held(run: twice.Run) -> int:
    ticks = iter(run.ticks(9))
    for tick in ticks:
        if tick == 1:
            break
    run.held = ticks  # type: ignore[attr-defined]
    return 2


def stepped_by_hand(run: twice.Run) -> int:
    ticks = run.ticks(5)
    next(ticks), next(ticks)
    return 2


def in_a_generator(run: twice.Run) -> int:
    def every() -> object:
        yield from run.ticks(9)

    walked = every()
    next(walked), next(walked), next(walked)
    walked.close()  # type: ignore[attr-defined]
    return 3


def unbounded(run: twice.Run) -> int:
    for tick in run.ticks():
        if tick == 6:
            break
    return 7


def none_at_all(run: twice.Run) -> int:
    return len(list(run.ticks(0)))


def continued(run: twice.Run) -> int:
    for tick in run.ticks(9):
        if tick == 2:
            break
    assert list(run.ticks(3)) == [3, 4, 5]
    for tick in run.ticks(9):
        if tick == 7:
            break
    return 8


LEAVINGS = [
    complete, broken, returned, raised, zipped_short, zipped_long, held, stepped_by_hand,
    in_a_generator, unbounded, none_at_all, continued,
]  # fmt: skip


@pytest.mark.parametrize("body", LEAVINGS, ids=lambda body: body.__name__)
def test_there_are_as_many_points_as_entered_ticks(
    tmp_path: Path, body: Callable[[twice.Run], int]
) -> None:
    entered, record = loop(tmp_path / "a.twice", body)
    with record:
        assert closed(record) == list(range(entered))
        assert names(record)[0] == (-1, "start")
        assert names(record)[-1] == (entered - 1, "end")
        assert record.ending is not None
        assert record.ending["ticks"] == record.ticks == entered


def test_a_nested_loop_is_refused_by_name(tmp_path: Path) -> None:
    def nested(run: twice.Run) -> int:
        for _ in run.ticks(3):
            with pytest.raises(TickMisuse, match="inside the open tick 0"):
                next(iter(run.ticks(2)))
            break
        return 1

    entered, record = loop(tmp_path / "a.twice", nested)
    with record:
        assert closed(record) == [0] == list(range(entered))


def test_a_phase_and_a_rollback_need_an_open_tick(tmp_path: Path) -> None:
    def outside(run: twice.Run) -> int:
        with pytest.raises(TickMisuse, match="outside of a tick"):
            run.phase("early")
        with pytest.raises(TickMisuse, match="outside of a tick"):
            run.rollback(0)
        return len(list(run.ticks(1)))

    _, record = loop(tmp_path / "a.twice", outside)
    with record:
        assert names(record) == [(-1, "start"), (0, "tick"), (0, "end")]


def test_phases_stand_between_the_points_of_their_ticks(tmp_path: Path) -> None:
    def phased(run: twice.Run) -> int:
        for _ in run.ticks(2):
            run.phase("moved")
            run.phase("settled")
        return 2

    _, record = loop(tmp_path / "a.twice", phased)
    with record:
        assert names(record) == [
            (-1, "start"),
            (0, "moved"), (0, "settled"), (0, "tick"),
            (1, "moved"), (1, "settled"), (1, "tick"),
            (1, "end"),
        ]  # fmt: skip


def test_how_a_tick_was_left_is_in_the_journal(tmp_path: Path) -> None:
    for body, left in [(complete, 0), (broken, 1), (continued, 2)]:
        _, record = loop(tmp_path / f"{body.__name__}.twice", body)
        with record:
            assert len(list(record.reader.frames(kinds=["left"]))) == left


@pytest.mark.integration
def test_an_exception_that_ends_the_program_closes_its_tick_and_verifies(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        def main(run):
            walk = run.track("walk", Walk(run.rng("walk")))
            for tick in run.ticks(9):
                walk.step(0.5)
                if tick == 4:
                    raise LookupError("no more room")
        """,
        walk=True,
    )
    with RunRecord.open(statement.path) as record:
        assert closed(record) == [0, 1, 2, 3, 4]
        assert record.ending is not None
        assert (record.ending["how"], record.ending["exit_code"]) == ("exception", 1)
        assert record.ending["exception"]["message"] == "no more room"
        assert record.ending["exception"]["frames"][-1]["function"] == "main"
    assert (statement.result, statement.counts["passed"]) == ("PASS", 7)


@pytest.mark.integration
def test_two_loops_and_a_held_iterator_verify(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        def main(run):
            walk = run.track("walk", Walk(run.rng("walk")))
            for letter, tick in zip("xyz", run.ticks(9)):
                walk.step(tick)
            kept = iter(run.ticks(4))
            for tick in kept:
                run.input("push", lambda: walk.x)
                walk.step(tick)
        """,
        walk=True,
    )
    assert (statement.result, statement.counts["passed"]) == ("PASS", 9)


def test_inline_code_refuses_a_second_run_in_one_process(tmp_path: Path) -> None:
    with twice.recording(tmp_path / "a.twice", seed=1) as run:
        list(run.ticks(1))
        with (
            pytest.raises(twice.TwiceError, match="already"),
            twice.recording(tmp_path / "b.twice", seed=1),
        ):
            pass
    assert not (tmp_path / "b.twice").exists()


@pytest.mark.integration
def test_points_that_a_program_takes_by_hand_verify(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        def main(run):
            walk = run.track("walk", Walk(run.rng("walk")))
            ticks = run.ticks(5)
            for at in range(3):
                next(ticks)
                walk.step(at)
        """,
        walk=True,
    ) as record:
        assert closed(record) == [0, 1, 2]
