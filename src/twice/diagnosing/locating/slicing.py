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

from twice.diagnosing.locating.beginnings import Beginning, Beginnings, Goal, statement_start
from twice.diagnosing.locating.callables import DRAW, SEEDING, WORLD
from twice.diagnosing.locating.moments import Moments, Operation
from twice.diagnosing.locating.observing import Observer
from twice.diagnosing.locating.reading_lines import LineFacts, line_facts
from twice.diagnosing.locating.searching import Searcher
from twice.diagnosing.tracing.paths import (
    STREAMS,
    frame_prefix,
    is_local,
    is_returned,
    member_of,
    returned,
    under,
    which,
)
from twice.diagnosing.tracing.trace import SAMPLES_MAX, Sample

CONSTRUCTOR = ".__init__"
_WAITING = frozenset(("result", "get", "wait", "as_completed", "join", "recv"))


class Slicer:
    """Finds beginnings, and what they came from.

    Args:
        observer: looks at the state of both sides.
        searcher: carries searches for beginnings to their end.
        moments: the paired events.
    """

    def __init__(self, observer: Observer, searcher: Searcher, moments: Moments) -> None:
        self._observer, self._moments = observer, moments
        self.beginnings = Beginnings(observer, searcher, moments).find

    def causes(self, begun: Beginning) -> list[Goal]:
        """What the operation took its difference from; empty when it is the first."""
        if begun.before_window or self._is_draw(begun):
            return []
        operation = begun.guard or begun.operation
        if operation.depth < 0 or operation.side != "a":
            return []
        start = statement_start(self._moments.a, operation)
        facts = line_facts(operation.place.file, operation.place.line)
        came = self._from_calls(operation, start)
        came = came or self._from_making(begun, operation, start, facts)
        read = self._from_reads(operation, start, facts, begun.moment)
        if not came and not read:
            came = self._from_threads(operation, start, facts, begun.moment)
        return [
            goal for goal in (*came, *read) if goal.path != begun.path or is_returned(goal.path)
        ]

    def _is_draw(self, begun: Beginning) -> bool:
        """Whether a draw that one side did not make, or made longer, is where a stream's position parts.

        Then the draw is the operation: not its guard, and not what decided how much it draws. Taking a
        child seed moves what later children get, like a draw does.
        """
        one_sided = begun.guard is not None and begun.guard is not begun.operation
        if not one_sided and begun.path != STREAMS:
            return False
        facts = line_facts(begun.operation.place.file, begun.operation.place.line)
        return facts is not None and not {DRAW, SEEDING}.isdisjoint(facts.tags)

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

    def _from_making(
        self, begun: Beginning, operation: Operation, start: int, facts: LineFacts | None
    ) -> list[Goal]:
        """The members of an object that the statement made, in the frame that made it.

        A constructor returns nothing, and what it made has another path once it is bound or tracked.
        At its return the new object hangs on the constructor's own locals, and on nothing older.
        Only a member of the same name is sure to be what differs; any other will do where the
        statement reads nothing else from the world.
        """
        flow, lane, depth = self._moments.a, operation.lane, operation.depth + 1
        numbers = [
            number
            for index in range(start + 1, operation.index + 1)
            if flow.depth(lane, index) == depth
            and flow.position(lane, index).event == "return"
            and flow.position(lane, index).function.endswith(CONSTRUCTOR)
            and (number := self._exact(lane, index)) is not None
        ][-SAMPLES_MAX:]
        self._observer.look(numbers)
        other: list[Goal] = []
        for number in numbers:
            position = flow.position(lane, self._moments.all[number].a)
            prefix = frame_prefix(depth, position.function)
            for path in sorted(self._observer.differing(number) or ()):
                member = member_of(path) if path.startswith(prefix) else ""
                if member and begun.path.endswith(member):
                    return [Goal(path, number)]
                if member:
                    other.append(Goal(path, number))
        return [] if facts is None or WORLD & set(facts.tags) else other

    def _from_threads(
        self, operation: Operation, start: int, facts: LineFacts | None, until: int
    ) -> list[Goal]:
        """What the outermost functions of other threads returned meanwhile, or had returned before."""
        flow, begin = self._moments.a, self._exact(operation.lane, start)
        if facts is None or begin is None or len(flow.lanes) < 2:
            return []
        waits = any(call.rpartition(".")[2] in _WAITING for call in facts.calls)
        numbers = [
            number
            for number in range(0 if waits else begin, until)
            if (moment := self._moments.all[number]).lane != operation.lane
            and flow.depth(moment.lane, moment.a) == 0
            and flow.position(moment.lane, moment.a).event == "return"
        ][-SAMPLES_MAX:]
        self._observer.look(numbers)
        for number in numbers:
            moment = self._moments.all[number]
            path = returned(0, flow.position(moment.lane, moment.a).function)
            if self._observer.differs(number, path):
                return [Goal(path, number)]
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
            holder, _ = resolve(name.partition(".")[0], prefix, sample)
            if holder is not None and which(holder) in differing:
                found[which(holder)] = None
            owner, whole = resolve(name, prefix, sample)
            if owner is None or (called and not whole):
                continue
            for path in sorted(differing):
                if under(path, owner) and not (called and path != owner):
                    found[path] = None
        if not called:  # what it changed, it may have read: a stream's position
            after = self._moments.all[until]
            moved = self._observer.changed("a", (moment.lane, moment.a), (after.lane, after.a))
            for path in sorted(differing & moved):
                if not is_local(path):
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
