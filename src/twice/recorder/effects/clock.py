"""The clock: how it is read live, recorded, replayed, and what stays outside.

Covered: every clock of ``time`` with its ``_ns`` twin, ``clock_gettime``; ``localtime``, ``gmtime``,
``ctime``, ``asctime`` and ``strftime`` without a time given; ``now``, ``utcnow`` and ``today`` of ``datetime`` and
``date``, also through names that were bound before the session. These are recorded as the one clock read that they
make; the time zone is the environment's. ``time.sleep`` waits while recording, and in replay where other
threads or processes of the run go on meanwhile; alone, it returns at once there. A run may declare that
its clock is a deterministic function of the run instead: ``ticks:ORIGIN,STEP`` makes every clock read
``ORIGIN + STEP x tick`` seconds; such reads need no record.

Not covered: ``numpy.datetime64("now")`` and clocks that C code reads by itself.

Invariant: recording returns the value that the real clock gave, in the type and precision of the real function.
"""

from __future__ import annotations

import sys
import time as _time
import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo
from itertools import repeat, starmap
from operator import call
from sys import _getframe
from types import CodeType
from typing import Any, Protocol

from twice.recorder.effects import ops
from twice.recorder.effects.actors import Actor, current
from twice.recorder.effects.compiled_reads import compile_read, follow_none
from twice.recorder.effects.events import RUN_READS_MAX
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch

REAL: dict[ops.Op, Callable[[], object]] = {
    ops.TIME: _time.time,
    ops.TIME_NS: _time.time_ns,
    ops.MONOTONIC: _time.monotonic,
    ops.MONOTONIC_NS: _time.monotonic_ns,
    ops.PERF_COUNTER: _time.perf_counter,
    ops.PERF_COUNTER_NS: _time.perf_counter_ns,
    ops.PROCESS_TIME: _time.process_time,
    ops.PROCESS_TIME_NS: _time.process_time_ns,
    ops.THREAD_TIME: _time.thread_time,
    ops.THREAD_TIME_NS: _time.thread_time_ns,
}
_BUILTIN = dict(REAL)
"""As ``REAL``, which a varied world changes."""
_REAL_SLEEP = _time.sleep
_NS = 1_000_000_000
_WALL = frozenset({ops.TIME, ops.TIME_NS, ops.GETTIME, ops.GETTIME_NS})
_UTCNOW = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. Use"
    " timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)
Tick = Callable[[], int]
"""Returns the tick that is open."""
Reading = Callable[[CodeType], Any]
"""Reads one clock for the code that asks."""


class ClockPolicy(Protocol):
    """A clock that is a function of the run; ``asks_libraries`` says whether libraries are given it too."""

    asks_libraries: bool

    def read(self, tick: int, *, in_ns: bool, is_wall: bool) -> float:
        """Return the time at a tick, in seconds or nanoseconds, of a wall clock or another one."""

    def sleep(self, seconds: float) -> None:
        """Let a time pass."""


def is_governed() -> bool:
    """Return whether a layer answers a program that reads the clock of this process now."""
    return _time.time is not REAL[ops.TIME]


def patches(layer: EffectLayer, clock: ClockPolicy | None, tick: Tick) -> list[Patch]:
    """Return the patches of the clocks for a session."""
    rows = [
        Patch(_time, op.name.removeprefix("clock."), governed_read(op, layer, clock, tick), call)
        for op in REAL
    ]
    return [
        *rows,
        Patch(_time, "sleep", _governed_sleep(layer, clock)),
        *_given_clocks(layer, clock, tick),
        *_written_times(build_reading(ops.TIME, layer, clock, tick)),
        *_dates(build_reading(ops.TIME_NS, layer, clock, tick)),
    ]


