"""A PASS says what it does not cover: threads whose order no record holds, streams that nobody drew from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from programs import cli, recorded, verified
from twice.errors import UsageError
from twice.replayer.notes import list_facts_of_equal_runs
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

RACING = """
import threading

def main(run):
    total = run.track("total", {"n": 0})

    def read():
        return total["n"]

    def write(number):
        total["n"] = number

    def add():
        for _ in range(4000):
            write(read() + 1)

    for tick in run.ticks(2):
        threads = [threading.Thread(target=add) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
"""
LOCKED = RACING.replace("    for tick", "    lock = threading.Lock()\n\n    for tick").replace(
    "            write(read() + 1)", "            with lock:\n                write(read() + 1)"
)
UNUSED = """
def main(run):
    run.rng("spare")
    noise, state = run.rng("noise"), run.track("state", {"x": 0.0})
    for tick in run.ticks(3):
        state["x"] += noise.normal()
"""


@pytest.mark.fresh  # threads of the server's libraries would be counted
def test_a_race_is_found_by_replays_under_other_orders(tmp_path: Path) -> None:
    recorded(tmp_path, RACING).close()
    found = verify(tmp_path / "a.twice", repeat=8)

    assert found.result == "FAIL", found.to_markdown()
    assert found.repeats is not None
    assert found.repeats["planned"] == 8


def test_threads_that_lock_agree_under_other_orders_and_are_told_all_the_same(
    tmp_path: Path,
) -> None:
    recorded(tmp_path, LOCKED).close()
    found = verify(tmp_path / "a.twice", repeat=3)

    assert found.result == "PASS", found.to_markdown()
    assert found.repeats == {"planned": 3, "executed": 3}
    assert any(line.startswith("3 replays agree") for line in found.headline)
    assert any(line.startswith("24 threads ran beside each other") for line in found.headline)


def test_a_stream_that_was_taken_and_never_drawn_from_is_named(tmp_path: Path) -> None:
    found = verified(tmp_path, UNUSED)

    assert found.result == "PASS", found.to_markdown()
    (told,) = (line for line in found.headline if "never drawn from" in line)
    assert "the streams spare." in told


def test_a_run_without_threads_and_spare_streams_says_nothing_of_them(tmp_path: Path) -> None:
    found = verified(tmp_path, UNUSED.replace('run.rng("spare")', "pass"))

    assert found.headline == []


@pytest.mark.parametrize("repeat", ["0", "-1"])
def test_no_replay_verifies_nothing(tmp_path: Path, repeat: str) -> None:
    recorded(tmp_path, UNUSED).close()
    with pytest.raises(UsageError, match="verify nothing"):
        verify(tmp_path / "a.twice", repeat=int(repeat))
    done = cli("verify", tmp_path / "a.twice", "--repeat", repeat)

    assert done.returncode == 2
    assert done.stderr.startswith("E-USE-001"), done.stderr


@pytest.mark.parametrize(
    ("ending", "inventory", "said"),
    [
        ({"lineages": {"main/thread": 1}}, [], "a thread ran beside the main one, in an order"),
        ({"lineages": {"main/thread": 2, "main/pool/job": 3}}, [], "5 threads ran"),
        ({"lineages": {"main/task": 4, "main/task/task": 2}}, [], ""),
        ({}, [{"source": "process.fork", "class": "repeated"}], "processes (process.fork) ran"),
        ({}, [{"source": "process.start", "class": "recorded"}], ""),
    ],
)
def test_what_ran_at_once_is_said(
    tmp_path: Path, ending: dict[str, Any], inventory: list[dict[str, object]], said: str
) -> None:
    with recorded(tmp_path, UNUSED.replace('run.rng("spare")', "pass")) as record:
        assert record.ending is not None
        record.ending.update(ending)
        lines = list_facts_of_equal_runs(record, None, inventory)

    assert [line[: len(said)] for line in lines] == ([said] if said else [])
