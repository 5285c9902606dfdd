"""The lines of the user's code that make the reads of one tick, found by a replay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import recorded
from twice.errors import EffectMismatch, RecordOutOfRange, ReplayRefused
from twice.recorder.cadence import Cadence
from twice.recorder.effects import ops
from twice.recorder.runrecord import RunRecord
from twice.replayer import located_reads
from twice.replayer.located_reads import LocatedEffect, LocatedReads
from twice.replayer.replay_job import restorable_snapshot
from twice.replayer.replay_session import replay
from twice.report.moment import moment, moment_lines

PROGRAM = """
    import asyncio
    import time
    from pathlib import Path
    from threading import Thread

    TOLD = Path(__file__).with_name("told.txt")

    def look():
        return time.time()  # by a helper

    def watch():
        time.monotonic()  # by a thread
        TOLD.read_text()  # by a thread, through a library

    async def wait():
        time.perf_counter()  # by a task

    def main(run):
        seen = run.track("seen", {"ticks": 0})
        look()
        for tick in run.ticks(4):
            look()
            TOLD.read_text()  # by main, through a library
            thread = Thread(target=watch)
            thread.start()
            thread.join()
            asyncio.run(wait())
            seen["ticks"] += 1
            time.process_time()  # by main
    """
OF_TICK = {
    ("clock.time", "main"): "by a helper",
    ("files.read", "main"): "by main, through a library",
    ("clock.monotonic", "main/thread"): "by a thread",
    ("files.read", "main/thread"): "by a thread, through a library",
    ("clock.perf_counter", "main/task"): "by a task",
    ("clock.process_time", "main"): "by main",
}
LONG_LIVED = """
    import asyncio
    import time
    from queue import Queue
    from threading import Thread

    async def watch(asked, answers):
        while asked.get():
            answers.put(time.perf_counter())  # by a task

    def serve(asked, answers):
        asyncio.run(watch(asked, answers))
        time.monotonic_ns()  # by a thread

    def main(run):
        seen = run.track("seen", {"ticks": 0})
        asked, answers = Queue(), Queue()
        thread = Thread(target=serve, args=(asked, answers))
        for tick in run.ticks(7):
            if tick == 2:
                thread.start()
            if 2 <= tick < 5:
                asked.put(True)
                answers.get()
            if tick == 5:
                asked.put(False)
                thread.join()
            seen["ticks"] += 1
            time.process_time_ns()  # by main
    """
THREAD, TASK = "main/thread:0", "main/thread:0/task:0"
MAIN_READS = 2
"""Strict reads of the main program in a tick."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("located")
    (folder / "told.txt").write_text("told")
    with recorded(folder, PROGRAM, cadence=Cadence("tick", 3)) as record:
        return record.path


@pytest.fixture
def record(path: Path) -> Iterator[RunRecord]:
    with RunRecord.open(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunRecord]:
    """A run with a thread of several ticks, and with a snapshot before each tick."""
    folder = tmp_path_factory.mktemp("lived")
    with recorded(folder, LONG_LIVED, cadence=Cadence("tick", 1)) as record:
        yield record


def refuse(error: EffectMismatch) -> None:
    raise error


def ask_main(reads: LocatedReads, count: int) -> None:
    """Make that many strict reads of the main program."""
    for _ in range(count):
        at = reads.position()
        reads.strict(ops.TIME if at == 0 or at % MAIN_READS else ops.PROCESS_TIME, None, float)


