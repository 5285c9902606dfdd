"""The clocks of event loops: what the program asks of one is its own read, what the loop asks is not.

A loop asks its clock in every round, and how many rounds it makes depends on when threads and peers answer. What
the program asks (``loop.time()``, ``trio.current_time()``) is therefore kept apart from that, as a strict read. What
trio's loop itself asks has a line of its own, beside other libraries' reads of the same clock.

Not covered: uvloop, whose clock is C.

Invariant: a record of before (``effects_order`` 1) replays without this.
"""

from __future__ import annotations

from sys import _getframe
from typing import Any
from weakref import WeakKeyDictionary

from twice.recorder.effects import ops
from twice.recorder.effects.actors import Actor
from twice.recorder.effects.clock import ClockPolicy, Tick, build_reading
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch


def asyncio_patches(
    layer: EffectLayer, clock: ClockPolicy | None, tick: Tick, base_events: Any
) -> list[Patch]:
    """Return the patch of ``BaseEventLoop.time``, once ``asyncio.base_events`` is loaded."""
    if layer.source.order < ops.LOOPS_SINCE:
        return []
    read = build_reading(ops.MONOTONIC, layer, clock, tick)
    return [Patch(base_events.BaseEventLoop, "time", lambda _loop: read(_getframe(1).f_code))]


def trio_patches(
    layer: EffectLayer, clock: ClockPolicy | None, tick: Tick, module: Any
) -> list[Patch]:
    """Return the patch of trio's ``SystemClock.current_time``, once ``trio._core._run`` is loaded."""
    kind = getattr(module, "SystemClock", None)
    if kind is None or layer.source.order < ops.LOOPS_SINCE:
        return []
    real, read = kind.current_time, build_reading(ops.PERF_COUNTER, layer, clock, tick)
    public = module.current_time.__code__
    lines: WeakKeyDictionary[Any, Actor] = WeakKeyDictionary()

    def current_time(self: Any) -> Any:
        actor = layer.actor()
        if actor is None:
            return real(self)
        asking = _getframe(2)  # the loop's runner is between them
        asker = asking.f_back if asking.f_code is public else None
        if asker is not None and layer.is_strict(asker.f_code):
            return self.offset + read(asker.f_code)
        line = lines.get(self)
        if line is None:
            owner = layer.owners.find_owner(actor)
            # By hand, since ``next_key`` would count it among what the program started.
            number = owner.children.get("clock", 0)
            owner.children["clock"] = number + 1
            line = lines[self] = layer.line(f"{owner.key}/clock:{number}")
        with layer.owners.assign_thread(line):
            return real(self)

    return [Patch(kind, "current_time", current_time)]
