"""Finds where a path begins to differ, and credits it to the line that ran just before.

For: the rules of credit. A difference that is visible at one event and not at the one before was made by
what ran in between. Where the sides went different ways in between, each side is looked at alone.
An argument of a generator or coroutine was bound where that was made, an exception came from where
it was raised, and a value that left through a ``finally`` was made by the return before it.

Not for: what the operation took its difference from (``slicer``).

Invariant: a beginning names an operation that ran before its moment, in the same thread.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from twice.diagnosis.localization.function_source import find_line_that_fills, find_reseeding_line
from twice.diagnosis.localization.moments import Flow, Moment, Moments, Operation
from twice.diagnosis.localization.observer import Observer
from twice.diagnosis.localization.searcher import Search, Searcher
from twice.diagnosis.localization.source_facts import facts_at
from twice.diagnosis.tracing.paths import depth_of, is_local, is_returned
from twice.diagnosis.tracing.trace import SAMPLES_MAX
from twice.foundation.dataclass import dataclass

_BACK_MAX = 4000  # events looked through for the beginning of a statement


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a path begins to differ.

    Args:
        path: the path.
        moment: number of the first moment of the run of differences.
        operation: what ran just before; of side b when only that side ran it.
        other: what side b ran instead, when both sides changed the path in their own ways.
        guard: the last operation that both sides ran, when they then parted and the operation lies
            in the part that is not common.
        before_window: the difference was there at the first moment.
    """

    path: str
    moment: int
    operation: Operation
    other: Operation | None = None
    guard: Operation | None = None
    before_window: bool = False


@dataclass(frozen=True, slots=True)
class Goal:
    """A path that differs at a moment, and the question where that began."""

    path: str
    until: int