def governed_read(
    op: ops.Op, layer: EffectLayer, clock: ClockPolicy | None, tick: Tick
) -> Callable[[], Any]:
    """Build a replacement for one of the clock functions, for as long as the layer is active."""
    real, number = REAL[op], op.number
    if clock is not None:
        reading = build_reading(op, layer, clock, tick)
        return lambda: reading(_getframe(1).f_code)
    last: dict[str, Any] | None = None
    if not layer.live:

        def serve(module: dict[str, Any]) -> object:
            nonlocal last
            if module is last and (actor := current()):
                return layer.read(actor, op, real)
            code = _getframe(1).f_code
            own = layer.is_strict_in(module, code) and not layer.probing
            last = module if own and layer.active else None
            follow_served(last)
            return layer.ask(op, real, code, module=module)

        served, follow_served = _pass_module(op, serve, is_served=True)
        return served
    libraries: dict[int, dict[str, Any]] = {}
    # One read must cost little more than the clock itself, so the bookkeeping of ``layer.ask``
    # is unrolled here; tests/laws hold the two against each other.

    def read(module: dict[str, Any]) -> object:
        nonlocal last
        if module is last and (actor := current()):
            value = real()
            values = actor.values
            if actor.number == number and len(values) < RUN_READS_MAX:
                values.append(value)
            else:
                actor.note(number, value)
            return value
        if id(module) in libraries and (actor := current()):
            value = real()
            actor.note_lenient(number, value)
            return value
        code = _getframe(1).f_code
        strict = layer.is_strict_in(module, code) and not layer.probing
        if not strict and not layer.probing and "__file__" in module:
            libraries[id(module)] = module  # kept, so that its identity is not given to another
        last = module if layer.active and strict else None
        follow(last)
        return layer.ask(op, real, code, module=module)

    governed, follow = _pass_module(op, read)
    return governed


def _pass_module(
    op: ops.Op, read: Callable[[dict[str, Any]], object], *, is_served: bool = False
) -> tuple[Callable[[], Any], Callable[[object], object]]:
    """Build a function without arguments that passes on the globals of the module that called it.

    To ask for the caller's frame raises audit events, and every audit hook of the process then
    costs more than the clock. ``globals``, called by an iterator made in C, has no frame of its own
    and so gives the caller's, and raises none.
    """
    compiled = compile_read(
        op.number, REAL[op], read, like=_BUILTIN[op], holder=_time.__name__, is_served=is_served
    )
    return compiled or (map(read, starmap(globals, repeat(()))).__next__, follow_none)


def build_reading(op: ops.Op, layer: EffectLayer, clock: ClockPolicy | None, tick: Tick) -> Reading:
    """Build a read of one clock, for wrappers that pass on who asks: of user code, by the tick if a policy says so."""
    real = REAL[op]
    if clock is None:
        return lambda asker: layer.ask(op, real, asker)

    def read(asker: CodeType) -> object:
        if layer.actor() is None or not (clock.asks_libraries or layer.is_strict(asker)):
            return real()
        return _at_tick(op, clock, tick)

    return read


def _at_tick(op: ops.Op, clock: ClockPolicy, tick: Tick) -> float | int:
    return clock.read(tick(), in_ns=op.name.endswith("_ns"), is_wall=op in _WALL)


def _given_clocks(layer: EffectLayer, clock: ClockPolicy | None, tick: Tick) -> list[Patch]:
    """Patch ``clock_gettime`` and ``clock_gettime_ns``, which get the clock as an argument."""
    rows = []
    for op, real in ((ops.GETTIME, _time.clock_gettime), (ops.GETTIME_NS, _time.clock_gettime_ns)):

        def read(which: int, /, op: ops.Op = op, real: Callable[[int], object] = real) -> object:
            asker = _getframe(1).f_code
            if (
                clock is not None
                and layer.actor() is not None
                and (clock.asks_libraries or layer.is_strict(asker))
            ):
                return _at_tick(op, clock, tick)
            return layer.ask(op, lambda: real(which), asker, which)

        name = op.name.removeprefix("clock.")
        rows.append(Patch(_time, name, read, lambda read: read(_time.CLOCK_REALTIME)))
    return rows


def _written_times(now: Reading) -> list[Patch]:
    """Patch the functions of ``time`` that read the clock when they get no time."""
    localtime, asctime, strftime = _time.localtime, _time.asctime, _time.strftime

    def of_seconds(real: Callable[[float], Any]) -> Callable[..., Any]:
        def read(seconds: float | None = None, /) -> Any:
            return real(now(_getframe(1).f_code) if seconds is None else seconds)

        return read

    def governed_asctime(t: Any = None, /) -> str:
        return asctime(localtime(now(_getframe(1).f_code)) if t is None else t)

    def governed_strftime(format: str, t: Any = None, /) -> str:  # noqa: A002  (its name)
        return strftime(format, localtime(now(_getframe(1).f_code)) if t is None else t)

    return [
        Patch(_time, "localtime", of_seconds(localtime), call),
        Patch(_time, "gmtime", of_seconds(_time.gmtime), call),
        Patch(_time, "ctime", of_seconds(_time.ctime), call),
        Patch(_time, "asctime", governed_asctime, call),
        Patch(_time, "strftime", governed_strftime, lambda read: read("%s")),
    ]


