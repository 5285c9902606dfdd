"""The events of both sides, paired, and the frames they stand in.

For: one list of *moments* (an event of side a and the event of side b that is the same moment), in the
order in which side a met them; which frame every event belongs to; and the rule that says what ran
between an event and the next one.

Not for: state. A moment knows where it stands, not what differs there (``observing``).

Invariant: moments rise on both sides within a lane.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from twice.diagnosing.locating.alignment import align
from twice.diagnosing.tracing.trace import Lane, Position, Trace

_STOP = (1 << 64) - 1


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


@dataclass(slots=True)
class _Frame:
    """The stretches of events during which a frame was on its thread's stack, ends included."""

    depth: int
    parent: int
    stretches: list[tuple[int, int]] = field(default_factory=list)


class Flow:
    """One side's events, lane by lane, with the frame of each event.

    Args:
        side: ``a`` or ``b``.
        trace: the trace of a ``FlowPlan``.
    """

    def __init__(self, side: str, trace: Trace) -> None:
        self.side, self.trace = side, trace
        self.lanes = {lane.name: lane for lane in trace.lanes}
        self._frames: dict[str, tuple[array[int], list[_Frame]]] = {}

    def position(self, lane: str, index: int) -> Position:
        """Where an event stands."""
        return self.trace.positions[self.lanes[lane].places[index]]

    def has(self, lane: str, index: int) -> bool:
        """Whether there is such an event."""
        return lane in self.lanes and 0 <= index < len(self.lanes[lane].places)

    def depth(self, lane: str, index: int) -> int:
        """Depth of the frame on top at an event, from 0; -1 outside user code."""
        return self.lanes[lane].depths[index] - 1

    def running_after(self, lane: str, index: int) -> Operation:
        """What runs after an event: the line it announces, or the caller's line after a return."""
        at, depth = index, self.depth(lane, index)
        if self.position(lane, index).event == "return":
            wanted = depth - 1
            while at >= 0 and self.depth(lane, at) != wanted:
                at -= 1
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
        tops, frames = self._read(lane)
        frame = tops[index]
        while frame >= 0 and frames[frame].depth > depth:
            frame = frames[frame].parent
        if frame < 0 or frames[frame].depth != depth:
            return [(0, len(tops) - 1)]
        return frames[frame].stretches

    def same_frame(self, lane: str, first: int, second: int, depth: int) -> bool:
        """Whether the same frame stands at a depth at two events."""
        return any(
            start <= first <= end and start <= second <= end
            for start, end in self.stretches(lane, second, depth)
        )

    def _read(self, lane: str) -> tuple[array[int], list[_Frame]]:
        known = self._frames.get(lane)
        if known is None:
            known = self._frames[lane] = _frames(self.lanes[lane], self.trace.positions)
        return known


def _frames(lane: Lane, positions: Sequence[Position]) -> tuple[array[int], list[_Frame]]:
    """Which frame is on top at every event, and every frame's stretches."""
    last = len(lane.places) - 1
    frames: list[_Frame] = []
    stack: list[int] = []
    left: dict[tuple[str, str, int], list[int]] = {}
    tops = array("l")

    def push(frame: int, index: int) -> None:
        frames[frame].stretches.append((index, last))
        stack.append(frame)

    def pop(index: int) -> int:
        frame = stack.pop()
        frames[frame].stretches[-1] = (frames[frame].stretches[-1][0], index)
        return frame

    for index, (place, height) in enumerate(zip(lane.places, lane.depths, strict=True)):
        position = positions[place]
        entering = position.event in {"call", "begin", "resume"}
        while len(stack) > height - entering:
            pop(index - 1)
        while len(stack) < height - entering:
            frames.append(_Frame(len(stack), stack[-1] if stack else -1))
            push(len(frames) - 1, index)
        if entering:
            waiting = left.get((position.file, position.function, height))
            if position.event == "resume" and waiting:
                frame = waiting.pop()
                frames[frame].parent = stack[-1] if stack else -1
            else:
                frames.append(_Frame(len(stack), stack[-1] if stack else -1))
                frame = len(frames) - 1
            push(frame, index)
        tops.append(stack[-1] if stack else -1)
        if position.event == "return" and stack:
            frame = pop(index)
            left.setdefault((position.file, position.function, height), []).append(frame)
    return tops, frames


