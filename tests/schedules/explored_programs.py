"""Programs that fail in some orders, and how they are executed in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from twice.foundation.seeds import Seed
from twice.schedules.search import Findings, search
from twice.schedules.trial import Main, ScheduleTrial, TrialRunner, running_trials
from twice.simulation.loop import SimulatedLoop
from twice.simulation.order import Order
from twice.simulation.strategies import Fifo, Strategy
from twice.simulation.trace import Schedule, TracingLoop


async def transfer() -> None:
    """Fail if the audit reads between the two writes."""
    left, right = 100, 100

    async def move() -> None:
        nonlocal left, right
        left -= 10
        await asyncio.sleep(1)
        right += 10

    async def audit() -> None:
        await asyncio.sleep(1)
        assert left + right == 200

    await asyncio.gather(move(), audit())


def make_needle(noise: int, depth: int) -> Main:
    """Make a program that fails if each of some pairs of callbacks runs the wrong way round."""

    async def main() -> None:
        wrong = 0

        async def chatter(n: int) -> None:
            for k in range(15):
                await asyncio.sleep(0.001 * (1 + (n * 7 + k) % 3))

        async def swap(k: int) -> int:
            seen: list[str] = []
            await asyncio.sleep(0.002 * (k + 1))
            for name in "AB":
                asyncio.get_running_loop().call_soon(seen.append, name)
            await asyncio.sleep(0.0005)
            return int(seen == ["B", "A"])

        tasks = [asyncio.create_task(chatter(n)) for n in range(noise)]
        for k in range(depth):
            wrong += await swap(k)
        await asyncio.gather(*tasks)
        assert wrong < depth

    return main


@contextmanager
def one_trial(main: Main, strategy: Strategy | None = None) -> Iterator[ScheduleTrial]:
    """Execute a program once."""
    with running_trials() as trials:
        yield trials.run(main, lambda: SimulatedLoop(strategy or Fifo()))


def look(
    main: Main,
    strategy: str = "random",
    schedules: int = 500,
    *,
    kinds: Collection[str] = (),
    goes_on: bool = False,
) -> Findings:
    """Search among the orders of a program in this process."""

    def trace(trials: TrialRunner, schedule: Schedule) -> ScheduleTrial:
        return trials.run(main, lambda: TracingLoop(schedule))

    with running_trials() as trials:
        return search(
            lambda each, faults: trials.run(main, lambda: SimulatedLoop(each, faults)),
            lambda each: trace(trials, each),
            Order(strategy),
            Seed(1),
            schedules,
            kinds=kinds,
            goes_on=goes_on,
        )
