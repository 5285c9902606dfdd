"""What a recorded event loop costs beside asyncio's own: an echo server and its clients, over TCP.

Usage: python benchmarks/recorded_loop.py [--rounds N] [--small] [--output FILE.jsonl]

CPU time of one process that runs both ends. In each round every candidate is measured once: nothing recorded, the
recording without the loop's rounds (`--loop own`, where connections within the run are not recorded), and the recorded
loop. Messages have 64 bytes, lines of text. Goal: at most 1.03 times asyncio alone.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import measuring

import twice

CLIENTS = 4
LISTENS = ("network.listen",)
STOCK = "asyncio"
LINE = (b"order 17 of 3 pears and 2 plums, to be paid by cash on delivery.")[:63] + b"\n"


async def echo(messages: int) -> float:
    """Send lines back and forth; the CPU seconds of that."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    async def ask(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(messages // CLIENTS):
            writer.write(LINE)
            await reader.readline()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    began = time.process_time()
    await asyncio.gather(*(ask(port) for _ in range(CLIENTS)))
    took = time.process_time() - began
    server.close()
    return took


def compare(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    """Measure each candidate."""
    messages = 400 if small else 12_000
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.twice")
        for _ in range(rounds):
            for name, block in {
                STOCK: nullcontext(),
                "--loop own": twice.recording(path, seed=1, force=True, allow=LISTENS),
                "--loop recorded": twice.recording(path, seed=1, force=True, records_loop=True),
            }.items():
                with block:
                    times.setdefault(name, []).append(asyncio.run(echo(messages)))
        size = path.stat().st_size
    for name, taken in times.items():
        each = [seconds / messages * 1e6 for seconds in taken]
        yield {"figure": f"echo: {name}", "unit": "us/message"} | measuring.spread(each, 1)
        ratios = [a / b for a, b in zip(taken, times[STOCK], strict=True)]
        yield {"figure": f"echo: {name} to {STOCK}", "unit": "x"} | measuring.spread(ratios, 2)
    each = [size / messages]
    yield {"figure": "echo: record", "unit": "bytes/message"} | measuring.spread(each, 1)


def main() -> None:
    """Measure everything."""
    chosen = measuring.options("recorded_loop", __doc__.splitlines()[0], rounds=7)
    measuring.tell("recorded_loop", compare(chosen.rounds, small=chosen.small), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
