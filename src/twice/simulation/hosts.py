"""Hosts of a simulation: parts of a program that crash as a whole, and begin again.

Everything that a host's function starts belongs to it: tasks, timers, connections, servers. In a crash none of it takes
another step: no ``finally`` runs, as when a machine loses its power. Its connections break, its addresses are free. Files,
and objects that outlive the function, are what it finds when it begins again.

Not covered: bytes of a file that a real disk would lose.

Invariant: a step belongs to a host by its context, so that nothing has to be said twice.
"""

from __future__ import annotations

import asyncio
import ctypes
from asyncio import events, tasks
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING, Any, Final, TypeVar

from twice.errors import ScheduleRefused

if TYPE_CHECKING:
    from twice.simulation.loop import SimulatedLoop

T = TypeVar("T")
_LIFE: Final[ContextVar[HostLife | None]] = ContextVar("life", default=None)
_GONE: Final[list[tasks.Task[Any]]] = []
"""Tasks of crashed hosts."""


class HostLife:
    """A host from its beginning to its crash or end; ``parent`` is the host that has started it."""

    def __init__(self, crash: asyncio.Future[float], parent: HostLife | None) -> None:
        self.crash, self.parent = crash, parent
        self.has_crashed = False
        self.tasks: list[tasks.Task[Any]] = []

    @property
    def is_over(self) -> bool:
        """Whether it has crashed, or the host that has started it."""
        return self.has_crashed or (self.parent is not None and self.parent.is_over)


def find_life(context: Context | None) -> HostLife | None:
    """Return the host that a step with this context belongs to; None for none."""
    return _LIFE.get() if context is None else context.get(_LIFE)


def is_gone(handle: Any) -> bool:
    """Return whether a step belongs to a host that has crashed."""
    life = find_life(handle._context)
    return life is not None and life.is_over


def count_gone() -> int:
    """Return how many tasks of crashed hosts are kept."""
    return len(_GONE)


def find_tasks(loop: SimulatedLoop, event: str) -> list[tasks.Task[Any]]:
    """Return the tasks that a fault ends: those of the host of a crash, which have not ended by themselves."""
    kind, _, rest = event.partition(" ")
    life = loop.hosts.get(rest.rpartition(" ")[0]) if kind == "crash" else None
    return [] if life is None else [task for task in life.tasks if not task.done()]


def crash_host(loop: SimulatedLoop, name: str, lasts_s: float) -> None:
    """End all that a host has started, and let it begin again after a virtual time; do nothing where none of the name runs."""
    life = loop.hosts.get(name)
    if life is None or life.is_over:
        return
    life.has_crashed = loop.has_crashed = True
    for other, each in [pair for pair in loop.hosts.items() if pair[1].is_over]:
        for task in each.tasks:
            tasks._unregister_task(task)
            # For good, also when the interpreter ends: whoever takes one down runs its ``finally``.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(task))
        _GONE.extend(each.tasks)
        each.tasks.clear()
        loop.network.end_life(each)
        if each.parent is not None and each.parent.is_over:
            del loop.hosts[other]  # whoever would let it begin again is gone as well
    loop.drop_gone()
    life.crash.set_result(lasts_s)


def host(name: str, main: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
    """Start a part of the program that a search may crash, and that then begins again, from its function.

    Args:
        name: of the host, in reports.
        main: its async function; called without arguments, and again after each crash.

    Returns:
        A task with the value of the last call. Outside of a simulated loop it is an ordinary task.

    Raises:
        ScheduleRefused: E-SCHEDULE-004, when a host of this name is there already.
    """
    from twice.simulation.loop import SimulatedLoop  # it needs this file

    loop = events.get_running_loop()
    if not isinstance(loop, SimulatedLoop):
        return loop.create_task(main(), name=name)
    if name in loop.hosts:
        raise ScheduleRefused(
            f"A host {name!r} was started, and there is one of this name.",
            "Expected another name for each host: a fault is told by it.",
            "For example: host('db-1', serve), host('db-2', serve)",
        )
    loop.hosts[name] = HostLife(loop.create_future(), _LIFE.get())
    lives: Any = _live(loop, name, main)
    lives.__qualname__ = name  # which keys of steps and reports show
    started: asyncio.Task[T] = loop.create_task(lives, name=name)
    return started


def _begin(
    loop: SimulatedLoop, life: HostLife, main: Callable[[], Coroutine[Any, Any, T]]
) -> asyncio.Task[T]:
    context = copy_context()
    context.run(_LIFE.set, life)
    task: asyncio.Task[T] = loop.create_task(main(), context=context)
    return task


async def _live(loop: SimulatedLoop, name: str, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    try:
        while True:
            life = loop.hosts[name]
            if not life.is_over:  # by a crash before its first step
                task = _begin(loop, life, main)
                either: set[asyncio.Future[Any]] = {task, life.crash}
                try:
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                except asyncio.CancelledError:
                    task.cancel()
                    raise
                if not life.is_over:
                    return await task
            await asyncio.sleep(life.crash.result())
            loop.hosts[name] = HostLife(loop.create_future(), life.parent)
    finally:
        del loop.hosts[name]
