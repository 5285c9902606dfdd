"""The seven properties, each on one example: executed, compared, and told what did not hold.

An example is recorded once; every other execution is held against that record, point by point, under
the declared class.

Invariant: a check that could not compare anything raises ``Unfit``; it never holds by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from twice.foundation.comparison import FieldDifference, differences
from twice.foundation.encoding import decode, encode
from twice.foundation.seeds import derive
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import in_words, unsupported_rows
from twice.replayer.notes import merge_inventories
from twice.replayer.other_seed import OTHER_SEEDS, is_moved_by_seed
from twice.replayer.outcome import Failure
from twice.testing.examples import Example
from twice.testing.executing import BYSTANDER
from twice.testing.faults import active
from twice.testing.laboratory import AT_FAILURE, Held, Laboratory
from twice.testing.subject import Subject

_FIELDS_MAX = 8


class Unfit(Exception):
    """An example in which there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Broken:
    """What does not hold in one example.

    Attributes:
        said: one sentence.
        channel: how the difference comes in, as far as the property alone says.
        failure: the first difference, where there is one.
        fields: what differs in the components there.
        branch: for a branch: fork and values.
    """

    said: str
    channel: Channel
    failure: Failure | None = None
    fields: Sequence[FieldDifference] = ()
    branch: tuple[int, Mapping[str, Any]] | None = None


@dataclass
class Bench:
    """Where one property is checked.

    Attributes:
        lab: executes.
        subject: what is tested.
        schedule: configuration key under which the system takes the order of its tasks.
        planted: whether an execution planted the active fault.
    """

    lab: Laboratory
    subject: Subject
    schedule: str = ""
    planted: bool = field(default=False)

    @contextmanager
    def recorded(self, example: Example, **config: Any) -> Iterator[RunRecord]:
        """The record of an example, until it is compared."""
        path = self.lab.record(self.subject.setup({**example.config, **config}, example.seed))
        try:
            with RunRecord.open(path) as record:
                yield record
        finally:
            self.lab.discard(path)

    def held(self, record: RunRecord, **options: Any) -> Held:
        """One execution against the record."""
        held = self.lab.hold(record, **options)
        self.planted = self.planted or held.planted
        return held


Check = Callable[[Bench, Example], Broken | None]


def replay_equivalence(bench: Bench, example: Example) -> Broken | None:
    """The record, replayed in another process under another hash seed, agrees at every point."""
    with bench.recorded(example) as record:
        held = bench.held(record, other=True, capture=AT_FAILURE)
        return _judged(bench, record, held, Channel.REPLAY, "the replay")


def seed_matters(bench: Bench, example: Example) -> Broken | None:
    """Another seed gives another run: a component, the output or a decision parts."""
    with bench.recorded(example) as record:
        other = next(each for each in OTHER_SEEDS if each != record.seed)
        if is_moved_by_seed(record, [other], lambda _: bench.lab.start(bench.lab.base)):
            return None
        said = f"with the seed {other.value} all that is judged is the same"
        return Broken(said, Channel.SEEDS)


def seed_isolation(bench: Bench, example: Example) -> Broken | None:
    """Others' draws stay what they are beside a bystander that draws, and after one draw more."""
    with bench.recorded(example) as record:
        beside = bench.held(record, bystander=True, capture=AT_FAILURE)
        with_bystander = "the run with one more component and stream"
        found = _judged(bench, record, beside, Channel.RNG, with_bystander)
        if found is not None:
            return found
        starts = {n: s for n, s in beside.message["starts"].items() if n != BYSTANDER}
        found = _underived(record)
        named = [name for name in sorted(starts) if starts[name].get("kind") in _TAKEN]
        if found is not None or not named:
            return found
        name = named[_pick(example) % len(named)]
        fork = {"at": -1, "values": encode({})}
        greedy = bench.held(record, greedy=name, fork=fork)
        if greedy.failure is not None:
            return None  # it ended elsewhere, before a second stream began
        for other, start in greedy.message["starts"].items():
            if other != name and other in starts and encode(start) != encode(starts[other]):
                return Broken(
                    f"one draw more from the stream {name!r} moves the beginning of {other!r}: it "
                    "is seeded from a draw, not by its name",
                    Channel.RNG,
                )
    return None


_TAKEN: Final = ("numpy", "python")


