"""What a call under contract costs through the Model Context Protocol, beside the SDK alone.

Usage: python benchmarks/tools.py [--rounds N] [--small] [--output FILE.jsonl]

Two servers over standard input and output, talked to by the SDK's own client in turn: the same tool that
adds a number on the SDK's low-level server alone, and served by ``twice tools serve`` with validation, contract,
enforcement, checkpoint and a record that is on disk before each answer. Wall clock, because three
processes share the work; milliseconds a call over blocks of calls.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import measuring
from mcp import Client, StdioServerParameters

_SRC = str(measuring.FOLDER.parent / "src")


def server(*arguments: str) -> StdioServerParameters:
    environ = {**os.environ, "PYTHONPATH": _SRC}
    return StdioServerParameters(command=sys.executable, args=list(arguments), env=environ)


async def block(client: Client, calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        answer = await client.call_tool("add", {"n": 1})
        assert not answer.is_error, answer
    return (time.perf_counter() - began) / calls * 1e3


async def measured(rounds: int, calls: int, out: Path) -> list[tuple[float, float]]:
    program = str(measuring.PROGRAMS / "adding_tools.py") + ":registry"
    bare = server(str(measuring.PROGRAMS / "bare_mcp.py"))
    ours = server("-m", "twice", "tools", "serve", program, "-o", str(out))
    async with Client(bare) as one, Client(ours) as other:
        await block(one, 20)
        await block(other, 20)
        return [(await block(one, calls), await block(other, calls)) for _ in range(rounds)]


def figures(rounds: int, calls: int) -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "session.twice"
        pairs = anyio.run(measured, rounds, calls, out)
        size = out.stat().st_size / (rounds * calls + 20)
    columns = {
        "a call, the SDK alone": [bare for bare, _ in pairs],
        "a call under contract, recorded": [ours for _, ours in pairs],
        "added to a call": [ours - bare for bare, ours in pairs],
    }
    for figure, samples in columns.items():
        yield {"figure": figure, "unit": "ms", **measuring.spread(samples)}
    ratios = [ours / bare for bare, ours in pairs]
    yield {"figure": "a call, twice to the SDK alone", "unit": "x", **measuring.spread(ratios)}
    yield {"figure": "a recorded call takes", "unit": "bytes", **measuring.spread([size], 0)}


if __name__ == "__main__":
    chosen = measuring.options("tools", __doc__ or "", rounds=7)
    calls = 20 if chosen.small else 300
    measuring.tell("tools", figures(chosen.rounds, calls), chosen.output)
