"""Follows a difference back to the operation that brought it in.

For: a path that differs at some moment began to differ at one operation. If nothing that this operation
read differed when it began, it is guilty. Otherwise the difference came in through what it read: a
local, an attribute, the value that a called function returned; and the search goes on there.

This is what separates a guilty line from an innocent difference that stays alive beside it: a list made
from a set and never read again is not on the way back from the tracked state.

Where only one side ran the operation, the branch at which the flows parted is asked instead: if what
the branch read differed visibly, the way leads on through it.

Tried and rejected: the start of the last run of differences of the *whole* state, alone. It is right
when everything harmless heals, and wrong beside a harmless difference that stays alive. It is kept as a
second opinion (``locating``).

Not for: data that flows where the trace cannot see (a C library's own state, a file).

Invariant: every step leads to an operation that is not later than the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

from twice.diagnosing.moments import Flow, Moment, Moments, Operation
from twice.diagnosing.observing import Observer, Search
from twice.diagnosing.paths import (
    depth_of,
    frame_prefix,
    is_local,
    is_returned,
    returned,
    under,
)
from twice.diagnosing.reading_lines import LineFacts, line_facts
from twice.diagnosing.trace import SAMPLES_MAX, Sample

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


class Slicer:
    """Finds beginnings, and what they came from.

    Args:
        observer: looks at the state of both sides.
        moments: the paired events.
    """

    def __init__(self, observer: Observer, moments: Moments) -> None:
        self._observer, self._moments = observer, moments

    def beginnings(self, goals: list[Goal]) -> list[Beginning]:
        """Where each goal began; all of them are searched together."""
        searches = [self._search(goal) for goal in goals]
        self._observer.run(searches)
        return [self._beginning(search) for search in searches]

    def causes(self, begun: Beginning) -> list[Goal]:
        """What the operation took its difference from; empty when it is the first."""
        if begun.before_window:
            return []
        operation = begun.guard or begun.operation
        if operation.depth < 0 or operation.side != "a":
            return []
        start = self._statement_start(operation)
        facts = line_facts(operation.place.file, operation.place.line)
        came = self._from_calls(operation, start)
        read = self._from_reads(operation, start, facts, begun.moment)
        return [
            goal for goal in (*came, *read) if goal.path != begun.path or is_returned(goal.path)
        ]

    def _search(self, goal: Goal) -> Search:
        if is_returned(goal.path):
            return Search(goal.path, [goal.until], goal.until)
        if not is_local(goal.path):
            return Search(goal.path, range(len(self._moments)), goal.until)
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
            return Beginning(search.path, search.high, common)
        return self._in_gap(search, last, first, common)

    def _where_it_came_in(self, path: str, last: Moment, first: Moment) -> Operation:
        """What both sides ran before a moment; of a bound argument or exception, where that was."""
        flow, lane = self._moments.a, first.lane
        common = flow.running_after(lane, last.a)
        here = flow.position(lane, first.a)
        if here.event == "begin" and is_local(path) and depth_of(path) == flow.depth(lane, first.a):
            return self._made(here.function, lane, last.a) or common
        facts = line_facts(common.place.file, common.place.line)
        if facts is not None and facts.kind == "ExceptHandler" and common.place.event == "line":
            raised = flow.running_after(lane, max(0, self._statement_start(common) - 1))
            if raised.depth == common.depth:
                return raised
        return common

    def _made(self, function: str, lane: str, index: int) -> Operation | None:
        """The last line before an event that called a generator function or made a coroutine."""
        flow, name = self._moments.a, function.rpartition(".")[2]
        for at in range(index, max(-1, index - _BACK_MAX), -1):
            place = flow.position(lane, at)
            facts = line_facts(place.file, place.line) if place.event == "line" else None
            if facts is not None and any(call.rpartition(".")[2] == name for call in facts.calls):
                return flow.running_after(lane, at)
        return None

    def _in_gap(self, search: Search, last: Moment, first: Moment, common: Operation) -> Beginning:
        """The operation lies where the sides went different ways."""
        changed_a = self._changed(self._moments.a, search.path, last.lane, last.a, first.a)
        changed_b = self._changed(self._moments.b, search.path, last.lane, last.b, first.b)
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

    def _changed(self, flow: Flow, path: str, lane: str, low: int, high: int) -> int | None:
        """The last event in a stretch at which one side still held the value of its first event."""
        look, sample = self._observer.look_at, self._observer.sample
        look(flow.side, [(lane, low), (lane, high)])
        at_low, at_high = sample(flow.side, (lane, low)), sample(flow.side, (lane, high))
        if at_low is None or at_high is None:
            return None
        held = at_low.digests.get(path)
        if at_high.digests.get(path) == held:
            return None
        while high - low > 1:
            step = max(1, (high - low) // (SAMPLES_MAX - 2))
            inside = list(range(low + 1, high, step))[:SAMPLES_MAX]
            look(flow.side, [(lane, index) for index in inside])
            same = [index for index in inside if self._holds(flow, path, lane, index, held)]
            new_low = max([low, *same])
            high = min([high, *(index for index in inside if index > new_low)])
            if step == 1 or (new_low == low and high == low + 1):
                return new_low
            low = new_low
        return low

    def _holds(self, flow: Flow, path: str, lane: str, index: int, held: bytes | None) -> bool:
        sample: Sample | None = self._observer.sample(flow.side, (lane, index))
        return sample is not None and sample.digests.get(path) == held

    def _statement_start(self, operation: Operation) -> int:
        """Index of the event at which the statement that ran began."""
        flow, lane, depth = self._moments.a, operation.lane, operation.depth
        facts = line_facts(operation.place.file, operation.place.line)
        start: int | None = None
        for index in range(operation.index, max(-1, operation.index - _BACK_MAX), -1):
            level = flow.depth(lane, index)
            place = flow.position(lane, index)
            if level > depth or (level == depth and place.event == "return"):
                continue  # inside a call
            within = facts is not None and facts.first <= place.line <= facts.last
            if level < depth or (start is not None and not within):
                break
            start = index
            if not within or place.event != "line":
                break
        return operation.index if start is None else start

    def _from_calls(self, operation: Operation, start: int) -> list[Goal]:
        """The first value that came back different from a function that the statement called."""
        flow, lane, depth = self._moments.a, operation.lane, operation.depth + 1
        numbers = [
            number
            for index in range(start + 1, operation.index + 1)
            if flow.depth(lane, index) == depth and flow.position(lane, index).event == "return"
            if (number := self._exact(lane, index)) is not None
        ]
        self._observer.look(numbers[: SAMPLES_MAX // 2] + numbers[-SAMPLES_MAX // 2 :])
        for number in numbers:
            moment = self._moments.all[number]
            path = returned(depth, flow.position(lane, moment.a).function)
            differing = self._observer.differing(number) or ()
            for each in sorted(differing):
                if under(each, path):
                    return [Goal(each, number)]
        return []

    def _from_reads(
        self, operation: Operation, start: int, facts: LineFacts | None, until: int
    ) -> list[Goal]:
        """Paths that the statement reads and that differed when it began."""
        number = self._moments.at_or_before(operation.lane, start)
        if facts is None or number is None:
            return []
        self._observer.look([number])
        differing = self._observer.differing(number)
        moment = self._moments.all[number]
        sample = self._observer.sample("a", (moment.lane, moment.a))
        if not differing or sample is None:
            return []
        prefix = frame_prefix(operation.depth, operation.place.function)
        called = self._called_user_code(operation, start)
        found: dict[str, None] = {}
        for name in facts.reads:
            owner, whole = resolve(name, prefix, sample)
            if owner is None or (called and not whole):
                continue
            for path in sorted(differing):
                if under(path, owner) and not (called and path != owner):
                    found[path] = None
        after = self._moments.all[until]
        later = self._observer.sample("a", (after.lane, after.a))
        if later is not None and not called:
            for path in sorted(differing):  # what it changed, it may have read: a stream's position
                if not is_local(path) and sample.digests.get(path) != later.digests.get(path):
                    found[path] = None
        return [Goal(path, number) for path in found]

    def _called_user_code(self, operation: Operation, start: int) -> bool:
        flow = self._moments.a
        return any(
            flow.depth(operation.lane, index) > operation.depth
            for index in range(start + 1, operation.index + 1)
        )

    def _exact(self, lane: str, index: int) -> int | None:
        number = self._moments.at_or_before(lane, index)
        if number is None or self._moments.all[number].a != index:
            return None
        return number


def resolve(name: str, prefix: str, sample: Sample) -> tuple[str | None, bool]:
    """The path that a dotted name stands for in a frame, as far as paths go.

    Args:
        name: dotted name as written.
        prefix: prefix of the frame's locals.
        sample: state in which the name is looked up.

    Returns:
        The owning path or None, and whether the whole name led to it.
    """
    first, *rest = name.split(".")
    owner: str | None = None
    local = prefix + first
    if local in sample.digests:
        owner = sample.aliases.get(local, local)
    else:
        ending = ":" + first
        owner = next((path for path in sorted(sample.digests) if path.endswith(ending)), None)
        owner = sample.aliases.get(owner, owner) if owner is not None else None
    if owner is None:
        return None, False
    for attribute in rest:
        member = f"{owner}.{attribute}"
        if member not in sample.digests:
            return owner, False
        owner = sample.aliases.get(member, member)
    return owner, True
