"""A consumer that commits its offset before it has processed the message: a crash loses one."""

import asyncio

from twice.schedules import host

MESSAGES = ["a", "b", "c", "d"]
offset = {"next": 0}
processed: list[str] = []


async def consume() -> None:
    while offset["next"] < len(MESSAGES):
        at = offset["next"]
        offset["next"] = at + 1
        await asyncio.sleep(0.2)
        if MESSAGES[at] not in processed:
            processed.append(MESSAGES[at])


async def main() -> None:
    offset["next"] = 0
    processed.clear()
    await host("consumer", consume)
    assert processed == MESSAGES, processed
