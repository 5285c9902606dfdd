"""``run.ticks()``: the loop at which a run can be paused, snapshotted, restored and branched.

``ticks`` is an iterator object, not a generator: leaving the loop by ``break``, ``return`` or an
exception drops the iterator, and dropping it closes the open tick, so no compare-point is lost. A
second loop goes on with the numbers of the first; a nested one is refused.

Invariant: there are as many closed ticks as ticks were entered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twice.recorder.session import Session


class TickLoop(Iterator[int]):
    """One loop over ticks.

    Attributes:
        count: how many ticks it runs, or None for no end.
        first: its first tick, or None before it begins.
        closed: whether it has ended.
    """

    __slots__ = ("__weakref__", "_session", "closed", "count", "first")

    def __init__(self, session: Session, count: int | None) -> None:
        self._session = session
        self.count = count
        self.first: int | None = None
        self.closed = False

    def __iter__(self) -> TickLoop:
        return self

    def __next__(self) -> int:
        tick = self._session.next_tick(self)
        if tick is None:
            raise StopIteration
        return tick

    def __del__(self) -> None:
        if self.first is not None and not self.closed:
            self._session.leave(self)


class Ticks:
    """What ``run.ticks(n)`` returns: iterate over it, once.

    Holding on to this object does not keep its loop open: a ``for`` statement owns the loop.
    """

    __slots__ = ("_count", "_loop", "_session")

    def __init__(self, session: Session, count: int | None) -> None:
        self._session = session
        self._count = count
        self._loop: TickLoop | None = None

    def __iter__(self) -> TickLoop:
        return TickLoop(self._session, self._count)

    def __next__(self) -> int:
        if self._loop is None:
            self._loop = iter(self)
        return next(self._loop)
