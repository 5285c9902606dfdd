"""From a schedule that fails to the few orders of steps that make it fail.

A failing schedule becomes constraints, under which FIFO order makes the same steps. Those that are not needed are
taken out: first all behind the last needed one, then halves, quarters and so on (Zeller and Hildebrandt, Simplifying
and Isolating Failure-Inducing Input, TSE 2002). In the end each one left is needed: without it the failure is gone.

Invariant: constraints that are returned failed in the same way when they were last tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from twice.simulation.faults import StruckFault
from twice.simulation.trace import TracedStep, find_constraints
from twice.simulation.waits import SourceLine

Constraints = Mapping[str, str]
Fails = Callable[[Constraints], bool]
_RUNS_MAX = 2000
_NETWORK_STEPS = {
    "SimulatedTransport.begin": "accepting a connection",
    "SimulatedTransport._deliver": "an arrival of data",
    "SimulatedTransport._tell_lost": "the end of a connection",
}
"""In words: the callbacks of the network in memory, of which a program knows nothing."""


@dataclass(frozen=True, slots=True)
class StepPlace:
    """A step as people find it: who makes it, and where in the source it goes on."""

    actor: str
    place: SourceLine | None
    callback: str = ""  # that the actor has scheduled; empty for a part of its own

    @property
    def name(self) -> str:
        """The function that its actor runs."""
        return self.actor.rpartition("/")[2].partition(":")[0] or "the program"

    def __str__(self) -> str:
        parent = self.actor.rpartition("/")[0].rpartition("/")[2].partition(":")[0]
        # A task whose function is a library's has no line of the program: who has started it says more.
        place = f" {self.place}" if self.place else parent and f" of {parent}"
        if self.callback in _NETWORK_STEPS:
            return f"{_NETWORK_STEPS[self.callback]} of {self.name}(){place}"
        if self.callback:
            return f"{self.callback}() that {self.actor.rpartition('/')[2] or self.name}{place} has scheduled"
        return f"{self.name}(){place}"

    def to_json(self) -> dict[str, object]:
        """Return it as a report shows it."""
        place = self.place
        return {
            "actor": self.actor,
            "file": None if place is None else place.file,
            "line": None if place is None else place.line,
        }


@dataclass(frozen=True, slots=True)
class Ordering:
    """A constraint in the words of the source: one step before another."""

    first: StepPlace
    then: StepPlace

    def __str__(self) -> str:
        # Two tasks of one function: the line alone would not say which.
        is_one = self.first.actor == self.then.actor
        return self.describe(names_tasks=not is_one and self.first.name == self.then.name)

    def describe(self, *, names_tasks: bool) -> str:
        """Say it in words, on request with the lineage of each task."""
        if names_tasks:
            return f"{self.first} of {self.first.actor} ran before {self.then} of {self.then.actor}"
        return f"{self.first} ran before {self.then}"

    def to_json(self) -> dict[str, object]:
        """Return it as a report shows it."""
        return {"first": self.first.to_json(), "then": self.then.to_json()}


def describe_orderings(orderings: Sequence[Ordering]) -> list[str]:
    """Say each in words: what would read the same names its tasks, and is said once if it is of one task."""
    counts = Counter(map(str, orderings))
    texts = Counter(
        str(each) if counts[str(each)] == 1 else each.describe(names_tasks=True)
        for each in orderings
    )
    return [text if count == 1 else f"{text}, {count} times" for text, count in texts.items()]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The constraints that are left.

    Attributes:
        after: of a step's key, the key of the step before it.
        runs: how many executions it took.
        is_minimal: whether each constraint was seen to be needed.
    """

    after: Constraints
    runs: int
    is_minimal: bool


