"""Follows a difference back to the operation that brought it in.

For: a path that differs at some moment began to differ at one operation. If nothing that this operation read differed when it
began, it is guilty. Otherwise the difference came in through what it read: a local, an attribute, the value that a called function
returned; and the search goes on there.

This is what separates a guilty line from an innocent difference that stays alive beside it: a list made
from a set and never read again is not on the way back from the tracked state.

Where only one side ran the operation, the branch at which the flows parted is asked instead: if what the branch read differed visibly,
the way leads on through it.

Tried and rejected: the start of the last run of differences of the *whole* state, alone. It is right when everything harmless heals,
and wrong beside a harmless difference that stays alive. It is kept as a second opinion (``locate``).

Not for: data that flows where the trace cannot see (a C library's own state, a file).

Invariant: every step leads to an operation that is not later than the one before.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

import numpy as np

from twice.diagnosis.localization.beginnings import (
    Beginning,
    Beginnings,
    Goal,
    find_filling,
    find_reseeding,
    statement_start,
)
from twice.diagnosis.localization.callables import DRAW, RESTORING, SEEDING, UNSEEDED, WORLD
from twice.diagnosis.localization.function_source import is_under, share_loop
from twice.diagnosis.localization.moments import Moments, Operation
from twice.diagnosis.localization.names import (
    ITERATED,
    find_references,
    list_names_read,
    resolve,
)
from twice.diagnosis.localization.observer import Observer
from twice.diagnosis.localization.opaque_inputs import Feeding
from twice.diagnosis.localization.searcher import Searcher
from twice.diagnosis.localization.source_facts import LineFacts, facts_at
from twice.diagnosis.tracing.paths import (
    FILES,
    STREAMS,
    depth_of,
    frame_prefix,
    function_of,
    is_local,
    is_returned,
    member_of,
    returned,
    under,
    which,
)
from twice.diagnosis.tracing.trace import SAMPLES_MAX

INITIALIZERS = (".__init__", ".__post_init__", ".__attrs_post_init__", ".model_post_init")
"""How names of functions end that fill a new object; a generated one that calls the last three is no code of the user's."""
_READING = ("open", "read", "load", "next", "list", "parse", "fetch", "get", "import", "from")
"""What stands in the names of functions that read a file."""
_WAITING = frozenset(("result", "get", "wait", "as_completed", "join", "recv"))


