"""Killed at any moment, a recording leaves a record that opens and whose prefix replays."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from programs import chains, cli, environ
from tiers import sampled
from twice.errors import RecordTorn
from twice.recorder.runrecord import RunRecord
from twice.replayer.preconditions import trusting
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

KILLS, VERIFIED = 25, 3
ASKS = """
import time
print("begun", flush=True)
began = time.monotonic()
print("told", input(), time.monotonic() > began)
"""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.mark.parametrize("seed", sampled(range(9), {"0"}))
@pytest.mark.heavy
def test_every_killed_recording_opens_and_its_prefix_replays(tmp_path: Path, seed: int) -> None:
    killing = Path(__file__).with_name("killing.py")
    subprocess.run(
        [sys.executable, str(killing), str(tmp_path), str(seed), str(KILLS)],
        env=environ(ONE_THREAD),
        check=True,
    )
    with RunRecord.open(tmp_path / "whole.twice") as whole:
        assert whole.complete
        every = chains(whole)
    lengths, ended = {}, set()
    for number in range(KILLS):
        path = tmp_path / f"killed-{number}.twice"
        with RunRecord.open(path) as record:
            found = chains(record)
            assert found == every[: len(found)]
            if not record.complete:
                lengths[path] = len(found)
                # Killed between the ending and the index, it knows how it ended, and all of it.
                assert record.ending is None or found == every
                if record.ending is not None:
                    ended.add(path)
                with pytest.raises(RecordTorn):
                    record.reader.check()
    assert lengths, "some were killed before they ended"
    longest = sorted(lengths, key=lambda path: lengths[path])[-1:]
    for path in [*longest, *list(lengths)[: VERIFIED - 1]]:
        with trusting(path):  # the process that started it was not the one that ends here
            statement = verify(path)
        assert statement.failure is None
        # An ending lists the sources that were not recorded, and killing.py writes the output by itself.
        expected = "PARTIAL" if lengths[path] and path not in ended else "UNKNOWN"
        assert statement.result == expected, statement.caveats
        assert statement.exit_code == 2
        assert statement.counts["passed"] == lengths[path]


@contextmanager
def asking(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Record a program that waits for a line; yield twice's process, and those of the program below it."""
    (folder / "asks.py").write_text(ASKS)
    with subprocess.Popen(
        [sys.executable, "-m", "twice", "record", "asks.py", "--seed", "1", "-o", "a.twice"],
        cwd=folder,
        env=environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        below = [process.pid]
        for each in below:
            below += map(int, Path(f"/proc/{each}/task/{each}/children").read_text().split())
        yield process, below[1:]


def answer(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("on\n")
    process.stdin.flush()


def test_a_program_whose_twice_is_killed_goes_on_and_its_record_is_whole(tmp_path: Path) -> None:
    """A process, because it is killed."""
    with asking(tmp_path) as (process, below):
        ends = [os.pidfd_open(each) for each in below]
        process.kill()
        process.wait()
        answer(process)
        for each in ends:
            select.select([each], [], [])
            os.close(each)

    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.printed()[0] == b"begun\ntold on True\n"
    assert cli("verify", "a.twice", cwd=tmp_path).stdout.startswith("PASS")


def test_a_machine_that_sleeps_meanwhile_changes_no_verdict(tmp_path: Path) -> None:
    """Stopped and continued processes, as those of a machine that sleeps."""
    with asking(tmp_path) as (process, below):
        stopped = [process.pid, *below]
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for each in stopped:
                os.kill(each, number)
        answer(process)
        assert process.wait() == 0

    assert cli("verify", "a.twice", cwd=tmp_path).stdout.startswith("PASS")


@pytest.mark.parametrize("place", [0, -1], ids=["supervisor", "program"])
def test_a_program_that_is_killed_is_told_and_its_record_is_a_prefix(
    tmp_path: Path, place: int
) -> None:
    """A process, because it is killed."""
    with asking(tmp_path) as (process, below):
        os.kill(below[place], signal.SIGKILL)
        assert process.wait() == 2

    with RunRecord.open(tmp_path / "a.twice") as record:
        assert not record.complete
    assert cli("verify", "a.twice", cwd=tmp_path).stdout.startswith(("PARTIAL", "UNKNOWN"))
