"""a fork of a server does what a fresh process does, and what it cannot show is left to fresh ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from programs import recorded
from tiers import sampled
from twice.diagnosis.executions import BEFORE_ALL, FIRST, SECOND, Side, Window
from twice.diagnosis.tracing.trace import FlowPlan, Sample, SamplePlan
from twice.errors import ProgramFailed
from twice.worker.fork_server import ForkServer

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks are for Linux alone"),
    pytest.mark.fresh,
]

BOX = """
    import numpy as np

    class Box:
        def __init__(self, rng):
            self.rng, self.x, self.names = rng, np.zeros(4), {}

        def step(self):
            for name in {"ada", "ben", "cem", "dita"}:
                self.names[name] = float(self.rng.random())
            self.x += np.sqrt(self.rng.random(4))
            print(len(self.names))

        def state(self):
            return {"x": self.x, "names": list(self.names)}

    def main(run):
        box = run.track("box", Box(run.rng("box")))
        for tick in run.ticks(3):
            box.step()
"""


@contextmanager
def side_of(folder: Path, source: str, **given: str) -> Iterator[Side]:
    """One side of a record."""
    with recorded(folder, source, env={"PYTHONHASHSEED": "3", **given}) as record:
        side = Side("a", record)
        try:
            yield side
        finally:
            side.close()


@pytest.mark.parametrize("threads", sampled(["1", "2"], {"2"}))
@pytest.mark.parametrize("first", [BEFORE_ALL, 1])
@pytest.mark.sample(1)
def test_a_fork_sees_what_a_fresh_process_sees(tmp_path: Path, threads: str, first: int) -> None:
    with side_of(tmp_path, BOX, OPENBLAS_NUM_THREADS=threads) as side:
        window = Window(first, 2)
        forked = side.execute(window, FlowPlan(), fork_of=FIRST)
        fresh = side.execute(window, FlowPlan())
        assert forked.trace == fresh.trace
        assert (forked.digests, forked.states) == (fresh.digests, fresh.states)
        assert forked.reproduces
        plan = SamplePlan(tuple(("MainThread", index) for index in range(0, 40, 3)))
        again = side.execute(window, plan, fork_of=FIRST)
        assert again.trace == side.execute(window, plan).trace


def test_a_fork_that_dies_is_told_by_a_fresh_process(tmp_path: Path) -> None:
    source = """
        import os
        def main(run):
            for tick in run.ticks(4):
                if tick == 3 and __import__("posix").access(run.config["mark"], 0):
                    os._exit(7)
    """
    mark = tmp_path / "mark"
    with recorded(tmp_path, source, config={"mark": str(mark)}) as record:
        mark.touch()
        side = Side("a", record)
        with pytest.raises(ProgramFailed, match="exit code 7"):
            side.execute(Window(3, 4), FlowPlan(), fork_of=FIRST)
        side.close()


@pytest.mark.heavy
def test_what_depends_on_addresses_shows_in_other_processes(tmp_path: Path) -> None:
    source = """
        class Box:
            def __init__(self):
                self.page = 0

            def state(self):
                return {}

        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(2):
                box.page = id(Box) >> 20 & 0xfff  # made before any fork
    """
    with side_of(tmp_path, source) as side:
        plan = SamplePlan((("MainThread", 2),))

        def digest(fork_of: int | None) -> bytes:
            executed = side.execute(Window(0, 2), plan, fork_of=fork_of)
            assert executed.trace is not None
            sample: Sample = executed.trace.samples[0]
            return sample.digests["object:box.page"]

        forks, others = ({digest(number) for _ in range(3)} for number in (FIRST, SECOND))
        assert (len(forks), len(others)) == (1, 1)
        if "0" in Path("/proc/sys/kernel/randomize_va_space").read_text(encoding="ascii"):
            pytest.skip("this machine gives every process the same addresses")
        assert len({digest(None) for _ in range(3)} | forks | others) > 1


def test_a_server_that_is_closed_is_gone() -> None:
    server = ForkServer("twice.diagnosis", dict(os.environ), cwd=None)
    assert server._process is not None
    pid = server._process.pid
    server.close()
    assert not server.fit
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("module", ["recorder", "replayer", "diagnosis", "testing"])
def test_no_threads_of_numpy_stand_between_a_session_and_its_copy_of_the_files(module: str) -> None:
    loaded = f"import sys, twice.{module}.__main__; print('numpy' in sys.modules)"

    told = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )

    assert told.stdout == "False\n"
