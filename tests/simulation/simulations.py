"""Programs in a simulated loop, run in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from twice.foundation.seeds import Seed
from twice.simulation.loop import SimulatedLoop
from twice.simulation.strategies import RandomPicks
from twice.simulation.trace import Schedule, TracingLoop

Main = Callable[[], Coroutine[Any, Any, Any]]


def run_fast(main: Main, seed: int | None = None) -> Any:
    """Run a program without keys; FIFO if there is no seed."""
    strategy = None if seed is None else RandomPicks(Seed(seed))
    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(strategy)) as runner:
        return runner.run(main())


def run_traced(main: Main, schedule: Schedule) -> Any:
    """Run a program under a schedule, which notes its steps."""
    with asyncio.Runner(loop_factory=lambda: TracingLoop(schedule)) as runner:
        return runner.run(main())


def make_random(seed: int, *, keeps_steps: bool = False) -> Schedule:
    """Make a random schedule."""
    return Schedule(RandomPicks(Seed(seed)), keeps_steps=keeps_steps)