def _underived(record: RunRecord) -> Broken | None:
    """Whether every sub-seed is what its name alone gives."""
    ledger = (record.ending or {}).get("streams", {})
    for name, entry in ledger.items():
        expected = derive(record.seed, name, rule=record.setup.rule)
        if entry["seed"] is not None and int(entry["seed"], 16) != expected.value:
            return Broken(f"the sub-seed of {name!r} is not derived from its name", Channel.SEEDS)
    return None


def snapshot_round_trip(bench: Bench, example: Example) -> Broken | None:
    """A state, written in canonical bytes and restored into a new system, is that state."""
    return _restored(bench, example, stop=True)


def restore_idempotence(bench: Bench, example: Example) -> Broken | None:
    """Restoring twice is restoring once, and the run that goes on from there is the original."""
    return _restored(bench, example, stop=False)


def _restored(bench: Bench, example: Example, *, stop: bool) -> Broken | None:
    with bench.recorded(example) as record:
        number = _snapshot(record, example)
        if (forms := _state_only(record)) is not None:
            return forms
        with _restoring() as refused:
            held = bench.held(record, snapshot=number, again=number, stop=stop, capture=AT_FAILURE)
        if refused:
            return Broken(refused[0], Channel.SNAPSHOT)
        if stop and held.failure is None and held.ended == "stopped":
            return None
        tick = record.reader.snapshots[number].tick
        what = f"the run restored before tick {tick}"
        return _judged(bench, record, held, Channel.SNAPSHOT, what, number=number)


def fork_and_converge(bench: Bench, example: Example) -> Broken | None:
    """A branch with the same inputs converges; with another, it leaves its parent untouched."""
    with bench.recorded(example) as record:
        number = _snapshot(record, example)
        if (forms := _state_only(record)) is not None:
            return forms
        fork = record.reader.snapshots[number].tick
        same = {event.name: event.value for event in record.inputs(tick=fork)}
        with _restoring() as refused:
            held = bench.held(
                record,
                snapshot=number,
                same={"at": fork, "values": encode(same)},
                capture=AT_FAILURE,
            )
        if refused:
            return Broken(refused[0], Channel.SNAPSHOT, branch=(fork, same))
        what = f"the branch before tick {fork} with the same inputs"
        found = _judged(bench, record, held, Channel.REPLAY, what, number=number)
        if found is not None:
            return Broken(found.said, found.channel, found.failure, found.fields, (fork, same))
        return _other_branch(bench, record, example)


def _other_branch(bench: Bench, record: RunRecord, example: Example) -> Broken | None:
    events = [event for event in record.inputs() if event.tick >= 0]
    if not events:
        return None
    event = events[_pick(example) % len(events)]
    given = example.choices.get("inputs", {}).get(event.name, ())
    seen = [each.value for each in events if each.name == event.name]
    other = [each for each in seen if encode(each) != encode(event.value)]
    known = given or other
    value = known[_pick(example) % len(known)] if known else _another(event.value)
    values = {event.name: value}
    before = record.path.read_bytes()
    fork = {"at": event.tick, "values": encode(values)}
    try:
        held = bench.held(record, fork=fork, capture=AT_FAILURE)
    except UsageError:
        if known:
            raise
        return None  # The value was made up, and the program takes no such input.
    branch = (event.tick, values)
    if held.failure is not None:
        said = f"a branch before tick {event.tick} parts from its parent before the fork"
        return Broken(said, Channel.REPLAY, held.failure, _fields(bench, record, held), branch)
    if record.path.read_bytes() != before:
        return Broken("a branch changed its parent's record", Channel.REPLAY, branch=branch)
    after = bench.lab.hold(record, capture=AT_FAILURE)
    what = f"the parent, replayed after a branch before tick {event.tick},"
    found = _judged(bench, record, after, Channel.EFFECTS, what)
    if found is None:
        return None
    return Broken(found.said, found.channel, found.failure, found.fields, branch)


