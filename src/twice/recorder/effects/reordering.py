"""Another order of listings and of ready tasks, for experiments that vary them.

The system may list a folder in any order, and an event loop may resume tasks that are ready in any; a
program that depends on either works by luck. Listings are reversed; of the tasks that are ready at once
the newest goes first. Both do the same in every execution. Like ``shifting`` this is the world under the
effects layer.

Tasks are put in an order of their own, not turned round: two turns round would cancel. Only the turns of
``asyncio`` tasks among themselves change: other callbacks keep their order, which is documented. Not
reached: event loops of other makers, ``os.listdir`` by a name that C code holds.

Invariant: a reversed listing has every name once, and a round of a loop every task.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

from twice.recorder.effects.listing import Entries
from twice.recorder.effects.shifting import put_in_os
from twice.recorder.imports import ImportWatch

_FOLDER: Final = str(Path(os.__file__).parent / "encodings")
_changed_rounds = [0]


def reverse_listings() -> None:
    """Let every folder be listed backwards."""
    listdir, scandir = os.listdir, os.scandir

    def backwards(*given: Any, **named: Any) -> list[Any]:
        return listdir(*given, **named)[::-1]

    def scanned_backwards(*given: Any, **named: Any) -> Entries:
        with scandir(*given, **named) as entries:
            return Entries(list(entries)[::-1])

    put_in_os("listdir", backwards)
    put_in_os("scandir", scanned_backwards)


def newest_tasks_first() -> None:
    """Let the newest of the tasks that are ready take its turn first, in every loop that begins."""
    ImportWatch({"asyncio.base_events": _newest_first_in}).install()


def listing_read() -> str:
    """Return the first names of a folder that every Python has, in the order of the listing."""
    return " ".join(os.listdir(_FOLDER)[:3])  # noqa: PTH208  (what a program calls)


def turns_read() -> str:
    """Return in how many rounds of event loops the ready tasks changed places."""
    return str(_changed_rounds[0])


def _newest_first_in(module: ModuleType) -> None:
    loop: Any = module.BaseEventLoop
    run_once: Callable[[Any], None] = loop._run_once
    ages: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
    born = count()

    def age(handle: Any) -> int:
        # A task's first turn comes in the order in which tasks are made.
        return ages.setdefault(handle._callback.__self__, next(born))

    def rearranged(self: Any) -> None:
        ready = self._ready
        places = [at for at, handle in enumerate(ready) if _is_turn(handle)]
        turns = [ready[at] for at in places]
        newest_first = sorted(turns, key=age, reverse=True)
        _changed_rounds[0] += newest_first != turns
        for at, handle in zip(places, newest_first, strict=True):
            ready[at] = handle
        run_once(self)

    loop._run_once = rearranged


def _is_turn(handle: Any) -> bool:
    """Return whether a due callback is a task's next step."""
    import asyncio

    return isinstance(getattr(handle._callback, "__self__", None), asyncio.Task)
