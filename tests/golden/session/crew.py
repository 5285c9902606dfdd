"""A crew of threads, tasks and pool jobs that each read the world for themselves."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import twice


async def watch(log: list[tuple[str, float]], name: str) -> None:
    for _ in range(2):
        log.append((name, time.time()))
        await asyncio.sleep(0)


async def night(log: list[tuple[str, float]]) -> None:
    await asyncio.gather(*(watch(log, f"watch-{number}") for number in range(3)))


def main(run: twice.Run) -> None:
    rng = run.rng("weather")
    with ThreadPoolExecutor(2) as pool:
        for tick in run.ticks(run.config["ticks"]):
            log: list[tuple[str, float]] = []
            asyncio.run(night(log))
            ids: list[Any] = []
            hand = threading.Thread(target=lambda ids=ids: ids.append(str(uuid.uuid4())))
            hand.start()
            hand.join()
            soundings = list(pool.map(lambda depth: (depth, time.monotonic_ns()), range(4)))
            now = datetime.now(UTC).isoformat()
            run.compare("log", (tick, log, ids, soundings, now, int(rng.integers(0, 100))))
