"""The ticks that a run can be rolled back to: snapshots held in memory, the latest always.

Invariant: the latest tick is kept; earlier ones while all of them together are small.
"""

from __future__ import annotations

from collections import OrderedDict

from twice.errors import RollbackRefused
from twice.recorder.snapshots import Captured

_BYTES_MAX = 64 << 20


class KeptTicks:
    """Snapshots by tick, in the order they were taken."""

    def __init__(self) -> None:
        self._captured: OrderedDict[int, Captured] = OrderedDict()
        self._sizes: dict[int, int] = {}

    def __contains__(self, tick: int) -> bool:
        return tick in self._captured

    def keep(self, captured: Captured) -> None:
        """Keep one more, with bytes of its own; the earliest go when there are too many."""
        self._captured[captured.tick] = captured.frozen()
        self._sizes[captured.tick] = captured.size()
        total = sum(self._sizes.values())
        while len(self._captured) > 1 and total > _BYTES_MAX:
            tick, _ = self._captured.popitem(last=False)
            total -= self._sizes.pop(tick)

    def take(self, to: int, now: int) -> Captured:
        """Return the snapshot before a tick, and drop the ones after it: they are no longer the past.

        Raises:
            RollbackRefused: E-TICK-002, when that tick is not kept.
        """
        kept = self._captured.get(to)
        if kept is None:
            raise RollbackRefused(
                f"Tick {to} is not kept; the run is at tick {now}.",
                f"Ticks kept: {', '.join(map(str, self._captured)) or 'none'}.",
                "Keep more: --snapshots tick, or every=N.",
                to=to,
            )
        for tick in [tick for tick in self._captured if tick > to]:
            del self._captured[tick], self._sizes[tick]
        return kept
