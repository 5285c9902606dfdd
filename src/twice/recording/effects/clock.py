"""The clock: how it is read live, recorded, replayed, and what stays outside.

Covered: ``time.time``, ``monotonic``, ``perf_counter``, ``process_time``, their ``_ns`` twins, and
``time.sleep``, which waits while recording and returns at once in replay. A run may declare that
its clock is a deterministic function of the run instead: ``ticks:ORIGIN,STEP`` makes every clock
read ``ORIGIN + STEP x tick`` seconds; such reads need no record.

Not covered: ``datetime.now``, ``time.localtime()`` and ``strftime`` without an argument,
``numpy.datetime64("now")`` and clocks that C code reads.

Invariant: recording returns the value that the real clock gave.
"""

from __future__ import annotations

import time as _time
from collections.abc import Callable
from dataclasses import dataclass
from sys import _getframe
from threading import get_ident
from types import CodeType
from typing import Any

from twice.errors import ClassRefused
from twice.recording.effects import ops
from twice.recording.effects.events import RUN_READS_MAX
from twice.recording.effects.layer import EffectLayer

REAL: dict[ops.Op, Callable[[], object]] = {
    ops.TIME: _time.time,
    ops.TIME_NS: _time.time_ns,
    ops.MONOTONIC: _time.monotonic,
    ops.MONOTONIC_NS: _time.monotonic_ns,
    ops.PERF_COUNTER: _time.perf_counter,
    ops.PERF_COUNTER_NS: _time.perf_counter_ns,
    ops.PROCESS_TIME: _time.process_time,
    ops.PROCESS_TIME_NS: _time.process_time_ns,
}
_REAL_SLEEP = _time.sleep


@dataclass(frozen=True)
class TickClock:
    """A clock that is a function of the run: seconds = origin + step x tick."""

    origin: float
    step: float

    def seconds(self, tick: int) -> float:
        """The time at a tick; construction, tick -1, reads the origin."""
        return self.origin + self.step * max(tick, 0)

    def __str__(self) -> str:
        return f"ticks:{self.origin!r},{self.step!r}"


def parse_clock(text: str) -> TickClock | None:
    """Read a clock policy: ``record`` (the default) or ``ticks:ORIGIN,STEP`` in seconds.

    Raises:
        ClassRefused: E-CLASS-001, when it is neither.
    """
    if text == "record":
        return None
    kind, _, numbers = text.partition(":")
    try:
        origin, step = (float(part) for part in numbers.split(","))
    except ValueError:
        kind = ""
    if kind != "ticks":
        raise ClassRefused(
            f"{text!r} is not a clock policy.",
            "Expected record, or ticks:ORIGIN,STEP with two numbers of seconds.",
            "For example: --clock ticks:0,0.01",
        )
    return TickClock(origin, step)


def governed_read(
    op: ops.Op, layer: EffectLayer, clock: TickClock | None, tick: Callable[[], int]
) -> Callable[[], object]:
    """A replacement for one of the clock functions, for as long as the layer is active."""
    real = REAL[op]
    if clock is not None:
        return _tick_read(op, layer, clock, tick)
    if not layer.live:
        return _served_read(op, layer)
    number, thread = op.number, layer.thread
    waiting = layer.strict_reads
    last: CodeType | None = None
    # One read must cost little more than the clock itself, so the bookkeeping of ``layer.read``
    # is unrolled here; tests/laws hold the two against each other.

    def read() -> object:
        nonlocal last
        code = _getframe(1).f_code
        strict = code is last or layer.is_strict(code)
        if strict and get_ident() == thread and layer.active:
            last = code
            value = real()
            values = waiting.values
            if waiting.number == number and len(values) < RUN_READS_MAX:
                values.append(value)
            else:
                layer.note(number, value)
            return value
        if not layer.is_governed():
            layer.count_ungoverned(op)
            return real()
        return layer.read_lenient(op, real)

    return read


def _served_read(op: ops.Op, layer: EffectLayer) -> Callable[[], object]:
    real = REAL[op]

    def read() -> object:
        if not layer.is_governed():
            layer.count_ungoverned(op)
            return real()
        if layer.is_strict(_getframe(1).f_code):
            return layer.read(op, real)
        return layer.read_lenient(op, real)

    return read


def _tick_read(
    op: ops.Op, layer: EffectLayer, clock: TickClock, tick: Callable[[], int]
) -> Callable[[], object]:
    """Clock reads by user code become a function of the tick; the library keeps the real one."""
    real = REAL[op]
    nanoseconds = op.name.endswith("_ns")

    def read() -> object:
        if not layer.is_governed() or not layer.is_strict(_getframe(1).f_code):
            return real()
        seconds = clock.seconds(tick())
        return round(seconds * 1_000_000_000) if nanoseconds else seconds

    return read


def governed_sleep(layer: EffectLayer, clock: TickClock | None) -> Callable[[float], None]:
    """A replacement for ``time.sleep`` that waits only while recording."""

    def sleep(seconds: float, /) -> None:
        if not layer.is_governed():
            _REAL_SLEEP(seconds)
        elif layer.is_strict(_getframe(1).f_code):
            if clock is None:
                layer.read(ops.SLEEP, lambda: _REAL_SLEEP(seconds), float(seconds))
        elif layer.live:
            _REAL_SLEEP(seconds)

    return sleep


class Clock:
    """``run.effects.clock``: the governed clock, asked by name.

    Every method reads the clock once, through the layer, and counts as a strict read.
    """

    def __init__(
        self, layer: EffectLayer, clock: TickClock | None, tick: Callable[[], int]
    ) -> None:
        self._layer = layer
        self._clock = clock
        self._time, self._time_ns, self._monotonic, self._perf_counter = (
            _asked_read(op, layer, clock, tick)
            for op in (ops.TIME, ops.TIME_NS, ops.MONOTONIC, ops.PERF_COUNTER)
        )

    def time(self) -> float:
        """Seconds since the epoch, as a float."""
        return self._time()  # type: ignore[no-any-return]

    def time_ns(self) -> int:
        """Nanoseconds since the epoch."""
        return self._time_ns()  # type: ignore[no-any-return]

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; its zero means nothing."""
        return self._monotonic()  # type: ignore[no-any-return]

    def perf_counter(self) -> float:
        """Seconds on the finest clock there is; its zero means nothing."""
        return self._perf_counter()  # type: ignore[no-any-return]

    def sleep(self, seconds: float) -> None:
        """Wait that many seconds while recording; return at once in replay."""
        self._layer.require_main(ops.SLEEP)
        if self._clock is None:
            self._layer.read(ops.SLEEP, lambda: _REAL_SLEEP(seconds), float(seconds))


def _asked_read(
    op: ops.Op, layer: EffectLayer, clock: TickClock | None, tick: Callable[[], int]
) -> Callable[[], Any]:
    """A clock read that is asked for by name: strict, whoever asks."""
    real = REAL[op]
    number, thread = op.number, layer.thread
    waiting = layer.strict_reads

    def read() -> object:
        layer.require_main(op)
        if clock is not None:
            seconds = clock.seconds(tick())
            return round(seconds * 1e9) if op.name.endswith("_ns") else seconds
        return layer.read(op, real)

    def read_live() -> object:
        # ``layer.read`` unrolled, as in ``governed_read``.
        if get_ident() != thread or not layer.active:
            return read()
        value = real()
        values = waiting.values
        if waiting.number == number and len(values) < RUN_READS_MAX:
            values.append(value)
        else:
            layer.note(number, value)
        return value

    return read_live if layer.live and clock is None else read
