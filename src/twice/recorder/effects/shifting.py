"""Another wall clock for a whole process, for experiments that vary it.

This is the world under the effects layer: recording reads it as if it were the real one, and a replay is
served what was recorded. Shifted: the wall clock of ``time``, ``clock_gettime``, and what ``datetime`` makes
of it in a session.

Not reached: names bound before (in ``threading`` and ``queue``), C code that reads by itself.

Invariant: a process that asks for no shift keeps the very functions that it has.
"""

from __future__ import annotations

import os
import time as _time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from twice.recorder.effects import clock, ops
from twice.recorder.effects.patches import binding_as

_WALL: Final = frozenset({ops.TIME, ops.TIME_NS})
_REAL_TIME_NS = _time.time_ns
_NS: Final = 1_000_000_000
_MIDSUMMER: Final = 15_724_800  # 1970-07-02, when zones have their summer time


def offset_wall_clock(seconds: int) -> None:
    """Let the wall clock read that many seconds more than it does."""
    for op in clock.REAL:
        if op in _WALL:
            _replace(op, partial(_plus, clock.REAL[op], seconds * (_NS if _counts_ns(op) else 1)))
    for name, unit in (("clock_gettime", 1), ("clock_gettime_ns", _NS)):
        real = getattr(_time, name)
        setattr(_time, name, partial(_given_plus, real, seconds * unit))


def put_in_os(name: str, replacement: Any) -> None:
    """Put a function into ``os``, and into the sets of supported functions."""
    real = getattr(os, name)
    replacement = binding_as(real, replacement, "os", name)
    for supports in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
        if real in supports:
            supports.add(replacement)
    setattr(os, name, replacement)


def clock_offset_read() -> str:
    """Return how far the wall clock is from the real one, in whole hours."""
    now = clock.REAL[ops.TIME_NS]()
    assert isinstance(now, int), "nanoseconds are whole"
    return f"{round((now - _REAL_TIME_NS()) / (3600 * _NS))} h"


def zone_read() -> str:
    """Return the seconds by which local time is ahead, in winter and in summer."""
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
