"""Workers that are killed while they verify: every run is counted once, and judged as without the kills."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from programs import recorded
from twice.runs.journal import Journal
from twice.runs.places import open_executor
from twice.runs.verifications import Verifications
from twice.runs.verify_options import VerifyOptions
from twice.worker.executor import Executor, Job, LocalExecutor

pytestmark = pytest.mark.heavy
COUNT = int(os.environ.get("TWICE_KILLED_RUNS", "40"))
COUNTING = """
    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(5):
            count["n"] += 1
"""
DRIFTING = """
    import posix  # behind the back of what governs entropy
    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(4):
            count["n"] = int.from_bytes(posix.urandom(8))
"""


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Many records, every fifth of which differs."""
    made = tmp_path_factory.mktemp("records")
    sources = {"count": COUNTING, "drift": DRIFTING}
    for name, source in sources.items():
        (made / name).mkdir()
        recorded(made / name, source).close()
    copies = [made / f"{number:04}.twice" for number in range(COUNT)]
    for number, copy in enumerate(copies):
        shutil.copyfile(made / ("drift" if number % 5 == 0 else "count") / "a.twice", copy)
    return copies


class Killing(LocalExecutor):
    """Kills the process of every third job that it is given, after a time of its own."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self._random, self.given, self.kills = random.Random(7), 0, 0

    def submit(self, job: Job) -> Future[Mapping[str, Any]]:
        self.given += 1
        if self.given % 3 == 0 and self._workers:
            with suppress(ProcessLookupError):
                os.kill(
                    self._random.choice(sorted(each.pid for each in self._workers)), signal.SIGKILL
                )
                self.kills += 1
        return super().submit(job)


def judged(paths: list[Path], executor: Executor) -> tuple[list[tuple[str, str]], int]:
    """Verify them; what is said of each, without measured rates, and how many were begun again."""
    with executor, Journal(None, {}) as journal:
        made = Verifications(
            paths, VerifyOptions(), lambda _: (None, ()), writes=False, journal=journal
        )
        seen = []
        made.run(executor, lambda done, of: seen.append((done, of)))
        assert seen == [(done, len(paths)) for done in range(len(paths) + 1)]
        entries = list(made.entries())
        assert made.counts == {"FAIL": COUNT // 5, "PASS": COUNT - COUNT // 5}
        return [(each["path"], each["result"]) for each in entries], made.repeated


def test_workers_here_that_are_killed_are_replaced(paths: list[Path]) -> None:
    calm, _ = judged(paths, LocalExecutor(2))
    executor = Killing(2)
    killed, repeated = judged(paths, executor)

    assert killed == calm
    assert executor.kills >= COUNT // 4
    assert repeated > 0


def test_workers_of_a_cluster_that_are_killed_are_replaced(paths: list[Path]) -> None:
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")  # read when Ray is imported
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    try:
        chosen = random.Random(7)

        def kill_one(done: int) -> None:
            if done % 3 == 0 and (found := _find_ray_workers()):
                with suppress(ProcessLookupError):
                    os.kill(chosen.choice(found), signal.SIGKILL)

        executor = open_executor("ray", None)
        with executor, Journal(None, {}) as journal:
            made = Verifications(
                paths, VerifyOptions(), lambda _: (None, ()), writes=False, journal=journal
            )
            made.run(executor, lambda done, _: kill_one(done))
            killed = [(each["path"], each["result"]) for each in made.entries()]
        calm, _ = judged(paths, LocalExecutor(2))
        assert killed == calm
        assert made.repeated > 0
    finally:
        ray.shutdown()


def _find_ray_workers() -> list[int]:
    """Find the processes that do the tasks of Ray."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"ray::perform" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return sorted(found)
