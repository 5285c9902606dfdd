"""An event loop of ``asyncio`` whose order of steps follows from a strategy, and whose time is virtual.

One step is one callback: a part of a task up to its next wait, a timer, a delivery. Whenever several are ready,
the strategy picks one. Time moves only when nothing is ready, to the next timer. Jobs of executors run inline
as steps, connections are in memory (``network``), and what would leave the simulation is refused by its name
(``boundary``).

Built on ``BaseEventLoop``, so that everything of ``asyncio`` above the loop is the standard library's own.

Invariant: two executions of one program under the same picks make the same steps at the same virtual times,
whatever the addresses, the hash seed and the machine.
"""

from __future__ import annotations

import asyncio
from asyncio import events
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextvars import Context
from heapq import heapify, heappop, heappush
from typing import Any, Protocol

from twice.errors import Livelock, SimulationRefused
from twice.simulation import boundary
from twice.simulation.faults import FaultChoice, make_event_happen
from twice.simulation.hosts import HostLife, find_life, is_gone
from twice.simulation.identity import (
    OrderedWeakSet,
    SimulatedFuture,
    SimulatedTask,
    stable_orders,
)
from twice.simulation.network import Network
from twice.simulation.network_loop import NetworkLoop
from twice.simulation.strategies import Fifo, Strategy
from twice.simulation.waits import make_deadlock

NS = 1_000_000_000
NEVER_NS = 1 << 62
"""From here on, in 146 years, a timer is none: ``sleep(math.inf)`` waits for somebody to end it."""
STEPS_AT_ONE_TIME_MAX = 1_000_000
_CANCELLED_TIMERS_MAX = 100


class PropertyCheck(Protocol):
    """A property that is checked after each step and at the end of a run; both raise what was broken."""

    def is_done(self) -> bool:
        """Check it after a step, and return whether it needs no more checks."""

    def end(self) -> None:
        """Check it at the end."""