def test_only_reads_of_the_tick_look_up_the_stack(
    record: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []
    reads = LocatedReads(record, refuse, 1)
    monkeypatch.setattr(located_reads, "find_user_frame", lambda: found.append(reads.position()))

    ask_main(reads, 1 + 4 * MAIN_READS)

    assert found == [3, 4]


def test_a_position_that_is_sought_counts_from_the_beginning(record: RunRecord) -> None:
    reads = LocatedReads(record, refuse, 2)

    reads.seek(1 + 2 * MAIN_READS)
    ask_main(reads, 1)

    placed = [each["number"] for each in reads.reads if each["place"]]
    assert placed == [ops.TIME.number]


def test_a_question_of_another_actor_is_not_taken_for_it(record: RunRecord) -> None:
    reads = LocatedReads(record, refuse, 0)
    reads.of("main/thread:0").strict(ops.MONOTONIC, None, float)

    placed = [each["actor"] for each in reads.reads if each["place"]]
    assert placed == ["main/thread:0"]


def test_a_read_that_nobody_made_is_not_one_without_a_line(
    record: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = LocatedReads(record, refuse, 1)
    monkeypatch.setattr(located_reads, "find_user_frame", lambda: None)
    ask_main(reads, 1 + 1 * MAIN_READS + 1)

    found = [LocatedEffect.from_message(each) for each in reads.reads]
    of_main = [each for each in found if each.actor == "main" and each.strict]
    assert [each.is_replayed for each in of_main] == [True, False]
    assert {(each.file, each.line, each.function) for each in found} == {("", 0, "")}


def test_an_execution_begins_where_no_thread_lives(record: RunRecord, lived: RunRecord) -> None:
    # A snapshot before each tick; the thread is started in tick 2, and joined in tick 5.
    assert [restorable_snapshot(lived, tick) for tick in range(6)] == [0, 1, 2, 2, 2, 2]
    # A snapshot before each third tick, and a thread that is started and ends in each.
    assert [restorable_snapshot(record, tick) for tick in (2, 3)] == [0, 1]


def test_reads_that_can_be_of_an_earlier_tick_are_named(
    record: RunRecord, lived: RunRecord
) -> None:
    told = [moment(lived, tick)["late_actors"] for tick in range(lived.ticks)]
    assert told == [[], [], [], [], [], [THREAD], [TASK]]
    assert f"reads of {THREAD} can be" in "\n".join(moment_lines(lived, moment(lived, 5), []))

    # A thread of each tick: a snapshot knows that it had not begun.
    assert [len(moment(record, tick)["late_actors"]) for tick in (0, 1, 3)] == [0, 1, 0]


def test_without_a_compare_point_in_each_tick_reads_of_main_can_be_earlier(tmp_path: Path) -> None:
    source = """
        import time

        def main(run):
            for tick in run.ticks(4):
                time.time()
                if tick == 2:
                    run.input("push", lambda: 1)
        """
    with recorded(tmp_path, source, granularity="decision", cadence=Cadence("decision")) as record:
        told = [moment(record, tick) for tick in range(4)]

    assert [len(each["effects"]) for each in told] == [0, 0, 3, 1]
    assert [each["late_actors"] for each in told] == [[], [], ["main"], []]


@pytest.mark.integration  # the program is executed again
@pytest.mark.parametrize(
    ("tick", "actor", "said"), [(5, THREAD, "by a thread"), (6, TASK, "by a task")]
)
def test_reads_of_a_thread_of_several_ticks_have_their_lines(
    lived: RunRecord, tick: int, actor: str, said: str
) -> None:
    with replay(lived.path) as session:
        effects = [each for each in session.effects(tick) if each.strict]

    rows = lived.path.with_name("program.py").read_text().splitlines()
    found = {each.actor: rows[each.line - 1].partition("  # ")[2] for each in effects}
    assert all(each.is_replayed for each in effects)
    assert found == {"main": "by main", actor: said}


@pytest.mark.integration  # as above
@pytest.mark.parametrize("tick", [0, 1, 3])
def test_each_effect_of_a_tick_has_the_line_that_made_it(path: Path, tick: int) -> None:
    with replay(path, at=tick) as session:
        effects = session.effects()
        told = moment(session.record, tick)["effects"]

    assert [(each.operation, each.actor, each.strict) for each in effects] == [
        (each["operation"], each["actor"], each["strict"]) for each in told
    ]
    program = path.with_name("program.py")
    rows = program.read_text().splitlines()
    lines = {
        (each.operation, ops.find_lineage(each.actor)): rows[each.line - 1].partition("  # ")[2]
        for each in effects
        if each.file == str(program)
    }
    assert lines.items() >= OF_TICK.items()


@pytest.mark.integration  # as above
def test_construction_has_lines_and_the_end_has_no_effects(path: Path) -> None:
    with replay(path, at=4) as session:
        assert session.effects() == []
        (look,) = [each for each in session.effects(-1) if each.operation == "clock.time"]
        assert (look.function, Path(look.file).name) == ("look", "program.py")
        assert session.tick == 4
        assert session.state("seen") == {"ticks": 4}
        with pytest.raises(RecordOutOfRange):
            session.effects(5)


@pytest.mark.integration  # as above
def test_a_program_that_leaves_its_record_in_the_tick_is_refused(tmp_path: Path) -> None:
    source = """
        import posix, time

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(3):
                seen.append(time.time() if tick < 2 else posix.urandom(4))
    """
    with recorded(tmp_path, source) as made, replay(made.path, at=1) as session:
        assert [each.function for each in session.effects() if each.strict] == ["main"]
        with pytest.raises(ReplayRefused, match="leaves its record"):
            session.effects(2)
        assert len(session.state("seen")) == 1
