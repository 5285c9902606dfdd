"""What a simulated loop costs beside asyncio's own, and how fast schedules are searched, beside simloop, simloom, seedloop.

Usage: python benchmarks/schedules.py [--rounds N] [--small] [--output FILE.jsonl]

CPU time of one process. The peers need Python 3.12 or later (``pip install simloop simloom seedloop``); those that are
not installed are left out. In each round every candidate is measured once, so that a busy neighbour meets all of them.
Goals: at most 1.1 times asyncio's loop on a ring of tokens, at most 1.5 times with 1,000 tasks ready, and at least 10,000
schedules in a second of a small lost update. Needles are errors that need one, two or three orders among the steps of
other tasks: how many executions shrinking takes, and how many constraints are left.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import measuring

from twice.foundation.seeds import Seed
from twice.schedules.trial import Main
from twice.simulation.loop import SimulatedLoop
from twice.simulation.strategies import RandomPicks
from twice.simulation.trace import Schedule, TracingLoop

sys.path.insert(0, str(measuring.FOLDER.parent / "tests" / "schedules"))

from explored_programs import look, make_needle

STOCK = "asyncio"
_SIMLOOM_MAX = 10


def make_ring(nodes: int, rounds: int) -> Main:
    """Make tasks that hand one token round a ring of queues."""

    async def main() -> None:
        queues: list[asyncio.Queue[int]] = [asyncio.Queue() for _ in range(nodes)]

        async def pass_on(n: int) -> None:
            for _ in range(rounds):
                queues[(n + 1) % nodes].put_nowait(await queues[n].get())

        tasks = [asyncio.ensure_future(pass_on(n)) for n in range(nodes)]
        queues[0].put_nowait(1)
        await asyncio.gather(*tasks)

    return main


def make_crowd(tasks: int, steps: int) -> Main:
    """Make tasks that are all ready at once."""

    async def main() -> None:
        async def spin() -> None:
            for _ in range(steps):
                await asyncio.sleep(0)

        await asyncio.gather(*(spin() for _ in range(tasks)))

    return main


async def lose_updates() -> int:
    """Let three tasks read and write a counter three times each."""
    value = 0

    async def add() -> None:
        nonlocal value
        for _ in range(3):
            seen = value
            await asyncio.sleep(0)
            value = seen + 1

    await asyncio.gather(add(), add(), add())
    return value


def find_peer(name: str) -> Any:
    """Return a peer's module, or None."""
    with suppress(ImportError):
        return importlib.import_module(name)
    return None


def list_loops() -> dict[str, Callable[[], Any]]:
    """Return what makes each loop: asyncio's first."""
    loops: dict[str, Callable[[], Any]] = {
        STOCK: asyncio.new_event_loop,
        "twice, random": lambda: SimulatedLoop(RandomPicks(Seed(1))),
        "twice, traced": lambda: TracingLoop(Schedule(RandomPicks(Seed(1)))),
    }
    if simloop := find_peer("simloop"):
        loops["simloop"] = lambda: simloop.SimLoop(seed=1)
    if uvloop := find_peer("uvloop"):
        loops["uvloop"] = uvloop.new_event_loop
    return loops


def list_runs() -> dict[str, Callable[[Main, int], object]]:
    """Return how each candidate executes a program once under a seed."""
    runs: dict[str, Callable[[Main, int], object]] = {
        STOCK: lambda main, _seed: asyncio.run(main())
    }
    if simloop := find_peer("simloop"):

        def run_simloop(main: Main, seed: int) -> object:
            loop = simloop.SimLoop(seed=seed)
            try:
                return loop.run_until_complete(main())
            finally:
                loop.close()

        runs["simloop"] = run_simloop
    if simloom := find_peer("simloom"):
        runs["simloom"] = lambda main, seed: simloom.run(
            main, seed=seed, world=False, raise_on_error=False
        )
    if seedloop := find_peer("seedloop"):

        def run_seedloop(main: Main, seed: int) -> object:
            async def scenario(_world: object) -> object:
                return await main()

            return seedloop.replay(scenario, seed=seed)

        runs["seedloop"] = run_seedloop
    return runs


