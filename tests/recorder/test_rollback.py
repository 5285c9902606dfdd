"""A live run may go back to a kept tick; its record says so, and replay follows it."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from programs import names, recorded, verified
from twice.errors import RollbackRefused
from twice.recorder.cadence import Cadence
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import branch
from twice.replayer.replay_session import replay
from twice.replayer.verify import verify
from twice.report.moment import moment, moment_lines

pytestmark = pytest.mark.integration

VETOED = """
    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        vetoes = 0
        for tick in run.ticks(9):
            push = run.input("push", lambda: 0.5)
            walk.step(push)
            if tick == 5 and vetoes < 2:
                vetoes += 1
                run.rollback(3 - vetoes)
"""


def test_a_rolled_back_run_verifies_and_keeps_its_abandoned_span(tmp_path: Path) -> None:
    statement = verified(tmp_path, VETOED, walk=True, cadence=Cadence("tick", 1))
    assert statement.result == "PASS"
    with RunRecord.open(statement.path) as record:
        walked = [(tick, name) for tick, name in names(record) if name != "start"]
        again = [tick for tick, name in walked if name in {"tick", "abandoned"}]
        assert again == [0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7, 8]
        assert [tick for tick, name in walked if name == "abandoned"] == [5, 5]
        assert len(list(record.reader.frames(kinds=["rollback"]))) == 2
        assert record.ticks == 9


def test_state_and_streams_return_and_then_repeat_themselves(tmp_path: Path) -> None:
    with recorded(tmp_path, VETOED, walk=True, cadence=Cadence("tick", 1)) as record:
        points = record.reader.points
        roots: dict[int, set[bytes]] = {}
        for at in range(len(points)):
            point = points.point(at)
            if point.name == "tick":
                roots.setdefault(point.tick, set()).add(point.digests["walk"])
        assert {tick: len(found) for tick, found in roots.items()} == dict.fromkeys(range(9), 1)


@pytest.mark.parametrize("tick", [0, 1, 4, 7])
def test_a_segment_of_a_rolled_back_run_replays_from_its_snapshot(
    tmp_path: Path, tick: int
) -> None:
    with recorded(tmp_path, VETOED, walk=True, cadence=Cadence("tick", 1)) as record:
        statement = verify(record.path, first=tick)
        assert (statement.failure, statement.result) == (None, "PARTIAL")


def test_seeking_in_a_rolled_back_run_stands_in_the_span_that_counted(tmp_path: Path) -> None:
    with recorded(tmp_path, VETOED, walk=True, cadence=Cadence("tick", 1)) as record:
        with replay(record.path, at=8) as session:
            late = session.state("walk")
        with replay(record.path, at=0) as session:
            session.step(8)
            assert session.state("walk") == late


def test_a_state_is_of_the_span_that_counted(tmp_path: Path) -> None:
    source = """
        def main(run):
            count = run.track("count", {"n": 0})
            is_back = False
            for tick in run.ticks(8):
                count["n"] += 1 if is_back else 100
                if not is_back or tick == 6:
                    run.input("push", lambda: tick)
                if tick == 5 and not is_back:
                    is_back = True
                    run.rollback(2)
        """
    with recorded(tmp_path, source, cadence=Cadence("decision")) as record:
        assert [entry.tick for entry in record.reader.snapshots] == [0, 1, 2, 3, 4, 5, 7]
        assert [*record.list_snapshots()] == [0, 1, 2, 6]
        assert [*record.list_snapshots(5)] == [0, 1, 2, 3, 4]
        assert [*record.list_snapshots(6)] == [0, 1, 2]
        assert [record.snapshot_before(tick) for tick in range(-1, 9)] == [
            None, 0, 1, 2, 2, 2, 2, 2, 6, 6,
        ]  # fmt: skip
        with replay(record.path) as session:
            states = [(session.seek(tick), session.state("count")["n"])[1] for tick in range(9)]
        assert states == [0, 100, 200, 201, 202, 203, 204, 205, 206]
        with branch(record.path, at=7, out=tmp_path / "b.twice") as left:
            assert names(left) == names(record)
            assert [*left.list_snapshots()] == [0, 1, 2, 6]


def test_what_a_rollback_abandoned_is_marked(tmp_path: Path) -> None:
    source = """
        import os

        def main(run):
            run.track("count", {"n": 0})
            was_back = False
            for tick in run.ticks(4):
                run.input("push", lambda: was_back)
                os.urandom(1)
                if tick == 2 and not was_back:
                    was_back = True
                    run.rollback(1)
        """
    with recorded(tmp_path, source, cadence=Cadence("tick", 1)) as record:
        for tick, passes in enumerate([[False], [False, True], [False, True], [True]]):
            shown = moment(record, tick)
            assert [each["value"] for each in shown["inputs"]] == passes
            for kind in ("inputs", "effects"):
                marks = [each.get("rolled_back", False) for each in shown[kind]]
                assert marks == [True, False][-len(passes) :]
            assert "\n".join(moment_lines(record, shown, [])).count("(rolled back)") == (
                2 * (len(passes) - 1)
            )
            with replay(record.path, at=tick) as session:
                assert [each.value for each in session.inputs()] == passes[-1:]


def test_a_tick_that_is_not_kept_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(RollbackRefused, match="Tick 3 is not kept; the run is at tick 7") as caught:
        recorded(
            tmp_path,
            """
            def main(run):
                for tick in run.ticks(9):
                    if tick == 7:
                        run.rollback(3)
            """,
            cadence=Cadence("tick", 5),
        )
    assert caught.value.expected == "Ticks kept: 0, 5."


def test_a_component_without_restore_cannot_be_rolled_back(tmp_path: Path) -> None:
    from twice.errors import RestoreRefused

    with pytest.raises(RestoreRefused, match="has no restore"):
        recorded(
            tmp_path,
            """
            class Counter:
                def state(self):
                    return 1

            def main(run):
                run.track("counter", Counter())
                for tick in run.ticks(3):
                    run.rollback(0)
            """,
            cadence=Cadence("tick", 1),
        )


def test_an_incremental_component_is_walked_whole_after_a_rollback(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        class Cells:
            def __init__(self):
                self.cells, self.touched = {str(at): [at] * 50 for at in range(20)}, []

            def touch(self, key):
                self.cells[key] = [*self.cells[key], len(self.cells[key])]
                self.touched.append(key)

            def changed(self):
                touched, self.touched = self.touched, []
                return touched

            def state(self):
                return self.cells

            def restore(self, state):
                self.cells = state

        def main(run):
            incremental = run.track("incremental", Cells(), incremental=True)
            whole = run.track("whole", incremental)
            back = 0
            for tick in run.ticks(12):
                incremental.touch(str(tick))
                if tick == 8 and not back:
                    back = 1
                    run.rollback(4)
        """,
        cadence=Cadence("tick", 4),
    )
    assert statement.result == "PASS"
    with RunRecord.open(statement.path) as record:
        points = record.reader.points
        digests = [points.point(at).digests for at in range(len(points))]
        assert len({one["whole"] for one in digests}) == len(
            {one["incremental"] for one in digests}
        )
        assert all(
            (a["whole"] == b["whole"]) == (a["incremental"] == b["incremental"])
            for a in digests
            for b in digests
        )


def test_a_seek_goes_to_the_last_time_that_a_tick_happened(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        def main(run):
            walk = run.track("walk", Walk(run.rng("walk")))
            vetoed = False
            for tick in run.ticks(9):
                walk.step(run.input("push", lambda: 0.0 if vetoed else 1000.0))
                if tick == 5 and not vetoed:
                    vetoed = True
                    run.rollback(2)
        """,
        walk=True,
        cadence=Cadence("tick", 1),
    ) as record:
        before = [record.reader.points.point(record.point_before(tick)) for tick in range(10)]
        assert before[2].name == "abandoned"
        assert [point.tick for point in before] == [-1, 0, 5, *range(2, 9)]
        seen = []
        with replay(record.path) as session:
            for tick in (1, 4, 5, 9):
                session.seek(tick)
                seen.append(round(session.state("walk")["x"], -3))
        assert seen == [1000.0, 2000.0, 2000.0, 2000.0]
        with pytest.raises(twice.TwiceError, match="more than once"):
            branch(record.path, at=4, out=tmp_path / "b.twice")
        assert names(branch(record.path, at=7, out=tmp_path / "b.twice")) == names(record)
