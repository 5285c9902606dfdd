"""The events of both sides, paired, and the frames they stand in.

For: one list of *moments* (an event of side a and the event of side b that is the same moment), in the
order in which side a met them; which frame every event belongs to; and the rule that says what ran
between an event and the next one.

Events are columns throughout: a window may have millions of them.

Not for: state. A moment knows where it stands, not what differs there (``observer``).

Invariant: moments rise on both sides within a lane.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from twice.diagnosis.localization.alignment import Keys, Numbers, align
from twice.diagnosis.localization.function_source import is_coroutine
from twice.diagnosis.tracing.paths import frame_prefix
from twice.diagnosis.tracing.trace import Lane, Position, Trace

_BLOCK = 1 << 14  # events that are looked through at once
_STOP = (1 << 64) - 1
_DEPTH = (1 << 32) - 1
_NONE: Numbers = np.empty(0, np.int32)

_NEAR = 16
"""Events from a statement to the one behind it, where neither calls the user's code."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One event of each side that are taken to be the same.

    Args:
        lane: name of the thread.
        a: index of the event in side a's lane.
        b: index of the event in side b's lane.
    """

    lane: str
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Operation:
    """What ran between one event and the next of its lane.

    Args:
        place: the line that ran; its event is the one before it.
        depth: depth of the frame that ran it, counted from 0 for the outermost; -1 outside user code.
        side: ``a`` or ``b``.
        lane: name of the thread.
        index: index of the event after which it ran.
    """

    place: Position
    depth: int
    side: str
    lane: str
    index: int

    @property
    def prefix(self) -> str:
        """What the locals of its frame begin with."""
        return frame_prefix(self.depth, self.place.function)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Moments by number, kept as columns.

    Args:
        lanes: names of the threads.
        lane: place of each moment's thread in ``lanes``.
        a: index of each moment's event in side a's lane.
        b: index of each moment's event in side b's lane.
    """

    lanes: Sequence[str]
    lane: npt.NDArray[np.unsignedinteger]
    a: Numbers
    b: Numbers

    def __len__(self) -> int:
        return len(self.a)

    def __getitem__(self, number: int) -> Moment:
        return Moment(self.lanes[self.lane[number]], int(self.a[number]), int(self.b[number]))