def _dates(nanoseconds: Reading) -> list[Patch]:
    """Patch the constructors of ``datetime`` that read the clock."""

    def moment(cls: type[datetime], tz: tzinfo | None, asker: CodeType) -> datetime:
        whole, rest = divmod(nanoseconds(asker), _NS)
        return cls.fromtimestamp(whole, tz).replace(microsecond=rest // 1000)

    def now(cls: type[datetime], tz: tzinfo | None = None) -> datetime:
        return moment(cls, tz, _getframe(1).f_code)

    def today_now(cls: type[datetime]) -> datetime:
        return moment(cls, None, _getframe(1).f_code)

    def utcnow(cls: type[datetime]) -> datetime:
        if sys.version_info >= (3, 12):
            warnings.warn(_UTCNOW, DeprecationWarning, stacklevel=2)
        return moment(cls, UTC, _getframe(1).f_code).replace(tzinfo=None)

    def today(cls: type[date]) -> date:
        return cls.fromtimestamp(nanoseconds(_getframe(1).f_code) // _NS)

    def call_quietly(read: Callable[[], datetime]) -> datetime:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()

    return [
        Patch(datetime, "now", classmethod(now), call),
        Patch(datetime, "utcnow", classmethod(utcnow), call_quietly),
        Patch(datetime, "today", classmethod(today_now), call),
        Patch(date, "today", classmethod(today), call),
    ]


def _governed_sleep(layer: EffectLayer, clock: ClockPolicy | None) -> Callable[[float], None]:
    """Build a replacement for ``time.sleep``."""

    def sleep(seconds: float, /) -> None:
        actor = layer.actor()
        if actor is None:
            _REAL_SLEEP(seconds)
        elif clock is not None and clock.asks_libraries:
            clock.sleep(seconds)
        elif layer.is_strict(_getframe(1).f_code):
            if clock is None:
                _sleep_as(actor, seconds)
        elif layer.live or not layer.owners.is_alone():
            _wait_beside(layer, seconds)

    return sleep


def _sleep_as(actor: Actor, seconds: float) -> None:
    layer = actor.layer
    layer.read(actor, ops.SLEEP, lambda: _wait_beside(layer, seconds), float(seconds))
    if not (layer.live or layer.owners.is_alone()):
        _wait_beside(layer, seconds)


def _wait_beside(layer: EffectLayer, seconds: float) -> None:
    """Sleep, and let other threads finish their work meanwhile."""
    with layer.owners.waits.waiting():
        _REAL_SLEEP(seconds)
    layer.owners.waits.ended += 1


class Clock:
    """``run.effects.clock``: the governed clock, asked by name.

    Every method reads the clock once, through the layer, and counts as a strict read.
    """

    def __init__(self, layer: EffectLayer, clock: ClockPolicy | None, tick: Tick) -> None:
        self._layer = layer
        self._clock = clock
        self._time, self._time_ns, self._monotonic, self._perf_counter = (
            _asked_read(op, layer, clock, tick)
            for op in (ops.TIME, ops.TIME_NS, ops.MONOTONIC, ops.PERF_COUNTER)
        )

    def time(self) -> float:
        """Return seconds since the epoch, as a float."""
        return self._time()  # type: ignore[no-any-return]

    def time_ns(self) -> int:
        """Return nanoseconds since the epoch."""
        return self._time_ns()  # type: ignore[no-any-return]

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back; its zero means nothing."""
        return self._monotonic()  # type: ignore[no-any-return]

    def perf_counter(self) -> float:
        """Return seconds on the finest clock available; its zero means nothing."""
        return self._perf_counter()  # type: ignore[no-any-return]

    def sleep(self, seconds: float) -> None:
        """Wait that many seconds while recording, and in replay beside other threads and processes."""
        actor = self._layer.require_actor(ops.SLEEP)
        if actor is None:
            _REAL_SLEEP(seconds)
        elif self._clock is None:
            _sleep_as(actor, seconds)
        else:
            self._clock.sleep(seconds)


def _asked_read(
    op: ops.Op, layer: EffectLayer, clock: ClockPolicy | None, tick: Tick
) -> Callable[[], Any]:
    """Build a clock read that is called by name: strict, whoever the caller is."""
    real, number = REAL[op], op.number

    def read() -> object:
        actor = layer.require_actor(op)
        if clock is not None and actor is not None:
            return _at_tick(op, clock, tick)
        return layer.read(actor, op, real)

    def read_live() -> object:
        # ``layer.read`` unrolled, as in ``governed_read``.
        actor = current()
        if not actor:
            return read()
        value = real()
        values = actor.values
        if actor.number == number and len(values) < RUN_READS_MAX:
            values.append(value)
        else:
            actor.note(number, value)
        return value

    return read_live if layer.live and clock is None else read
