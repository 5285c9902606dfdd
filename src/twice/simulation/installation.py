"""The loop and the clock of a process whose program runs in a simulated loop.

Invariant: after the block every name of ``asyncio`` is what it was.
"""

from __future__ import annotations

import asyncio
from asyncio import base_events, events
from collections.abc import Iterator
from contextlib import contextmanager

from twice.errors import SimulationRefused
from twice.simulation.loop import NS, SimulatedLoop
from twice.simulation.trace import Schedule, TracingLoop

_EPOCH_S = 1_704_067_200
"""2024-01-01: what wall clocks say when a simulation begins."""


class SimulatedClock:
    """The clock of a simulated run: every clock shows the loop's virtual time, and wall clocks begin with 2024."""

    asks_libraries = True

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule

    def read(self, tick: int, *, in_ns: bool, is_wall: bool) -> float:
        """Return the time in seconds or nanoseconds; the tick does not matter."""
        del tick
        loop = events._get_running_loop()
        now_ns = loop.clock_ns if isinstance(loop, SimulatedLoop) else self.schedule.now_ns
        now_ns += _EPOCH_S * NS if is_wall else 0
        return now_ns if in_ns else now_ns / NS

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass outside a loop, and in a job of an executor; elsewhere it is refused."""
        loop = events._get_running_loop()
        if isinstance(loop, SimulatedLoop):
            loop.sleep_in_job(seconds)
        else:
            self.schedule.now_ns += round(seconds * NS)

    def __str__(self) -> str:
        return "the virtual time of the simulated loop"


@contextmanager
def simulate_loops(schedule: Schedule) -> Iterator[None]:
    """Give each new event loop of this process the schedule, and refuse to run any other one."""
    real_policy, real_run = asyncio.get_event_loop_policy(), base_events.BaseEventLoop.run_forever

    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            return TracingLoop(schedule)

    def run_forever(self: base_events.BaseEventLoop) -> None:
        if not isinstance(self, SimulatedLoop):
            raise SimulationRefused(
                f"The program runs a loop of its own, {type(self).__name__}, in a simulated run.",
                "Expected the loop that asyncio.run and asyncio.new_event_loop give.",
                "Leave the loop's class out, or record with --loop own.",
            )
        real_run(self)

    asyncio.set_event_loop_policy(Policy())
    base_events.BaseEventLoop.run_forever = run_forever  # type: ignore[method-assign]
    try:
        yield
    finally:
        base_events.BaseEventLoop.run_forever = real_run  # type: ignore[method-assign]
        asyncio.set_event_loop_policy(real_policy)
