"""What other recorders get silently wrong, each shown to be right here, or to fail aloud."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import twice
from programs import recorded, verified, write
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

REPLAYED = {
    "random that nobody seeded": """
        import random, uuid
        print(random.random(), uuid.uuid4(), random.Random().random())
    """,
    "numpy's generators, seeded and not": """
        import numpy as np
        print(np.random.default_rng(1).normal(), np.random.default_rng().normal(), np.random.rand())
    """,
    "the order of a set of text": """
        print(list({"a", "b", "c", "d", "e"}), hash("a"))
    """,
    "tasks that sleep for random times": """
        import asyncio, random, time
        async def one(number):
            await asyncio.sleep(random.random() / 100)
            return number, time.time(), random.random()
        async def every():
            return await asyncio.gather(*(one(number) for number in range(8)))
        print(sorted(number for number, _, _ in asyncio.run(every())))
    """,
    "threads that contend for a lock": """
        import threading, time
        lock, seen = threading.Lock(), {}
        def work(name):
            for turn in range(20):
                with lock:
                    seen.setdefault(name, []).append(time.perf_counter_ns())
        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print({name: seen[name] for name in "abcd"})
    """,
    "a process whose output is captured": """
        import subprocess, sys
        command = [sys.executable, "-c", "import os; print(os.urandom(4).hex())"]
        print(subprocess.run(command, capture_output=True, text=True).stdout)
    """,
}


@pytest.mark.parametrize("name", REPLAYED)
def test_it_replays(tmp_path: Path, name: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(REPLAYED[name]), encoding="utf-8")
    twice.record(str(script), seed=1, out=tmp_path / "a.twice").close()
    assert verify(tmp_path / "a.twice").result == "PASS"


CLOCK = """
import time

def main(run):
    seen = run.track("seen", [])
    for tick in run.ticks(30):
        seen.append(time.time())
        if tick == EXTRA:
            time.time()
"""


@pytest.mark.parametrize(("was", "now"), [(-1, 17), (17, -1)], ids=["inserted", "removed"])
def test_a_clock_call_more_or_less_is_found_where_it_is(tmp_path: Path, was: int, now: int) -> None:
    recorded(tmp_path, CLOCK.replace("EXTRA", str(was))).close()
    write(tmp_path, CLOCK.replace("EXTRA", str(now)))
    failure = verify(tmp_path / "a.twice", informational=True).failure
    assert failure is not None
    assert (failure.tick, failure.columns) == (17, ("effects",))
    if now == 17:
        assert failure.at == f"{tmp_path / 'program.py'}:9"
        assert (failure.recorded, failure.replayed) == (
            "nothing more before this compare-point", "clock.time",
        )  # fmt: skip
    else:
        assert failure.recorded.startswith("clock.time -> ")
        assert failure.replayed == "nothing more before this compare-point"


@pytest.mark.parametrize(("where", "number"), [("BEGUN", 7), ("ENDED", 9)])
def test_a_clock_call_among_others_of_its_kind_is_found_at_its_line(
    tmp_path: Path, where: str, number: int
) -> None:
    source = """
        import time

        def main(run):
            for tick in run.ticks(30):
                if tick == 20:
                    BEGUN
                held = time.time()
                ENDED if tick == 20 else None
        """
    changed = source.replace(where, "time.time()")
    recorded(tmp_path, source.replace("BEGUN", "time").replace("ENDED", "time")).close()
    write(tmp_path, changed.replace("BEGUN", "time").replace("ENDED", "time"))
    failure = verify(tmp_path / "a.twice", informational=True).failure
    assert failure is not None
    assert (failure.tick, failure.at) == (20, f"{tmp_path / 'program.py'}:{number}")


def test_another_clock_is_found_at_that_call(tmp_path: Path) -> None:
    recorded(tmp_path, CLOCK.replace("EXTRA", "17")).close()
    changed = CLOCK.replace("EXTRA", "17").replace(
        "            time.time()", "            time.monotonic()"
    )
    write(tmp_path, changed)
    failure = verify(tmp_path / "a.twice", informational=True).failure
    assert failure is not None
    assert (failure.name, failure.tick) == ("effect", 17)
    assert failure.replayed == "clock.monotonic"


def test_reads_that_are_left_over_fail(tmp_path: Path) -> None:
    source = """
        import os

        def main(run):
            for tick in run.ticks(1):
                pass
            os.urandom(4)
    """
    recorded(tmp_path, source).close()
    write(tmp_path, textwrap.dedent(source).replace("os.urandom(4)", "os"))
    assert verify(tmp_path / "a.twice", informational=True).failure is not None


def test_what_a_program_compares_is_verified_and_never_inferred_from_its_exit(
    tmp_path: Path,
) -> None:
    statement = verified(tmp_path, CLOCK.replace("EXTRA", "-1"))
    assert statement.result == "PASS"
    assert statement.counts["evaluated"] > 30


def test_nothing_in_a_record_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    with recorded(tmp_path, CLOCK.replace("EXTRA", "-1")) as record:
        path = record.path
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.delattr(pickle, name)
    with twice.open(path) as record:
        assert record.ticks == 30
        assert sum(1 for _ in record.strict_reads()) == 30
