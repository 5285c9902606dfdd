"""Where actors begin: threads, tasks of asyncio and trio, jobs of a pool; and how their waits end.

Each is given a key by its lineage where its parent starts it, so that what it reads is its own
however the others run. A job of a thread pool is an actor, whichever worker runs it. Futures and tasks have
hashes that follow from the run: ``asyncio.wait`` and ``concurrent.futures.wait`` hand out sets, ``as_completed``
and task groups go through sets of their own, and an object's place in a set follows from its address unless its
class says otherwise. Two executions would hand the same replies to other tasks.

What another thread does before a timed wait ends, it does before it in replay too: a reply that came after a
deadline comes after it, and a wait that somebody ended in time is given the time for it. Covered:
``threading.Condition.wait``, and with it events, queues and futures; ``time.sleep`` (in ``clock``).

Processes that ``multiprocessing`` spawns, by ``spawn``, ``forkserver`` and its resource tracker, are named here,
since the interpreter raises no event for them. What such a process does is not recorded.

Not covered: threads that C code starts, processes, event loops other than ``asyncio``'s own and trio's; futures that
others make (a task factory of the program's, other loops, subclasses), and sets of other objects; ``Thread.join``
and ``Lock.acquire`` with a timeout; a wait that timed out while recording and is ended earlier in replay.

Invariant: nothing runs earlier, later or elsewhere than it would without a session, and the hash of a future stays
what it was when it was first asked for, also after the session.
"""

from __future__ import annotations

import _thread
import contextvars
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from sys import _getframe
from typing import Any
from zlib import crc32

from twice.recorder.effects import ops
from twice.recorder.effects.actors import (
    LIBRARY_THREAD,
    OUTSIDE,
    Actor,
    Outside,
    asker_of,
    current,
    enter,
    files_of,
)
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import current as current_confinement
from twice.simulation.completion import in_order

