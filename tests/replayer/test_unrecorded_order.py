"""A PASS says what it does not cover: threads whose order no record holds, streams that nobody drew from."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from programs import cli, recorded, verified
from twice.errors import EffectMismatch, UsageError
from twice.foundation.determinism_class import Predicate
from twice.recorder.effects.ops import MAIN, SLEEP
from twice.recorder.effects.sources import RecordedActor
from twice.recorder.kernel.file_state import FileState
from twice.replayer.file_report import judge_files
from twice.replayer.notes import describe_concurrency
from twice.replayer.outcome import Failure
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.replayer.verify_worker import pin_quietly

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
    assert any("it may be that their order alone differs" in line for line in found.headline)


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


SEEDED = """
    import random

    def main(run):
        state = run.track("state", {"x": 0.0})
        for tick in run.ticks(3):
            state["x"] += tick
"""


def test_a_run_that_draws_nothing_says_so(tmp_path: Path) -> None:
    found = verified(tmp_path, SEEDED)

    assert found.result == "PASS", found.to_markdown()
    assert [each.partition(":")[0] for each in found.headline] == [
        "no stream of the run was drawn from"
    ]


def test_a_program_that_seeds_a_global_generator_is_not_said_to_draw_by_the_seed(
    tmp_path: Path,
) -> None:
    found = verified(
        tmp_path,
        SEEDED.replace("state =", "random.seed(3)\n        state =").replace(
            "+= tick", "+= random.random()"
        ),
    )

    assert found.headline == []
    (told,) = (line for line in found.caveats if "global/random" in line)
    assert "--seed decides nothing where the program seeds them again" in told


@pytest.mark.parametrize("repeat", ["0", "-1"])
def test_no_replay_verifies_nothing(tmp_path: Path, repeat: str) -> None:
    recorded(tmp_path, UNUSED).close()
    with pytest.raises(UsageError, match="verify nothing"):
        verify(tmp_path / "a.twice", repeat=int(repeat))
    done = cli("verify", tmp_path / "a.twice", "--repeat", repeat)

    assert done.returncode == 2
    assert done.stderr.startswith("E-USE-001"), done.stderr


FORK = {"source": "process.fork", "class": "repeated"}
TALK = {"source": "network.listen", "class": "repeated"}


@pytest.mark.parametrize(
    ("ending", "inventory", "said"),
    [
        ({"lineages": {"main/thread": 1}}, [], "a thread ran beside the main one, in an order"),
        ({"lineages": {"main/thread": 2, "main/pool/job": 3}}, [], "5 threads ran"),
        ({"lineages": {"main/task": 4, "main/task/task": 2}}, [], ""),
        ({}, [FORK], "processes (process.fork) ran"),
        ({}, [{"source": "process.start", "class": "recorded"}], ""),
        ({}, [TALK], "connections within the run (network.listen) took turns, in an order"),
        ({}, [FORK, TALK], "processes (process.fork) ran beside each other"),
    ],
)
def test_what_ran_at_once_is_said(
    ending: dict[str, Any], inventory: list[dict[str, object]], said: str
) -> None:
    told = describe_concurrency(ending, inventory)

    assert told.startswith(said)
    assert bool(told) == bool(said)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_libraries_are_told_of_all_cores_where_a_replay_runs_on_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", ask := os.sched_getaffinity)
    before = ask(0)
    try:
        pin_quietly(1)

        assert len(ask(0)) == 1
        assert os.sched_getaffinity(0) == before
    finally:
        os.sched_setaffinity(0, before)


def test_a_measurement_is_proposed_to_be_left_out_and_the_outcome_of_an_order_is_not() -> None:
    texts = "line 1: loss 3.1", "line 1: loss 3.2"
    failure = Failure(0, 0, "end", ("output",), *texts)
    alone = Verification(
        path=Path("a.twice"), run_id="", predicate=Predicate(), subsystems=[], failure=failure,
        inventory=[{"source": "native.load", "class": "assumed"}],
    )  # fmt: skip

    assert "--ignore-output" in alone.suggestions()[0]
    served = [{"source": "clock.perf_counter", "class": "recorded"}]
    assert replace(alone, inventory=served).suggestions() == []
    assert replace(alone, beside="2 threads ran beside each other").suggestions() == []
    taken = replace(
        failure, recorded="line 1: 9 rows, took 3.1 s", replayed="line 1: 9 rows, took 3.2 s"
    )
    assert "--ignore-output" in replace(alone, inventory=served, failure=taken).suggestions()[0]


WRITTEN = """
    import threading

    def main(run):
        run.track("nothing", {{}})
        with open("a.log", "w") as log:
            for _ in range({threads}):
                thread = threading.Thread(target=lambda: log.write(f"{{id(object()):020}}\\n"))
                thread.start()
                thread.join()
        {then}
"""


@pytest.mark.fresh  # where it shares a process, an object has one address
@pytest.mark.parametrize("then", ["open('a.log').close()", "open('b.log', 'w').close()"])
@pytest.mark.parametrize(("threads", "expected"), [(1, "FAIL"), (2, "UNKNOWN")])
@pytest.mark.sample(1)
def test_a_file_of_several_threads_may_differ_in_their_order_alone(
    tmp_path: Path, then: str, threads: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where it writes
    found = verified(tmp_path, WRITTEN.format(threads=threads, then=then))

    assert found.failure is not None
    assert found.result == expected, found.to_markdown()
    assert found.decision.rule == ("order" if threads > 1 else "different")


@pytest.mark.parametrize(
    ("actor", "naps", "expected"),
    [
        ("main/thread:0", 0.5, True),
        ("main/thread:0", 0.25, False),  # its own, too late
        ("main/thread:0", 0.75, False),
        ("main/task:0", 0.5, False),
        (MAIN, 0.5, False),
    ],
)
def test_a_read_that_another_thread_made_has_moved(actor: str, naps: float, expected: bool) -> None:
    others = {
        "main/thread:0": [(SLEEP.number, (0.25, None))],
        "main/thread:1": [(SLEEP.number, (0.5, None))],
    }
    shared: Any = SimpleNamespace(
        others=others, differs=None, leaves=False, changed=frozenset(), lent={}
    )
    with pytest.raises(EffectMismatch) as raised:
        RecordedActor(actor, iter(()), shared).strict(SLEEP, naps, lambda: None)

    assert raised.value.fields["is_moved"] is expected


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        (FileState("file", size=4), FileState("file", size=4), True),
        (FileState("file", size=4), FileState("file", size=5), False),
        (FileState("file", size=0), FileState("folder", size=0), False),
    ],
)
def test_files_are_as_long_as_they_were(
    tmp_path: Path, was: FileState, now: FileState, expected: bool
) -> None:
    with recorded(tmp_path, UNUSED) as record:
        kept = {"differences": [("/x", was.to_plain(), now.to_plain(), "")]}
        assert judge_files(record, kept, {}, whole=True).has_recorded_lengths is expected
