"""Which of several ready steps is next.

``fifo`` is the order of ``asyncio`` itself. ``random`` picks each with the same probability. ``pct`` gives each
actor a priority and lowers it at a few random steps: it finds an error that needs d orderings among k steps of
n actors with a probability of at least 1/(n k^(d-1)) in each schedule (Burckhardt et al., A Randomized Scheduler
with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010). ``delay-bounded`` goes through all schedules that
leave FIFO at most a few times (Emmi et al., Delay-Bounded Scheduling, POPL 2011).

Invariant: a pick follows from the numbers of ready steps and the earlier picks alone, so that a schedule is a
function of its strategy.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from twice.foundation.seeds import Seed, derive

if TYPE_CHECKING:
    from asyncio.events import Handle


_FAIR_FROM_LENGTHS = 10
_SHORT_STEPS = 100


class Strategy(Protocol):
    """Picks one of at least two ready steps, by its place."""

    def pick(self, ready: Sequence[Handle], /) -> int:
        """Return the place of the next step, from 0."""


class Fifo:
    """Takes steps in the order in which they became ready."""

    def pick(self, ready: Sequence[Handle], /) -> int:
        """Return 0."""
        del ready
        return 0


class RandomPicks:
    """Takes each ready step with the same probability."""

    def __init__(self, seed: Seed) -> None:
        self._random = random.Random(seed.value).random  # noqa: S311  (an order, not a secret)

    def pick(self, ready: Sequence[Handle], /) -> int:
        """Draw a place."""
        return int(self._random() * len(ready))


def _find_task_number(handle: Any) -> int:
    task = getattr(handle._callback, "__self__", None)
    return getattr(task, "number", 0)


class PriorityPicks:
    """Takes the step of the task with the highest priority; priorities are random and change at a few steps.

    A callback that belongs to no task has another priority at each pick. Far behind the end that was expected, each
    step has the same probability: a task that goes round until another one has run would go round for ever.

    Args:
        seed: of the priorities and of the steps at which they change.
        depth: orderings that an error may need, from 1.
        steps: how many picks a schedule has, about.
    """

    def __init__(self, seed: Seed, depth: int, steps: int) -> None:
        self._random = random.Random(seed.value)  # noqa: S311
        self._changes = {self._random.randrange(max(steps, 1)) for _ in range(depth - 1)}
        self._priorities: dict[int, float] = {}
        self._picks = 0
        self._fair_from = _FAIR_FROM_LENGTHS * max(steps, _SHORT_STEPS)

    def pick(self, ready: Sequence[Handle], /) -> int:
        """Return the place of the first step with the highest priority."""
        if self._picks >= self._fair_from:
            return int(self._random.random() * len(ready))
        tasks = [_find_task_number(each) for each in ready]
        priorities = [self._find_priority(task) for task in tasks]
        place = priorities.index(max(priorities))
        if self._picks in self._changes:
            # Below every other one, and below what earlier changes set.
            priorities[place] = self._priorities[tasks[place]] = 1 / (2 + self._picks)
            place = priorities.index(max(priorities))
        self._picks += 1
        return place

    def _find_priority(self, task: int) -> float:
        if not task:
            return 1 + self._random.random()
        if task not in self._priorities:
            self._priorities[task] = 1 + self._random.random()
        return self._priorities[task]


class DelayBounded:
    """Goes through all schedules that pass over at most a number of ready steps, one after the other.

    To pick the step at place k passes over k steps.
    """

    def __init__(self, delays: int) -> None:
        self._delays = delays
        self._choices: list[int] = []
        self._bounds: list[int] = []
        self._position = self._spent = 0

    def pick(self, ready: Sequence[Handle], /) -> int:
        """Return the place that this schedule has here; 0 beyond those that were varied."""
        if self._position == len(self._choices):
            self._choices.append(0)
            self._bounds.append(0)
        place = self._choices[self._position]
        self._bounds[self._position] = min(len(ready) - 1, self._delays - self._spent)
        self._position += 1
        self._spent += place
        return min(place, len(ready) - 1)

    def copy(self) -> DelayBounded:
        """Return a strategy that executes the last schedule again."""
        again = DelayBounded(self._delays)
        again._choices, again._bounds = self._choices[: self._position], [0] * self._position
        return again

    def go_on(self) -> bool:
        """Turn to the next schedule; False when all were executed."""
        del self._choices[self._position :], self._bounds[self._position :]
        while self._choices and self._choices[-1] >= self._bounds[-1]:
            del self._choices[-1], self._bounds[-1]
        self._position = self._spent = 0
        if not self._choices:
            return False
        self._choices[-1] += 1
        return True


class FollowedOrder:
    """Takes the ready step that is the first in an order of keys; steps that are not in it come last.

    For loops whose steps have keys.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._places = {key: number for number, key in enumerate(keys)}

    def pick(self, ready: Sequence[Any], /) -> int:
        """Return the place of the step that is the first in the order."""
        last = len(self._places)
        places = [self._places.get(each.key, last) for each in ready]
        return places.index(min(places))


_PCT_DEPTHS = (2, 3, 4)


def make_strategy(name: str, seed: Seed, number: int, steps: int) -> Strategy:
    """Make the strategy of one schedule.

    Args:
        name: of ``order.STRATEGIES``; ``portfolio`` takes ``random`` and ``pct`` in turn.
        seed: of the run.
        number: of the schedule, from 0.
        steps: how many steps the program has, about.
    """
    if name in {"fifo", "delay-bounded"}:
        return Fifo()
    own = derive(_derive_base(seed), str(number))
    if name == "random" or (name == "portfolio" and number % 2 == 0):
        return RandomPicks(own)
    return PriorityPicks(own, _PCT_DEPTHS[number // 2 % len(_PCT_DEPTHS)], steps)


@lru_cache(maxsize=1)
def _derive_base(seed: Seed) -> Seed:
    return derive(seed, "schedule")