class Flow:
    """One side's events, lane by lane, with the frame of each event.

    Args:
        side: ``a`` or ``b``.
        trace: the trace of a ``FlowPlan``.
    """

    def __init__(self, side: str, trace: Trace) -> None:
        self.side, self.trace = side, trace
        self.lanes = {lane.name: lane for lane in trace.lanes}
        self._kept: dict[str, npt.NDArray[np.int32]] = {}
        self._resumed: dict[tuple[str, int], list[int]] = {}

    def position(self, lane: str, index: int) -> Position:
        """Where an event stands."""
        return self.trace.positions[self.lanes[lane].places[index]]

    def has(self, lane: str, index: int) -> bool:
        """Whether there is such an event."""
        return lane in self.lanes and 0 <= index < len(self.lanes[lane].places)

    def depth(self, lane: str, index: int) -> int:
        """Depth of the frame on top at an event, from 0; -1 outside user code."""
        return self.lanes[lane].depths[index] - 1

    def back_from(self, lane: str, index: int, depth: int) -> Iterator[int]:
        """Events from one backwards, without those inside of calls that a frame at a depth made."""
        depths = np.asarray(self.lanes[lane].depths)
        for end in range(index + 1, 0, -_BLOCK):
            start = max(0, end - _BLOCK)
            yield from (np.flatnonzero(depths[start:end] <= depth + 1)[::-1] + start).tolist()

    def running_after(self, lane: str, index: int) -> Operation:
        """Return the operation after an event: its line, or the caller's line after a return."""
        at, depth = index, self.depth(lane, index)
        if _is_return(self.position(lane, index)):
            wanted = depth - 1
            # The caller goes on: what it runs is the line that it announced last.
            before = np.flatnonzero(np.asarray(self.lanes[lane].depths)[: index + 1] == depth)
            at = int(before[-1]) if len(before) else -1
            below = self.lanes[lane].below
            if at < 0 and 0 <= wanted < len(below):
                return Operation(
                    self.trace.positions[below[wanted]], wanted, self.side, lane, index
                )
            if at < 0:  # the caller is not user code
                return Operation(self.position(lane, index), depth, self.side, lane, index)
            depth = wanted
        return Operation(self.position(lane, at), depth, self.side, lane, index)

    def stretches(self, lane: str, index: int, depth: int) -> list[tuple[int, int]]:
        """When the frame that stands at ``depth`` at an event was on the stack, ends included."""
        depths = self.lanes[lane].depths
        last = len(depths) - 1
        if not 0 <= depth < depths[index]:
            return [(0, last)]
        starts = np.flatnonzero(self._survivors(lane) <= depth)
        ends = np.append(starts[1:] - 1, last)
        number = int(starts.searchsorted(index, "right")) - 1
        # Without generators a frame that was left never comes again.
        if not self._match(lane, starts, _is_resume).any():
            return [(int(starts[number]), int(ends[number]))]
        stretches = list(zip(starts.tolist(), ends.tolist(), strict=True))
        frames = self._resumed.get((lane, depth))
        if frames is None:
            frames = self._resumed[lane, depth] = self._frames(lane, depth, stretches)
        return [each for each, of in zip(stretches, frames, strict=True) if of == frames[number]]

    def find_next(self, lane: str, index: int, line: int) -> int | None:
        """Return the next event of a frame at a line, where the statement stands right behind; None otherwise."""
        depth = self.depth(lane, index)
        for later in range(index + 1, min(index + _NEAR, len(self.lanes[lane].places))):
            if self.position(lane, later).line == line and self.depth(lane, later) == depth:
                return later
        return None

    def returns(
        self, lane: str, depth: int, first: int, last: int, function: str | tuple[str, ...] = ""
    ) -> npt.NDArray[np.int_]:
        """Events of a stretch, ends included, at which a frame at a depth is left.

        Args:
            lane: name of the thread.
            depth: depth of the frame.
            first: index of the first event of the stretch.
            last: index of the last one.
            function: how the qualified name of the frame's function ends, or the ways in which it may.
        """
        within = slice(first, last + 1)
        at_depth = np.asarray(self.lanes[lane].depths)[within] == depth + 1
        left = self._match(
            lane, within, lambda at: _is_return(at) and at.function.endswith(function)
        )
        return np.flatnonzero(at_depth & left) + first

    def list_visited(self, lane: str, first: int, last: int) -> list[tuple[Position, int]]:
        """Where the events of a stretch, ends included, stand, and at which depth; each once."""
        within, held = slice(first, last + 1), self.lanes[lane]
        places, depths = np.asarray(held.places)[within], np.asarray(held.depths)[within]
        found = np.unique(places.astype(np.uint64) << 32 | depths).tolist()
        return [(self.trace.positions[each >> 32], (each & _DEPTH) - 1) for each in found]

    def count(self, lane: str, place: Position, first: int, last: int) -> int:
        """How many events of a stretch, ends included, stand at a place."""
        number = self.trace.positions.index(place)
        return int(
            np.count_nonzero(np.asarray(self.lanes[lane].places)[first : last + 1] == number)
        )

    def _match(
        self, lane: str, where: slice | npt.NDArray[np.int_], test: Callable[[Position], bool]
    ) -> npt.NDArray[np.bool_]:
        """Whether each of some events of a lane stands at a position that passes a test."""
        passing = np.array([test(place) for place in self.trace.positions], bool)
        return np.take(passing, np.asarray(self.lanes[lane].places)[where])

    def _survivors(self, lane: str) -> npt.NDArray[np.int32]:
        """How many of the frames of the event before are still there, per event."""
        known = self._kept.get(lane)
        if known is None:
            depths = np.asarray(self.lanes[lane].depths).astype(np.int32)
            known = depths - self._match(lane, slice(None), _is_entry)
            left = depths[:-1] - self._match(lane, slice(-1), _is_return)
            np.minimum(known[1:], left, out=known[1:])
            known[:1] = 0
            self._kept[lane] = known
        return known

    def _frames(self, lane: str, depth: int, stretches: list[tuple[int, int]]) -> list[int]:
        """Return the frame's number at a depth, per stretch; a stretch may resume an earlier frame.

        Of several frames that wait at one line, nested generators resume the last one first.
        Coroutines resume the first one first, as a loop serves them.
        """
        frames: list[int] = []
        left: dict[tuple[str, str, int], list[int]] = {}
        serves_first = cache(is_coroutine)
        depths = self.lanes[lane].depths
        for number, (start, end) in enumerate(stretches):
            first, last = self.position(lane, start), self.position(lane, end)
            waiting = left.get((first.file, first.function, first.line))
            resumed = _is_resume(first) and depths[start] == depth + 1
            which = 0 if serves_first(first.file, first.function) else -1
            frames.append(waiting.pop(which) if resumed and waiting else number)
            if _is_return(last) and depths[end] == depth + 1:
                left.setdefault((last.file, last.function, last.line), []).append(frames[number])
        return frames


