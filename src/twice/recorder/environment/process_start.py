"""What a session's process does to itself before the program is called.

Garbage-collection thresholds, the file mode mask, the clock and the like are no environment variables. A child gets
them as variables of our own, ``TWICE_CHILD_*``, which are part of the recorded surroundings like every other; it takes
them out of its environment before the program is loaded, so that a program sees their effect and not them.

The lowest free descriptor, and how deep the stack is, follow from how a session was put together, and that differs
between a recording, a replay and a branch. Here both get one value.

Not here: which values are worth trying (``diagnosis.vary``). Not covered: which functions stand on the stack, and the
number of open descriptors.

Invariant: without such a variable a process is left as it is. The program has as many frames for itself as Python
gives it, and reads the limit that Python has.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from typing import Final, TypeVar

from twice.errors import SurroundingsRefused
from twice.recorder.effects.varied_world import (
    newest_tasks_first,
    offset_wall_clock,
    reverse_listings,
)
from twice.recorder.environment.libraries import read_system_file
from twice.recorder.environment.varied_numerics import (
    ask_for_kernels,
    flush_denormals,
    lower_matmul_precision,
)

_PREFIX: Final = "TWICE_CHILD_"
CHILD_GC: Final = "TWICE_CHILD_GC"  # collection thresholds: three numbers with commas between
CHILD_SWITCH: Final = "TWICE_CHILD_SWITCH_INTERVAL"  # seconds between switches of threads
CHILD_UMASK: Final = "TWICE_CHILD_UMASK"  # file mode mask, octal
CHILD_CPUS: Final = "TWICE_CHILD_CPUS"  # how many of its processors: the first ones, by number
CHILD_FOLDER: Final = "TWICE_CHILD_FOLDER"  # absolute path of the folder that it stands in
CHILD_ADDRESSES: Final = "TWICE_CHILD_ADDRESSES"  # "fixed": started again without random ones
CHILD_CLOCK_OFFSET: Final = "TWICE_CHILD_CLOCK_OFFSET"  # whole seconds added to the wall clock
CHILD_LISTINGS: Final = "TWICE_CHILD_LISTINGS"  # "backwards": the order in which folders are listed
CHILD_TASKS: Final = "TWICE_CHILD_TASKS"  # "newest-first": the order of tasks that are ready
CHILD_DENORMALS: Final = "TWICE_CHILD_DENORMALS"  # "flushed": denormal numbers become zero
CHILD_MATMUL: Final = "TWICE_CHILD_MATMUL_PRECISION"  # "medium": float32 products of torch
CHILD_KERNELS: Final = (
    "TWICE_CHILD_KERNELS"  # "read": at the end, from results (``varied_numerics``)
)

_ASK: Final = 0xFFFFFFFF
_NO_RANDOMIZE: Final = 0x0040000  # linux/personality.h: ADDR_NO_RANDOMIZE
_FIRST_DESCRIPTOR: Final = 48
_DEPTH: Final = 48
_UNCOUNTED: Final = int(sys.version_info >= (3, 12))
"""Calls below a module that the limit counts there and not here."""
_Result = TypeVar("_Result")


def apply_child_settings(environ: MutableMapping[str, str]) -> None:
    """Apply the variables ``TWICE_CHILD_*`` and remove them.

    Raises:
        SurroundingsRefused: E-ENV-001, for a value that cannot be used here, and for a variable that is not
            known, as of a record of another version: a run without what it asks for would be another run.
    """
    for name, apply in _APPLY.items():
        value = environ.get(name)
        if value:
            try:
                apply(value)
            except (ValueError, TypeError, AttributeError, OSError) as error:
                raise SurroundingsRefused(
                    f"{name} is {value!r}, and that cannot be used here: {error}.",
                    "Expected a value that this process can give itself.",
                    f"Correct it, or leave {name} out.",
                    variable=name,
                    value=value,
                ) from error
        environ.pop(name, None)
    for name in environ:
        if name.startswith(_PREFIX):
            raise SurroundingsRefused(
                f"{name} asks for something that this version cannot do.",
                f"Expected one of {', '.join(sorted(_APPLY))}.",
                f"Leave {name} out, or use the version of twice that made the record.",
                variable=name,
                value=environ[name],
            )


def read_addresses() -> str:
    """Return ``fixed`` or ``random``; empty where the system does not say."""
    if not sys.platform.startswith("linux"):
        return ""
    switch = read_system_file("/proc/sys/kernel/randomize_va_space").strip()
    asked = ctypes.CDLL(None).personality(_ASK) & _NO_RANDOMIZE
    return "fixed" if asked or switch == "0" else "random"


def _fix_addresses() -> None:
    """Begin this process anew, without random addresses; nothing, where it has none already."""
    library = ctypes.CDLL(None, use_errno=True)
    now = library.personality(_ASK)
    if now & _NO_RANDOMIZE:
        return
    if library.personality(now | _NO_RANDOMIZE) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606  (the very process that was asked for)


def _only(word: str, apply: Callable[[], None]) -> Callable[[str], None]:
    """Build a hook that accepts one word, and no other."""

    def apply_word(value: str) -> None:
        if value != word:
            raise ValueError(f"expected {word}")
        apply()

    return apply_word


_APPLY: Final[dict[str, Callable[[str], object]]] = {
    # First, because it begins the process anew: what was done before would be undone.
    CHILD_ADDRESSES: _only("fixed", _fix_addresses),
    CHILD_GC: lambda value: gc.set_threshold(*map(int, value.split(","))),
    CHILD_SWITCH: lambda value: sys.setswitchinterval(float(value)),
    CHILD_UMASK: lambda value: os.umask(int(value, 8)),
    CHILD_CPUS: lambda value: os.sched_setaffinity(
        0, sorted(os.sched_getaffinity(0))[: int(value)]
    ),
    CHILD_FOLDER: os.chdir,
    CHILD_CLOCK_OFFSET: lambda value: offset_wall_clock(int(value)),
    CHILD_LISTINGS: _only("backwards", reverse_listings),
    CHILD_TASKS: _only("newest-first", newest_tasks_first),
    CHILD_MATMUL: _only("medium", lower_matmul_precision),
    CHILD_KERNELS: _only("read", ask_for_kernels),
    CHILD_DENORMALS: _only("flushed", flush_denormals),
}


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
    count, frame = 0, sys._getframe()
    while (above := frame.f_back) is not None:
        count, frame = count + 1, above
    return _call_below(_DEPTH - count, function)


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
