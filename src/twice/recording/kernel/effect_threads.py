"""Which threads of the program are inside a declared effect, told to the supervisor through shared memory.

What a declared effect does to files is part of its one result: a replay does not run it, and does not miss
what it wrote. The supervisor sees a system call's thread, and looks here whether that thread is in one.

Invariant: a thread's number stands here only while it is inside of an effect.
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


class EffectThreads:
    """A table in memory that a process shares with the forks made after it."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SLOTS * _BYTES)
        self._numbers = memoryview(self._memory).cast("I")
        self._own = threading.local()
        self._free = count()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Let this thread count as inside of an effect while the block runs."""
        own = self._own
        if getattr(own, "depth", 0):
            yield
            return
        if not hasattr(own, "slot"):
            own.slot = next(self._free) % _SLOTS
        own.depth = 1
        # twice: ignore[identity-key] the kernel names threads so, and it is never recorded
        self._numbers[own.slot] = get_native_id()
        try:
            yield
        finally:
            self._numbers[own.slot] = 0
            own.depth = 0

    def holds(self, thread: int) -> bool:
        """Return whether a thread is inside of an effect now."""
        return thread in self._numbers

    def is_any(self) -> bool:
        """Return whether any thread is."""
        return any(self._numbers)