class Moments:
    """Paired events of two flows."""

    def __init__(self, a: Flow, b: Flow) -> None:
        self.a, self.b = a, b
        keys: dict[Position, int] = {}
        rows = [
            (
                lane,
                *align(
                    _keys(lane, a.trace.positions, keys),
                    _keys(b.lanes[name], b.trace.positions, keys),
                    lane.depths,
                ),
            )
            for name, lane in a.lanes.items()
            if name in b.lanes
        ]
        # Threads have no order in common but the one in which side a met their events.
        order = _join(np.asarray(lane.order)[i] for lane, i, _ in rows).argsort(kind="stable")
        lanes = np.arange(len(rows), dtype=np.min_scalar_type(len(rows)))
        self.all = Pairs(
            [lane.name for lane, *_ in rows],
            _join(lanes[[each]].repeat(len(i)) for each, (_, i, _) in enumerate(rows))[order],
            _join(i for _, i, _ in rows)[order],
            _join(j for *_, j in rows)[order],
        )
        self.depths = _join(np.asarray(lane.depths)[i] for lane, i, _ in rows)[order]
        self.numbers = np.arange(len(self.all), dtype=np.int32)
        self._by_lane = {
            name: self.numbers[self.all.lane == each] for each, name in enumerate(self.all.lanes)
        }

    def __len__(self) -> int:
        return len(self.all)

    @property
    def unpaired(self) -> tuple[int, int]:
        """Events of side a, and of side b, that have no counterpart."""
        total = [sum(len(lane.places) for lane in each.lanes.values()) for each in (self.a, self.b)]
        return total[0] - len(self.all), total[1] - len(self.all)

    def at_or_before(self, lane: str, index: int) -> int | None:
        """Return the number of a lane's last moment with its event of side a up to ``index``."""
        numbers = self._by_lane.get(lane, _NONE)
        place = bisect_right(numbers, index, key=self.all.a.__getitem__)
        return int(numbers[place - 1]) if place else None

    def exact(self, lane: str, index: int) -> int | None:
        """Return the number of the moment whose event of side a is this one, or None."""
        number = self.at_or_before(lane, index)
        return None if number is None or self.all.a[number] != index else number

    def at(self, lane: str, events: npt.NDArray[np.int_]) -> Numbers:
        """Numbers of the moments whose event of side a is one of these, which rise."""
        if not len(events):
            return _NONE
        numbers = self.within(lane, [(int(events[0]), int(events[-1]))])
        return np.compress(np.isin(self.all.a[numbers], events), numbers)

    def previous(self, number: int) -> int | None:
        """Return the number of the moment before this one in its own lane, or None."""
        moment = self.all[number]
        return self.at_or_before(moment.lane, moment.a - 1)

    def within(self, lane: str, stretches: list[tuple[int, int]]) -> Numbers:
        """Numbers of the lane's moments whose event of side a lies in one of the stretches."""
        numbers, event = self._by_lane.get(lane, _NONE), self.all.a.__getitem__
        found = [
            numbers[bisect_left(numbers, start, key=event) : bisect_right(numbers, end, key=event)]
            for start, end in stretches
        ]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def cheap_flips(self) -> Numbers:
        """Moments at which the small digests begin or cease to differ: good places to look."""
        flips = [_NONE]
        for name, numbers in self._by_lane.items():
            one, two = self.a.lanes[name], self.b.lanes[name]
            i, j = self.all.a[numbers], self.all.b[numbers]
            differs = np.zeros(len(numbers) + 1, bool)
            for column, other in ((one.scalars, two.scalars), (one.streams, two.streams)):
                differs[1:] |= np.asarray(column)[i] != np.asarray(other)[j]
            flips.append(numbers[differs[1:] != differs[:-1]])
        return np.sort(np.concatenate(flips))


def _is_entry(place: Position) -> bool:
    return place.event in {"call", "begin", "resume"}


def _is_resume(place: Position) -> bool:
    return place.event == "resume"


def _is_return(place: Position) -> bool:
    return place.event == "return"


def _keys(lane: Lane, positions: Sequence[Position], keys: dict[Position, int]) -> Keys:
    # One integer per event: its position above, its depth below. Numbers compare faster than pairs.
    numbers = [keys.setdefault(place, len(keys)) << 32 for place in positions]
    held = np.take(np.array(numbers, np.uint64), np.asarray(lane.places))
    held |= np.asarray(lane.depths)
    if len(held) and positions[lane.places[-1]].event == "stop":
        held[-1] = _STOP  # the point that closes the window, wherever a side came to it
    return held


def _join(columns: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """One column after the other; an empty one when there are none."""
    return np.concatenate([np.empty(0, bool), *columns])