class Moments:
    """Paired events of two flows.

    Args:
        a: flow of side a.
        b: flow of side b.
    """

    def __init__(self, a: Flow, b: Flow) -> None:
        self.a, self.b = a, b
        keys: dict[Position, int] = {}
        found: list[tuple[int, Moment]] = []
        for name, lane in a.lanes.items():
            other = b.lanes.get(name)
            if other is not None:
                pairs = align(
                    _keys(lane, a.trace.positions, keys),
                    _keys(other, b.trace.positions, keys),
                    lane.depths,
                )
                found += [(lane.order[i], Moment(name, i, j)) for i, j in pairs]
        found.sort(key=_by_order)
        self.all = [moment for _, moment in found]
        self._by_lane: dict[str, tuple[list[int], list[int]]] = {}
        for number, moment in enumerate(self.all):
            events, numbers = self._by_lane.setdefault(moment.lane, ([], []))
            events.append(moment.a)
            numbers.append(number)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def unpaired(self) -> tuple[int, int]:
        """Events of side a, and of side b, that have no counterpart."""
        total = [sum(len(lane.places) for lane in each.lanes.values()) for each in (self.a, self.b)]
        return total[0] - len(self.all), total[1] - len(self.all)

    def at_or_before(self, lane: str, index: int) -> int | None:
        """Number of the last moment of a lane whose event of side a is not after ``index``."""
        events, numbers = self._by_lane.get(lane, ([], []))
        place = bisect_right(events, index)
        return numbers[place - 1] if place else None

    def at_or_after(self, lane: str, index: int) -> int | None:
        """Number of the first moment of a lane whose event of side a is not before ``index``."""
        events, numbers = self._by_lane.get(lane, ([], []))
        place = bisect_left(events, index)
        return numbers[place] if place < len(numbers) else None

    def previous(self, number: int) -> int | None:
        """Number of the moment before this one in its own lane."""
        moment = self.all[number]
        return self.at_or_before(moment.lane, moment.a - 1)

    def within(self, lane: str, stretches: list[tuple[int, int]]) -> list[int]:
        """Numbers of the lane's moments whose event of side a lies in one of the stretches."""
        events, numbers = self._by_lane.get(lane, ([], []))
        found: list[int] = []
        for start, end in stretches:
            found += numbers[bisect_left(events, start) : bisect_right(events, end)]
        return found

    def cheap_flips(self) -> list[int]:
        """Moments at which the small digests begin or cease to differ: good places to look."""
        flips: list[int] = []
        before: dict[str, bool] = {}
        for number, moment in enumerate(self.all):
            one, two = self.a.lanes[moment.lane], self.b.lanes[moment.lane]
            differs = (
                one.scalars[moment.a] != two.scalars[moment.b]
                or one.streams[moment.a] != two.streams[moment.b]
            )
            if differs != before.get(moment.lane, False):
                flips.append(number)
            before[moment.lane] = differs
        return flips


def same_flow(one: Flow, two: Flow) -> bool:
    """Whether two executions of one side went through the same places, thread by thread."""
    if one.lanes.keys() != two.lanes.keys():
        return False
    keys: dict[Position, int] = {}
    return all(
        _keys(lane, one.trace.positions, keys) == _keys(two.lanes[name], two.trace.positions, keys)
        for name, lane in one.lanes.items()
    )


def _keys(lane: Lane, positions: Sequence[Position], keys: dict[Position, int]) -> array[int]:
    numbers = [keys.setdefault(place, len(keys)) << 32 for place in positions]
    held = array("Q", [numbers[p] | d for p, d in zip(lane.places, lane.depths, strict=True)])
    if held and positions[lane.places[-1]].event == "stop":
        held[-1] = _STOP  # the point that closes the window, wherever a side came to it
    return held


def _by_order(pair: tuple[int, Moment]) -> int:
    return pair[0]
