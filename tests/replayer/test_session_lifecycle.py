"""Every step of a session: start, step, seek, observe, branch, end; and what is refused after it."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from programs import chains, names, recorded
from twice.errors import (
    BranchLimit,
    OutputExists,
    OutputUnwritable,
    RecordOutOfRange,
    RecordTorn,
    ReplayRefused,
    SessionMisuse,
    UsageError,
)
from twice.recorder.cadence import Cadence
from twice.recorder.effects.ops import FILES_LEFT
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import BRANCHES_OPEN_MAX, BranchingSession, branch, prefix_proof
from twice.replayer.replay_session import replay
from twice.replayer.verify import verify

POLICY = """
    import time

    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        decide = run.rng("policy")
        started = time.time()
        for tick in run.ticks(12):
            push = run.input("push", lambda: round(float(decide.normal()), 3))
            run.phase("decided")
            print("push", push)
            walk.step(push)
            time.time()
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("session")
    with recorded(folder, POLICY, walk=True, cadence=Cadence("tick", 4)) as record:
        return record.path


@pytest.fixture(scope="module")
def walked(path: Path) -> list[float]:
    """``walk.x`` before every tick, and at the end."""
    with replay(path) as session:
        seen = []
        for tick in range(13):
            session.seek(tick)
            seen.append(session.state("walk")["x"])
    assert len(set(seen)) == 13
    return seen


@pytest.mark.integration
def test_starting_stands_before_the_first_tick_and_executes_nothing_yet(path: Path) -> None:
    with replay(path) as session:
        assert (session.tick, session.informational) == (0, False)
        assert session._child is None
        assert session.state("walk") == {"x": 0.0, "trail": []}


@pytest.mark.integration
def test_stepping_forwards_and_back_and_seeking_show_one_past(
    path: Path, walked: list[float]
) -> None:
    with replay(path, at=5) as session:
        seen = {session.tick: session.state("walk")["x"]}
        for move in (
            session.step, lambda: session.step(3), session.back, lambda: session.back(6),
            lambda: session.seek(11), lambda: session.seek(12), lambda: session.seek(4),
        ):  # fmt: skip
            tick = move()
            assert tick == session.tick
            seen[tick] = session.state("walk")["x"]
    assert seen == {tick: walked[tick] for tick in (5, 6, 9, 8, 2, 11, 12, 4)}


@pytest.mark.integration
def test_what_was_looked_at_is_remembered_without_a_process(
    path: Path, walked: list[float]
) -> None:
    with replay(path, at=6) as session:
        session.state()
        session.seek(9)
        session.state()
        assert session._child is not None
        session._child.close()
        session._child = None
        session.seek(6)
        assert session.state("walk")["x"] == walked[6]
        assert session._child is None


@pytest.mark.integration
def test_observing_names_components_and_inputs(path: Path) -> None:
    with replay(path, at=3) as session:
        assert list(session.state()) == ["walk"]
        ((event),) = session.inputs()
        assert (event.tick, event.name) == (3, "push")
        with pytest.raises(SessionMisuse, match=r"no component 'run'"):
            session.state("run")


@pytest.mark.parametrize("tick", [-1, 13, 1000])
def test_a_tick_outside_of_the_run_is_refused(path: Path, tick: int) -> None:
    with pytest.raises(RecordOutOfRange, match=f"Tick {tick} lies outside"):
        replay(path, at=tick)
    with replay(path) as session, pytest.raises(RecordOutOfRange):
        session.seek(tick)


def test_a_session_that_ended_cannot_be_used(path: Path, tmp_path: Path) -> None:
    session = replay(path)
    session.end()
    session.end()
    for use in (
        lambda: session.step(),
        lambda: session.seek(0),
        lambda: session.state(),
        lambda: session.branch(tmp_path / "b.twice"),
    ):
        with pytest.raises(SessionMisuse, match="has ended"):
            use()


def test_a_session_on_a_torn_record_is_refused(path: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.twice"
    torn.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RecordTorn):
        replay(torn)


@pytest.mark.integration
def test_a_program_that_leaves_its_record_is_refused_on_the_way(tmp_path: Path) -> None:
    with (
        recorded(
            tmp_path,
            """
            import posix

            def main(run):
                seen = run.track("seen", [])
                for tick in run.ticks(5):
                    seen.append(int.from_bytes(posix.urandom(4)) if tick == 2 else tick)
            """,
        ) as record,
        replay(record.path, at=2) as session,
    ):
        assert session.state("seen") == [0, 1]
        session.step(2)
        for _ in range(
            2
        ):  # the second time another process has to be asked: the first one has ended
            with pytest.raises(ReplayRefused, match="of tick 2: seen differ"):
                session.state()
        session.seek(2)
        assert session.state("seen") == [0, 1]