_WRAPPERS = files_of(threading.Thread.start)
_STARTERS = ("start_new_thread", "start_joinable_thread")
_PATIENCE_SECONDS = 20.0
"""How long a wait may take in replay that somebody ended while recording."""
_COUNT_BITS = 20
_HASH = "_hash_of_the_run"
JOB = "job_of_the_run"
"""The attribute of a ``concurrent.futures.Future`` that has the key of its job."""


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patches of the functions that start threads, and of timed waits, for a session."""
    rows = [_timed_wait(layer)]
    for name in _STARTERS:
        real = getattr(_thread, name, None)
        if real is not None:  # the second came with Python 3.13
            governed = _governed_start(layer, real)
            rows.append(Patch(_thread, name, governed))
            if hasattr(threading, f"_{name}"):
                rows.append(Patch(threading, f"_{name}", governed))
    return rows


def spawn_patches(util: Any) -> list[Patch]:
    """Return the patches of ``multiprocessing.util``, once it is loaded."""
    real = util.spawnv_passfds

    def spawnv_passfds(path: Any, args: Any, passfds: Any) -> Any:
        sys.audit("twice.spawn", path, args)
        return real(path, args, passfds)

    return [Patch(util, "spawnv_passfds", spawnv_passfds)]


def pool_patches(layer: EffectLayer, module: Any) -> list[Patch]:
    """Return the patches of ``concurrent.futures.thread``, once it is loaded."""
    pool, plain = module.ThreadPoolExecutor, module._base.Future
    real, numbered = pool.submit, _derive_class(layer, plain)

    def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        actor = _child(layer, "job")
        if actor is None:
            return real(self, fn, *args, **kwargs)
        made = real(self, _run_in_thread, layer, actor, fn, *args, **kwargs)
        if type(made) is plain:
            made.__class__ = numbered
        if isinstance(actor, Actor):
            setattr(made, JOB, actor.key)
        return made

    return [Patch(pool, "submit", submit)]


def loop_patches(layer: EffectLayer, base_events: Any) -> list[Patch]:
    """Return the patches of ``asyncio.base_events``, once it is loaded: tasks, futures, and their order."""
    loop, tasks = base_events.BaseEventLoop, base_events.tasks
    future, task = (
        _derive_class(layer, base_events.futures.Future),
        _derive_class(layer, tasks.Task),
    )
    real = loop.create_task

    def create_future(self: Any) -> Any:
        return future(loop=self)

    def create_task(self: Any, coro: Any, **kwargs: Any) -> Any:
        actor = _give_actor(layer, kwargs)
        if self._task_factory is not None:
            return real(self, coro, **kwargs)
        self._check_closed()
        made = task(coro, loop=self, **kwargs)
        if made._source_traceback:
            del made._source_traceback[-1]
        made.actor = actor
        return made

    as_completed = in_order(tasks)
    # The package may still be in the middle of its import, and takes the name afterwards.
    holders = [each for each in (tasks, sys.modules["asyncio"]) if hasattr(each, "as_completed")]
    return [
        Patch(loop, "create_future", create_future),
        Patch(loop, "create_task", create_task),
        *(Patch(holder, "as_completed", as_completed) for holder in holders),
    ]


def trio_patches(layer: EffectLayer, module: Any) -> list[Patch]:
    """Return the patch of trio's loop, once it is loaded; none for a record whose tasks had no reads of their own."""
    real = getattr(getattr(module, "Runner", None), "spawn_impl", None)
    if real is None or layer.source.order < ops.LOOPS_SINCE:
        return []

    def spawn_impl(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("system_task") and kwargs.get("context") is None:
            kwargs["context"] = self.system_context.copy()
        _give_actor(layer, kwargs)
        return real(self, *args, **kwargs)

    return [Patch(module.Runner, "spawn_impl", spawn_impl)]


def _give_actor(layer: EffectLayer, kwargs: dict[str, Any]) -> Actor | Outside | None:
    """Put the actor of a new task into the context that it is to run in, and return it."""
    actor = _child(layer, "task")
    if actor is not None:
        context = kwargs.get("context")
        context = contextvars.copy_context() if context is None else context
        context.run(enter, actor)
        kwargs["context"] = context
    return actor


def _child(layer: EffectLayer, kind: str) -> Actor | Outside | None:
    parent = layer.actor()
    if parent is not None:
        return parent.child(kind)
    return OUTSIDE if current() is OUTSIDE else None


def _governed_start(layer: EffectLayer, real: Callable[..., Any]) -> Callable[..., Any]:
    def start(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        # Those of libraries are counted apart, so that the program's own keep their numbers.
        own = layer.is_strict(asker_of(_getframe(1), _WRAPPERS))
        actor = _child(layer, "thread" if own else LIBRARY_THREAD)
        if actor is None:
            return real(function, *args, **kwargs)

        def run(*args: Any, **kwargs: Any) -> None:
            is_effects = actor is OUTSIDE
            with current_confinement().inside_effect() if is_effects else nullcontext():
                _run_in_thread(layer, actor, function, *args, **kwargs)

        return real(run, *args, **kwargs)

    return start


def _run_in_thread(
    layer: EffectLayer,
    actor: Actor | Outside,
    function: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    try:
        return actor.run(function, *args, **kwargs)
    finally:
        for tell in layer.thread_ended:
            tell()


def _timed_wait(layer: EffectLayer) -> Patch:
    """Patch ``threading.Condition.wait``; a wait that was ended by somebody is not counted."""
    real, waits = threading.Condition.wait, layer.owners.waits

    def wait(self: Any, timeout: float | None = None) -> bool:
        actor = None if timeout is None or timeout <= 0 else layer.actor()
        if actor is None or timeout is None:
            return real(self, timeout)
        outcome: object = None  # whether somebody ended it in the recorded run, if a record says
        if not (layer.live or layer.source.leaves):
            owner = layer.owners.find_owner(actor)
            outcome = layer.source.lenient(ops.WAITED, lambda: None, owner.key)
        was_ended = outcome is True and waits.fit
        with waits.waiting():
            was_notified = real(self, max(timeout, _PATIENCE_SECONDS) if was_ended else timeout)
        actor.note_lenient(ops.WAITED.number, was_notified)
        waits.fit = waits.fit and outcome in {None, was_notified}
        waits.ended += not was_notified
        return was_notified

    return Patch(threading.Condition, "wait", wait)


def _derive_class(layer: EffectLayer, kind: type) -> type:
    """Derive a class of the same name, whose hashes follow from the actor that first asks."""

    def find_hash(self: Any) -> int:
        known: int | None = getattr(self, _HASH, None)
        if known is None:
            actor = layer.actor()
            if actor is None:
                known = object.__hash__(self)
            else:
                actor.futures += 1
                known = (crc32(actor.key.encode()) << _COUNT_BITS) + actor.futures
            setattr(self, _HASH, known)
        return known

    names = {
        "__hash__": find_hash,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
    }
    return type(kind.__name__, (kind,), names)
