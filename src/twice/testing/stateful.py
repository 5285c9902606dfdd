"""Sessions in any order: a Hypothesis state machine over a read-only and a branching session.

Invariant: whatever was done before, a session that stands before a tick shows the state that the record
holds before that tick.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Final

from twice.foundation.encoding import encode
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import BranchingSession, prefix_proof
from twice.replayer.replay_session import ReplaySession
from twice.testing.counterexamples import Example
from twice.testing.executor import Executor, Subject, subject_of
from twice.testing.property_search import Program, examples_of
from twice.testing.strategies import hypothesis

EXAMPLES: Final = 10
STEPS: Final = 12


class SessionMoves:
    """A recorded run, a read-only session on it, and what can be done with them."""

    subject: Subject
    _stack: ExitStack | None = None

    def begin(self, example: Example) -> None:
        """Record an example."""
        self._stack = stack = ExitStack()
        self._executor = stack.enter_context(Executor(()))
        path = self._executor.record(self.subject.setup(example.config, example.seed))
        self._record = stack.enter_context(RunRecord.open(path))
        self._session = ReplaySession(path, start=lambda _: self._executor.start())
        stack.callback(self._session.end)
        self._recorded: dict[int, bytes] = {}
        for entry in self._record.reader.snapshots:
            state = self._record.state_at(entry.number)
            components = {name: each for name, each in state.items() if name != "streams"}
            self._recorded[entry.tick] = encode(components)
        self._n_branches = 0

    def step(self) -> None:
        """Go one tick on."""
        if self._session.tick < self._record.ticks:
            self._session.step()

    def snapshot(self) -> tuple[int, bytes]:
        """Return a tick and its state."""
        return self._session.tick, encode(self._session.state())

    def restore(self, moment: tuple[int, bytes]) -> None:
        """Come back to a remembered tick: its state is the remembered one."""
        tick, state = moment
        self._session.seek(tick)
        assert encode(self._session.state()) == state, f"another state before tick {tick}"

    def roll_back(self, count: int) -> None:
        """Go back by some ticks."""
        self._session.back(min(count, self._session.tick))

    def branch(self) -> None:
        """Leave the record here with the same inputs, and arrive where it does."""
        fork = self._session.tick
        if fork >= self._record.ticks:
            return
        self._n_branches += 1
        out = self._executor.folder / f"branch-{self._n_branches}.twice"
        same = {event.name: event.value for event in self._record.inputs(tick=fork)}
        name = f"a branch before tick {fork} with the same inputs"
        start = lambda _: self._executor.start()  # noqa: E731
        with BranchingSession(self._record, fork, out, start=start) as branching:
            assert encode(branching.state()) == self._recorded[fork], f"{name} begins elsewhere"
            branching.step_with(same)
            arrived = branching.finish()
        with arrived:
            assert prefix_proof(arrived, self._record), f"{name} has another prefix"
            here, there = (each.reader.points for each in (arrived, self._record))
            assert len(here) == len(there), f"{name} has other points"
            last = len(there) - 1
            is_same = here.point(last).digests == there.point(last).digests
            assert is_same, f"{name} ends elsewhere"

    def stays_true_to_the_record(self) -> None:
        """Compare what the session shows with the record."""
        tick = self._session.tick
        if tick in self._recorded:
            shown = encode(self._session.state())
            assert shown == self._recorded[tick], f"another state is shown before tick {tick}"

    def teardown(self) -> None:
        """End the session and remove its record."""
        if self._stack is not None:
            self._stack.close()


def make_machine(
    program: Program,
    *,
    config: Any = None,
    seeds: Any = None,
    examples: int = EXAMPLES,
    steps: int = STEPS,
    predicate: Any = None,
    policies: Any = None,
    **_: Any,
) -> Any:
    """Make a ``RuleBasedStateMachine`` class for one system; other options of a suite mean nothing here."""
    library, sf, integers = hypothesis(), hypothesis("stateful"), hypothesis("strategies").integers
    # Not a class statement: Hypothesis, which is optional, is only here by now.
    moves, moments = SessionMoves, sf.Bundle("moments")
    members = {
        "subject": subject_of(program, predicate=predicate, policies=policies),
        "moments": moments,
        "begin": sf.initialize(example=examples_of(config, seeds))(moves.begin),
        "step": sf.rule()(moves.step),
        "snapshot": sf.rule(target=moments)(moves.snapshot),
        "restore": sf.rule(moment=moments)(moves.restore),
        "roll_back": sf.rule(count=integers(1, 3))(moves.roll_back),
        "branch": sf.rule()(moves.branch),
        "stays_true_to_the_record": sf.invariant()(moves.stays_true_to_the_record),
    }
    made: Any = type("Sessions", (moves, sf.RuleBasedStateMachine), members)
    made.TestCase.settings = library.settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(library.HealthCheck),
    )
    return made
