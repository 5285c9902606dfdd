"""Search for a schedule that fails: try one after the other, and shrink the first of each kind of failure.

The first trial is in FIFO order. If a second one like it goes another way, the program keeps state between its
executions or reads something that changes, and each trial needs a process of its own.

Invariant: a failure that is returned was seen twice, the second time under constraints alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from twice.foundation.seeds import Seed
from twice.schedules.shrink import (
    Ordering,
    Shrunk,
    describe_orderings,
    locate_fault,
    locate_orderings,
    locate_steps,
    shrink,
)
from twice.schedules.trial import ScheduleTrial, TrialFailure
from twice.simulation.faults import FaultChoice, RandomFaults, StruckFault, follow
from twice.simulation.order import Order
from twice.simulation.strategies import DelayBounded, Fifo, Strategy, make_strategy
from twice.simulation.trace import Schedule, find_constraints

_NEAR = 3
DELAYS = 2
"""How many ready steps a delay-bounded schedule passes over at most."""
Run = Callable[[Strategy, FaultChoice | None], ScheduleTrial]
"""Executes the program once under a strategy and with faults, from its beginning."""
Trace = Callable[[Schedule], ScheduleTrial]
"""Executes the program once under a schedule, which keeps its steps."""


@dataclass(frozen=True, slots=True)
class FailingSchedule:
    """A failing schedule.

    Attributes:
        failure: why it fails.
        number: of the schedule in the search; 0 is FIFO order.
        order: constraints and faults, as a record keeps them.
        orderings: the constraints by lines of the source.
        faults: those that happen, in their order.
        runs: executions that it took to shrink.
        is_minimal: whether each constraint is needed.
    """

    failure: TrialFailure
    number: int
    order: Order
    orderings: Sequence[Ordering]
    faults: Sequence[StruckFault]
    runs: int
    is_minimal: bool

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "error": self.failure.to_json(),
            "ends": self.failure.ends,
            "schedule": self.number,
            "order": self.order.to_json(),
            "constraints": [each.to_json() for each in self.orderings],
            "faults": [each.to_json() for each in self.faults],
            "sentences": [*map(str, self.faults), *describe_orderings(self.orderings)],
            "runs": self.runs,
            "minimal": self.is_minimal,
        }


@dataclass(slots=True)
class Findings:
    """What a search has found so far.

    Attributes:
        schedules: how many were executed.
        outcomes: how often each value or type of failure came.
        found: one schedule of each kind of failure.
        unshrunk: failures that did not come again.
        reached: of each name that ``sometimes`` was called with, whether it held in any schedule.
        is_exhausted: whether every schedule within the bound was executed.
    """

    schedules: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    found: list[FailingSchedule] = field(default_factory=list)
    unshrunk: list[TrialFailure] = field(default_factory=list)
    reached: dict[str, bool] = field(default_factory=dict)
    is_exhausted: bool = False

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "schedules": self.schedules,
            "outcomes": len(self.outcomes),
            "found": [each.to_json() for each in self.found],
            "unshrunk": [each.to_json() for each in self.unshrunk],
            "unreached": sorted(name for name, holds in self.reached.items() if not holds),
            "exhausted": self.is_exhausted,
        }

    def count(self, trial: ScheduleTrial) -> None:
        """Count a trial."""
        self.schedules += 1
        self.outcomes[trial.outcome] += 1
        for name, holds in trial.reached.items():
            self.reached[name] = self.reached.get(name, False) or holds

    def knows(self, failure: TrialFailure) -> bool:
        """Return whether a failure of this kind was met before."""
        return any(failure.is_like(each.failure) for each in self.found) or any(
            failure.is_like(each) for each in self.unshrunk
        )


def search(
    run: Run,
    trace: Trace,
    order: Order,
    seed: Seed,
    schedules: int,
    *,
    kinds: Collection[str] = (),
    goes_on: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Findings:
    """Execute a program under schedules of a strategy, until one fails or the number is reached.

    The first schedule, and every one of a search that can be exhausted, is without faults.

    Args:
        run: executes it fast.
        trace: executes it and keeps the steps.
        order: the strategy; its other fields do not matter.
        seed: of the schedules.
        schedules: at most so many, at least 1.
        kinds: of faults that may happen.
        goes_on: whether the search goes on behind a failure, for others.
        progress: called with the number of executed schedules.
    """
    findings, steps = Findings(), 0
    bounded, is_bounded = DelayBounded(DELAYS), order.strategy == "delay-bounded"
    for number in range(schedules):

        def make(number: int = number, steps: int = steps) -> Strategy:
            if is_bounded:
                return bounded.copy()
            if number == 0:
                return Fifo()
            return make_strategy(order.strategy, seed, number, steps)

        def choose_faults(number: int = number, steps: int = steps) -> FaultChoice | None:
            is_free = kinds and number > 0 and not is_bounded
            return RandomFaults(seed, number, steps, kinds) if is_free else None

        if number > 0 and (order.strategy == "fifo" or (is_bounded and not bounded.go_on())):
            findings.is_exhausted = True
            break
        trial = run(bounded if is_bounded else make(), choose_faults())
        steps = steps or trial.steps
        findings.count(trial)
        progress(findings.schedules)
        if trial.failure is not None and not findings.knows(trial.failure):
            traced = Schedule(make(), keeps_steps=True, faults=choose_faults())
            _examine(findings, trace, traced, number, trial.failure)
            if findings.found and not goes_on:
                break
    return findings


def _examine(
    findings: Findings, trace: Trace, traced: Schedule, number: int, failure: TrialFailure
) -> None:
    """Trace a failing schedule and shrink it.

    Faults that fail in FIFO order need no other one. Else the faults are shrunk under the whole order, then the order, then
    faults that only the order needed.
    """
    runs = 0

    def fails(after: Mapping[str, str], faults: Collection[str]) -> bool:
        nonlocal runs
        runs += 1
        return failure.is_like(trace(Schedule(after=after, faults=follow(faults))).failure)

    def drop_faults(after: Mapping[str, str], faults: list[str]) -> list[str]:
        for one in _list_single_faults(faults):
            if fails(after, [one]):
                return [one]
        for key in list(faults):
            others = [each for each in faults if each != key]
            if fails(after, others):
                faults = others
        return faults

    shrunk = None
    faults: list[str] = []
    if failure.is_like(trace(traced).failure):
        faults = [each.key for each in traced.struck]
        if faults and fails({}, faults):
            faults = drop_faults({}, faults)
            shrunk = Shrunk({}, runs, is_minimal=True)
        else:
            faults = drop_faults(find_constraints(traced.steps), faults)
            shrunk = shrink(traced.steps, lambda after: fails(after, faults))
            if shrunk is not None:
                faults = drop_faults(shrunk.after, faults)
    final = Schedule(after=shrunk.after if shrunk else {}, keeps_steps=True, faults=follow(faults))
    again = None if shrunk is None else trace(final).failure
    if shrunk is None or again is None or not failure.is_like(again):
        findings.unshrunk.append(failure)
        return
    places, names = locate_steps(final.steps), {step.key: step.place_key for step in final.steps}
    after = {names.get(key, key): names.get(each, each) for key, each in shrunk.after.items()}
    findings.found.append(
        FailingSchedule(
            again,  # a traced one knows who holds which lock
            number,
            Order(
                "fifo", after=after if fails(after, faults) else shrunk.after, faults=tuple(faults)
            ),
            locate_orderings(shrunk.after, final.steps),
            [locate_fault(each, places) for each in final.struck],
            runs + 2,  # the first, and the last
            shrunk.is_minimal,
        )
    )


def _list_single_faults(faults: Sequence[str]) -> list[str]:
    """Return faults that may do alone what several do: each of them, and neighbours of a point.

    Where an earlier one does not strike, the program may ask more or less often before the one that matters.
    """
    found = dict.fromkeys(faults if len(faults) > 1 else ())
    for key in list(found):
        point, mark, number = key.rpartition("?")
        near = range(max(0, int(number) - _NEAR), int(number) + _NEAR + 1) if mark else ()
        found |= dict.fromkeys(f"{point}?{each}" for each in near)
    return list(found)
