"""Sessions in any order: a Hypothesis state machine over a read-only and a branching session.

Invariant: whatever was done before, a session that stands before a tick shows the state that the record
holds before that tick.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from twice.foundation.encoding import encode
from twice.recording.runrecord import RunRecord
from twice.replayer.branch_session import BranchingSession, prefix_proof
from twice.replayer.replay_job import surroundings_of
from twice.replayer.replay_session import ReplaySession
from twice.testing.laboratory import Laboratory, forked
from twice.testing.property_search import Program, examples_of
from twice.testing.strategies import hypothesis
from twice.testing.subject import Subject, subject_of
from twice.worker.process import Worker

EXAMPLES = 10
STEPS = 12


class Moves:
    """A recorded run, a read-only session on it, and what can be done with them.

    Args:
        subject: what is recorded.
        example: with ``config`` and ``seed``.
    """

    def __init__(self, subject: Subject, example: Mapping[str, Any]) -> None:
        self.stack = ExitStack()
        self.lab = self.stack.enter_context(Laboratory(()))
        path = self.lab.record(subject.setup(example["config"], example["seed"]))
        self.record = self.stack.enter_context(RunRecord.open(path))
        self.session = ReplaySession(path, start=_start)
        self.stack.callback(self.session.end)
        self.recorded = {
            entry.tick: encode(_components(self.record.state_at(entry.number)))
            for entry in self.record.reader.snapshots
        }
        self.branches = 0

    def step(self) -> None:
        """Go one tick on."""
        if self.session.tick < self.record.ticks:
            self.session.step()

    def moment(self) -> tuple[int, bytes]:
        """A tick and its state."""
        return self.session.tick, encode(self.session.state())

    def restore(self, moment: tuple[int, bytes]) -> None:
        """Come back to a remembered tick: its state is the remembered one."""
        tick, state = moment
        self.session.seek(tick)
        assert encode(self.session.state()) == state, f"another state before tick {tick}"

    def roll_back(self, count: int) -> None:
        """Go back by some ticks."""
        self.session.back(min(count, self.session.tick))

    def branch(self) -> None:
        """Leave the record here with the same inputs, and arrive where it does."""
        fork = self.session.tick
        if fork >= self.record.ticks:
            return
        self.branches += 1
        out = self.lab.folder / f"branch-{self.branches}.twice"
        same = {event.name: event.value for event in self.record.inputs(tick=fork)}
        with BranchingSession(self.record, fork, out, start=_start) as branching:
            begun = encode(branching.state())
            assert begun == self.recorded[fork], f"a branch before tick {fork} begins elsewhere"
            branching.step_with(same)
            arrived = branching.finish()
        with arrived:
            assert prefix_proof(arrived, self.record), "a branch has another prefix"
            here, there = (each.reader.points for each in (arrived, self.record))
            assert len(here) == len(there), "a branch with the same inputs has other points"
            last = len(there) - 1
            same_end = here.point(last).digests == there.point(last).digests
            assert same_end, f"a branch before tick {fork} with the same inputs ends elsewhere"

    def check(self) -> None:
        """Hold what the session shows against the record."""
        tick = self.session.tick
        if tick in self.recorded:
            shown = encode(self.session.state())
            assert shown == self.recorded[tick], f"another state is shown before tick {tick}"


def _components(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != "streams"}


def _start(record: RunRecord) -> Worker:
    return forked(surroundings_of(record))


def machine(
    program: Program,
    config: Any = None,
    seeds: Any = None,
    *,
    examples: int = EXAMPLES,
    steps: int = STEPS,
    predicate: Any = None,
    policies: Any = None,
    **ignored: Any,
) -> Any:
    """A ``RuleBasedStateMachine`` class for one system.

    Args:
        program: what is recorded.
        config: a strategy, or one configuration.
        seeds: a strategy, or one seed.
        examples: how many sequences are tried.
        steps: how many rules one of them has at most.
        predicate: the class that judges.
        policies: other fields of ``Setup``.
        **ignored: options of a suite that sessions have no use for.
    """
    del ignored
    subject = subject_of(program, predicate=predicate, policies=policies)
    sf, st, library = hypothesis("stateful"), hypothesis("strategies"), hypothesis()

    class Sessions(sf.RuleBasedStateMachine):  # type: ignore[misc, name-defined, unused-ignore]
        """Steps, snapshots, restores, branches and goes back."""

        moments = sf.Bundle("moments")
        moves: Any = None

        @sf.initialize(example=examples_of(config, seeds))  # type: ignore[untyped-decorator, unused-ignore]
        def begin(self, example: dict[str, Any]) -> None:
            self.moves = Moves(subject, example)

        @sf.rule()  # type: ignore[untyped-decorator, unused-ignore]
        def step(self) -> None:
            self.moves.step()

        @sf.rule(target=moments)  # type: ignore[untyped-decorator, unused-ignore]
        def snapshot(self) -> tuple[int, bytes]:
            moment: tuple[int, bytes] = self.moves.moment()
            return moment

        @sf.rule(moment=moments)  # type: ignore[untyped-decorator, unused-ignore]
        def restore(self, moment: tuple[int, bytes]) -> None:
            self.moves.restore(moment)

        @sf.rule(count=st.integers(1, 3))  # type: ignore[untyped-decorator, unused-ignore]
        def roll_back(self, count: int) -> None:
            self.moves.roll_back(count)

        @sf.rule()  # type: ignore[untyped-decorator, unused-ignore]
        def branch(self) -> None:
            self.moves.branch()

        @sf.invariant()  # type: ignore[untyped-decorator, unused-ignore]
        def true_to_the_record(self) -> None:
            if self.moves is not None:
                self.moves.check()

        def teardown(self) -> None:
            if self.moves is not None:
                self.moves.stack.close()

    Sessions.TestCase.settings = library.settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(library.HealthCheck),
    )
    return Sessions
