"""Programs that are hard on the processes around them: what they do is theirs, and nothing waits for ever.

Real processes: what the system does to them is what is tested.
"""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import twice
from programs import recorded, write
from twice.recorder.cadence import Cadence
from twice.replayer.restore_test import restores
from twice.replayer.verify import verify

pytestmark = [pytest.mark.integration, pytest.mark.fresh]

BLOCKS_FORKS = """
    import os, threading

    os.register_at_fork(before=lambda: threading.Event().wait())

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(12):
            seen.append(tick)
            if tick == 7 and os.environ.get("EXTRA"):
                seen.append(-1)  # here
"""
OUT_OF_MEMORY = """
    import resource

    def main(run):
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + (256 << 20), resource.RLIM_INFINITY))
        seen = run.track("seen", [])
        for tick in run.ticks(3):
            seen.append(len(bytearray(1 << (20 + 6 * tick))))
"""
LEAVES_A_CHILD = """
    import os, signal

    def main(run):
        for tick in run.ticks(2):
            run.compare("tick", tick)
        if os.fork() == 0:
            signal.pause()  # with the line to the parent, and the output, still open
"""


@pytest.mark.heavy
def test_a_library_that_blocks_every_fork_blocks_nothing_of_ours(tmp_path: Path) -> None:
    program = write(tmp_path, BLOCKS_FORKS)
    for name, env in (("a", {}), ("b", {"EXTRA": "1"})):
        out = tmp_path / f"{name}.twice"
        twice.record(program, seed=1, out=out, env=env, cadence=Cadence("tick", 4)).close()

    assert verify(tmp_path / "a.twice").result == "PASS"
    assert restores(tmp_path / "a.twice")["failed"] == []
    found = twice.diagnose(tmp_path / "a.twice", tmp_path / "b.twice")
    assert found.operation is not None
    assert found.operation.code.startswith("seen.append(-1)")


def test_memory_that_runs_out_is_an_exception_of_the_program(tmp_path: Path) -> None:
    with recorded(tmp_path, OUT_OF_MEMORY) as record:
        assert record.ending is not None
        assert record.ending["exception"]["type"] == "builtins.MemoryError"
        path = record.path

    assert verify(path).result == "PASS"


@pytest.fixture
def mark() -> Iterator[dict[str, str]]:
    """Yield a variable for a recorded program; end every process that still has it after the test."""
    mark = {"MARK_OF_A_TEST": secrets.token_hex(16)}
    yield mark
    for pid in find_marked(mark):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def find_marked(mark: dict[str, str]) -> list[int]:
    """Find the processes that were started with a variable."""
    (entry,) = (f"{name}={value}".encode() for name, value in mark.items())
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it ended meanwhile, or is another user's
            if entry in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def test_a_child_that_is_left_behind_keeps_nobody_waiting(
    tmp_path: Path, mark: dict[str, str]
) -> None:
    with recorded(tmp_path, LEAVES_A_CHILD, env=mark) as record:
        assert record.complete
    assert find_marked(mark), "the child is the program's, and goes on"