class Beginnings:
    """Searches for beginnings, many at a time."""

    def __init__(self, observer: Observer, searcher: Searcher, moments: Moments) -> None:
        self._observer, self._searcher, self._moments = observer, searcher, moments

    def find(self, goals: list[Goal]) -> list[Beginning]:
        """Where each goal began; all of them are searched together."""
        searches = [self._search(goal) for goal in goals]
        self._searcher.run(searches)
        return [self._beginning(search) for search in searches]

    def _search(self, goal: Goal) -> Search:
        # A returned value is there at one event alone, a local as long as its frame is on the stack.
        if is_returned(goal.path):
            only = self._moments.numbers[goal.until : goal.until + 1]
            return Search(goal.path, only, goal.until)
        if not is_local(goal.path):
            return Search(goal.path, self._moments.numbers, goal.until)
        moment = self._moments.all[goal.until]
        stretches = self._moments.a.stretches(moment.lane, moment.a, depth_of(goal.path))
        return Search(goal.path, self._moments.within(moment.lane, stretches), goal.until)

    def _beginning(self, search: Search) -> Beginning:
        first = self._moments.all[search.high]
        before = self._moments.previous(search.high)
        if before is None:
            here = self._moments.a.running_after(first.lane, first.a)
            return Beginning(search.path, search.high, here, before_window=True)
        last = self._moments.all[before]
        common = self._where_it_came_in(search.path, last, first)
        if first.a - last.a == 1 and first.b - last.b == 1:
            return self._on_its_way(Beginning(search.path, search.high, common))
        return self._in_gap(search, last, first, common)

    def _on_its_way(self, begun: Beginning) -> Beginning:
        """Trace a value that left through a ``finally`` to the return before it."""
        flow, operation = self._moments.a, begun.operation
        if not is_returned(begun.path) or operation.place.event != "line":
            return begun
        lane, depth = operation.lane, operation.depth
        for index in range(operation.index, max(-1, operation.index - _BACK_MAX), -1):
            place = flow.position(lane, index)
            if flow.depth(lane, index) < depth or place.event in {"call", "begin"}:
                break
            if flow.depth(lane, index) > depth or place.event != "line":
                continue
            facts = facts_at(place)
            leaves = facts.kind in {"Return", "FunctionDef", "AsyncFunctionDef", "Raise"}
            # A frame that returns after such a statement, or after one that yields, returned by it.
            if index == operation.index and (leaves or facts.yields or not facts.is_known):
                break
            if facts.kind == "Return":
                number = self._moments.at_or_before(lane, index)
                paired = number is not None and self._moments.all[number].a == index
                guard = None
                if number is not None and not paired:
                    guard = flow.running_after(lane, self._moments.all[number].a)
                made = flow.running_after(lane, index)
                return Beginning(begun.path, begun.moment, made, guard=guard)
        return begun

    def _where_it_came_in(self, path: str, last: Moment, first: Moment) -> Operation:
        """Return the last common operation before a moment, or the one that bound the value."""
        flow, lane = self._moments.a, first.lane
        common = flow.running_after(lane, last.a)
        here = flow.position(lane, first.a)
        # Arguments of a generator are bound where it is made, and seen where it is first resumed.
        if here.event == "begin" and is_local(path) and depth_of(path) == flow.depth(lane, first.a):
            return self._made(here.function, lane, last.a) or common
        facts = facts_at(common.place)
        if facts.kind == "ExceptHandler" and common.place.event == "line":
            raised = flow.running_after(lane, max(0, statement_start(flow, common) - 1))
            if raised.depth == common.depth:
                return raised
        return common

    def _made(self, function: str, lane: str, index: int) -> Operation | None:
        """Return the last line before an event that called a generator or made a coroutine."""
        flow, name = self._moments.a, function.rpartition(".")[2]
        for at in range(index, max(-1, index - _BACK_MAX), -1):
            place = flow.position(lane, at)
            calls = facts_at(place).calls if place.event == "line" else ()
            if any(call.rpartition(".")[2] == name for call in calls):
                return flow.running_after(lane, at)
        return None

    def _in_gap(self, search: Search, last: Moment, first: Moment, common: Operation) -> Beginning:
        """Find the operation between two moments where the sides went different ways."""
        low = self._past_common(search.path, last, first)
        changed_a = self._changed(self._moments.a, search.path, last.lane, low.a, first.a)
        changed_b = self._changed(self._moments.b, search.path, last.lane, low.b, first.b)
        # Then what both ran before they parted had changed it already.
        if changed_a == last.a or changed_b == last.b or changed_a is changed_b is None:
            return Beginning(search.path, search.high, common)
        ran_a, ran_b = (
            None if index is None else flow.running_after(last.lane, index)
            for flow, index in ((self._moments.a, changed_a), (self._moments.b, changed_b))
        )
        operation = ran_a or ran_b
        assert operation is not None, "one of the sides changed the path"
        other = ran_b if ran_a is not None else None
        return Beginning(search.path, search.high, operation, other, guard=common)

    def _past_common(self, path: str, last: Moment, first: Moment) -> Moment:
        """Where the part begins that is not common: behind what both ran, if that left the path the same."""
        after = replace(last, a=last.a + 1, b=last.b + 1)
        if after.a > first.a or after.b > first.b:
            return last
        held = []
        for flow, index in ((self._moments.a, after.a), (self._moments.b, after.b)):
            self._observer.look_at(flow.side, [(last.lane, index)])
            sample = self._observer.sample(flow.side, (last.lane, index))
            if sample is None:
                return last
            held.append(sample.digests.get(path))
        return after if held[0] == held[1] else last

    def _changed(self, flow: Flow, path: str, lane: str, low: int, high: int) -> int | None:
        """Return a stretch's last event with the value of its first event, on one side."""
        look, sample = self._observer.look_at, self._observer.sample
        look(flow.side, [(lane, low), (lane, high)])
        at_low, at_high = sample(flow.side, (lane, low)), sample(flow.side, (lane, high))
        if at_low is None or at_high is None:
            return None
        held = at_low.digests.get(path)
        if at_high.digests.get(path) == held:
            return None
        while high - low > 1:
            # One execution answers for as many events as a plan may hold, so it narrows by that many.
            step = max(1, (high - low) // (SAMPLES_MAX - 2))
            inside = list(range(low + 1, high, step))[:SAMPLES_MAX]
            look(flow.side, [(lane, index) for index in inside])
            seen = {index: sample(flow.side, (lane, index)) for index in inside}
            same = [index for index, at in seen.items() if at and at.digests.get(path) == held]
            new_low = max([low, *same])
            high = min([high, *(index for index in inside if index > new_low)])
            if step == 1 or (new_low == low and high == low + 1):
                return new_low
            low = new_low
        return low


def statement_start(flow: Flow, operation: Operation) -> int:
    """Index of the event at which the statement that ran began."""
    lane, depth = operation.lane, operation.depth
    facts = facts_at(operation.place)
    start: int | None = None
    # A statement of several lines has an event for each, in any order.
    for index in islice(flow.back_from(lane, operation.index, depth), _BACK_MAX):
        level, place = flow.depth(lane, index), flow.position(lane, index)
        if level == depth and place.event == "return":
            continue
        within = facts.first <= place.line <= facts.last
        if level < depth or (start is not None and not within):
            break
        start = index
        if not within or place.event != "line":
            break
    return operation.index if start is None else start


def find_filling(flow: Flow, closing: Operation) -> Operation:
    """Return the statement in a ``with`` block whose output the block's end brought to a file, else the block."""
    line = find_line_that_fills(closing.place.file, closing.place.line)
    events = flow.back_from(closing.lane, closing.index, closing.depth) if line else ()
    for index in islice(events, _BACK_MAX):
        place = flow.position(closing.lane, index)
        if place.line == line and place.function == closing.place.function:
            return replace(closing, place=place, index=index)
    return closing


def find_reseeding(flow: Flow, making: Operation) -> Operation | None:
    """Return the statement behind one that made a generator, where it gives that another state."""
    line = find_reseeding_line(making.place.file, making.place.line)
    index = flow.find_next(making.lane, making.index, line) if line else None
    if index is None:
        return None
    return replace(making, place=flow.position(making.lane, index), index=index)
