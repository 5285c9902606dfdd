"""Whose thread each thread of a run is: the actor that it was started for.

A job owns its worker's thread while it runs; a task owns none. What the standard library reads for itself is
kept in one order for each owner.

Invariant: a thread that nobody entered has no owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING

from twice.recorder.effects.waits import TimedWaits

if TYPE_CHECKING:
    from twice.recorder.effects.actors import Actor


class ThreadOwners:
    """The owners of one run's threads.

    Args:
        thread: identity of the main program's thread.
        main: its owner.

    Attributes:
        has_processes: tells whether the run has processes that a replay runs again.
        waits: timed waits of its threads.
        has_moved_work: whether one of them did what another like it did in the recorded run.
    """

    def __init__(self, thread: int, main: Actor) -> None:
        self.has_processes: Callable[[], bool] = lambda: False
        self.waits = TimedWaits()
        self.has_moved_work = False
        self._owners = {thread: main}

    def find_owner(self, otherwise: Actor) -> Actor:
        """Return the owner of this thread; another actor, where nobody is known."""
        return self._owners.get(get_ident(), otherwise)

    @contextmanager
    def assign_thread(self, owner: Actor) -> Iterator[None]:
        """Let an actor own this thread for as long as the block runs."""
        here = get_ident()
        before = self._owners.get(here)
        self._owners[here] = owner
        try:
            yield
        finally:
            if before is None:
                del self._owners[here]
            else:
                self._owners[here] = before

    def is_alone(self) -> bool:
        """Return whether no other thread, and no process of the run that runs here, goes on beside this thread."""
        here = get_ident()
        return not self.has_processes() and all(thread == here for thread in [*self._owners])
