"""A program that reads clock, entropy and a declared effect, and times itself while it does.

Run by ``benchmarks/effects.py`` under recording and again under replay. What it measures it appends
to the file ``config["to"]`` outside of the run, so that nothing of it is compared.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from itertools import repeat

import twice
from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.clock import REAL

cpu = REAL[ops.PROCESS_TIME]
real_time = REAL[ops.TIME]


def plain(value: int) -> int:
    return value + 1


effect = twice.effect(plain)


def nanoseconds(read: Callable[[], object], count: int) -> float:
    """CPU time of one call, the loop included."""
    start = cpu()
    for _ in repeat(None, count):
        read()
    return (cpu() - start) / count * 1e9


def keep(to: str, line: dict[str, float]) -> None:
    with open(to, "a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")


def main(run: twice.Run) -> None:
    burst, sustained = run.config["burst"], run.config["sustained"]
    line: dict[str, float] = {}
    for _ in run.ticks(run.config["rounds"]):
        clock, raw = run.effects.clock.time, nanoseconds(real_time, burst)
        line["time.time, burst"] = nanoseconds(time.time, burst) - raw
        line["run.effects.clock.time, burst"] = nanoseconds(clock, burst) - raw
        line["os.urandom(16), burst"] = nanoseconds(lambda: os.urandom(16), burst)
        line["@effect call, burst"] = nanoseconds(lambda: effect(1), burst)
        line["plain call, burst"] = nanoseconds(lambda: plain(1), burst)
        run.phase("burst")
        raw = nanoseconds(real_time, sustained)
        line["time.time, sustained"] = nanoseconds(time.time, sustained) - raw
        line["run.effects.clock.time, sustained"] = nanoseconds(clock, sustained) - raw
        line["raw clock"] = raw
        outside(keep, run.config["to"], line)
