"""Finds where differences begin, many at a time.

For: a search halves by 64. It keeps the last moment at which a path agreed and the first after it at
which it differs, and looks at events in between, those of the outermost frames first (locals vanish
where a frame is left, so that is where differences heal), and those where the small digests flip.
The brackets of all searches share executions, so that the beginnings of twenty differences cost about
as many as that of one.

Not for: looking (``observer``) or deciding which difference is guilty (``slicer``, ``locate``).

Invariant: a bracket only ever says what was seen.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from twice.diagnosis.localization.alignment import Numbers
from twice.diagnosis.localization.observer import Observer
from twice.diagnosis.tracing.trace import SAMPLES_MAX
from twice.foundation.dataclass import dataclass


@dataclass(slots=True)
class Search:
    """Where does a path begin to differ for the last time before a moment?

    Args:
        path: the path, or ``ANY``.
        where: numbers of the moments at which the path can be seen, rising.
        until: number of a moment at which it differs.
        low: the last moment before, at which it agreed; None when it never did.
        high: the first moment of the run of differences.
        settled: nothing is left to look at in between.
    """

    path: str
    where: Numbers
    until: int
    low: int | None = None
    high: int = 0
    settled: bool = False


class Searcher:
    """Carries searches to their end."""

    def __init__(self, observer: Observer) -> None:
        self._observer, self._moments = observer, observer.moments
        self._hints, self._depths = self._moments.cheap_flips(), self._moments.depths

    def run(self, searches: list[Search], rounds: int = 12) -> None:
        """Carries searches to their end, sharing executions among them."""
        checked: set[int] = set()
        for _ in range(rounds):
            wanted: dict[int, None] = {}
            brackets = {
                (search.low, search.high, len(search.where)): search
                for search in searches
                if not self._settle(search)
            }
            share = max(4, SAMPLES_MAX // max(1, len(brackets)))
            for search in brackets.values():
                for number in self._between(search, share):
                    if len(wanted) < SAMPLES_MAX:
                        wanted[number] = None
            if not wanted:
                # Between two looks a difference may have healed and come again.
                wanted = self._recheck(searches, checked)
                if not wanted:
                    return
            self._observer.look(wanted)

    def _settle(self, search: Search) -> bool:
        """Narrow the bracket to the samples so far; return whether nothing is left in between."""
        where = search.where
        search.low, search.high = None, search.until
        for number in reversed(
            self._observer.seen[: bisect_left(self._observer.seen, search.until)]
        ):
            place = bisect_left(where, number)
            if place == len(where) or where[place] != number:
                continue
            differs = self._observer.differs(number, search.path)
            if differs:
                search.high = number
            elif differs is not None:
                search.low = number
                break
        first = 0 if search.low is None else bisect_left(where, search.low) + 1
        between = where[first : bisect_left(where, search.high)]
        search.settled = self._observer.are_lost(between)
        return search.settled

    def _between(self, search: Search, budget: int) -> list[int]:
        """Moments to look at inside a bracket."""
        first = 0 if search.low is None else bisect_left(search.where, search.low) + 1
        bracket = search.where[first : bisect_left(search.where, search.high)]
        inside = self._observer.select_unseen(bracket)
        if len(inside) <= budget:
            return list(map(int, inside))
        chosen = dict.fromkeys((int(inside[0]), int(inside[-1])))
        # Where cheap digests flip, and where frames are left: locals vanish there, and with them differences.
        for hints in (self._hints_in(inside), self._outermost(inside)):
            chosen.update(dict.fromkeys(_spread(hints, budget // 2 - 1)))
        chosen.update(dict.fromkeys(_spread(inside, budget - len(chosen))))
        return list(chosen)

    def _hints_in(self, inside: Numbers) -> Numbers:
        low, high = (bisect_left(self._hints, inside[end]) for end in (0, -1))
        around = np.stack((self._hints[low:high] - 1, self._hints[low:high]), axis=1).ravel()
        return around[np.isin(around, inside)]

    def _outermost(self, inside: Numbers) -> Numbers:
        depths = self._depths[inside]
        return inside[np.flatnonzero(depths == depths.min())]

    def _recheck(self, searches: list[Search], checked: set[int]) -> dict[int, None]:
        """Once per beginning that was found: moments after it, where the difference may have healed."""
        wanted: dict[int, None] = {}
        fresh = [search for search in searches if search.high not in checked]
        share = max(4, SAMPLES_MAX // max(1, len(fresh)))
        for search in fresh:
            checked.add(search.high)
            first, last = (
                bisect_left(search.where, search.high),
                bisect_left(search.where, search.until),
            )
            after = self._observer.select_unseen(search.where[first + 1 : last])
            picked = _spread(self._outermost(after), share // 2) if len(after) else []
            for number in (*picked, *_spread(after, share - len(picked))):
                if len(wanted) < SAMPLES_MAX:
                    wanted[number] = None
        return wanted


def _spread(numbers: Numbers, count: int) -> list[int]:
    """At most ``count`` of the numbers, evenly spread."""
    if len(numbers) > count:
        numbers = numbers[[(2 * step + 1) * len(numbers) // (2 * count) for step in range(count)]]
    return list(map(int, numbers))