def _another(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 1.0
    if isinstance(value, str):
        return f"{value}?"
    if isinstance(value, dict) and value:
        first = next(iter(value))
        return {**value, first: _another(value[first])}
    if isinstance(value, list) and value:
        return [_another(value[0]), *value[1:]]
    if isinstance(value, np.ndarray | np.generic) and value.size:
        array: Any = value
        return ~array if array.dtype.kind == "b" else array + array.dtype.type(1)
    return value


def schedule_independence(bench: Bench, example: Example) -> Broken | None:
    """The outcome is the same when tasks, listings and sets come in another order."""
    key = bench.schedule
    if not key:
        with bench.recorded(example) as record:
            held = bench.held(record, other=True, outcome=True, capture=AT_FAILURE)
            what = "the run with its tasks in another order"
            return _judged(bench, record, held, Channel.CONCURRENCY, what)
    order = list(example.choices["order"])
    with bench.recorded(example, **{key: sorted(order)}) as record:
        config = {**record.config, key: order}
        held = bench.held(record, outcome=True, config=config, capture=AT_FAILURE)
        what = f"the run with {key}={order}"
        return _judged(bench, record, held, Channel.CONCURRENCY, what)


# -- what they share ----------------------------------------------------------------------------


def _pick(example: Example) -> int:
    return int(example.choices.get("at", 0))


def _snapshot(record: RunRecord, example: Example) -> int:
    """Number of the snapshot that the example chooses.

    Raises:
        Unfit: when there is none, or the run was rolled back over it.
    """
    count = len(record.reader.snapshots)
    backs = record.rollbacks()
    if backs:
        count = sum(entry.point <= backs[0].point for entry in record.reader.snapshots)
    if not count:
        raise Unfit
    fault = active()
    first = 0
    if fault is not None and fault.kind == "dropped field":
        later = [n for n in range(count) if record.reader.snapshots[n].tick >= max(1, fault.tick)]
        if not later:
            raise Unfit
        first = later[0]
    return first + _pick(example) % (count - first)


def _state_only(record: RunRecord) -> Broken | None:
    forms = (record.ending or {}).get("components", {})
    names = [name for name, form in forms.items() if form == "state only"]
    if not names:
        return None
    said = f"{', '.join(sorted(names))} cannot be put back: there is a state() and no restore()"
    return Broken(said, Channel.SNAPSHOT)


@contextmanager
def _restoring() -> Iterator[list[str]]:
    """Let a restore be refused: that is a finding, not an error of the test."""
    refused: list[str] = []
    try:
        yield refused
    except (RestoreRefused, StreamStateRefused, StreamTaken, ProgramFailed) as error:
        refused.append(f"{error.happened} {error.expected}")


def _judged(
    bench: Bench,
    record: RunRecord,
    held: Held,
    channel: Channel,
    what: str,
    *,
    number: int | None = None,
) -> Broken | None:
    """What an execution shows about its record."""
    failure = held.failure
    if failure is not None:
        where = f"{failure.name} of tick {failure.tick}"
        said = f"{what} differs at {where}, in {', '.join(failure.columns)}"
        return Broken(said, channel, failure, _fields(bench, record, held))
    ending = record.ending or {}
    exception = ending.get("exception")
    was = (ending.get("how"), ending.get("exit_code"), exception and exception["type"])
    now = (held.ended, held.message.get("exit_code"), held.message.get("exception"))
    if was != now:
        return Broken(f"{what} ended with {_words(now)}, the record with {_words(was)}", channel)
    begun = 0 if number is None else record.reader.snapshots[number].point
    missing = len(record.reader.points) - begun - int(held.message["counts"]["evaluated"])
    if missing > 0:
        return Broken(f"{what} ended {missing} compare-points early", channel)
    beside = unsupported_rows(merge_inventories(record, held.message.get("inventory")))
    if beside:
        said = f"could not tell: a source of the world is not recorded: {in_words(beside[0])}"
        return Broken(said, Channel.EFFECTS)
    return None


def _words(ending: tuple[Any, ...]) -> str:
    return " ".join(str(part) for part in ending if part is not None)


def _fields(bench: Bench, record: RunRecord, held: Held) -> tuple[FieldDifference, ...]:
    """What differs in the components at the first difference, with both values."""
    failure, now = held.failure, held.message.get("state")
    if failure is None or not now or not 0 <= failure.index < len(record.reader.points):
        return ()
    planted = active()
    if planted is not None:
        return ()
    was = bench.lab.hold(record, capture=failure.index).message.get("state", {})
    found: list[FieldDifference] = []
    for name in sorted({*was} & {*now}):
        if was[name] != now[name]:
            found += differences(decode(was[name]), decode(now[name]), component=name)
    return tuple(found[:_FIELDS_MAX])
