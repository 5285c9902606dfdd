"""Names the first operation whose result stays different between two executions of one window.

For: the end of the funnel. Two sides disagree at a compare-point; the window before it is executed again,
traced, on both sides.

1. *Flow.* Every event of both sides, small. They are paired by code position (``alignment``).
2. *State.* At the end of the window: which paths differ, less what differs between two executions of
   the same side, each looked at twice. For each, the start of the last run of differences that never heals, found by
   looking at 64 events at a time (``searcher``). These are the candidates.
3. *Way back.* From the tracked state through what each operation read, to an operation that read
   nothing different (``slicer``).

A difference that closes again is harmless and never a candidate: a set is walked, but the result is
sorted. Of a difference in flow alone, the first operation with a lasting result is named; when the
branch itself reads the world (clock, environment, hash), the branch, unless what it guards is a draw:
then the draw, whose stream position is what lasts.

Tried and rejected: the first difference in the trace (blames canaries), digests by ``repr`` (blame function
entry), one digest for all (blames whatever stays alive). Not for: the reason (attribution), nor choosing the window.

Invariant: a ``Located`` was observed on both sides at the moment before and the moment after.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from twice.diagnosis.localization.beginnings import Beginning, Goal
from twice.diagnosis.localization.callables import RESTORING, UNSEEDED, VARIABLE
from twice.diagnosis.localization.description import (
    describe,
    list_candidates,
    same_statement,
)
from twice.diagnosis.localization.function_source import (
    find_iterated_line,
    find_line_that_fills,
    find_reseeding_line,
)
from twice.diagnosis.localization.moments import Flow, Moments
from twice.diagnosis.localization.names import ITERATED
from twice.diagnosis.localization.observer import ANY, Held, Observer
from twice.diagnosis.localization.result import Located, Place, Unlocated, place_at
from twice.diagnosis.localization.saved_state import find_saving
from twice.diagnosis.localization.searcher import Search, Searcher
from twice.diagnosis.localization.slicer import Slicer
from twice.diagnosis.localization.source_facts import facts_at, line_facts
from twice.diagnosis.tracing.paths import FILES, FLOW, is_local, plain, under
from twice.diagnosis.tracing.trace import FlowPlan, Plan, Trace
from twice.foundation.printable import pluralize
from twice.worker.concurrency import run_concurrently

_CANDIDATES_MAX = 24
_STEPS_MAX = 24
_BREADTH_MAX = 8
_SWITCH_MAX = 5  # steps from what is switched to the variable
_INSIST = 3  # two executions of one side may agree by chance

TraceCall = Callable[[str, int, Plan], Trace]


def locate(
    trace: TraceCall,
    *,
    tracked: Sequence[str] | None = None,
    repeats: int = 2,
    held: Held | None = None,
) -> Located | Unlocated:
    """Find the first operation whose result stays different.

    Args:
        trace: executes the window of a side (``a`` or ``b``) for the n-th time under a plan, in
            that side's own surroundings, and returns its trace.
        tracked: names of the roots that are compared (components, streams, output); None for every
            root. ``FLOW`` alone asks for the branch after which the sides never met again.
        repeats: executions per side that are compared with each other, to leave out differences
            within a side; 1 when the two sides are executions of one side that does not
            reproduce itself: nothing is left out, and agreeing events are examined again.
        held: side -> the events with recorded state, if nothing can be executed again:
            twice reports the stretches between them as gaps and never guesses.

    Returns:
        The operation, or the reason why none could be named and the next step.
    """
    linecache.checkcache()  # sources may have been written anew since this process last read them
    # Two executions of one side that agree may do so by chance: they are looked at again.
    insist = 0 if repeats > 1 else _INSIST
    result, unstable = _attempt(trace, tracked, repeats, insist, held)
    if not unstable:
        return result

    def one_side(side: str, repeat: int, plan: Plan) -> Trace:
        return trace(unstable, 2 * repeat + (side == "b"), plan)

    alone = None if held is None else dict.fromkeys(("a", "b"), held[unstable])
    again, _ = _attempt(one_side, tracked, 1, _INSIST, alone)
    told = (
        f"Side {unstable} does not reproduce itself: two executions of it were compared.",
        *again.evidence,
    )
    executions = result.executions + again.executions
    if isinstance(again, Located):
        seen = again.value_a != again.value_b  # they come from an execution of their own
        return replace(
            again,
            value_a=again.value_a if seen else "",
            value_b=again.value_b if seen else "",
            evidence=told,
            executions=executions,
            non_reproducing=unstable,
        )
    return replace(again, evidence=told, executions=executions)


def _attempt(
    trace: TraceCall,
    tracked: Sequence[str] | None,
    repeats: int,
    insist: int,
    held: Held | None,
) -> tuple[Located | Unlocated, str]:
    """One localisation, and the side that does not reproduce itself, if that was in the way."""
    calls = [partial(trace, side, 0, FlowPlan()) for side in ("a", "b")]
    flows = [
        Flow(side, traced) for side, traced in zip(("a", "b"), run_concurrently(calls), strict=True)
    ]
    moments = Moments(*flows)
    observer = Observer(trace, moments, repeats, insist=insist, held=held)
    observer.executions = len(flows)
    search = _Locator(observer, moments, tracked)
    for flow in flows:
        search.caveats.update(dict.fromkeys(flow.trace.caveats))
    return search.run(), search.unstable


class _Locator:
    """One localisation: what was seen so far, and the way to a result."""

    def __init__(self, observer: Observer, moments: Moments, tracked: Sequence[str] | None) -> None:
        self._observer, self._moments, self._tracked = observer, moments, tracked
        self._searcher = Searcher(observer)
        self._slicer = Slicer(observer, self._searcher, moments)
        self.evidence: list[str] = []
        self.caveats: dict[str, None] = {}
        self.unstable = ""
        self._beside: Place | None = None
        self._told_by: Beginning | None = None

    def run(self) -> Located | Unlocated:
        """Sample the window, search it, and follow the difference back."""
        if len(self._moments) < 2:
            return self._give_up("The two sides have no event in common.")
        last = len(self._moments) - 1
        # Spread over the window: what differs within a side shows in most places.
        self._observer.look([0, last, *(last * step // 62 for step in range(1, 62))], noise=True)
        self._tell_flow()
        # A result that rested on noise is thrown away, and the noise left out the next time.
        for _ in range(3):
            differing = self._observer.differing(last)
            if differing is None:
                return self._give_up("The end of the window could not be seen on both sides.")
            goals = self._goals(differing)
            masked = self._goals(frozenset(self._observer.masked(last)))
            if masked and not goals:
                self.unstable = self._observer.noise[masked[0]]
                break
            if not goals:
                return self._parted(last) or self._nothing_lasts()
            result = self._follow(goals, differing, last)
            if result is not None:
                return result
        return self._give_up("What differs between the sides also differs within a side.")

    def _follow(
        self, goals: list[str], differing: frozenset[str], last: int
    ) -> Located | Unlocated | None:
        """Candidates, the way back, the result; None when it rested on noise."""
        paths = [*goals, *(path for path in sorted(differing) if path not in goals)]
        paths = paths[:_CANDIDATES_MAX]
        # All are searched at once, because they share executions: many cost little more than one.
        whole, *each = (Search(path, self._moments.numbers, last) for path in (ANY, *paths))
        self._searcher.run([whole, *each])
        found = self._slicer.beginnings([Goal(path, last) for path in paths])
        started = [begun for begun in found if begun.path in goals]
        first = min(started, key=_earliest)
        chain = self._end_where_told(self._way_back(first))
        leaf = chain[-1]
        around = [n for n in (leaf.moment, self._moments.previous(leaf.moment)) if n is not None]
        # Of a statement of several lines the beginning was looked at, and noise was looked for elsewhere.
        self._observer.look(around)
        noisy = self._observer.check_noise(around)
        if noisy and self._observer.differs(leaf.moment, leaf.path) is not True:
            return None
        if self._observer.differing(around[-1]) is None:
            return self._gap(leaf)
        self._second_opinion(whole, leaf)
        return self._described(chain, found)

    def _parted(self, last: int) -> Located | None:
        """Where the sides went different ways for good, though all that is compared agrees."""
        end, before = self._moments.all[last], self._moments.previous(last)
        if before is None or FLOW not in (self._tracked or ()):
            return None
        common = self._moments.all[before]
        if end.a - common.a == 1 and end.b - common.b == 1:
            return None
        branch = self._moments.a.running_after(end.lane, common.a)
        chain = self._way_back(Beginning(FLOW, before, branch))
        return self._described(chain, [])

    def _described(self, chain: list[Beginning], found: list[Beginning]) -> Located:
        located = describe(
            chain,
            list_candidates(found, chain),
            self._observer,
            self._tracked,
            self._beside,
            self._told_by is not None and chain[-1].other is None,
            self.evidence,
            self.caveats,
        )
        line = self._find_nearer_line(located, chain[-1])
        if line is not None:
            located = replace(located, place=line, facts=facts_at(line))
        if not (located.is_switched and RESTORING in located.facts.tags):
            return located
        flow = self._moments.a if chain[-1].operation.side == "a" else self._moments.b
        saving = find_saving(located, flow)
        if saving is None:
            return located
        back = f"What was saved there is put back at {place_at(chain[-1].operation.place)}."
        return replace(located, place=saving, evidence=(back, *located.evidence))

    def _find_nearer_line(self, located: Located, leaf: Beginning) -> Place | None:
        """Return the line that a difference is better credited to than to the one after which it was seen."""
        place, ran, line = located.place, leaf.operation, 0
        if located.facts.kind in {"With", "AsyncWith"} and located.name.startswith(FILES):
            line = find_line_that_fills(place.file, place.line)
        elif plain(leaf.path) == ITERATED:
            line = find_iterated_line(place.file, place.line)
        elif UNSEEDED in located.facts.tags:
            line = find_reseeding_line(place.file, place.line)
        elif located.side != "both":
            # An assert that ``python -O`` leaves out, with all that it calls.
            flow = self._moments.a if ran.side == "a" else self._moments.b
            for depth in range(ran.depth):
                at = flow.position(ran.lane, next(flow.back_from(ran.lane, ran.index, depth)))
                if facts_at(at).kind == "Assert":
                    return place_at(at)
        code = line_facts(place.file, line).code if line else ""
        return Place(place.file, line, place.function, code) if line else None

    def _way_back(self, first: Beginning) -> list[Beginning]:
        """From the tracked difference to the earliest operation that read nothing different."""
        came_from: dict[tuple[str, int], Beginning | None] = {_key(first): None}
        level, leaves = [first], list[Beginning]()
        # Breadth first, because all causes of one level are searched together.
        for _ in range(_STEPS_MAX):
            asked: list[tuple[Beginning, Goal]] = []
            for begun in level:
                causes = self._slicer.causes(begun)[:_BREADTH_MAX]
                if not causes:
                    leaves.append(begun)
                asked += [(begun, goal) for goal in causes]
            if not asked:
                break
            level = []
            reached = self._slicer.beginnings([goal for _, goal in asked])
            for (asker, _), begun in zip(asked, reached, strict=True):
                if _key(begun) not in came_from:
                    came_from[_key(begun)] = asker
                    level.append(begun)
        if not leaves:
            leaves = level or [first]
            self.caveats["the way back was longer than is followed; it may go on"] = None
        leaf = min(leaves, key=_earliest)
        chain = [leaf]
        parent = came_from[_key(leaf)]
        while parent is not None:
            chain.append(parent)
            parent = came_from[_key(parent)]
        chain.reverse()
        return chain

    def _end_where_told(self, chain: list[Beginning]) -> list[Beginning]:
        """End the way back at the operation that a variable of the environment switches.

        The variable, which the program reads beforehand, switches the operation on, or makes one
        side draw more from it. A value computed from a variable over many steps switches nothing.
        """
        leaf = chain[-1]
        read = leaf.guard or leaf.operation
        if VARIABLE not in facts_at(read.place).tags:
            return chain
        switched = [
            at
            for at, begun in enumerate(chain)
            if len(chain) - at <= _SWITCH_MAX and self._slicer.is_switched(begun, by=leaf)
        ]
        if not switched:
            return chain
        self._told_by = chain[-1]
        where = f"{read.place.file.rpartition('/')[2]}:{read.place.line}"
        self.evidence.append(f"The variable that switches it is read at {where}.")
        found = self._slicer.find_switched(chain[switched[-1]])
        return [*chain[: switched[-1]], self._slicer.find_stream(found)]

    def _goals(self, differing: frozenset[str]) -> list[str]:
        roots = sorted(path for path in differing if not is_local(path))
        if self._tracked is None:
            return roots or sorted(differing)
        return [path for path in roots if any(under(path, name) for name in self._tracked)]

    def _second_opinion(self, whole: Search, leaf: Beginning) -> None:
        if whole.high == leaf.moment:
            self.evidence.append("It is the first operation after which the runs stay different.")
        elif whole.high < leaf.moment:
            begun = self._slicer.beginnings([Goal(ANY, whole.until)])[0]
            is_known = same_statement(begun.operation, leaf.operation) or self._is_told(begun)
            if not is_known and self._may_read_more(leaf):
                self._beside = place_at(begun.operation.place)

    def _is_told(self, begun: Beginning) -> bool:
        """Whether a difference is the variable that told the runs apart, or came from it."""
        if self._told_by is None:
            return False
        read = self._told_by.operation
        return same_statement(begun.operation, read) or same_statement(
            self._way_back(begun)[-1].operation, read
        )

    def _may_read_more(self, leaf: Beginning) -> bool:
        """Whether anything that differed before the operation is in reach of the frame that ran it."""
        before = self._moments.previous(leaf.moment)
        differing = None if before is None else self._observer.differing(before)
        if not differing:
            return True
        prefix = leaf.operation.prefix
        return any(path.startswith(prefix) or not is_local(path) for path in differing)

    def _tell_flow(self) -> None:
        only_a, only_b = self._moments.unpaired
        if only_a or only_b:
            self.evidence.append(
                f"Without a counterpart: {pluralize(only_a, 'event')} of side a, {only_b} of side b."
            )
        if self._observer.noise:
            names = ", ".join(sorted(map(plain, self._observer.noise))[:8])
            self.evidence.append(f"Left out, because it differs within a side: {names}.")

    def _gap(self, leaf: Beginning) -> Unlocated:
        """Report a difference that begins in a stretch without samples."""
        first = self._moments.all[leaf.moment]
        low = self._observer.last_seen(leaf.moment)
        since = self._moments.all[0 if low is None else low]
        here = self._moments.a.position(first.lane, first.a)
        there = self._moments.a.position(since.lane, since.a)
        return self._give_up(
            f"{plain(leaf.path)} begins to differ between {there.file}:{there.line} and"
            f" {here.file}:{here.line}, where no state was seen.",
            "write the traces anew with more events (--events), or of a shorter tick",
        )

    def _nothing_lasts(self) -> Unlocated:
        sampled = self._observer.list_sampled(self._moments.numbers)
        seen = [number for number in sampled if self._observer.differing(number)]
        if seen:
            self.evidence.append(f"Something differed at {len(seen)} of the events looked at.")
        left = sorted(self._observer.differing(len(self._moments) - 1) or ())
        if left:
            names = ", ".join(map(plain, left[:8]))
            self.evidence.append(f"What still differs at the end is not tracked: {names}.")
        return self._give_up(
            "Both executions agree in the tracked state at the end of the window.",
            "track what the differing compare-point is computed from: run.track(name, object)",
        )

    def _give_up(
        self,
        reason: str,
        surer: str = "see which of the runs reproduces itself: twice verify RECORD",
    ) -> Unlocated:
        return Unlocated(
            reason=reason,
            evidence=tuple(self.evidence),
            surer=surer,
            caveats=tuple(sorted({**self.caveats, **self._observer.caveats})),
            executions=self._observer.executions,
        )


def _key(begun: Beginning) -> tuple[str, int]:
    return begun.path, begun.moment


def _earliest(begun: Beginning) -> tuple[int, str]:
    return begun.moment, begun.path
