"""Another world under the effects layer, for experiments: another wall clock, another order of listings and tasks.

Recording reads it as if it were the real one, and a replay is served the record. Shifted: the wall clock of
``time``, ``clock_gettime``, and what ``datetime`` makes of it in a session. The system may list a folder in any order,
and an event loop may resume tasks that are ready in any; a program that depends on either works by luck. Listings are
reversed; of the tasks that are ready at once the newest goes first. Both do the same in every execution.

Tasks are put in an order of their own, not turned round: two turns round would cancel. Only the turns of
``asyncio`` tasks among themselves change: other callbacks keep their order, which is documented. Not
reached: names bound before (in ``threading`` and ``queue``), C code that reads by itself, event loops of other makers,
``os.listdir`` by a name that C code holds.

Invariant: a process that asks for none keeps the very functions that it has. A reversed listing has every name once,
and a round of a loop every task.
"""

from __future__ import annotations

import os
import time as _time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

from twice.recorder.effects import clock, ops
from twice.recorder.effects.listing import Entries
from twice.recorder.effects.patches import binding_as
from twice.recorder.imports import ImportWatch

_REAL_TIME_NS = _time.time_ns
_NS: Final = 1_000_000_000
_MIDSUMMER: Final = 15_724_800  # 1970-07-02, when zones have their summer time
_FOLDER: Final = str(Path(os.__file__).parent / "encodings")
_changed_rounds = [0]


def offset_wall_clock(seconds: int) -> None:
    """Let the wall clock read that many seconds more than it does."""

    def read_shifted(real: Callable[..., Any], more: int, *which: int) -> Any:
        is_wall = not which or which[0] == _time.CLOCK_REALTIME
        return real(*which) + more if is_wall else real(*which)

    for op in (ops.TIME, ops.TIME_NS, ops.GETTIME, ops.GETTIME_NS):
        name = op.name.removeprefix("clock.")
        more = seconds * (_NS if name.endswith("_ns") else 1)
        shifted = partial(read_shifted, getattr(_time, name), more)
        if op in clock.REAL:
            clock.REAL[op] = shifted
        setattr(_time, name, shifted)


def reverse_listings() -> None:
    """Let every folder be listed backwards."""
    listdir, scandir = os.listdir, os.scandir

    def list_backwards(*given: Any, **named: Any) -> list[Any]:
        return listdir(*given, **named)[::-1]

    def scan_backwards(*given: Any, **named: Any) -> Entries:
        with scandir(*given, **named) as entries:
            return Entries(list(entries)[::-1])

    for name, replacement in (("listdir", list_backwards), ("scandir", scan_backwards)):
        real = getattr(os, name)
        bound = binding_as(real, replacement, "os", name)
        for supports in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if real in supports:
                supports.add(bound)
        setattr(os, name, bound)


def newest_tasks_first() -> None:
    """Let the newest of the tasks that are ready take its turn first, in every loop that begins."""
    ImportWatch({"asyncio.base_events": _newest_first_in}).install()


def clock_offset_read() -> str:
    """Return how far the wall clock is from the real one, in whole hours."""
    now = clock.REAL[ops.TIME_NS]()
    assert isinstance(now, int), "nanoseconds are whole"
    return f"{round((now - _REAL_TIME_NS()) / (3600 * _NS))} h"


def zone_read() -> str:
    """Return the seconds by which local time is ahead, in winter and in summer."""
    return " ".join(str(_time.localtime(at).tm_gmtoff) for at in (0, _MIDSUMMER))


def listing_read() -> str:
    """Return the first names of a folder that every Python has, in the order of the listing."""
    return " ".join(os.listdir(_FOLDER)[:3])  # noqa: PTH208  (what a program calls)


def turns_read() -> str:
    """Return in how many rounds of event loops the ready tasks changed places."""
    return str(_changed_rounds[0])


def _newest_first_in(module: ModuleType) -> None:
    import asyncio

    loop: Any = module.BaseEventLoop
    run_once: Callable[[Any], None] = loop._run_once
    ages: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
    born = count()

    def age(handle: Any) -> int:
        # A task's first turn comes in the order in which tasks are made.
        return ages.setdefault(handle._callback.__self__, next(born))

    def is_turn(handle: Any) -> bool:
        return isinstance(getattr(handle._callback, "__self__", None), asyncio.Task)

    def run_rearranged(self: Any) -> None:
        ready = self._ready
        places = [at for at, handle in enumerate(ready) if is_turn(handle)]
        turns = [ready[at] for at in places]
        newest_first = sorted(turns, key=age, reverse=True)
        _changed_rounds[0] += newest_first != turns
        for at, handle in zip(places, newest_first, strict=True):
            ready[at] = handle
        run_once(self)

    loop._run_once = run_rearranged