def time_loop(make: Callable[[], Any], main: Main) -> float:
    """Return the CPU seconds of one execution in a loop."""
    loop = make()
    asyncio.set_event_loop(loop)
    began = time.process_time()
    try:
        loop.run_until_complete(main())
    finally:
        took = time.process_time() - began
        loop.close()
        asyncio.set_event_loop(None)
    return took


def compare_loops(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    """Measure each loop on a ring and on a crowd."""
    programs = {
        "token ring, 100 tasks": (make_ring(10 if small else 100, 200), 100 * 200),
        "1,000 tasks ready": (make_crowd(100 if small else 1000, 20), 1000 * 20),
    }
    for what, (main, steps) in programs.items():
        times: dict[str, list[float]] = {name: [] for name in list_loops()}
        for _ in range(rounds):
            for name, make in list_loops().items():
                times[name].append(time_loop(make, main))
        for name, taken in times.items():
            each = [seconds / steps * 1e6 for seconds in taken]
            yield {"figure": f"{what}: {name}", "unit": "us/step"} | measuring.spread(each)
            if name.startswith("twice"):
                ratios = [a / b for a, b in zip(taken, times[STOCK], strict=True)]
                yield {"figure": f"{what}: {name} to {STOCK}", "unit": "x"} | measuring.spread(
                    ratios
                )


def compare_rates(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    """Measure how many schedules of the lost update each candidate executes in a second."""
    number = 50 if small else 2000
    rates: dict[str, list[float]] = {}
    for _ in range(rounds):
        began = time.process_time()
        look(lose_updates, schedules=number)
        rates.setdefault("twice", []).append(number / (time.process_time() - began))
        gc.collect()
        gc.freeze()  # for all alike: twice does so, and undoes it
        for name, run in list_runs().items():
            began = time.process_time()
            for seed in range(number):
                run(lose_updates, seed)
            rates.setdefault(name, []).append(number / (time.process_time() - began))
    for name, each in rates.items():
        yield {"figure": f"lost update: {name}", "unit": "schedules/s"} | measuring.spread(each, 0)


def shrink_needles(*, small: bool) -> Iterator[dict[str, object]]:
    """Count executions and constraints of the needles."""
    for noise, depth in ((3, 1),) if small else ((3, 1), (10, 1), (10, 2), (20, 3)):
        what = f"needle of {depth} among {noise}"
        began = time.process_time()
        (found,) = look(make_needle(noise, depth), schedules=2000).found
        took = time.process_time() - began
        for figure, unit, value in (
            ("schedules until it is found", "schedules", found.number + 1),
            ("executions that shrink it", "runs", found.runs),
            ("constraints left", "constraints", len(found.order.after)),
            ("found and shrunk in", "ms", took * 1e3),
        ):
            yield {"figure": f"{what}: {figure}", "unit": unit} | measuring.spread([value], 1)
        # Of the larger needles simloom keeps dozens of deviations, after minutes.
        if noise * depth <= _SIMLOOM_MAX and (simloom := find_peer("simloom")):
            yield from _shrink_by_simloom(simloom, what, make_needle(noise, depth))


def _shrink_by_simloom(simloom: Any, what: str, main: Main) -> Iterator[dict[str, object]]:
    began = time.process_time()
    results = (
        simloom.run(main, seed=seed, raise_on_error=False, world=False) for seed in range(2000)
    )
    shrunk = simloom.shrink(
        main, next(each for each in results if each.outcome == "error"), world=False
    )
    took = time.process_time() - began
    for figure, unit, value in (
        ("executions that shrink it, simloom", "runs", shrunk.runs_used),
        ("deviations left, simloom", "deviations", shrunk.deviations),
        ("found and shrunk in, simloom", "ms", took * 1e3),
    ):
        yield {"figure": f"{what}: {figure}", "unit": unit} | measuring.spread([value], 1)


def main() -> None:
    """Measure everything."""
    chosen = measuring.options("schedules", __doc__.splitlines()[0], rounds=7)
    rounds, small = chosen.rounds, chosen.small
    measuring.tell("schedules", compare_loops(rounds, small=small), chosen.output)
    measuring.tell("schedules", compare_rates(rounds, small=small), chosen.output)
    measuring.tell("schedules", shrink_needles(small=small), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
