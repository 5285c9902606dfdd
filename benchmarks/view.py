"""The page of a run of 10 million compare-points: how long its server takes to open it, and to answer what the page asks.

Usage: python benchmarks/view.py [--rounds N] [--small] [--output FILE.jsonl]

The record is made by the record writer, with two components and a frame in every tick; its state is kept every 1,000
ticks. Goals: the page is there within a second, and an answer takes at most 100 ms, which is a tenth of the time in which
somebody loses the thread. How smoothly a browser pans is in `tests/view`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import measuring

sys.path.insert(0, str(measuring.FOLDER.parent / "tests" / "runs"))

from made_records import make_identity

from twice.foundation.encoding import encode
from twice.recorder.record import RecordWriter
from twice.recorder.record_form import INPUT
from twice.view.viewed_runs import ViewedRuns


def write_record(path: Path, ticks: int) -> None:
    """Write the record."""
    writer = RecordWriter.create(path, make_identity(path.parent, seed=1))
    layout = writer.layout(["still", "swarm"])
    value = encode(("push", False, 0.5))
    for tick in range(ticks):
        digest = tick.to_bytes(16, "little")
        if tick % 10 == 0:
            writer.frame(INPUT, 0, value, tick=tick)
        writer.point(layout, tick, "tick", digest, digest, bytes(16) + digest)
    writer.close({"how": "completed"})


def figures(rounds: int, ticks: int) -> Iterator[dict[str, object]]:
    """Yield the figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.twice")
        write_record(path, ticks)
        last = ticks - 1
        questions: dict[str, tuple[str, dict[str, object]]] = {
            "the whole timeline": ("timeline", {"bins": 240}),
            "a tenth of it": ("timeline", {"from": last // 2, "to": last // 2 + last // 10}),
            "a thousand ticks of it": ("timeline", {"from": last // 2, "to": last // 2 + 1000}),
            "a tick": ("moment", {"tick": last // 3}),
        }
        opened = []
        for _ in range(rounds):
            began = time.perf_counter()
            runs = ViewedRuns([path])
            runs.answer("session", {})
            opened.append(1e3 * (time.perf_counter() - began))
            runs.close()
        name = f"{ticks:,} compare-points"
        yield {"figure": f"{name}: opened", "unit": "ms"} | measuring.spread(opened)
        runs = ViewedRuns([path])
        for what, (question, asked) in questions.items():
            texts = {"run": "0"} | {key: str(each) for key, each in asked.items()}
            taken = measure(rounds, lambda: runs.answer(question, texts))  # noqa: B023
            yield {"figure": f"{name}: {what}", "unit": "ms"} | measuring.spread(taken)
        runs.close()


def measure(rounds: int, ask: Callable[[], object]) -> list[float]:
    """Return the milliseconds of each round."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        ask()
        taken.append(1e3 * (time.perf_counter() - began))
    return taken


def main() -> None:
    """Measure and print."""
    chosen = measuring.options("view", __doc__.splitlines()[0], rounds=5)
    ticks = 10_000 if chosen.small else 10_000_000
    measuring.tell("view", figures(chosen.rounds, ticks), chosen.output)


if __name__ == "__main__":
    main()
