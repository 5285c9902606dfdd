"""What went into an object that nobody can look into, and what a frame waited in that is resumed.

A database in memory, the trees of a booster and the bytes behind an address differ, and nothing shows it. The
lines that gave such an object what it holds are found by its names; the first of them that read something
different leads on.

For: the step of the way back at a line that reads an opaque object, and nothing that differs.

Not for: objects whose content is compared: they have paths of their own.

Invariant: a goal is a path that was seen to differ when a line began that names the object.
"""

from __future__ import annotations

import re

import numpy as np

from twice.diagnosis.localization.beginnings import Goal
from twice.diagnosis.localization.callables import WORLD
from twice.diagnosis.localization.moments import Moments, Operation
from twice.diagnosis.localization.names import find_references, list_names_read, resolve
from twice.diagnosis.localization.observer import Observer
from twice.diagnosis.localization.source_facts import LineFacts, facts_at
from twice.diagnosis.tracing.paths import depth_of, frame_prefix, is_local, under
from twice.diagnosis.tracing.trace import SAMPLES_MAX, Sample

_ROUNDS = 3  # a cursor of a connection, a statement of a cursor


class Feeding:
    """Finds what went into opaque objects."""

    def __init__(self, observer: Observer, moments: Moments) -> None:
        self._observer, self._moments = observer, moments

    def find(self, operation: Operation, start: int, facts: LineFacts, path: str) -> list[Goal]:
        """Find the difference in a value passed to an opaque object that a statement reads.

        Args:
            operation: the operation that ran.
            start: index of the event at which its statement began.
            facts: the facts of its statement.
            path: the path that differs after it.
        """
        number = self._moments.at_or_before(operation.lane, start)
        if not facts.is_known or number is None or WORLD & set(facts.tags):
            return []
        self._observer.look([number])
        sample = self._observer.sample_at(number)
        if sample is None:
            return []
        prefix = operation.prefix
        names = list_names_read(facts, operation, path)
        words = {
            word
            for name in names
            if (owner := resolve(name, prefix, sample)[0]) is not None
            and self._observer.list_opaque(owner, sample)
            for word in _list_words(name, owner, prefix, sample)
        }
        return self._first_that_differs(operation.lane, start, words) if words else []

    def find_holders(self, number: int, path: str) -> list[Goal]:
        """Find the source of a differing local in a frame that a moment resumes.

        Another frame may have changed the object behind the local while this one waited. Its content
        on both sides identifies it. Otherwise the object did not change, and the two sides resume
        different frames. Then the source is the holder of the frame, a queue of tasks or an iterator,
        which changes as soon as it runs.
        """
        flow, moment, before = (
            self._moments.a,
            self._moments.all[number],
            self._moments.previous(number),
        )
        depth = flow.depth(moment.lane, moment.a)
        is_own = is_local(path) and depth_of(path) == depth
        if before is None or not is_own or flow.position(moment.lane, moment.a).event != "resume":
            return []
        held = self._moments.all[before]
        self._observer.look([number, before])
        differing = self._observer.differing(before) or frozenset()
        content = self._read_content(number, path)
        for each in sorted(differing):
            if is_local(each) and content == self._read_content(before, each):
                return [Goal(each, before)]
        moved = self._observer.changed("a", (held.lane, held.a), (moment.lane, moment.a))
        return [
            Goal(each, before)
            for each in sorted(differing & moved)
            if not is_local(each) or depth_of(each) < depth
        ]

    def _read_content(self, number: int, path: str) -> list[bytes | None]:
        """Digests of a path on both sides."""
        samples = [
            self._observer.sample(side, self._observer.point(side, number)) for side in ("a", "b")
        ]
        return [None if each is None else each.digests.get(path) for each in samples]

    def _first_that_differs(self, lane: str, until: int, words: set[str]) -> list[Goal]:
        """Find the differing reads of the first line that names the object and passes a value to it."""
        feeding = self._list_feeding(lane, until, words)
        # What fed it first, or what fed it last: between them lies more of the same.
        half = SAMPLES_MAX // 2
        numbers = sorted({*feeding[:half], *feeding[-half:]})
        self._observer.look(numbers)
        for number in numbers:
            moment = self._moments.all[number]
            sample = self._observer.sample_at(number)
            differing = self._observer.differing(number)
            if sample is None or not differing:
                continue
            place = self._moments.a.position(moment.lane, moment.a)
            depth = self._moments.a.depth(moment.lane, moment.a)
            facts = facts_at(place)
            prefix = frame_prefix(depth, place.function)
            found: dict[str, None] = {}
            for name in facts.reads:
                owner, _ = resolve(name, prefix, sample)
                if owner is not None:
                    members = [each for each in sorted(differing) if under(each, owner)]
                    found.update(
                        dict.fromkeys(members or find_references(owner, sample, differing))
                    )
            if found:
                return [Goal(path, number) for path in found]
        return []

    def _list_feeding(self, lane: str, until: int, words: set[str]) -> list[int]:
        """Moments before an event at which a line begins that names the object, or what was made of it."""
        flow = self._moments.a
        visited = {place for place, _ in flow.list_visited(lane, 0, until - 1)}
        lines = [place for place in visited if place.event == "line"]
        read = {place: facts_at(place) for place in lines}
        known = set(words)
        for _ in range(_ROUNDS):
            known |= {
                name.rpartition(".")[2]
                for facts in read.values()
                # It binds what a method of the object returns.
                if facts.kind in {"Assign", "AnnAssign", "With"}
                and any(known & set(call.split(".")[:-1]) for call in facts.calls)
                for name in facts.assigns
            }
        naming = {
            place
            for place, facts in read.items()
            if any(known & set(name.split(".")) for name in (*facts.reads, *facts.assigns))
        }
        wanted = np.array([place in naming for place in flow.trace.positions], bool)
        events = np.flatnonzero(np.take(wanted, np.asarray(flow.lanes[lane].places)[:until]))
        return [int(number) for number in self._moments.at(lane, events)]


def _list_words(name: str, owner: str, prefix: str, sample: Sample) -> set[str]:
    """List the names of an object in code, without methods called on it.

    If paths end above the object, its name is the text behind them.
    """
    parts = name.split(".")
    is_path = [resolve(".".join(parts[: at + 1]), prefix, sample)[1] for at in range(len(parts))]
    behind = parts[sum(is_path) : -1]
    if behind:
        return {behind[-1]}
    aliases = [alias for alias, path in sample.aliases.items() if path == owner]
    tails = (re.split(r"[>:.]", path)[-1] for path in (owner, *aliases))
    return {tail.partition("[")[0].strip("()") for tail in tails} - {"self", ""}