@pytest.mark.integration
def test_a_branch_steps_with_inputs_and_finishes_in_a_record_of_its_own(
    path: Path, tmp_path: Path, walked: list[float]
) -> None:
    before = path.read_bytes()
    with replay(path, at=6) as session, session.branch(tmp_path / "b.twice") as branching:
        assert (branching.fork, branching.tick) == (6, 6)
        assert branching.state("walk")["x"] == walked[6]
        assert branching.step_with({"push": 100.0}) == 7
        assert branching.state("walk")["x"] > walked[6] + 90
        assert branching.step_with({"push": -100.0}) == 8
        assert abs(branching.state("walk")["x"] - walked[6]) < 10
        assert branching.step_with() == 9
        assert not (tmp_path / "b.twice").exists()
        with branching.finish({"push": 7.0}, onwards=True) as record:
            assert record.ticks == 12
            values = {event.tick: (event.value, event.substituted) for event in record.inputs()}
            assert [values[tick] for tick in (6, 7)] == [(100.0, True), (-100.0, True)]
            assert not values[5][1]
            assert not values[8][1]
            assert [values[tick] for tick in (9, 10, 11)] == [(7.0, True)] * 3
            with RunRecord.open(path) as parent:
                assert prefix_proof(record, parent)
                assert record.parent is not None
                assert record.parent["run_id"] == parent.run_id
                fork = record.parent["fork"]["point"]
                assert parent.reader.points.point(fork).tick == 5
                assert chains(record)[: fork + 1] == chains(parent)[: fork + 1]
                assert chains(record)[fork + 2] != chains(parent)[fork + 2]
                assert names(record) == names(parent)
        with pytest.raises(SessionMisuse, match="branch has ended"):
            branching.step_with()
    assert path.read_bytes() == before
    assert verify(tmp_path / "b.twice").result == "PASS"
    assert [entry.name for entry in tmp_path.iterdir() if "partial" in entry.name] == []


@pytest.mark.integration
def test_a_branch_without_inputs_is_the_run_again(path: Path, tmp_path: Path) -> None:
    with branch(path, at=5, out=tmp_path / "b.twice") as record, RunRecord.open(path) as parent:
        assert chains(record) == chains(parent)
        assert record.printed() == parent.printed()
        assert record.run_id != parent.run_id


@pytest.mark.integration
def test_a_branch_that_is_closed_without_finishing_leaves_no_file(
    path: Path, tmp_path: Path
) -> None:
    count = BranchingSession.open_count
    with replay(path, at=3) as session:
        branching = session.branch(tmp_path / "b.twice")
        branching.step_with({"push": 1.0})
        assert BranchingSession.open_count == count + 1
        branching.close()
        branching.close()
        assert BranchingSession.open_count == count
    assert list(tmp_path.iterdir()) == []


@pytest.mark.integration
@pytest.mark.parametrize("is_moved", [False, True])
def test_a_branch_that_is_ended_while_it_publishes_leaves_all_or_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_moved: bool
) -> None:
    move = Path.replace

    def end(file: Path, target: Path) -> Path:
        if file.name == "branch.twice":
            if is_moved:
                move(file, target)
            raise SystemExit(143)  # as a signal does
        return move(file, target)

    monkeypatch.setattr(Path, "replace", end)
    with replay(path, at=3) as session, session.branch(tmp_path / "b.twice") as branching:
        (branching._files / "written").write_text("by the program")
        with pytest.raises(SystemExit):
            branching.finish()

    left = {each.name for each in tmp_path.iterdir()}
    assert left == ({"b.twice", "b.twice.files"} if is_moved else set())


@pytest.mark.integration
def test_a_branch_has_no_component_but_those_of_the_run(path: Path, tmp_path: Path) -> None:
    with (
        replay(path, at=5) as session,
        session.branch(tmp_path / "b.twice") as branching,
        pytest.raises(SessionMisuse, match="no component 'run'"),
    ):
        branching.state("run")


@pytest.mark.integration
def test_branches_own_their_generators(path: Path, tmp_path: Path, walked: list[float]) -> None:
    with (
        replay(path, at=4) as session,
        session.branch(tmp_path / "b.twice") as one,
        session.branch(tmp_path / "c.twice") as other,
    ):
        one.step_with({"push": 1.0})
        one.step_with({"push": 1.0})
        other.step_with({"push": 1.0})
        one_later = one.state("walk")["x"]
        other.step_with({"push": 1.0})
        assert other.state("walk")["x"] == one_later
        session.seek(6)
        assert session.state("walk")["x"] == walked[6]


