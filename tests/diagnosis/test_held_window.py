"""Forks of a held process see what an execution from the top sees, however often and wherever it is held."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from programs import recorded
from tiers import sampled
from twice.diagnosis import held_window
from twice.diagnosis.executions import BEFORE_ALL, FIRST, Executed, Side, Window
from twice.diagnosis.held_window import HeldWindow
from twice.diagnosis.tracing.trace import FlowPlan, SamplePlan

pytestmark = [pytest.mark.integration, pytest.mark.fresh]

BODIES = {
    "plain": "box.x += tick",
    "the global generator": "box.x += random.random()",
    "a file that is read on": "box.x += float(lines.readline())",
    "numpy with threads": "box.x += float((square @ square).sum())",
    "standard output": "print('tick', tick); box.x += tick",
    "a file that is written": "(here / 'out.txt').write_text(f'{tick}'); box.x += len((here / 'out.txt').read_text())",
    "a file that is added to": "log.write(f'{tick},'); log.flush(); box.x += os.fstat(log.fileno()).st_size",
    "a folder that is made": "(here / f'made{tick}').mkdir(); box.x += len(os.listdir(here / f'made{tick}'))",
    "a pipe": "os.write(pipe[1], b'ab'); box.x += len(os.read(pipe[0], 1))",
    "a thread": "queue.put(tick); box.x += tick",
    "an event loop": "box.x += loop.run_until_complete(asyncio.sleep(0, tick))",
}
NEEDS = {
    "a file that is read on": "lines = open(here / 'in.txt')",
    "numpy with threads": "square = np.arange(250_000.0).reshape(500, 500) / 1e6; square @ square",
    "a file that is added to": "log = open(here / 'log.txt', 'a')",
    "a pipe": "pipe = os.pipe()",
    "a thread": "queue = Queue(); Thread(target=lambda: [queue.get() for _ in range(5)], daemon=True).start()",
    "an event loop": "loop = asyncio.new_event_loop()",
}
HELD = {
    "plain", "the global generator", "a file that is read on", "numpy with threads", "standard output",
}  # fmt: skip
NOT_HELD = {
    "a pipe": "pipes or sockets",
    "a thread": "threads",
    "an event loop": "pipes or sockets",
}


@contextmanager
def side_of(folder: Path, body: str, before: str = "", module: str = "") -> Iterator[Side]:
    """One side of a record of a program whose ticks run a body."""
    (folder / "in.txt").write_text("".join(f"{n}\n" for n in range(9)))
    source = f"""
import asyncio, os, random
from pathlib import Path
from queue import Queue
from threading import Thread
import numpy as np
{module}
here = Path(__file__).parent

class Box:
    def __init__(self):
        self.x = 0.0

def main(run):
    box = run.track("box", Box())
    {before or "pass"}
    for tick in run.ticks(5):
{textwrap.indent(textwrap.dedent(body), " " * 8)}
"""
    with recorded(folder, source) as record:
        side = Side("a", record)
        try:
            yield side
        finally:
            side.close()


def held_by(side: Side) -> HeldWindow:
    """Return the one process that a side holds."""
    ((_, held),) = side._held.values()
    return held


def seen(executed: Executed) -> tuple[object, ...]:
    """Return the results of an execution."""
    return executed.reached, executed.digests, executed.states, executed.trace


@pytest.mark.parametrize("first", sampled([BEFORE_ALL, 2], {"2"}))
@pytest.mark.parametrize("name", sampled(BODIES, {"numpy with threads"}))
def test_every_fork_sees_what_a_fresh_process_sees(tmp_path: Path, name: str, first: int) -> None:
    with side_of(tmp_path, BODIES[name], NEEDS.get(name, "")) as side:
        window = Window(first, 4)
        fresh = seen(side.execute(window, FlowPlan()))
        plan = SamplePlan(tuple(("MainThread", index) for index in range(0, 30, 3)))
        sampled = side.execute(window, plan).trace
        for _ in range(3):
            again = side.execute(window, plan, fork_of=FIRST).trace
            assert again == sampled or name == "a thread"  # which takes from the queue at any time
            forked = side.execute(window, FlowPlan(), fork_of=FIRST)
            assert seen(forked) == fresh or name == "a thread"
            assert forked.reproduces
        if name in HELD:
            assert held_by(side).fit
        elif first != BEFORE_ALL and name in NOT_HELD:
            assert (held_by(side).fit, held_by(side).why) == (False, NOT_HELD[name])


@pytest.mark.heavy
def test_a_long_way_to_the_samples_is_gone_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_window, "_WORTH_S", 0.0)  # however fast this machine is
    body = """
    for n in range(200_000):
        box.x += n
    if tick == 3:
        box.x += random.random()
        for name in "abc":
            box.x += ord(name)
    """
    with side_of(tmp_path, body) as side:
        window, last = Window(2, 4), 400_010
        side.execute(window, SamplePlan((("MainThread", 400_000),)), fork_of=FIRST)
        plan = SamplePlan(tuple(("MainThread", index) for index in range(400_001, last)))
        again = [side.execute(window, plan, fork_of=FIRST).trace for _ in range(3)]
        held = held_by(side)
        assert [further._at for further in held._further] == [400_000]
        assert again == [side.execute(window, plan).trace] * 3
        earlier = SamplePlan((("MainThread", 5),))
        assert (
            side.execute(window, earlier, fork_of=FIRST).trace
            == side.execute(window, earlier).trace
        )


@pytest.mark.heavy
def test_threads_of_openmp_end_before_a_fork(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    body = "box.x += float((square @ square).sum())"
    before = "square = torch.ones(400, 400); square @ square"
    with side_of(tmp_path, body, before, module="import torch") as side:
        for _ in range(2):
            assert side.execute(Window(2, 4), None, fork_of=FIRST).reproduces
        assert held_by(side).fit


def test_a_program_that_starts_processes_is_not_held(tmp_path: Path) -> None:
    body = "box.x += len(subprocess.run(['echo', str(tick)], capture_output=True).stdout)"
    with side_of(tmp_path, body, module="import subprocess") as side:
        assert side.execute(Window(2, 4), None, fork_of=FIRST).reproduces
        assert not side._held
