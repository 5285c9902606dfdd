"""The same consumer, which commits behind the work; what comes twice is known."""

import asyncio

from twice.schedules import host

MESSAGES = ["a", "b", "c", "d"]
offset = {"next": 0}
processed: list[str] = []


async def consume() -> None:
    while offset["next"] < len(MESSAGES):
        at = offset["next"]
        await asyncio.sleep(0.2)
        if MESSAGES[at] not in processed:
            processed.append(MESSAGES[at])
        offset["next"] = at + 1


async def main() -> None:
    offset["next"] = 0
    processed.clear()
    await host("consumer", consume)
    assert processed == MESSAGES, processed