@pytest.mark.integration
def test_branches_are_bounded(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twice.replayer.branch_session.BRANCHES_OPEN_MAX", 1)
    with replay(path, at=4) as session, session.branch(tmp_path / "b.twice"):
        with pytest.raises(BranchLimit, match="1 branches are open"):
            session.branch(tmp_path / "c.twice")
    assert BRANCHES_OPEN_MAX == 8
    assert list(tmp_path.iterdir()) == []


@pytest.mark.integration
def test_an_input_that_is_never_asked_for_is_refused_and_leaves_no_file(
    path: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="never asked for the input pull"):
        branch(path, at=4, inputs={"pull": 1}, out=tmp_path / "b.twice")
    assert list(tmp_path.iterdir()) == []


def test_a_branch_output_is_refused_where_it_cannot_be(path: Path, tmp_path: Path) -> None:
    (tmp_path / "taken.twice").write_text("mine")
    with pytest.raises(OutputExists):
        branch(path, at=4, out=tmp_path / "taken.twice")
    assert (tmp_path / "taken.twice").read_text() == "mine"
    with pytest.raises(OutputUnwritable):
        branch(path, at=4, out=tmp_path / "nowhere" / "b.twice")
    with pytest.raises(RecordOutOfRange):
        branch(path, at=12, out=tmp_path / "b.twice")


@pytest.mark.integration
def test_a_branch_of_a_run_that_does_not_replay_is_refused(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import posix

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(5):
                seen.append(int.from_bytes(posix.urandom(4)))
        """,
    ) as record:
        with pytest.raises(ReplayRefused, match="does not replay up to the fork"):
            branch(record.path, at=3, out=tmp_path / "b.twice")
    assert sorted(entry.name for entry in tmp_path.glob("*.*")) == ["a.twice", "program.py"]


@pytest.mark.integration
def test_past_the_fork_reads_are_served_while_they_fit_and_marked_when_they_do_not(
    tmp_path: Path,
) -> None:
    source = """
        import time

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(6):
                if run.input("fast", lambda: False):
                    seen.append(time.monotonic())
                seen.append(time.time())
    """
    with recorded(tmp_path, source) as record:
        with branch(record.path, at=3, out=tmp_path / "same.twice") as same:
            assert same.ending is not None
            assert same.ending["branch"]["effects_left_the_record_at"] is None
        with branch(record.path, at=3, inputs={"fast": True}, out=tmp_path / "b.twice") as left:
            assert left.ending is not None
            assert left.ending["branch"]["effects_left_the_record_at"] == 3
            assert left.ending["branch"]["substituted"] == ["fast"]
        with pytest.raises(twice.TwiceError, match="E-EFFECT-001"):
            branch(record.path, at=3, inputs={"fast": True}, out=tmp_path / "c.twice", sealed=True)
    assert not (tmp_path / "c.twice").exists()
    assert verify(tmp_path / "b.twice").result == "PASS"


@pytest.mark.integration
def test_a_rerun_reads_the_world_afresh_and_names_its_parent(path: Path, tmp_path: Path) -> None:
    from twice.replayer.rerun import rerun

    with rerun(path, out=tmp_path / "b.twice") as record, RunRecord.open(path) as parent:
        assert record.parent == {"run_id": parent.run_id, "rerun_of": "a.twice"}
        assert chains(record) == chains(parent)
        assert list(record.strict_reads()) != list(parent.strict_reads())
    assert verify(tmp_path / "b.twice").result == "PASS"


@pytest.mark.integration
def test_parts_of_a_run_are_judged_from_the_nearest_snapshot(path: Path) -> None:
    part = verify(path, first=5, last=7)
    assert (part.result, part.exit_code, part.failure) == ("PARTIAL", 0, None)
    with RunRecord.open(path) as record:
        assert record.reader.points.point(part.first).tick in {3, 4}
        assert record.reader.points.point(part.last).tick == 7
    with pytest.raises(RecordOutOfRange):
        verify(path, first=99)


@pytest.mark.heavy
def test_seeking_into_a_later_loop_passes_over_the_earlier_ones(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import time

        def main(run):
            walk = run.track("walk", Walk(run.rng("walk")))
            for episode in range(4):
                walk.x = run.input("reset", lambda: walk.x / 2)
                time.time()
                for tick in run.ticks(5):
                    walk.step(run.input("push", lambda: 0.5))
        """,
        walk=True,
        cadence=Cadence("tick", 3),
    ) as record:
        with replay(record.path) as session:
            seen = []
            for tick in range(20):
                session.seek(tick)
                seen.append(session.state("walk"))
        for tick in (17, 9, 4, 15, 5):
            with replay(record.path, at=tick) as session:
                assert session.state("walk") == seen[tick]
        part = verify(record.path, first=13)
        assert (part.result, part.failure) == ("PARTIAL", None)
        with branch(record.path, at=16, inputs={"push": 50.0}, out=tmp_path / "b.twice") as left:
            assert chains(left)[:16] == chains(record)[:16]
        assert verify(tmp_path / "b.twice").result == "PASS"


@pytest.mark.integration
def test_a_branch_holds_what_the_library_read_right_before_its_snapshot(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import logging
        import time

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                seen.append(tick)
            time.time()
            logging.getLogger("x").warning("between the loops")
            for tick in run.ticks(2):
                seen.append(tick)
        """,
        cadence=Cadence("tick", 2),
    ) as parent:
        with branch(parent.path, at=2, out=tmp_path / "b.twice") as record:
            *copied, left = record.lenient_reads()  # what a resumed run leaves behind is not known
            assert left == (FILES_LEFT.number, ("", None))
            assert copied == list(parent.lenient_reads())
            assert record.ending["effects"]["strict"] == parent.ending["effects"]["strict"]
        assert verify(tmp_path / "b.twice").result == "PASS"