class SimulatedLoop(NetworkLoop):
    """An event loop with virtual time and a chosen order.

    Args:
        strategy: picks the next of several ready steps; in their order (FIFO) if None.
        faults: says which faults happen; none do if None.

    Raises:
        Deadlock: E-SCHEDULE-002, when nothing is ready, no timer is set and the program waits.
        Livelock: E-SCHEDULE-003, after a million steps between which no virtual time passes.
        SimulationRefused: E-SCHEDULE-001, when the program calls what cannot be simulated.
    """

    def __init__(self, strategy: Strategy | None = None, faults: FaultChoice | None = None) -> None:
        super().__init__()
        self.strategy = Fifo() if strategy is None else strategy
        self.faults = faults
        self.hosts: dict[str, HostLife] = {}
        self.has_crashed = False
        self.steps = 0
        self.now_ns = 0
        self.network = Network(self)
        self.signals: dict[int, tuple[Callable[..., object], tuple[object, ...]]] = {}
        self.checks: list[PropertyCheck] = []
        self.refusal: SimulationRefused | None = None
        self.reached: dict[str, bool] = {}
        self.steps_at_one_time_max = STEPS_AT_ONE_TIME_MAX
        self._clock_resolution = 1 / NS
        self._ready: list[Any] = []
        self._scheduled: list[tuple[int, int, Any]] = []
        self._numbers = 0
        self._cancelled_timers = 0
        self._instant_began = 0
        self._job_ns: int | None = None
        self._asyncgens = OrderedWeakSet()

    def time(self) -> float:
        """Return the virtual time in seconds; it begins at 0 and has the resolution of a nanosecond."""
        return self.now_ns / NS

    @property
    def clock_ns(self) -> int:
        """The virtual time that clocks show: within a job, after what it has slept so far."""
        return self.now_ns + (self._job_ns or 0)

    def next_number(self) -> int:
        """Return the next number of this loop: of a task, a future or a timer."""
        self._numbers += 1
        return self._numbers

    def call_soon(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> events.Handle:
        """Make a step ready."""
        if self._closed:
            self._check_closed()
        handle = events.Handle(callback, args, self, context)
        # A call more for each step would show in a search.
        arrive = self._arrive if self.has_crashed else self._ready.append
        arrive(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> events.Handle:
        """Make a step ready, from the thread of the loop: another thread's moment cannot be repeated."""
        if self._thread_id is not None:
            boundary.require_thread(self._thread_id)
        if self._job_ns:
            return self._call_at_ns(self.now_ns + self._job_ns, callback, args, context)  # type: ignore[no-any-return]
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> events.TimerHandle:
        """Make a step ready after a virtual time in seconds."""
        timer: events.TimerHandle = self._call_at_ns(
            self.now_ns + _to_ns(delay), callback, args, context
        )
        return timer

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> events.TimerHandle:
        """Make a step ready at a virtual time in seconds."""
        timer: events.TimerHandle = self._call_at_ns(_to_ns(when), callback, args, context)
        return timer

    def _call_at_ns(
        self,
        when_ns: int,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
    ) -> Any:
        if self._closed:
            self._check_closed()
        timer = self._make_timer(when_ns / NS, callback, args, context)
        if when_ns <= self.now_ns:
            self._arrive(timer)  # due already: it must not wait until all others have run
        elif when_ns < NEVER_NS:
            heappush(self._scheduled, (when_ns, self.next_number(), timer))
            timer._scheduled = True
        return timer

    def _make_timer(
        self,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
    ) -> Any:
        return events.TimerHandle(when, callback, args, self, context)

    def _arrive(self, handle: Any) -> None:
        """Put a step among the ready, unless it belongs to a host that has crashed."""
        if self.has_crashed and is_gone(handle):
            handle.cancel()
        else:
            self._ready.append(handle)

    def drop_gone(self) -> list[Any]:
        """Take the steps of hosts that have crashed out of the loop; return those that were ready."""
        gone = [handle for handle in self._ready if is_gone(handle)]
        self._ready[:] = [handle for handle in self._ready if not is_gone(handle)]
        for timer in [timer for _, _, timer in self._scheduled if is_gone(timer)]:
            timer.cancel()
        return gone

    def _timer_handle_cancelled(self, handle: events.TimerHandle) -> None:
        del handle
        self._cancelled_timers += 1
        if self._cancelled_timers > max(_CANCELLED_TIMERS_MAX, len(self._scheduled) // 2):
            self._scheduled = [each for each in self._scheduled if not each[2]._cancelled]
            heapify(self._scheduled)
            self._cancelled_timers = 0

    def run_forever(self) -> None:
        """Run until ``stop()``."""
        boundary.begin()
        with stable_orders():
            super().run_forever()

    def run_until_complete(self, future: Any) -> Any:
        """Run until a future is done; what was to hold by then is checked."""
        children = getattr(future, "_children", ())  # of a ``gather``
        if children and all(each.cancelling() for each in children):
            self.faults = None  # the program is over: a runner ends what is left of it
        value = super().run_until_complete(future)
        checks, self.checks = self.checks, []
        for each in checks:
            each.end()
        return value

    def check(self) -> None:
        """Check the properties of the program after a step; one that is broken is checked no more."""
        checks, self.checks = self.checks, []
        self.checks = [each for each in checks if not each.is_done()]

    def _run_once(self) -> None:
        ready = self._ready
        while True:
            if not ready:
                self._advance()
            count = len(ready)
            handle = ready.pop(self.strategy.pick(ready) if count > 1 else 0)
            if not handle._cancelled:
                self.steps += 1
                handle._run()
                if self.faults is not None:
                    for event in self.faults.list_events(self, ""):
                        make_event_happen(self, event)
                if self.checks:
                    self.check()
                if self.steps - self._instant_began > self.steps_at_one_time_max:
                    self._refuse_livelock(handle)
            if self._stopping:
                return

    def strike(self, name: str) -> bool:
        """Return whether a point of the program at which something may fail strikes now."""
        return self.faults is not None and self.faults.strikes(name, "")

    def _advance(self) -> None:
        """Move time to the next timer, and make every step ready that is due then."""
        if not self._has_timer():
            raise self.refusal or make_deadlock(self)  # nobody may wait for a job that was refused
        timers = self._scheduled
        self.now_ns, self._instant_began = timers[0][0], self.steps
        while timers and timers[0][0] == self.now_ns:
            timer = heappop(timers)[2]
            timer._scheduled = False
            if not timer._cancelled:
                self._arrive(timer)

    def _has_timer(self) -> bool:
        """Return whether a timer is set; the next one is not a cancelled one then."""
        timers = self._scheduled
        while timers and timers[0][2]._cancelled:
            heappop(timers)
        return bool(timers)

    def _refuse_livelock(self, handle: events.Handle) -> None:
        raise Livelock(
            f"{self.steps_at_one_time_max:,} steps ran at the virtual time {self.time()} s; the last was {handle!r}.",
            "Expected time to pass: a timer waits only until nothing else is ready.",
            "Look for a task that goes round without waiting, for example over asyncio.sleep(0).",
        )

    def _write_to_self(self) -> None:
        """Do nothing: no other thread waits for this loop."""

    def close(self) -> None:
        """Close the loop; what is still ready never runs."""
        if not self.is_running():
            self._scheduled.clear()
        super().close()

    def create_future(self) -> asyncio.Future[Any]:
        """Make a future whose place in sets follows from its number."""
        future = SimulatedFuture(loop=self)
        self._numbers = future.number = self._numbers + 1
        return future

    def create_task(
        self,
        coro: Generator[Any, None, Any] | Coroutine[Any, Any, Any],
        *,
        name: object = None,
        context: Context | None = None,
        **options: Any,
    ) -> asyncio.Task[Any]:
        """Make a task whose place in sets follows from its number, and its name too if it has none."""
        if self._closed:
            self._check_closed()
        factory = self._task_factory
        if factory is not None:
            if factory is not getattr(asyncio, "eager_task_factory", None):
                raise boundary.make_refusal("loop.set_task_factory")
            options.setdefault("eager_start", True)
        task = SimulatedTask.__new__(SimulatedTask)
        self._numbers = task.number = self._numbers + 1
        self._begin_task(task, coro)
        task.__init__(  # type: ignore[misc]  # its number must be there before its first step is made ready
            coro,
            loop=self,
            name=f"Task-{task.number}" if name is None else name,
            context=context,
            **options,
        )
        if self.hosts and (life := find_life(context)) is not None:
            life.tasks.append(task)
        return task

    def _begin_task(self, task: SimulatedTask, coro: object) -> None:
        """Note a new task before its first step is made ready."""

    def run_in_executor(
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Run a job as one step. ``time.sleep`` in it delays its result, and holds up nobody."""
        del executor
        future = self.create_future()

        def run() -> None:
            if future.cancelled():
                return
            self._job_ns = 0
            try:
                result, error = func(*args), None
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as raised:  # noqa: BLE001  (the job's error belongs to who waits for it)
                result, error = None, raised
                if isinstance(raised, SimulationRefused):
                    self.refusal = raised
            finally:
                took_ns, self._job_ns = self._job_ns, None

            def finish() -> None:
                if future.cancelled():
                    return
                if error is None:
                    future.set_result(result)
                else:
                    future.set_exception(error)

            if took_ns:
                self.call_later(took_ns / NS, finish)
            else:
                finish()

        self.call_soon(run)
        return future

    def is_in_job(self) -> bool:
        """Return whether a job of an executor is running."""
        return self._job_ns is not None

    def sleep_in_job(self, seconds: float) -> None:
        """Let a job of an executor sleep; anywhere else it would hold up the loop, and is refused."""
        if self._job_ns is None:
            raise boundary.make_refusal("time.sleep")
        self._job_ns += round(seconds * NS)

    def set_default_executor(self, executor: Executor) -> None:
        """Accept the executor and leave it alone: jobs run inline."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Do nothing: there is no thread to wait for."""

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: Any) -> None:
        """Keep a handler for ``deliver_signal``; no signal of the world arrives."""
        self.signals[sig] = (callback, args)

    def remove_signal_handler(self, sig: int) -> bool:
        """Forget a handler."""
        return self.signals.pop(sig, None) is not None

    def deliver_signal(self, sig: int) -> None:
        """Deliver a signal as a step of its own.

        Raises:
            SimulationRefused: E-SCHEDULE-001, if the program has no handler for it.
        """
        if sig not in self.signals:
            raise SimulationRefused(
                f"The signal {sig} was delivered, and the program has no handler for it.",
                "Expected a handler that loop.add_signal_handler was given.",
                "Deliver it after the program has added its handler.",
            )
        callback, args = self.signals[sig]
        self.call_soon(callback, *args)


def _to_ns(seconds: float) -> int:
    return round(seconds * NS) if seconds < NEVER_NS / NS else NEVER_NS
