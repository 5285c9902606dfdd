"""Tasks and futures whose places in sets follow from the run, not from their addresses.

``asyncio.wait``, task groups, ``as_completed`` and ``all_tasks`` iterate over sets. An object's place in a set
follows from its address unless its class says otherwise, so that two runs under one order of steps would go
different ways. Here each task and each future of a loop has a number.

Not covered: tasks and futures that a program makes by calling the classes of ``asyncio``, and sets of other objects.

Invariant: numbers begin anew with each loop, so that an earlier run in the same process changes nothing.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import sys
import threading
import time
import weakref
from asyncio import events, tasks
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from twice.simulation.boundary import RefusingLoop, make_refusal
from twice.simulation.completion import in_order

if TYPE_CHECKING:
    _Future = asyncio.Future[Any]
    _Task = asyncio.Task[Any]
else:
    _Future, _Task = asyncio.Future, asyncio.Task

_NUMBER = "_number_of_the_run"


class SimulatedFuture(_Future):
    """A future with a number."""

    __slots__ = ("number",)
    number: int

    def __hash__(self) -> int:
        return self.number


class SimulatedTask(_Task):
    """A task with a number, and with the actor that it is where steps are traced."""

    __slots__ = ("actor", "number")
    number: int
    actor: Any

    def __hash__(self) -> int:
        return self.number


class OrderedWeakSet:
    """The part of ``weakref.WeakSet`` that a loop uses for asynchronous generators, in the order of adding."""

    def __init__(self) -> None:
        self._held: dict[int, weakref.ref[Any]] = {}

    def add(self, item: object) -> None:
        """Add an object."""
        key = id(item)
        self._held[key] = weakref.ref(item, lambda _ref: self._held.pop(key, None))

    def discard(self, item: object) -> None:
        """Take an object out if it is in."""
        self._held.pop(id(item), None)

    def clear(self) -> None:
        """Take everything out."""
        self._held.clear()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Any]:
        return iter([item for ref in self._held.values() if (item := ref()) is not None])


@contextmanager
def stable_orders() -> Iterator[None]:
    """Replace what orders by address, ``time.sleep`` and the start of threads, for simulated loops; blocks may nest."""
    if time.sleep is _sleep:
        yield
        return
    as_completed, all_tasks = in_order(tasks), _all_tasks_in_order(tasks.all_tasks)
    package = sys.modules["asyncio"]
    rows: list[tuple[Any, str, Any]] = [
        *((holder, "as_completed", as_completed) for holder in (tasks, package)),
        *((holder, "all_tasks", all_tasks) for holder in (tasks, package)),
        (vars(tasks)["_GatheringFuture"], "__hash__", _find_hash),
        (concurrent.futures.Future, "__hash__", _find_hash),
        (time, "sleep", _sleep),
        (threading.Condition, "wait", _wait),
        (threading, "_time", _read_clock),
        (queue, "time", _read_clock),
        (threading.Thread, "start", _start),  # before 3.12 the interpreter audits no threads
    ]
    before = [(holder, name, getattr(holder, name)) for holder, name, _ in rows]
    real_sleep.append(time.sleep)
    for holder, name, value in rows:
        setattr(holder, name, value)
    try:
        yield
    finally:
        for holder, name, value in before:
            setattr(holder, name, value)
        real_sleep.pop()


real_sleep: list[Callable[[float], None]] = []
_real_start = threading.Thread.start
_real_wait = threading.Condition.wait


def _find_hash(self: Any) -> int:
    number: int | None = getattr(self, _NUMBER, None)
    if number is None:
        loop: Any = events._get_running_loop()
        number = loop.next_number() if isinstance(loop, RefusingLoop) else object.__hash__(self)
        setattr(self, _NUMBER, number)
    return number


def _sleep(seconds: float, /) -> None:
    loop: Any = events._get_running_loop()
    if isinstance(loop, RefusingLoop):
        loop.sleep_in_job(seconds)
    else:
        real_sleep[-1](seconds)


def _read_clock() -> float:
    loop: Any = events._get_running_loop()
    return loop.clock_ns / 1e9 if isinstance(loop, RefusingLoop) else time.monotonic()


def _wait(self: threading.Condition, timeout: float | None = None) -> bool:
    loop: Any = events._get_running_loop()
    if not isinstance(loop, RefusingLoop):
        return _real_wait(self, timeout)
    if timeout is None or not loop.is_in_job():
        raise make_refusal("threading.Condition.wait")
    loop.sleep_in_job(timeout)  # nobody comes meanwhile
    return False


def _start(self: threading.Thread) -> None:
    loop: Any = events._get_running_loop()
    if not isinstance(loop, RefusingLoop):
        _real_start(self)
    elif type(self).__module__ == "anyio._backends._asyncio":
        self.queue = JobQueue(loop, self)  # type: ignore[attr-defined]
    else:
        raise make_refusal("threading.Thread.start")


class JobQueue:
    """The queue of a worker thread of anyio that never starts: each of its jobs runs as a step, as in an executor."""

    def __init__(self, loop: Any, thread: threading.Thread) -> None:
        self._loop, self._thread = loop, thread
        self._items: list[object] = []

    def put_nowait(self, item: object) -> None:
        """Take a job; None would end the thread."""
        if item is not None:
            self._loop.run_in_executor(None, self._run, item)

    def _run(self, item: object) -> None:
        self._items = [None, item]
        self._thread.run()

    def get(self) -> object:
        """Return the job, and then None."""
        return self._items.pop()

    def task_done(self) -> None:
        """Do nothing: nobody joins the queue."""


def _all_tasks_in_order(real: Callable[..., Any]) -> Callable[..., Any]:
    def all_tasks(loop: Any = None) -> set[Any]:
        # A set that is filled in one order is iterated over in one order, if its hashes are the same.
        found = sorted(real(loop), key=lambda task: getattr(task, "number", 0))
        return dict.fromkeys(found).keys() | set()

    return all_tasks