class Slicer:
    """Finds beginnings, and what they came from, on both sides of paired events."""

    def __init__(self, observer: Observer, searcher: Searcher, moments: Moments) -> None:
        self._observer, self._moments = observer, moments
        self._feeding = Feeding(observer, moments)
        self.beginnings = Beginnings(observer, searcher, moments).find

    def causes(self, begun: Beginning) -> list[Goal]:
        """List the origins of the operation's difference, none if it is the first."""
        is_one_sided = _is_one_sided(begun)
        is_draw = (is_one_sided or begun.path == STREAMS) and self._is_draw(begun)
        operation = begun.guard or begun.operation
        if begun.before_window or operation.depth < 0 or operation.side != "a":
            return []
        if holders := self._feeding.find_holders(begun.moment, begun.path):
            return holders
        if under(begun.path, FILES):
            operation = find_filling(self._moments.a, operation)
        start = statement_start(self._moments.a, operation)
        facts = facts_at(operation.place)
        if (
            UNSEEDED in facts.tags
            and (later := find_reseeding(self._moments.a, operation)) is not None
        ):
            begin = statement_start(self._moments.a, later)
            given = self._from_reads(begun, later, begin, facts_at(later.place), handed_on=True)
            return [goal for goal in given if goal.path != begun.path]
        if is_draw and not is_one_sided:  # what it is asked for decides how far the stream moves
            return self._from_reads(begun, operation, start, facts)
        # What was made inside of the statement comes before what it read: it is nearer to the difference.
        came = self._from_calls(operation, start)
        came = came or self._from_making(begun, operation, start, facts)
        read: list[Goal] = []
        if not self._leads_inside(begun, came, operation, facts):
            read = self._from_reads(begun, operation, start, facts)
        if not came and not read:
            came = self._from_calls(operation, start, by_reference=True)
        if not came and not read and not is_draw:
            # No call made it, so a value that was handed on brought it along.
            read = self._from_reads(begun, operation, start, facts, handed_on=True)
        if not came and not read and not is_draw:
            came = self._from_files(operation, start, facts)
            came = came or self._from_threads(operation, start, facts, begun.moment)
            came = came or self._feeding.find(operation, start, facts, begun.path)
        return [
            goal for goal in (*came, *read) if goal.path != begun.path or is_returned(goal.path)
        ]

    def _leads_inside(
        self, begun: Beginning, came: list[Goal], operation: Operation, facts: LineFacts
    ) -> bool:
        """Whether a statement is one call of the user's code, and what differs was made in there.

        What it hands in counts where that code reads it.
        """
        is_argument = is_local(begun.path) and depth_of(begun.path) > operation.depth
        if not facts.only_call or not came or is_argument:
            return False
        function, name = function_of(came[0].path), _last(facts.only_call)
        member = member_of(came[0].path)
        is_made = function.endswith(tuple(f"{name}{each}" for each in INITIALIZERS))
        is_made = is_made and begun.path.endswith(member or "?")
        return _last(function) == name or is_made

    def is_switched(self, begun: Beginning, *, by: Beginning) -> bool:
        """Whether one side alone ran the operation, to draw, or under a condition on what was read beforehand.

        Beforehand is when a module was loaded or an object made, or before a loop that asks again and again.
        """
        guard, read = begun.guard, by.guard or by.operation
        if guard is None or not _is_one_sided(begun):
            return False
        if self._is_draw(begun):
            return True
        ran = [each for each in (begun.operation, begun.other) if each is not None]
        if not any(self._is_under(guard, each) for each in ran):
            return False
        where = read.place.function
        if (
            read.place.line == guard.place.line
            or where == "<module>"
            or where.endswith(INITIALIZERS)
        ):
            return True
        if read.lane != guard.lane:
            return False
        if read.place.file == guard.place.file and share_loop(
            guard.place.file, read.place.line, guard.place.line
        ):
            return False  # the window may begin in the very round that reads
        count = self._moments.a.count
        is_in_loop = count(guard.lane, guard.place, 0, read.index) > 0
        return not is_in_loop and count(guard.lane, guard.place, read.index, guard.index) > 1

    def _is_under(self, guard: Operation, ran: Operation) -> bool:
        """Whether an operation ran inside of the statements under a condition, calls included."""
        if ran.depth < guard.depth:
            return False
        flow = self._moments.a if ran.side == "a" else self._moments.b
        index = next(flow.back_from(ran.lane, ran.index, guard.depth))
        return is_under(guard.place.file, guard.place.line, flow.position(ran.lane, index).line)

    def find_switched(self, begun: Beginning) -> Beginning:
        """Credit the same difference to the statement under the condition, except a draw or a count.

        A statement that restores saved state comes first: the outermost one of nested calls,
        else the last one before the operation under the condition.
        """
        if begun.other is not None and _restores(begun.other):
            begun = replace(begun, operation=begun.other, other=None)
        guard, ran = begun.guard, begun.operation
        if guard is None or self._is_draw(begun):
            return begun
        # A count in a function that was called under the condition is that call's doing.
        if facts_at(ran.place).kind == "AugAssign" and ran.depth <= guard.depth:
            return begun
        flow = self._moments.a if ran.side == "a" else self._moments.b

        def operation(index: int, depth: int) -> Operation:
            return Operation(flow.position(ran.lane, index), depth, ran.side, ran.lane, index)

        calls = [
            operation(next(flow.back_from(ran.lane, ran.index, depth)), depth)
            for depth in range(min(guard.depth, ran.depth), ran.depth + 1)
        ]
        before = [
            operation(index, guard.depth)
            for index in takewhile(
                lambda index: flow.position(ran.lane, index).line != guard.place.line,
                flow.back_from(ran.lane, ran.index, guard.depth),
            )
            if flow.depth(ran.lane, index) == guard.depth <= ran.depth
        ]
        restoring = [each for each in (*calls, *before) if _restores(each)]
        return replace(begun, operation=(restoring or calls)[0])

    def find_stream(self, begun: Beginning) -> Beginning:
        """Find the generator that a statement of one side advanced, if any: later draws show it."""
        moment = self._moments.all[begun.moment]
        differing = tuple(sorted(self._observer.differing(begun.moment) or ()))[:SAMPLES_MAX]
        points = {"a": (moment.lane, moment.a), "b": (moment.lane, moment.b)}
        shown = self._observer.show(points, differing)
        streams = [
            path
            for path in differing
            if all(path in held and held[path].kind == "stream" for held in shown.values())
        ]
        return replace(begun, path=streams[0]) if streams else begun

    def _is_draw(self, begun: Beginning) -> bool:
        """Whether the operation draws, or takes a child seed, which moves what later children get."""
        facts = facts_at(begun.operation.place)
        return not {DRAW, SEEDING}.isdisjoint(facts.tags)

    def _from_calls(
        self, operation: Operation, start: int, *, by_reference: bool = False
    ) -> list[Goal]:
        """Find the first differing value that a called function returned, or a difference it refers to."""
        flow, lane, depth = self._moments.a, operation.lane, operation.depth + 1
        numbers = self._moments.at(lane, flow.returns(lane, depth, start + 1, operation.index))
        # Of very many calls the first and the last: one in the middle follows from one of these.
        half = SAMPLES_MAX // 2
        self._observer.look([*numbers[:half].tolist(), *numbers[-half:].tolist()])
        for number in self._observer.list_sampled(numbers):
            moment = self._moments.all[number]
            path = returned(depth, flow.position(lane, moment.a).function)
            differing = self._observer.differing(number) or frozenset()
            sample = self._observer.sample_at(number)
            if by_reference and sample is not None:
                path = sample.aliases.get(path, path)
            found = [each for each in sorted(differing) if under(each, path)][:1]
            if not found and by_reference and sample is not None:
                found = find_references(path, sample, differing)
            if found:
                return [Goal(each, number) for each in found]
        return []

    def _from_making(
        self, begun: Beginning, operation: Operation, start: int, facts: LineFacts
    ) -> list[Goal]:
        """List the differing members of an object that the statement made, or the names of a class body.

        A constructor returns nothing, and the object has another path after it is bound or tracked.
        At the constructor's return, only the constructor's own locals refer to the new object.
        Only a member of the same name is certain. Any other counts if the statement reads nothing else
        from the world.
        """
        flow, lane, depth = self._moments.a, operation.lane, operation.depth + 1
        is_class = facts.kind == "ClassDef"
        ending = "" if is_class else INITIALIZERS
        left = flow.returns(lane, depth, start + 1, operation.index, ending)
        numbers = self._moments.at(lane, left)[-SAMPLES_MAX:].tolist()
        self._observer.look(numbers)
        other: list[Goal] = []
        for number in numbers:
            position = flow.position(lane, self._moments.all[number].a)
            prefix = frame_prefix(depth, position.function)
            for path in sorted(self._observer.differing(number) or ()):
                member = member_of(path) if path.startswith(prefix) else ""
                if is_class and path.startswith(prefix):
                    return [Goal(path, number)]
                if member and begun.path.endswith(member):
                    return [Goal(path, number)]
                if member:
                    other.append(Goal(path, number))
            other += self._held_by_made(number, prefix)
        return [] if not facts.is_known or WORLD & set(facts.tags) else other

    def _held_by_made(self, number: int, prefix: str) -> list[Goal]:
        """Older objects that differ and hang on a new one: it was made of them."""
        sample, differing = self._observer.sample_at(number), self._observer.differing(number)
        if sample is None or not differing:
            return []
        held = find_references(f"{prefix}self", sample, differing)
        return [Goal(path, number) for path in held if not path.startswith(prefix)]

    def _from_threads(
        self, operation: Operation, start: int, facts: LineFacts, until: int
    ) -> list[Goal]:
        """Find a differing value that another thread's outermost function returned, now or before."""
        flow, begin = self._moments.a, self._moments.exact(operation.lane, start)
        if not facts.is_known or begin is None or len(flow.lanes) < 2:
            return []
        waits = any(call.rpartition(".")[2] in _WAITING for call in facts.calls)
        left = [
            self._moments.at(name, flow.returns(name, 0, 0, len(lane.places)))
            for name, lane in flow.lanes.items()
            if name != operation.lane
        ]
        # A thread that is waited for may have ended long before.
        earliest = 0 if waits else begin
        numbers = [
            each for each in np.sort(np.concatenate(left)).tolist() if earliest <= each < until
        ]
        numbers = numbers[-SAMPLES_MAX:]
        self._observer.look(numbers)
        for number in numbers:
            moment = self._moments.all[number]
            path = returned(0, flow.position(moment.lane, moment.a).function)
            if self._observer.differs(number, path):
                return [Goal(path, number)]
        return []

    def _from_reads(
        self,
        begun: Beginning,
        operation: Operation,
        start: int,
        facts: LineFacts,
        *,
        handed_on: bool = False,
    ) -> list[Goal]:
        """Paths that the statement reads and that differed when it began, with parts of what is handed on if asked."""
        number = self._moments.at_or_before(operation.lane, start)
        if not facts.is_known or number is None:
            return []
        self._observer.look([number])
        differing, sample = self._observer.differing(number), self._observer.sample_at(number)
        if not differing or sample is None:
            return []
        prefix = operation.prefix
        functions = self._called_functions(operation, start)
        called = bool(functions) and not handed_on
        found: dict[str, None] = {}
        for name in list_names_read(facts, operation, begun.path):
            first = name.partition(".")[0]
            holder, _ = resolve(first, prefix, sample)
            # Which object a local is may differ, although each object is the same on both sides.
            is_which = (which(holder or ""), f"{prefix}{first}")
            found.update(dict.fromkeys(path for path in is_which if path in differing))
            owner, whole = resolve(name, prefix, sample)
            # A method of a container reads it, whatever else the statement calls; so does a loop.
            of_library = name == ITERATED or (
                not whole
                and name in facts.calls
                and _last(name) not in functions
                and resolve(name.rpartition(".")[0], prefix, sample)[1]
            )
            if owner is None or (called and not whole and not of_library):
                continue
            members = [
                path
                for path in sorted(differing)
                if under(path, owner) and not (called and path != owner and not of_library)
            ]
            if not called or of_library:
                members = members or find_references(owner, sample, differing)
            found.update(dict.fromkeys(members))
        if not called:  # what it changed, it may have read: a stream's position
            after = self._moments.all[begun.moment]
            before = self._moments.all[number]
            moved = self._observer.changed("a", (before.lane, before.a), (after.lane, after.a))
            for path in sorted(differing & moved):
                if not is_local(path):
                    found[path] = None
        return [Goal(path, number) for path in found]

    def _from_files(self, operation: Operation, start: int, facts: LineFacts) -> list[Goal]:
        """Files that differed when a statement began that may read one."""
        number = self._moments.at_or_before(operation.lane, start)
        may_read = facts.kind in {"For", "With", "AsyncFor"} or any(
            word in _last(call).lower() for call in facts.calls for word in _READING
        )
        if number is None or WORLD & set(facts.tags) or not may_read:
            return []
        self._observer.look([number])
        differing = self._observer.differing(number) or ()
        return [Goal(path, number) for path in sorted(differing) if under(path, FILES)]

    def _called_functions(self, operation: Operation, start: int) -> frozenset[str]:
        """Names of the user's functions that ran inside the statement, without what they belong to."""
        flow, lane = self._moments.a, operation.lane
        return frozenset(
            _last(place.function)
            for place, depth in flow.list_visited(lane, start + 1, operation.index)
            if depth > operation.depth
        )


def _is_one_sided(begun: Beginning) -> bool:
    return begun.guard is not None and begun.guard is not begun.operation


def _restores(operation: Operation) -> bool:
    return RESTORING in facts_at(operation.place).tags


def _last(name: str) -> str:
    return name.rpartition(".")[2]