def shrink(steps: Sequence[TracedStep], fails: Fails) -> Shrunk | None:
    """Find constraints that are needed for a failure.

    Args:
        steps: of the failing execution.
        fails: executes the program under constraints in FIFO order, and says whether it fails in the same way.

    Returns:
        None if all constraints together do not make it fail again.
    """
    every = find_constraints(steps)
    keys, runs = list(every), 0

    def try_keys(kept: Sequence[str]) -> bool:
        nonlocal runs
        runs += 1
        return fails({key: every[key] for key in kept})

    if try_keys([]):
        return Shrunk({}, runs, is_minimal=True)
    if not try_keys(keys):
        return None
    # Behind the failure nothing is needed, and few things right before it.
    low, high = 0, len(keys)
    while low < high and runs < _RUNS_MAX:
        middle = (low + high) // 2
        if try_keys(keys[:middle]):
            high = middle
        else:
            low = middle + 1
    if high < len(keys):
        keys = keys[:high]
    parts = 2
    while len(keys) > 1 and runs < _RUNS_MAX:
        size = -(-len(keys) // parts)
        for begin in range(0, len(keys), size):
            rest = keys[:begin] + keys[begin + size :]
            if try_keys(rest):
                keys, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(keys), parts * 2)
    after = {key: every[key] for key in keys}
    for later, earlier in list(after.items()):
        # A callback that a task has scheduled says less than the step of the task before it.
        step = _find_step_before(earlier, steps)
        if step is not None and runs < _RUNS_MAX:
            runs += 1
            if fails({**after, later: step}):
                after[later] = step
    for later, earlier in list(after.items()):
        step = _find_step_after(later, steps)
        if step is not None and step not in after and runs < _RUNS_MAX:
            runs += 1
            others = {key: each for key, each in after.items() if key != later}
            if fails({**others, step: earlier}):
                after = {**others, step: earlier}
    if after != {key: every[key] for key in keys}:
        place = 0  # one that was put in other words may say what another one says
        while place < len(after) > 1 and runs < _RUNS_MAX:
            others = {key: after[key] for n, key in enumerate(after) if n != place}
            runs += 1
            after, place = (others, 0) if fails(others) else (after, place + 1)
    return Shrunk(after, runs, is_minimal=runs < _RUNS_MAX)


def _find_step_before(key: str, steps: Sequence[TracedStep]) -> str | None:
    """Return the last step of its task before a callback; None for a step of a task."""
    if "!" not in key:
        return None
    begin, found = f"{_find_actor(key)}#", None
    for step in steps:
        if step.key == key:
            break
        if step.key.startswith(begin):
            found = step.key
    return found


def _find_step_after(key: str, steps: Sequence[TracedStep]) -> str | None:
    """Return the first step of its task behind a callback; None for a step of a task."""
    if "!" not in key:
        return None
    keys = [step.key for step in steps]
    begin = f"{_find_actor(key)}#"
    return next((each for each in keys[keys.index(key) + 1 :] if each.startswith(begin)), None)


def locate_orderings(after: Constraints, steps: Sequence[TracedStep]) -> list[Ordering]:
    """Name the steps of constraints by their lines, from an execution under them, in the order of the earlier steps."""
    places = locate_steps(steps)
    when = {key: number for number, key in enumerate(places)}
    return [
        Ordering(*(places.get(key) or _locate(key, None) for key in (earlier, later)))
        for later, earlier in sorted(after.items(), key=lambda pair: when.get(pair[1], 0))
    ]


def locate_steps(steps: Sequence[TracedStep]) -> dict[str, StepPlace]:
    """Return each step of an execution by its key, as people find it; one without a line is at its task's last one."""
    places = {}
    last: dict[str, SourceLine | None] = {}
    for step in steps:
        actor = _find_actor(step.key)
        last[actor] = step.place or last.get(actor)
        places[step.key] = _locate(step.key, last[actor])
    return places


def locate_fault(fault: StruckFault, places: Mapping[str, StepPlace]) -> StruckFault:
    """Place a fault that followed a step without a line at the last line of its task."""
    step = places.get(fault.key.rpartition("@")[2])
    return fault if fault.place or step is None else fault._replace(place=step.place)


def _find_actor(key: str) -> str:
    """Return the actor of a step's key: ``main/deposit`` of ``main/deposit#3`` and ``main/deposit!put#0``."""
    return key.partition("!")[0].partition("#")[0]


def _locate(key: str, place: SourceLine | None) -> StepPlace:
    return StepPlace(_find_actor(key), place, key.partition("!")[2].partition("#")[0])
