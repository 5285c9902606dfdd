"""What the threads of the program are about to do, told to the supervisor through shared memory.

What a declared effect does to files and connections is part of its one result: a replay does not run it, and
does not miss what it wrote. What Python connects, its own layer records. The supervisor sees a system call's
thread, and looks here whether the call is accounted for already.

Invariant: a thread counts as inside of an effect only while it is.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import get_native_id

_SLOTS = 1024
_BYTES = 4


class ThreadMarks:
    """Two tables in memory that a process shares with the forks made after it."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 2 * _SLOTS * _BYTES)
        numbers = memoryview(self._memory).cast("I")
        self._in_effects, self._connecting = numbers[:_SLOTS], numbers[_SLOTS:]
        self._own = threading.local()
        self._free = count()

    @contextmanager
    def inside_effect(self) -> Iterator[None]:
        """Let this thread count as inside of an effect while the block runs."""
        own = self._own
        if getattr(own, "depth", 0):
            yield
            return
        if not hasattr(own, "slot"):
            own.slot = next(self._free) % _SLOTS
        own.depth = 1
        # twice: ignore[identity-key] the kernel names threads so, and it is never recorded
        self._in_effects[own.slot] = get_native_id()
        try:
            yield
        finally:
            self._in_effects[own.slot] = 0
            own.depth = 0

    def is_in_effect(self, thread: int) -> bool:
        """Return whether a thread is inside of an effect now."""
        return thread in self._in_effects

    def is_any_in_effect(self) -> bool:
        """Return whether any thread is."""
        return any(self._in_effects)

    def expect_connect(self) -> None:
        """Let the next connection of this thread count as made by Python."""
        # twice: ignore[identity-key] the kernel names threads so, and it is never recorded
        thread = get_native_id()
        self._connecting[thread % _SLOTS] = thread

    def take_expected_connect(self, thread: int) -> bool:
        """Return whether a connection of this thread was expected, once."""
        at = thread % _SLOTS
        is_expected = self._connecting[at] == thread
        if is_expected:
            self._connecting[at] = 0
        return is_expected
