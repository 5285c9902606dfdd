"""Where actors begin: threads, asyncio tasks, jobs of a pool.

Each is given a key by its lineage where its parent starts it, so that what it reads is its own
however the others run. A job of a thread pool is an actor, whichever worker runs it.

Not covered: threads that C code starts, processes, and event loops that are not ``asyncio``'s own.

Invariant: nothing runs earlier, later or elsewhere than it would without a session.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from contextlib import nullcontext
from sys import _getframe
from typing import Any

from twice.recorder.effects import futures
from twice.recorder.effects.actors import OUTSIDE, Actor, Outside, current, enter
from twice.recorder.effects.askers import asker_of, files_of
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import current as current_confinement

_WRAPPERS = files_of(threading.Thread.start)
_STARTERS = ("start_new_thread", "start_joinable_thread")


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patches of the functions that start threads, for a session."""
    rows = []
    for name in _STARTERS:
        real = getattr(_thread, name, None)
        if real is not None:  # the second came with Python 3.13
            governed = _governed_start(layer, real)
            rows.append(Patch(_thread, name, governed))
            private = f"_{name}"
            if hasattr(threading, private):
                rows.append(Patch(threading, private, governed))
    return rows


def pool_patches(layer: EffectLayer, module: Any) -> list[Patch]:
    """Return the patches of ``concurrent.futures.thread``, once it is loaded."""
    pool, plain = module.ThreadPoolExecutor, module._base.Future
    real, numbered = pool.submit, futures.derive_class(layer, plain)

    def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        actor = _child(layer, "job")
        if actor is None:
            return real(self, fn, *args, **kwargs)
        made = real(self, actor.run, fn, *args, **kwargs)
        if type(made) is plain:
            made.__class__ = numbered
        return made

    return [Patch(pool, "submit", submit)]


def task_patches(layer: EffectLayer, module: Any) -> list[Patch]:
    """Return the patches of ``asyncio.base_events``, once it is loaded."""
    import contextvars

    loop = module.BaseEventLoop
    real = loop.create_task

    def create_task(self: Any, coro: Any, **kwargs: Any) -> Any:
        actor = _child(layer, "task")
        if actor is not None:
            context = kwargs.get("context")
            context = contextvars.copy_context() if context is None else context
            context.run(enter, actor)
            kwargs["context"] = context
        return real(self, coro, **kwargs)

    return [Patch(loop, "create_task", create_task)]


def _child(layer: EffectLayer, kind: str) -> Actor | Outside | None:
    parent = layer.actor()
    if parent is not None:
        return parent.child(kind)
    return OUTSIDE if current() is OUTSIDE else None


def _governed_start(layer: EffectLayer, real: Callable[..., Any]) -> Callable[..., Any]:
    def start(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        # How many threads a library starts may depend on timing (a pool asks whether one is idle): they
        # are counted apart, so that the program's own keep their numbers.
        own = layer.is_strict(asker_of(_getframe(1), _WRAPPERS))
        actor = _child(layer, "thread" if own else "inner")
        if actor is None:
            return real(function, *args, **kwargs)
        return real(_Begun(actor, function), *args, **kwargs)

    return start


class _Begun:
    """A thread's function, run as its actor."""

    def __init__(self, actor: Actor | Outside, function: Callable[..., Any]) -> None:
        self._actor, self._function = actor, function

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        is_effects = self._actor is OUTSIDE
        with current_confinement().inside_effect() if is_effects else nullcontext():
            self._actor.run(self._function, *args, **kwargs)
