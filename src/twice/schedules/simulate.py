"""Run an async function in a simulated loop, in this process: virtual time, one seed, no world.

Clocks show virtual time, and the generators that everybody shares are seeded, as in a run that is recorded with
``--loop simulated``, and entropy comes from the seed. Files are real.

Invariant: a second call with the same seed makes the same steps, if the function reads nothing that changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from twice.errors import ScheduleRefused
from twice.foundation.seeds import Seed
from twice.recorder.effects.sources import LiveSource
from twice.recorder.execution import govern
from twice.recorder.foreign_loops import simulate_all_loops
from twice.recorder.inputs import Inputs
from twice.recorder.program import Program
from twice.recorder.recorder import choose_master_seed
from twice.recorder.run import current_session
from twice.recorder.session import Session
from twice.recorder.session_parts import InForce, Sink, Wiring
from twice.recorder.setup import Setup
from twice.simulation.order import Order
from twice.simulation.trace import Schedule

T = TypeVar("T")


def simulate(
    main: Callable[[], Coroutine[Any, Any, T]],
    *,
    seed: int | Seed | None = None,
    strategy: str = "random",
) -> T:
    """Run an async function in a simulated loop and return its value.

    Args:
        main: the async function; called without arguments.
        seed: master seed, 0 <= seed < 2**256, of the order and of the shared generators; the variable TWICE_SEED
            when None.
        strategy: ``random``, ``fifo``, ``pct`` or ``portfolio``.

    Raises:
        SeedMissing: E-SEED-001. SimulationRefused: E-SCHEDULE-001, when the function calls what no simulation can
            repeat. Deadlock: E-SCHEDULE-002. Livelock: E-SCHEDULE-003. ScheduleRefused: E-SCHEDULE-004, for a strategy
            that there is not, or that belongs to a search. Everything that the function raises.
    """
    if strategy == "delay-bounded":
        raise ScheduleRefused(
            "delay-bounded is a strategy of a search, and simulate runs one order.",
            "Expected random, fifo, pct or portfolio.",
            "Search by it: twice explore PROGRAM --strategy delay-bounded",
        )
    order = Order.from_json(Order(strategy).to_json())
    master = choose_master_seed(seed)
    if current_session() is not None:  # the run that is recorded governs clocks and generators
        with simulate_all_loops(Schedule.make(order, master)):
            return asyncio.run(main())
    with govern(make_session(Setup(Program("inline", "simulated code"), master, order=order))):
        return asyncio.run(main())


def make_session(setup: Setup, schedule: Schedule | None = None) -> Session:
    """Make a session that governs this process as that of a simulated run does, without a record."""
    in_force = InForce(watch=False, points=False)
    wiring = Wiring(
        LiveSource(), Inputs(), Sink(), writes=False, in_force=in_force, schedule=schedule
    )
    return Session(setup, wiring)
