"""The seven properties, each on one example: executed, compared, and told what did not hold.

An example is recorded once; every other execution is held against that record as a verification is,
point by point, under the declared class.

Invariant: a check that could not compare anything raises ``NothingToCompare``; it never holds by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from twice.errors import (
    ProgramFailed,
    RestoreRefused,
    StreamStateRefused,
    StreamTaken,
    UsageError,
)
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.foundation.encoding import encode
from twice.foundation.seeds import derive
from twice.recorder.audit.inventory import in_words, unsupported_rows
from twice.recorder.runrecord import RunRecord
from twice.recorder.snapshots import STREAMS
from twice.replayer.evidence import gather_evidence
from twice.replayer.other_seed import OTHER_SEEDS, is_moved_by_seed
from twice.replayer.outcome import STOPPED, Failure, Replay
from twice.replayer.replay_run import Plan
from twice.testing.counterexamples import Example
from twice.testing.execution import BYSTANDER
from twice.testing.executor import AT_FAILURE, Executor, Subject, compare_states
from twice.testing.faults import active

_BESIDE_OUTCOME: Final = (STREAMS, "effects", "inputs", "files")
"""Columns that say how a run came to its outcome, or what it left elsewhere."""


class NothingToCompare(Exception):
    """An example in which there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What does not hold in one example."""

    said: str
    channel: Channel  # how the difference comes in, as far as the property alone says
    failure: Failure | None = None
    fields: Sequence[FieldDifference] = ()
    branch: tuple[int, Mapping[str, Any]] | None = None  # fork and values


@dataclass(frozen=True, slots=True)
class ExampleTrial:
    """One example, and what executes it."""

    executor: Executor
    subject: Subject
    example: Example
    schedule: str = ""  # configuration key under which the system takes the order of its tasks

    @contextmanager
    def record(self, **config: Any) -> Iterator[RunRecord]:
        """Record the example; its record goes once it is compared."""
        example = self.example
        setup = self.subject.setup({**example.config, **config}, example.seed)
        path = self.executor.record(setup)
        try:
            with RunRecord.open(path) as record:
                yield record
        finally:
            path.unlink(missing_ok=True)

    def execute(self, record: RunRecord, *, capture: int = AT_FAILURE, **added: Any) -> Replay:
        """Execute the example with something added, from the top."""
        plan = Plan(predicate=record.setup.predicate, capture=capture, added=added)
        return self.executor.execute(record, plan)

    def compare(
        self,
        record: RunRecord,
        channel: Channel,
        what: str,
        *,
        other: bool = False,
        snapshot: int | None = None,
        passed_over: tuple[str, ...] = (),
        **added: Any,
    ) -> tuple[Replay, Violation | None]:
        """Execute the example and hold it against its record; what differs speaks for the channel."""
        plan = Plan(
            predicate=record.setup.predicate,
            capture=AT_FAILURE,
            snapshot=snapshot,
            first=0 if snapshot is None else record.reader.snapshots[snapshot].point,
            passed_over=passed_over,
            added=added,
        )
        replay = self.executor.execute(record, plan, other=other)
        if replay.how == STOPPED and replay.failure is None:
            return replay, None
        evidence = gather_evidence(record, plan, replay)
        if (failure := evidence.failure) is not None:
            where = f"{failure.name} of tick {failure.tick}"
            said = f"{what} differs at {where}, in {', '.join(failure.columns)}"
            return replay, Violation(said, channel, failure, self.find_fields(record, replay))
        if beside := unsupported_rows(evidence.inventory):
            said = f"could not tell: a source of the world is not recorded: {in_words(beside[0])}"
            return replay, Violation(said, Channel.EFFECTS)
        return replay, None

    def find_fields(self, record: RunRecord, replay: Replay) -> tuple[FieldDifference, ...]:
        """Return what differs in the components where an execution parted, with both values."""
        # A planted fault would be in the second execution, too.
        if replay.failure is None or not replay.state or active() is not None:
            return ()
        index = replay.failure.index
        if not 0 <= index < len(record.reader.points):
            return ()
        return compare_states(self.execute(record, capture=index).state, replay.state)


Check = Callable[[ExampleTrial], Violation | None]


def replay_equivalence(trial: ExampleTrial) -> Violation | None:
    """The record, replayed in another process under another hash seed, agrees at every point."""
    with trial.record() as record:
        return trial.compare(record, Channel.REPLAY, "the replay", other=True)[1]


def seed_matters(trial: ExampleTrial) -> Violation | None:
    """Another seed gives another run: a component, the output or a decision parts."""
    with trial.record() as record:
        other = next(each for each in OTHER_SEEDS if each != record.seed)
        if is_moved_by_seed(record, [other], lambda _: trial.executor.start()):
            return None
        said = f"with the seed {other.value} all that is judged is the same"
        return Violation(said, Channel.SEEDS)


def seed_isolation(trial: ExampleTrial) -> Violation | None:
    """Others' draws stay what they are beside a bystander that draws, and after one draw more."""
    with trial.record() as record:
        what, its_own = "the run with one more component and stream", (STREAMS, BYSTANDER)
        beside, found = trial.compare(
            record, Channel.RNG, what, passed_over=its_own, bystander=True
        )
        if found:
            return found
        for name, entry in (record.ending or {}).get("streams", {}).items():
            expected = derive(record.seed, name, rule=record.setup.rule)
            if entry["seed"] is not None and int(entry["seed"], 16) != expected.value:
                said = f"the sub-seed of {name!r} is not derived from its name"
                return Violation(said, Channel.SEEDS)
        starts = {n: s for n, s in beside.added["starts"].items() if n != BYSTANDER}
        drawn = [n for n in sorted(starts) if starts[n].get("kind") in {"numpy", "python"}]
        if not drawn:
            return None
        name = drawn[trial.example.at % len(drawn)]
        greedy = trial.execute(record, greedy=name, fork={"at": -1, "values": encode({})})
        if greedy.failure is not None:
            return None  # it ended elsewhere, before a second stream began
        for other, start in greedy.added["starts"].items():
            if other != name and other in starts and encode(start) != encode(starts[other]):
                said = f"one draw more from the stream {name!r} moves the beginning of {other!r}"
                return Violation(f"{said}: it is seeded from a draw, not by its name", Channel.RNG)
    return None


