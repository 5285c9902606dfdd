"""The order in which an event loop saw replies arrive on its connections, kept in replay.

A loop takes what is readable in the order of its arrival, and hands it to tasks in that order; which idle connection
a pool gives out next follows from it. So in replay a reply becomes readable once what arrived before it has been taken.

Only for connections that were made without waiting, as event loops do: threads that block on a reply of their own
need no order. A program that takes another path than it did may never take what it is up to: after seconds
in which it did nothing at all there are no turns any more.

Invariant: a turn delays what is readable, and never changes it.
"""

from __future__ import annotations

import os
from _thread import start_new_thread
from collections.abc import Mapping, Sequence
from threading import RLock
from time import process_time as _process_time  # the real ones: bound before anything is patched
from time import sleep as _sleep
from typing import Any, Protocol

from twice.recording.effects import ops
from twice.recording.effects.events import Event

INCOMING = (ops.RECEIVED.number, ops.ENDED.number)
_PATIENCE_SECONDS = 3
_IDLE_S = 0.02


class Waits(Protocol):
    """A connection that has its turns."""

    key: str

    def taken(self) -> int:
        """How many of its events were taken."""
        ...

    def show(self) -> None:
        """Look again whether it is readable."""
        ...

    def is_held_back(self) -> bool:
        """Whether it would be readable, if it were its turn."""
        ...


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
        self._ordered = {key for key, _ in self._arrivals}
        self._at = 0
        self._open: dict[str, Waits] = {}
        self._gone: set[str] = set()
        self._guarded = -1

    def is_up(self, key: str, index: int) -> bool:
        """Whether an event of a connection may be taken."""
        if key not in self._ordered:
            return True
        for at in range(self._at, len(self._arrivals)):
            if self._arrivals[at][0] != key:
                return False
            if self._arrivals[at][1] >= index:
                return True
        return True

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
        """Something was taken or sent: pass over what is done, and show the next one."""
        while not self._is_over:
            key, index = self._arrivals[self._at]
            connection = self._open.get(key)
            if connection is not None and index >= connection.taken():
                connection.show()
                return
            if connection is None and key not in self._gone:
                return
            self._at += 1

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


def _arrivals(
    order: Sequence[str], events: Mapping[str, Sequence[Event]]
) -> Sequence[tuple[str, int]]:
    """What came in on connections that were not waited for, in its order."""
    counts: dict[str, int] = {}
    found = []
    for key in order:
        index = counts.get(key, 0)
        counts[key] = index + 1
        if events[key][index][0] in INCOMING and _not_waited_for(events[key][0]):
            found.append((key, index))
    return found


def _not_waited_for(event: tuple[int, Any]) -> bool:
    number, value = event
    return number == ops.CONNECT.number and bool(value[1][0])
