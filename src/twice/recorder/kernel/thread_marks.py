"""What the threads of the program are about to do, told to the supervisor through shared memory.

What a declared effect does to files and connections is part of its one result: a replay does not run it, and
does not miss what it wrote. What Python connects, its own layer records. The supervisor sees a system call's
thread, and looks here whether the call is accounted for already.

Every thread that the kernel can number has a byte of its own, and pages that nobody touches take no memory. A
table of fewer slots lost marks: a thread overwrote and then cleared another's as soon as two shared a slot.

Not for: a process that is killed inside of an effect. Its mark stays.

Invariant: a mark is written by its own thread alone, so that no lock between processes is needed.
"""

from __future__ import annotations

import mmap
from contextlib import AbstractContextManager
from threading import get_native_id

_THREADS = 1 << 22  # PID_MAX_LIMIT of the kernel: no thread has a higher number
_BLOCK = 1 << 12
_CONNECTING, _BLOCKS = _THREADS, 2 * _THREADS
"""Where the two other tables begin: expected connections by thread, and blocks in which marks may be."""
_SET = b"\1"


class _Inside(AbstractContextManager[None]):
    """The block of one effect on one thread. No generator: each declared effect begins one."""

    __slots__ = ("_before", "_memory", "_thread")

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory

    def __enter__(self) -> None:
        # twice: ignore[identity-key] the kernel names threads so, and it is never recorded
        memory, thread = self._memory, get_native_id()
        self._thread, self._before = thread, memory[thread]
        memory[thread] = 1
        # After the mark: whoever looks at the block finds it.
        memory[_BLOCKS + thread // _BLOCK] = 1

    def __exit__(self, *_error: object) -> None:
        # twice: ignore[identity-key] as above
        if get_native_id() == self._thread:  # a fork that leaves the block has no mark of its own
            self._memory[self._thread] = self._before


class ThreadMarks:
    """Tables in memory that a process shares with the forks made after it."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _BLOCKS + _THREADS // _BLOCK)

    def inside_effect(self) -> AbstractContextManager[None]:
        """Let this thread count as inside of an effect while the block runs."""
        return _Inside(self._memory)

    def is_in_effect(self, thread: int) -> bool:
        """Return whether a thread is inside of an effect now."""
        return self._memory[thread] == 1

    def is_any_in_effect(self) -> bool:
        """Return whether any thread is."""
        memory, block = self._memory, _BLOCKS
        while (block := memory.find(_SET, block)) >= 0:
            # Cleared before the look: a mark that is set during it sets the block again.
            memory[block] = 0
            start = (block - _BLOCKS) * _BLOCK
            if memory.find(_SET, start, start + _BLOCK) >= 0:
                memory[block] = 1
                return True
            block += 1
        return False

    def expect_connect(self) -> None:
        """Let the next connection of this thread count as made by Python."""
        # twice: ignore[identity-key] the kernel names threads so, and it is never recorded
        self._memory[_CONNECTING + get_native_id()] = 1

    def take_expected_connect(self, thread: int) -> bool:
        """Return whether a connection of this thread was expected, once."""
        is_expected = self._memory[_CONNECTING + thread] == 1
        if is_expected:
            self._memory[_CONNECTING + thread] = 0
        return is_expected
