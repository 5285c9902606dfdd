"""Futures and tasks that a set holds in an order that follows from the run, not from addresses.

Why: ``asyncio.wait`` and ``concurrent.futures.wait`` hand out sets, ``as_completed`` and task groups go through
sets of their own, and an object's place in a set follows from its address unless its class says otherwise.
Two executions would hand the same replies to other tasks.

Not covered: futures that others make (a task factory of the program's, other loops, subclasses), and sets of
other objects.

Invariant: the hash of a future stays what it was when it was first asked for, also after the session.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from inspect import isgeneratorfunction
from typing import Any
from zlib import crc32

from twice.recorder.effects.actors import Actor
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch

_COUNT_BITS = 20
_HASH = "_hash_of_the_run"


def derive_class(layer: EffectLayer, kind: type) -> type:
    """Derive a class of the same name, whose hashes follow from the actor that first asks."""

    def find_hash(self: Any) -> int:
        known: int | None = getattr(self, _HASH, None)
        if known is None:
            actor = layer.actor()
            known = object.__hash__(self) if actor is None else _next(actor)
            setattr(self, _HASH, known)
        return known

    names = {
        "__hash__": find_hash,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
    }
    return type(kind.__name__, (kind,), names)


def _next(actor: Actor) -> int:
    actor.futures += 1
    return (crc32(actor.key.encode()) << _COUNT_BITS) + actor.futures


def patches(layer: EffectLayer, base_events: Any) -> list[Patch]:
    """Return the patches that make an event loop's futures, and take coroutines in their order."""
    loop = base_events.BaseEventLoop
    make, create = derive_class(layer, base_events.futures.Future), loop.create_task
    tasks = base_events.tasks
    task = derive_class(layer, tasks.Task)

    def create_future(self: Any) -> Any:
        return make(loop=self)

    def create_task(self: Any, coro: Any, **kwargs: Any) -> Any:
        if self._task_factory is not None:
            return create(self, coro, **kwargs)
        self._check_closed()
        made = task(coro, loop=self, **kwargs)
        if made._source_traceback:
            del made._source_traceback[-1]
        return made

    as_completed = _in_order(tasks)
    # The package may still be in the middle of its import, and takes the name afterwards.
    holders = [each for each in (tasks, sys.modules["asyncio"]) if hasattr(each, "as_completed")]
    return [
        Patch(loop, "create_future", create_future),
        Patch(loop, "create_task", create_task),
        *(Patch(holder, "as_completed", as_completed) for holder in holders),
    ]


def _in_order(tasks: Any) -> Callable[..., Any]:
    real = tasks.as_completed

    def begin(fs: Any) -> Any:
        """Make tasks for coroutines, in the order of the arguments."""
        running = tasks.events._get_running_loop()
        if running is None or tasks.futures.isfuture(fs) or tasks.coroutines.iscoroutine(fs):
            return fs
        return [tasks.ensure_future(one, loop=running) for one in dict.fromkeys(fs)]

    def as_completed(fs: Iterable[Any], *, timeout: float | None = None) -> Any:
        return real(begin(fs), timeout=timeout)

    def as_completed_later(fs: Iterable[Any], *, timeout: float | None = None) -> Iterator[Any]:
        yield from real(begin(fs), timeout=timeout)

    return as_completed_later if isgeneratorfunction(real) else as_completed
