"""What a program can see of the process that it begins in, made the same in recordings and replays.

The lowest free descriptor, and how deep the stack is, follow from how a session was put together, and that differs
between a recording, a replay and a branch. Here both get one value before the program is called.

Not for: which functions stand on the stack, and the number of open descriptors.

Invariant: the program has as many frames for itself as Python gives it, and reads the limit that Python has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TypeVar

_FIRST_DESCRIPTOR: Final = 48
_DEPTH: Final = 48
_UNCOUNTED: Final = int(sys.version_info >= (3, 12))
"""Calls below a module that the limit counts there and not here."""
_Result = TypeVar("_Result")


@contextmanager
def same_descriptors() -> Iterator[None]:
    """Let the lowest free descriptor be the same in every session, as long as the block runs.

    The null device stands in for the others. A limit of the process may leave some of them out.
    """
    reserved: list[int] = []
    with suppress(OSError):
        reserved.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
        while reserved[-1] < _FIRST_DESCRIPTOR - 1:
            reserved.append(os.dup(reserved[-1]))
        if reserved[-1] >= _FIRST_DESCRIPTOR:
            os.close(reserved.pop())
    kinds = {each: _identify(each) for each in reserved}
    try:
        yield
    finally:
        for each in reserved:
            if _identify(each) == kinds[each]:  # the program may have closed it, and opened its own
                os.close(each)


def _identify(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_rdev, found.st_ino


def call_at_one_depth(function: Callable[[], _Result]) -> _Result:
    """Call a function below the same number of frames in every session; they do not count as the program's."""
    return _call_below(_DEPTH - _count_frames(), function)


def _call_below(frames: int, function: Callable[[], _Result]) -> _Result:
    if frames > 0:
        return _call_below(frames - 1, function)
    with _full_stack():
        return function()


@contextmanager
def _full_stack() -> Iterator[None]:
    """Run the block with the whole limit of recursion, and without the frames below it in the limit."""
    get, set_ = sys.getrecursionlimit, sys.setrecursionlimit
    limit = get()
    set_(limit + 4 * _DEPTH)
    # Counted from here, as many frames are left as the limit says: a script's module then has what Python gives it.
    tracer = sys.gettrace()
    sys.settrace(None)  # a tracer that meets the limit itself is switched off by the interpreter
    try:
        more = 4 * _DEPTH - (_count_left(0) - limit + _UNCOUNTED)
    finally:
        sys.settrace(tracer)
    set_(limit + more)

    def getrecursionlimit() -> int:
        return get() - more

    def setrecursionlimit(limit: int, /) -> None:
        set_(limit + more if limit > 0 else limit)

    sys.getrecursionlimit, sys.setrecursionlimit = getrecursionlimit, setrecursionlimit
    try:
        yield
    finally:
        sys.getrecursionlimit, sys.setrecursionlimit = get, set_
        set_(max(limit, get() - more))


def _count_left(n: int) -> int:
    try:
        return _count_left(n + 1)
    except RecursionError:
        return n


def _count_frames() -> int:
    count, frame = 0, sys._getframe(1)
    while (above := frame.f_back) is not None:
        count, frame = count + 1, above
    return count
