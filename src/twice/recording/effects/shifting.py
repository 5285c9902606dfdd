"""Another clock and other file times for a whole process, for experiments that vary them.

This is the world under the effects layer: recording reads it as if it were the real one, and a replay is
served what was recorded. Shifted: every clock of ``time``, ``clock_gettime``, and what ``datetime`` makes
of them in a session; times of files that were there before the process, by ``os.stat``, ``os.lstat``,
``os.fstat`` and what calls them. A file that is made or changed meanwhile has the time of the clock.

Not reached: ``sleep`` and timeouts (they wait as long as they say), names bound before (in ``threading``
and ``queue``), C code that reads by itself, ``os.DirEntry.stat``.

Invariant: a process that asks for no shift keeps the very functions that it has.
"""

from __future__ import annotations

import os
import time as _time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from twice.recording.effects import clock, ops
from twice.recording.effects.patches import binding_as

_WALL: Final = frozenset({ops.TIME, ops.TIME_NS})
_REAL_TIME_NS = _time.time_ns
_REAL_MONOTONIC_NS = _time.monotonic_ns
_REAL_STAT = os.stat
_BEGAN_NS: Final = _time.time_ns()
_MIRROR_NS: Final = 1_262_304_000 * 1_000_000_000  # 2010-01-01, between old archives and today
_NS: Final = 1_000_000_000
_SPIN_NS: Final = 2_000_000
_MIDSUMMER: Final = 15_724_800  # 1970-07-02, when zones have their summer time


def offset_wall_clock(seconds: int) -> None:
    """Let the wall clock read that many seconds more than it does."""
    for op in clock.REAL:
        if op in _WALL:
            _replace(op, partial(_plus, clock.REAL[op], seconds * (_NS if _counts_ns(op) else 1)))
    for name, unit in (("clock_gettime", 1), ("clock_gettime_ns", _NS)):
        real = getattr(_time, name)
        setattr(_time, name, partial(_given_plus, real, seconds * unit))


def rate_clocks(rate: float) -> None:
    """Let every clock run that many times as fast from now on."""
    for op, real in list(clock.REAL.items()):
        _replace(op, partial(_faster, real, real(), rate))
    for name in ("clock_gettime", "clock_gettime_ns"):
        setattr(_time, name, partial(_given_faster, getattr(_time, name), {}, rate))


def mirror_file_times() -> None:
    """Let the times of files that nobody changed since now be mirrored around 2010.

    What was newer is older, and equal times stay equal.
    """
    for name in ("stat", "lstat", "fstat"):
        real = getattr(os, name)
        put_in_os(name, partial(_mirrored, real))


def put_in_os(name: str, replacement: Any) -> None:
    """Put a function into ``os``, and into the sets that say what it supports."""
    real = getattr(os, name)
    replacement = binding_as(real, replacement, "os", name)
    for supports in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
        if real in supports:
            supports.add(replacement)
    setattr(os, name, replacement)


def clock_offset_read() -> str:
    """How far the wall clock is from the real one, in whole hours."""
    now = clock.REAL[ops.TIME_NS]()
    assert isinstance(now, int), "nanoseconds are whole"
    return f"{round((now - _REAL_TIME_NS()) / (3600 * _NS))} h"


def clock_rate_read() -> str:
    """How fast the clock runs against the real one, rounded; measured only where it is another one."""
    if _time.monotonic_ns is _REAL_MONOTONIC_NS:
        return "1"
    real, shown = _REAL_MONOTONIC_NS(), _time.monotonic_ns()
    while _REAL_MONOTONIC_NS() - real < _SPIN_NS:
        pass
    return str(round((_time.monotonic_ns() - shown) / (_REAL_MONOTONIC_NS() - real)))


def file_times_read() -> str:
    """The year of a file that was there before this process."""
    return str(1970 + int(os.stat(os.__file__).st_mtime / 31_556_952))  # noqa: PTH116  (what a program calls)


def zone_read() -> str:
    """Seconds by which local time is ahead, in winter and in summer."""
    return " ".join(str(_time.localtime(at).tm_gmtoff) for at in (0, _MIDSUMMER))


def _counts_ns(op: ops.Op) -> bool:
    return op.name.endswith("_ns")


def _replace(op: ops.Op, replacement: Callable[[], Any]) -> None:
    clock.REAL[op] = replacement
    setattr(_time, op.name.removeprefix("clock."), replacement)


def _plus(real: Callable[[], Any], more: int) -> Any:
    return real() + more


def _given_plus(real: Callable[[int], Any], more: int, which: int, /) -> Any:
    return real(which) + more if which == _time.CLOCK_REALTIME else real(which)


def _faster(real: Callable[[], Any], began: Any, rate: float) -> Any:
    passed = (real() - began) * rate
    return began + (int(passed) if isinstance(began, int) else passed)


def _given_faster(
    real: Callable[[int], Any], began: dict[int, Any], rate: float, which: int
) -> Any:
    if which not in began:
        began[which] = real(which)
    return _faster(partial(real, which), began[which], rate)


def _mirrored(real: Callable[..., os.stat_result], *given: Any, **named: Any) -> os.stat_result:
    found = real(*given, **named)
    if found.st_ctime_ns >= _BEGAN_NS:
        return _moved(found, _as_the_clock_shows)
    return _moved(found, _mirror)


def _mirror(moment_ns: int) -> int:
    return max(0, 2 * _MIRROR_NS - moment_ns)


def _as_the_clock_shows(moment_ns: int) -> int:
    """A moment since this process began, on the clock that the program reads."""
    if moment_ns < _BEGAN_NS:
        return moment_ns
    now = clock.REAL[ops.TIME_NS]()
    assert isinstance(now, int), "nanoseconds are whole"
    return moment_ns + now - _REAL_TIME_NS()


def _moved(found: os.stat_result, move: Callable[[int], int]) -> os.stat_result:
    moments = {name: move(getattr(found, f"st_{name}_ns")) for name in ("atime", "mtime", "ctime")}
    further = {
        name: getattr(found, name) for name in ("st_blksize", "st_blocks", "st_rdev")
        if hasattr(found, name)
    }  # fmt: skip
    for name, moment in moments.items():
        further[f"st_{name}"] = moment / _NS
        further[f"st_{name}_ns"] = moment
    plain = [*tuple(found)[:7], *(moment // _NS for moment in moments.values())]
    return os.stat_result(plain, further)
