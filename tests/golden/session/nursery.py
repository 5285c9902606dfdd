"""Tasks of trio that read the clock and entropy, recorded when those were reads of the main program."""

import time
import uuid

import trio

import twice


async def one(seen: dict[str, list[str]], name: str) -> None:
    for _ in range(2):
        seen.setdefault(name, []).append(str(uuid.uuid4()))
        await trio.sleep(1e-4)
        seen[name].append(str(time.time_ns()))


async def all_of_them(seen: dict[str, list[str]], tick: int) -> None:
    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(one, seen, f"{tick}-{number}")


def main(run: twice.Run) -> None:
    seen = run.track("seen", {})
    for tick in run.ticks(2):
        trio.run(all_of_them, seen, tick)