def snapshot_round_trip(trial: ExampleTrial) -> Violation | None:
    """A state, written in canonical bytes and restored into a new system, is that state."""
    return _restore(trial, stop=True)


def restore_idempotence(trial: ExampleTrial) -> Violation | None:
    """Restoring twice is restoring once, and the run that goes on from there is the original."""
    return _restore(trial, stop=False)


def fork_and_converge(trial: ExampleTrial) -> Violation | None:
    """A branch with the same inputs converges; with another, it leaves its parent untouched."""
    with trial.record() as record:
        number = _choose_snapshot(trial, record)
        fork = record.reader.snapshots[number].tick
        same = {event.name: event.value for event in record.inputs(tick=fork)}
        what = f"the branch before tick {fork} with the same inputs"
        given = {"at": fork, "values": encode(same)}
        found = _start_at(trial, record, number, Channel.REPLAY, what, same=given)
        if found is not None:
            return replace(found, branch=(fork, same))
        return _branch_elsewhere(trial, record)


def schedule_independence(trial: ExampleTrial) -> Violation | None:
    """The outcome is the same when tasks, listings and sets come in another order."""
    if not trial.schedule:
        what = "the run with its tasks in another order"
        with trial.record() as record:
            options: dict[str, Any] = {"other": True, "passed_over": _BESIDE_OUTCOME}
            return trial.compare(record, Channel.CONCURRENCY, what, **options)[1]
    key, order = trial.schedule, list(trial.example.choices["order"])
    with trial.record(**{key: sorted(order)}) as record:
        options = {"config": {**record.config, key: order}, "passed_over": _BESIDE_OUTCOME}
        what = f"the run with {key}={order}"
        return trial.compare(record, Channel.CONCURRENCY, what, **options)[1]


# -- what they share ----------------------------------------------------------------------------


def _restore(trial: ExampleTrial, *, stop: bool) -> Violation | None:
    with trial.record() as record:
        number = _choose_snapshot(trial, record)
        what = f"the run restored before tick {record.reader.snapshots[number].tick}"
        return _start_at(trial, record, number, Channel.SNAPSHOT, what, again=number, stop=stop)


def _start_at(
    trial: ExampleTrial, record: RunRecord, number: int, channel: Channel, what: str, **added: Any
) -> Violation | None:
    """Judge an execution from a snapshot on; a restore that is refused is a finding, not an error of the test."""
    forms = (record.ending or {}).get("components", {})
    if names := sorted(name for name, form in forms.items() if form == "state only"):
        said = f"{', '.join(names)} cannot be put back: there is a state() and no restore()"
        return Violation(said, Channel.SNAPSHOT)
    try:
        return trial.compare(record, channel, what, snapshot=number, **added)[1]
    except (RestoreRefused, StreamStateRefused, StreamTaken, ProgramFailed) as error:
        return Violation(f"{error.happened} {error.expected}", Channel.SNAPSHOT)


def _choose_snapshot(trial: ExampleTrial, record: RunRecord) -> int:
    """Return the number of the snapshot that the example picks."""
    entries, backs = record.reader.snapshots, record.rollbacks()
    last = backs[0].point if backs else len(record.reader.points)
    fault, first = active(), 0
    if fault is not None and fault.kind == "dropped field":
        first = max(1, fault.tick)
    fit = [each.number for each in entries if each.point <= last and each.tick >= first]
    if not fit:
        raise NothingToCompare
    return fit[trial.example.at % len(fit)]


def _branch_elsewhere(trial: ExampleTrial, record: RunRecord) -> Violation | None:
    """Branch with another input than the recorded one, and look at the parent afterwards."""
    events = [event for event in record.inputs() if event.tick >= 0]
    if not events:
        return None
    at = trial.example.at
    event = events[at % len(events)]
    seen = [each.value for each in events if each.name == event.name]
    known = trial.example.choices.get("inputs", {}).get(event.name) or [
        each for each in seen if encode(each) != encode(event.value)
    ]
    values = {event.name: known[at % len(known)] if known else _alter(event.value)}
    branch, before = (event.tick, values), record.path.read_bytes()
    try:
        replay = trial.execute(record, fork={"at": event.tick, "values": encode(values)})
    except UsageError:
        if known:
            raise
        return None  # The value was made up, and the program takes no such input.
    if replay.failure is not None:
        said = f"a branch before tick {event.tick} parts from its parent before the fork"
        fields = trial.find_fields(record, replay)
        return Violation(said, Channel.REPLAY, replay.failure, fields, branch)
    if record.path.read_bytes() != before:
        return Violation("a branch changed its parent's record", Channel.REPLAY, branch=branch)
    what = f"the parent, replayed after a branch before tick {event.tick},"
    found = trial.compare(record, Channel.EFFECTS, what)[1]
    return None if found is None else replace(found, branch=branch)


def _alter(value: Any) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}?"
    if isinstance(value, dict) and value:
        first = next(iter(value))
        return {**value, first: _alter(value[first])}
    if isinstance(value, list) and value:
        return [_alter(value[0]), *value[1:]]
    if isinstance(value, np.ndarray | np.generic) and value.size:
        array: Any = value
        return ~array if array.dtype.kind == "b" else array + array.dtype.type(1)
    return value
