"""Threads, tasks and pool jobs read the world as actors: each in its own order, served to it alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded, verified
from twice.recorder.cadence import Cadence
from twice.recorder.runrecord import RunRecord
from twice.replayer.restore_test import restores
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

THREADS = """
import threading, time, uuid

def main(run):
    seen = run.track("seen", {})

    def beside(name):
        seen[name] = [time.time(), str(uuid.uuid4()), time.monotonic_ns(), run.effects.clock.time()]

    for tick in run.ticks(3):
        threads = [threading.Thread(target=beside, args=(f"{tick}-{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in reversed(threads):
            thread.join()
        seen[tick] = time.time()
"""
TASKS = """
import asyncio, time, random

async def work(seen, name):
    for step in range(3):
        seen.setdefault(name, []).append(time.time())
        await asyncio.sleep(random.SystemRandom().random() / 1000)
        seen[name].append(time.perf_counter())

async def all_of_it(seen, tick):
    await asyncio.gather(*(work(seen, f"{tick}-{n}") for n in range(5)))
    loop = asyncio.get_running_loop()
    seen[tick] = await loop.run_in_executor(None, time.time)

def main(run):
    seen = run.track("seen", {})
    for tick in run.ticks(2):
        asyncio.run(all_of_it(seen, tick))
"""
NURSERY = """
import random, time, uuid
import trio

def beside(n):
    time.sleep(n % 3 / 1000)
    return time.time(), str(uuid.uuid4())

async def work(seen, name, n):
    await trio.sleep(random.SystemRandom().random() / 1000)
    seen[name] = [time.time(), await trio.to_thread.run_sync(beside, n), time.monotonic_ns()]

async def all_of_it(seen, tick):
    async with trio.open_nursery() as nursery:
        for n in range(6):
            nursery.start_soon(work, seen, f"{tick}-{n}", n)

def main(run):
    seen = run.track("seen", {f"{tick}-{n}": None for tick in range(2) for n in range(6)})
    for tick in run.ticks(2):
        trio.run(all_of_it, seen, tick)
"""
JOBS = """
import time
from concurrent.futures import ThreadPoolExecutor

def job(n):
    return n, time.time(), [time.monotonic() for _ in range(n)]

def main(run):
    seen = run.track("seen", [])
    with ThreadPoolExecutor(3) as pool:
        for tick in run.ticks(3):
            seen.extend(pool.map(job, range(7)))
"""


@pytest.mark.parametrize(
    "program", [THREADS, TASKS, NURSERY, JOBS], ids=["threads", "tasks", "nursery", "jobs"]
)
@pytest.mark.sample(2)
def test_what_each_actor_read_is_served_to_it_again(tmp_path: Path, program: str) -> None:
    statement = verified(tmp_path, program)

    assert statement.result == "PASS", statement.failure


@pytest.mark.parametrize(
    "program", [THREADS, TASKS, NURSERY, JOBS], ids=["threads", "tasks", "nursery", "jobs"]
)
@pytest.mark.sample(2)
def test_actors_keep_their_keys_when_a_run_begins_at_a_snapshot(
    tmp_path: Path, program: str
) -> None:
    with recorded(tmp_path, program, cadence=Cadence("tick", 1)) as record:
        path = record.path

    found = restores(path)

    assert found["tested"] > 1
    assert found["failed"] == []


@pytest.mark.parametrize(
    ("program", "key", "count"),
    [
        (THREADS, "main/thread:5", 4),
        (TASKS, "main/task:1", 0),
        (JOBS, "main/job:20", 7),
    ],
    ids=["threads", "tasks", "jobs"],
)
def test_an_actor_is_named_by_its_lineage(
    tmp_path: Path, program: str, key: str, count: int
) -> None:
    with recorded(tmp_path, program) as record:
        reads = record.actor_reads()

    assert len(reads.get(key, ())) == count


@pytest.mark.parametrize(
    ("program", "depth", "counts"), [(TASKS, 2, [9] * 10), (NURSERY, 3, [6] * 12)]
)
def test_a_task_is_a_child_of_the_task_that_made_it(
    tmp_path: Path, program: str, depth: int, counts: list[int]
) -> None:
    with recorded(tmp_path, program) as record:
        reads = record.actor_reads()

    children = [len(events) for key, events in reads.items() if key.count("/task:") == depth]
    assert children == counts


@pytest.mark.parametrize("way", ["threads", "tasks"])
def test_nothing_is_lost_or_reordered_among_many_reads_of_eight_actors(
    tmp_path: Path, way: str
) -> None:
    program = f"""
    import asyncio, threading, time

    def read(kept):
        for _ in range(12_500):
            kept.append(time.perf_counter_ns())

    async def task(kept):
        for _ in range(125):
            for _ in range(100):
                kept.append(time.perf_counter_ns())
            await asyncio.sleep(0)

    async def tasks(lists):
        await asyncio.gather(*map(task, lists))

    def main(run):
        lists = [[] for _ in range(8)]
        for tick in run.ticks(1):
            if {way!r} == "threads":
                threads = [threading.Thread(target=read, args=(kept,)) for kept in lists]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            else:
                asyncio.run(tasks(lists))
        run.track("kept", lists)
    """
    statement = verified(tmp_path, program)

    assert statement.result == "PASS"
    with RunRecord.open(statement.path) as record:
        reads = [
            [value for _, value in events] for events in record.actor_reads().values() if events
        ]
    assert [len(values) for values in reads] == [12_500] * 8
    assert all(values == sorted(values) for values in reads)


def test_an_actor_that_asks_otherwise_fails_where_it_asked(tmp_path: Path) -> None:
    # The folder differs while it is verified, and no one governs that: the thread asks otherwise.
    with recorded(
        tmp_path,
        """
        import threading, time
        from pathlib import Path

        LATER = __import__("posix").access(Path(__file__).parent / "later", 0)

        def main(run):
            def beside():
                time.time()
                time.monotonic() if LATER else time.time()

            for tick in run.ticks(3):
                thread = threading.Thread(target=beside)
                thread.start()
                thread.join()
        """,
    ) as record:
        path = record.path
    (tmp_path / "later").touch()
    statement = verify(path)

    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("effect", 0)
    assert "clock.monotonic" in statement.failure.replayed
