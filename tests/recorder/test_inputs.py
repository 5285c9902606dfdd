"""Inputs: the thunk runs in every mode, and its value is compared with the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import names, recorded, verified
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

DRAWING = """
    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        decide = run.rng("policy")
        for tick in run.ticks(6):
            push = run.input("push", lambda: float(decide.normal()))
            kind = run.input("kind", lambda: {"tick": tick, "even": tick % 2 == 0})
            walk.step(push if kind["even"] else -push)
"""


def test_a_policy_that_draws_from_a_stream_verifies(tmp_path: Path) -> None:
    statement = verified(tmp_path, DRAWING, walk=True)
    assert (statement.result, statement.counts["passed"]) == ("PASS", 8)
    with RunRecord.open(statement.path) as record:
        assert [event.name for event in record.inputs(tick=3)] == ["push", "kind"]
        assert record.inputs(tick=4)[1].value == {"tick": 4, "even": True}
        assert len(record.inputs()) == 12


def test_an_input_from_the_world_fails_the_verification_by_its_name(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import os

        def main(run):
            for tick in run.ticks(3):
                if tick == 1:
                    run.input("pid", lambda: int.from_bytes(__import__("posix").urandom(4)))
        """,
    )
    assert (statement.result, statement.exit_code) == ("FAIL", 1)
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("input:pid", 1)
    assert int(statement.failure.recorded) != int(statement.failure.replayed)


def test_another_input_than_the_recorded_one_fails_the_verification(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import os

        def main(run):
            for tick in run.ticks(2):
                run.input("pid" + __import__("posix").urandom(4).hex(), lambda: 1)
        """,
    )
    assert (statement.result, statement.exit_code) == ("FAIL", 1)
    assert statement.failure is not None
    assert statement.failure.tick == 0


def test_decisions_are_points_where_that_is_the_granularity(tmp_path: Path) -> None:
    with recorded(tmp_path, DRAWING, walk=True, granularity="decision") as record:
        assert names(record)[:4] == [
            (-1, "start"), (0, "input:push"), (0, "input:kind"), (1, "input:push"),
        ]  # fmt: skip
        assert verify(record.path).result == "PASS"


@pytest.mark.parametrize("caught", ["Exception", "BaseException"])
def test_an_input_that_was_not_asked_for_fails_although_the_program_catches_it(
    tmp_path: Path, caught: str
) -> None:
    with recorded(
        tmp_path,
        f"""
        from pathlib import Path

        def main(run):
            for tick in run.ticks(3):
                if tick == 1 and __import__('posix').access({str(tmp_path / "later")!r}, 0):
                    try:
                        run.input("extra", lambda: 1)
                    except {caught}:
                        pass
        """,
    ) as record:
        (tmp_path / "later").touch()
        statement = verify(record.path)
    assert (statement.result, statement.exit_code) == ("FAIL", 1)
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("input:extra", 1)
