"""When an event loop saw which reply, kept in replay.

A loop takes what is readable in the order of its arrival, and hands it to tasks that go on in later rounds of the
loop; which idle connection a pool gives out next follows from both. So each reply is recorded with the busy rounds of
its loop since the reply before it, and becomes readable in replay after as many, or when the loop has nothing else to
do: together with those that one round found together, and not before what arrived earlier was taken.

Only for connections that were made without waiting, as event loops do: threads that block on a reply of their own
need no order. Rounds are counted for asyncio's own loops, not for those written in C. A program that takes another path
than it did may never take what it is up to: after seconds in which it did nothing at all there are no turns any more.

Invariant: a turn delays what is readable, and never changes it.
"""

from __future__ import annotations

import os
from _thread import get_ident, start_new_thread
from collections import defaultdict
from collections.abc import Mapping, Sequence
from threading import RLock
from time import process_time as _process_time  # the real ones: bound before anything is patched
from time import sleep as _sleep
from typing import Any, NamedTuple, Protocol

from twice.recording.effects import ops
from twice.recording.effects.actors import OUTSIDE, current
from twice.recording.effects.events import Event
from twice.recording.effects.patches import Patch

INCOMING = (ops.RECEIVED.number, ops.ENDED.number)
_MARK_PARTS = 3
"""A mark of what had gone out; where a loop took the reply, its rounds follow."""
_PATIENCE_SECONDS = 3
_IDLE_S = 0.02


class Waits(Protocol):
    """A connection that has its turns."""

    key: str
    thread: int

    def taken(self) -> int:
        """How many of its events were taken."""
        ...

    def show(self) -> None:
        """Look again whether it is readable."""
        ...

    def can_give(self, number: int) -> bool:
        """Whether so much has gone out that one of its events may come."""
        ...

    def is_held_back(self) -> bool:
        """Whether it would be readable, if it were its turn."""
        ...


class _Arrival(NamedTuple):
    """A reply: on which connection, as which of its events, how many busy rounds after the one before."""

    key: str
    number: int
    rounds: int


class Turns:
    """Whose turn it is.

    Args:
        order: keys of connections, one for each event, in the order of the record.
        events: what happened on each.

    Attributes:
        lock: held by whoever takes, sends or shows something.
    """

    def __init__(self, order: Sequence[str], events: Mapping[str, Sequence[Event]]) -> None:
        self.lock = RLock()
        self._arrivals = _arrivals(order, events)
        self._ordered = {one.key for one in self._arrivals}
        self._at = 0
        self._forced_at = -1
        self._rounds: defaultdict[int, int] = defaultdict(int)
        self._open: dict[str, Waits] = {}
        self._gone: set[str] = set()
        self._guarded = -1

    # -- rounds -------------------------------------------------------------------------------------

    def arrived(self) -> int:
        """Busy rounds of this thread's loop since the last reply; a reply is taken now."""
        thread = get_ident()
        rounds, self._rounds[thread] = self._rounds[thread], 0
        return rounds

    def begin_round(self, *, busy: bool) -> None:
        """A loop is about to look for what is readable; a busy one has more to do, and does not wait."""
        if current() is OUTSIDE:
            return
        if busy:
            self._rounds[get_ident()] += 1
        if not self._is_over:
            with self.lock:
                if not busy:
                    self._forced_at = self._at
                self.move()

    # -- turns --------------------------------------------------------------------------------------

    def is_up(self, key: str, index: int) -> bool:
        """Whether an event of a connection may be taken."""
        if key not in self._ordered or self._is_over:
            return True
        return any(one.key == key and one.number == index for one in self._due())

    def _due(self) -> Sequence[_Arrival]:
        """What one round found together, in its order, when as many rounds have passed as had then."""
        due: list[_Arrival] = []
        for at in range(self._at, len(self._arrivals)):
            one = self._arrivals[at]
            connection = self._open.get(one.key)
            if connection is None or (due and one.rounds) or not connection.can_give(one.number):
                break
            if not due and self._rounds[connection.thread] < one.rounds and self._forced_at != at:
                break
            due.append(one)
        return due

    def join(self, connection: Waits) -> None:
        """A connection is made."""
        if connection.key in self._ordered:
            self._open[connection.key] = connection
            self.move()
            if self._guarded != os.getpid():
                self._guarded = os.getpid()
                start_new_thread(self._guard, ())

    def leave(self, key: str) -> None:
        """A connection is over, or was before this execution began."""
        if key in self._ordered:
            self._open.pop(key, None)
            self._gone.add(key)
            self.move()

    def move(self) -> None:
        """Something was taken, sent or waited for: pass over what is done, and show what is due."""
        while not self._is_over:
            key, index, _ = self._arrivals[self._at]
            connection = self._open.get(key)
            if connection is not None and index >= connection.taken():
                break
            if connection is None and key not in self._gone:
                return
            self._at += 1
        if not self._is_over:
            for one in self._due():
                if one.key in self._open:
                    self._open[one.key].show()

    @property
    def _is_over(self) -> bool:
        return self._at >= len(self._arrivals)

    def _guard(self) -> None:
        """Give up turns where they hold everybody back: nothing is taken, and nothing computed."""
        before, spent_s, seconds = -1, _process_time(), 0
        while not self._is_over:
            _sleep(1)
            with self.lock:
                waiting = list(self._open.values())
                idle = self._at == before and _process_time() - spent_s < _IDLE_S
                held = idle and any(one.is_held_back() for one in waiting)
                before, spent_s, seconds = self._at, _process_time(), seconds + 1 if held else 0
                if seconds >= _PATIENCE_SECONDS:
                    self._at = len(self._arrivals)
                    for one in waiting:
                        one.show()


def loop_patches(turns: Turns, module: Any) -> list[Patch]:
    """What stands in the place of a loop's round, once ``asyncio`` is loaded."""
    real = module.BaseEventLoop._run_once

    def run_once(self: Any) -> None:
        turns.begin_round(busy=bool(self._ready))
        real(self)

    return [Patch(module.BaseEventLoop, "_run_once", run_once)]


def _arrivals(order: Sequence[str], events: Mapping[str, Sequence[Event]]) -> Sequence[_Arrival]:
    """What came in on connections that were not waited for, in its order."""
    counts: dict[str, int] = {}
    found = []
    for key in order:
        index = counts.get(key, 0)
        counts[key] = index + 1
        number, value = _plain(events[key][index])
        if number in INCOMING and len(value[0]) > _MARK_PARTS:
            found.append(_Arrival(key, index, value[0][_MARK_PARTS]))
    return found


def _plain(event: Any) -> tuple[int, Any]:
    number, value = event
    return number, value
