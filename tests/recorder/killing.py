"""Records one program again and again and kills each recording at a random moment.

Run as ``python killing.py FOLDER SEED COUNT``. Every recording is a forked process that does what
``python -m twice.recorder`` does; forking spares the start of an interpreter for each of them.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
from pathlib import Path
from time import perf_counter

from twice.foundation.seeds import Seed
from twice.recorder import record_session
from twice.recorder.cadence import Cadence
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program_spec import parse_program
from twice.recorder.session_job import GO_ON
from twice.recorder.setup import Setup
from twice.worker.channel import Channel, pair
from twice.worker.process import NESTED

PROGRAM = """
import os, time
import numpy as np

class Board:
    def __init__(self, rng):
        self.rng, self.cells = rng, rng.normal(size=50)

    def state(self):
        return {"cells": self.cells}

    def restore(self, state):
        self.cells = state["cells"]

def main(run):
    board = run.track("board", Board(run.rng("board")))
    for tick in run.ticks(400):
        push = run.input("push", lambda: float(board.rng.normal()))
        for number in range(8):
            board.cells[(tick + number) % 50] += push
            run.phase("pushed")
        time.time()
        if tick % 50 == 0:
            os.urandom(2), print("tick", tick)
"""


def start(folder: Path, name: str) -> tuple[int, Channel]:
    """Fork a recording; its process and the line to it."""
    setup = Setup(
        parse_program("program.py:main", cwd=folder), Seed(7), cadence=Cadence("tick", 100)
    )
    job = {
        "setup": setup.to_json(),
        "surroundings": for_recording(os.environ).to_json(),
        "out": str(folder / name),
        "force": False,
        "parent": None,
        "sample": [],
        "on_full": GO_ON,
    }
    ours, theirs = pair()
    child = os.fork()
    if not child:
        for descriptor in (1, 2):
            file = os.open(folder / f"{name}.{descriptor}", os.O_RDWR | os.O_CREAT | os.O_APPEND)
            os.dup2(file, descriptor)
        record_session.record_here(job, Channel(theirs))
        os._exit(0)
    theirs.close()
    return child, ours


def main() -> None:
    """Record once to the end, then kill COUNT recordings."""
    folder, draw, count = Path(sys.argv[1]), random.Random(int(sys.argv[2])), int(sys.argv[3])
    os.environ[NESTED] = str(folder / "session")
    (folder / "program.py").write_text(PROGRAM)
    measured = measure()
    record_session.measure = lambda **_: measured
    child, channel = start(folder, "whole.twice")
    channel.receive()
    began = perf_counter()
    channel.receive()
    whole_s = perf_counter() - began
    os.waitpid(child, 0)
    for number in range(count):
        child, channel = start(folder, f"killed-{number}.twice")
        channel.receive()
        select.select([], [], [], draw.uniform(0.0, whole_s))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        channel.close()


if __name__ == "__main__":
    main()
