"""Looks at the state of both sides at chosen moments.

For: spending executions well. Everything that was seen is kept, and one execution answers for up to
64 events.

What differs between two executions of the *same* side is noise: its path is left out everywhere.

Not for: choosing the moments (``searcher``) or deciding which difference is guilty (``slicer``,
``locate``).

Invariant: a sample whose event does not stand where the flow said is dropped, and counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from twice.diagnosis.localization.alignment import Numbers
from twice.diagnosis.localization.moments import Flow, Moments
from twice.diagnosis.tracing.paths import is_which, plain, under
from twice.diagnosis.tracing.trace import (
    SAMPLES_MAX,
    Plan,
    Point,
    Sample,
    SamplePlan,
    Shown,
    Trace,
)
from twice.foundation.dataclass import dataclass
from twice.worker.concurrency import run_concurrently

TraceCall = Callable[[str, int, Plan], Trace]
Values = dict[str, Shown]
Held = Mapping[str, frozenset[Point]]
EXECUTIONS_MAX = 160
"""Executions of the window after which nothing more is looked at."""
ANY = "*"
"""Asks about the state as a whole: does any path differ?"""


@dataclass(frozen=True, slots=True)
class _Asked:
    """One execution that samples."""

    side: str
    repeat: int
    points: tuple[Point, ...]
    show: tuple[str, ...] = ()

    def call(self) -> tuple[str, int, Plan]:
        return self.side, self.repeat, SamplePlan(self.points, self.show)


class Observer:
    """Samples both sides and keeps what was seen.

    Args:
        trace: executes the window of a side under a plan.
        moments: the paired events.
        repeats: executions per side that are compared with each other for noise; 1 for none.
        insist: how often a moment that agrees is looked at again. For sides that are executions of one
            side that does not reproduce itself: they may agree by chance.
        held: side -> the only events that can be seen, where traces were written down; None where
            the window can be executed again.
    """

    def __init__(
        self,
        trace: TraceCall,
        moments: Moments,
        repeats: int,
        *,
        insist: int = 0,
        held: Held | None = None,
    ) -> None:
        self._trace, self.moments, self._repeats = trace, moments, repeats
        self._insist = insist
        self._held = held
        self._held_numbers = [] if held is None else self._numbers_at(held["a"])
        self._flows: dict[str, Flow] = {"a": moments.a, "b": moments.b}
        self._samples: dict[str, dict[Point, Sample]] = {"a": {}, "b": {}}
        self._lost: set[tuple[str, Point]] = set()
        self.seen: list[int] = []
        self._looked: set[int] = set()
        self._closed: set[int] = set()
        self._paths: dict[int, frozenset[str]] = {}
        self.noise: dict[str, str] = {}  # path -> the side that differs from itself
        self._passing: dict[tuple[str, Point], set[str]] = {}
        self.caveats: dict[str, None] = {}
        self.executions = 0

    def sample(self, side: str, point: Point) -> Sample | None:
        """Return the sample of a side at an event, or None."""
        return self._samples[side].get(point)

    def sample_at(self, number: int) -> Sample | None:
        """Return the sample of side a at a moment, or None."""
        return self.sample("a", self.point("a", number))

    def look(self, numbers: Iterable[int], *, noise: bool = False) -> None:
        """Sees to it that both sides have been sampled at these moments."""
        wanted = list(dict.fromkeys(numbers))
        self._closed.update(wanted)
        self._look_at(
            {side: [self.point(side, number) for number in wanted] for side in ("a", "b")}, noise
        )
        fresh = [each for each in wanted if each not in self._looked and not self.is_lost(each)]
        for attempt in range(1, self._insist + 1):
            agreeing = [number for number in fresh if not self.differing(number)]
            for chunk in _chunks(self.point("b", number) for number in agreeing):
                self._samples["b"].update(self._execute(_Asked("b", attempt, chunk)))
            for number in agreeing:
                self._paths.pop(number, None)
        self._looked.update(fresh)
        self.seen = sorted([*self.seen, *fresh])

    def look_at(self, side: str, points: Iterable[Point], *, noise: bool = False) -> None:
        """Sees to it that a side has been sampled at these events, 64 to an execution."""
        self._look_at({side: points}, noise)

    def _look_at(self, wanted: Mapping[str, Iterable[Point]], noise: bool) -> None:
        """Sample the missing events, in one batch of executions."""
        asked: list[_Asked] = []
        for side, points in wanted.items():
            missing = [
                point
                for point in dict.fromkeys(points)
                if point not in self._samples[side] and (side, point) not in self._lost
            ]
            if self._held is not None:
                unseen = [point for point in missing if point not in self._held[side]]
                self._lost.update((side, point) for point in unseen)
                missing = [point for point in missing if point in self._held[side]]
            asked += [
                _Asked(side, repeat, chunk)
                for chunk in _chunks(missing)
                for repeat in range(self._repeats if noise else 1)
            ]
        for each, found in zip(asked, self._execute_all(asked), strict=True):
            if each.repeat:
                self._note_noise(each.side, found)
            else:
                self._samples[each.side].update(found)
                self._lost.update((each.side, point) for point in each.points if point not in found)

    def changed(self, side: str, before: Point, after: Point) -> frozenset[str]:
        """Paths whose value was another at the later of two events of one side.

        A side that does not reproduce itself holds other values in every execution, so there both
        events are seen in one.
        """
        seen = self._samples[side]
        if self._insist:
            seen = self._execute(_Asked(side, 0, (before, after)))
        one, two = seen.get(before), seen.get(after)
        return frozenset() if one is None or two is None else frozenset(_apart(one, two))

    def check_noise(self, numbers: Iterable[int]) -> bool:
        """Compare each side with itself at these moments; return whether new noise appeared."""
        before = len(self.noise)
        around = list(numbers)
        asked = [
            _Asked(side, repeat, chunk)
            for side in ("a", "b")
            for chunk in _chunks(dict.fromkeys(self.point(side, number) for number in around))
            for repeat in range(1, self._repeats)
        ]
        for each, found in zip(asked, self._execute_all(asked), strict=True):
            self._note_noise(each.side, found)
        return len(self.noise) > before

    def show(self, points: Mapping[str, Point], paths: tuple[str, ...]) -> dict[str, Values]:
        """Values at one event of each side, as a report needs them, by side."""
        asked = [_Asked(side, 0, (point,), paths) for side, point in points.items()]
        shown: dict[str, Values] = {}
        for each, found in zip(asked, self._execute_all(asked), strict=True):
            sample = found.get(each.points[0])
            shown[each.side] = {} if sample is None else dict(sample.shown)
        return shown

    def differing(self, number: int) -> frozenset[str] | None:
        """Paths that differ at a moment, noise left out; None when it was not or cannot be seen."""
        known = self._paths.get(number)
        if known is not None:
            return known
        a, b = (self.sample(side, self.point(side, number)) for side in ("a", "b"))
        if a is None or b is None:
            return None
        passing = self._find_passing(number)
        self._paths[number] = frozenset(
            path for path in _apart(a, b) if path not in self.noise and path not in passing
        )
        return self._paths[number]

    def last_seen(self, before: int) -> int | None:
        """Return the last moment before one at which both sides have samples, or None."""
        place = bisect_left(self.seen, before)
        return self.seen[place - 1] if place else None

    def list_opaque(self, owner: str, sample: Sample) -> list[str]:
        """Caveats on what stands at a path, or hangs on it, and could not be looked into."""
        reached = {path for path in sample.digests if under(path, owner)}
        reached |= {path for each in list(reached) for path in sample.references.get(each, ())}
        told = (caveat.partition(": ") for caveat in self.caveats if ": " in caveat)
        return [f"{plain(path)}: {what}" for path, _, what in told if path in reached]

    def masked(self, number: int) -> list[str]:
        """Paths that differ at a moment and are left out because they differ within a side too."""
        a, b = (self.sample(side, self.point(side, number)) for side in ("a", "b"))
        return [] if a is None or b is None else sorted(set(_apart(a, b)) & self.noise.keys())

    def differs(self, number: int, path: str) -> bool | None:
        """Whether a path differs at a moment; None when that is not known, or differs within a side in passing."""
        paths = self.differing(number)
        if paths is None or (path not in paths and path in self._find_passing(number)):
            return None
        return bool(paths) if path == ANY else path in paths

    def _find_passing(self, number: int) -> set[str]:
        """Paths that another thread had changed already, or not yet, when a side was executed again."""
        if not self._passing:
            return set()
        points = ((side, self.point(side, number)) for side in ("a", "b"))
        return set[str]().union(*(self._passing.get(each, ()) for each in points))

    def _execute(self, asked: _Asked) -> dict[Point, Sample]:
        return self._execute_all([asked])[0]

    def _execute_all(self, asked: Sequence[_Asked]) -> list[dict[Point, Sample]]:
        """Return the samples of some executions that do not depend on each other."""
        # What nobody could look at is told as a caveat, and is no agreement.
        allowed = asked[: max(0, EXECUTIONS_MAX - self.executions)]
        if len(allowed) < len(asked):
            self.caveats["the search ended at its bound of executions; it may go on"] = None
        self.executions += len(allowed)
        traces = run_concurrently([partial(self._trace, *each.call()) for each in allowed])
        seen = [self._seen_in(each, trace) for each, trace in zip(allowed, traces, strict=True)]
        return seen + [{} for _ in asked[len(allowed) :]]

    def _seen_in(self, asked: _Asked, trace: Trace) -> dict[Point, Sample]:
        for caveat in trace.caveats:
            self.caveats[caveat] = None
        flow = self._flows[asked.side]
        found = {
            (sample.lane, sample.index): sample
            for sample in trace.samples
            if flow.has(sample.lane, sample.index)
            and sample.position == flow.position(sample.lane, sample.index)
        }
        if len(found) < len(asked.points) and self._held is None:
            self.caveats[
                f"side {asked.side}: some events did not come again at the same place when it was"
                " re-executed"
            ] = None
        return found

    def _note_noise(self, side: str, again: Mapping[Point, Sample]) -> None:
        for point, sample in again.items():
            first = self._samples[side].get(point)
            if first is not None and (apart := _apart(first, sample)):
                # With threads, a path may differ within a side in passing, because an event of one
                # thread meets the other at another moment; what agrees at the end is no noise.
                if len(self.moments.a.lanes) < 2 or point == self.point(
                    side, len(self.moments) - 1
                ):
                    self.noise = {**dict.fromkeys(apart, side), **self.noise}
                self._passing.setdefault((side, point), set()).update(apart)
                self._paths.clear()

    def point(self, side: str, number: int) -> Point:
        """Return the event of a side at a moment."""
        moment = self.moments.all[number]
        return moment.lane, moment.a if side == "a" else moment.b

    def are_lost(self, numbers: Numbers) -> bool:
        """Whether all of the moments were looked for and cannot be seen."""
        if self._held is None and len(numbers) > len(self._lost):
            return False
        return all(map(self.is_lost, self._select_held(numbers).tolist()))

    def select_unseen(self, numbers: Numbers) -> Numbers:
        """Those of the moments that were not looked at, and can be."""
        held = self._select_held(numbers)
        unseen = held[np.isin(held, list(self._closed), invert=True)]
        if self._held is None:
            return unseen
        return unseen[[not self.is_lost(number) for number in unseen.tolist()]]

    def list_sampled(self, numbers: Numbers) -> list[int]:
        """Those of the moments at which side a was sampled."""
        sampled = self._numbers_at(self._samples["a"])
        return [
            number for number, held in zip(sampled, np.isin(sampled, numbers), strict=True) if held
        ]

    def _select_held(self, numbers: Numbers) -> Numbers:
        return numbers if self._held is None else numbers[np.isin(numbers, self._held_numbers)]

    def _numbers_at(self, points: Iterable[Point]) -> list[int]:
        """Moments whose event of side a is one of the points, rising."""
        found = (self.moments.exact(lane, index) for lane, index in points)
        return sorted({number for number in found if number is not None})

    def is_lost(self, number: int) -> bool:
        """Whether a moment was looked for and cannot be seen."""
        points = [(side, self.point(side, number)) for side in ("a", "b")]
        if self._held is not None and any(at not in self._held[side] for side, at in points):
            return True
        return any(each in self._lost for each in points)


def _chunks(points: Iterable[Point]) -> list[tuple[Point, ...]]:
    """Split the points into one chunk for each execution."""
    held = tuple(points)
    return [held[start : start + SAMPLES_MAX] for start in range(0, len(held), SAMPLES_MAX)]


def _apart(one: Sample, two: Sample) -> list[str]:
    paths = dict.fromkeys((*one.digests, *two.digests))
    return [
        path
        for path in paths
        if one.digests.get(path) != two.digests.get(path)
        and (not is_which(path) or _can_be_compared(path, one, two))
    ]


def _can_be_compared(path: str, one: Sample, two: Sample) -> bool:
    """Places under a root mean the same on both sides only where the root agrees."""
    root = one.aliases.get(path, "")
    return root == two.aliases.get(path) and one.digests.get(root) == two.digests.get(root)
