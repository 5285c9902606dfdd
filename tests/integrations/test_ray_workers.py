"""Ray programs by rank: two runs of one are the same, and a planted difference is named.

A real cluster of Ray on this machine: processes and their messages are what is tested.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from twice.errors import OutputExists, UsageError
from twice.recorder.runrecord import RunRecord
from twice.runs.ranks import compare_ranks

ray = pytest.importorskip("ray")
programs = pytest.importorskip("ray_programs")
pytestmark = pytest.mark.heavy

from twice.integrations.ray import current_run, record_ranks, remote  # noqa: E402  (needs Ray)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("RAY_AUTH_MODE", "disabled")
        environ.setenv("RAY_USAGE_STATS_ENABLED", "0")
        for module in (programs, __import__(__name__)):
            ray.cloudpickle.register_pickle_by_value(module)
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        yield
        ray.shutdown()


def record_twice(folder: Path, program: Callable[[int], None]) -> tuple[Path, Path]:
    for variant in (0, 1):
        with record_ranks(folder / str(variant), seed=7):
            program(variant)
    return folder / "0", folder / "1"


def test_two_runs_of_one_program_are_the_same(tmp_path: Path) -> None:
    found = compare_ranks(*record_twice(tmp_path, programs.nothing_planted))

    assert (found.result, found.ranks, found.reasons) == ("same", 13, [])


@pytest.mark.parametrize("program", programs.LABELS, ids=lambda each: each.__name__)
def test_a_planted_difference_is_named_by_rank_and_tick(
    tmp_path: Path, program: Callable[[int], None]
) -> None:
    found = compare_ranks(*record_twice(tmp_path, program))

    assert [(each.rank, each.tick, each.what) for each in found.origins] == [
        programs.LABELS[program]
    ]


class Dice:
    def throw(self) -> list[float]:
        import random

        return [random.random(), float(current_run().rng(f"dice/{os.urandom(4).hex()}").random())]


def test_each_rank_has_generators_of_its_own_seed(tmp_path: Path) -> None:
    thrown = []
    for at in range(2):
        with record_ranks(tmp_path / str(at), seed=7):
            dice = [remote(Dice).remote() for _ in range(2)]
            thrown.append(ray.get([each.throw.remote() for each in dice]))

    (one, two), again = thrown
    assert one[0] != two[0]
    assert [each[0] for each in again] == [one[0], two[0]]


def test_a_killed_actor_leaves_a_readable_record_and_no_wrong_origin(tmp_path: Path) -> None:
    def collect(variant: int) -> None:
        collector = remote(programs.Collector).remote()
        ray.get([collector.add.remote(at) for at in range(3)])
        if variant:
            ray.kill(collector.ray_handle)
        try:
            ray.get(collector.add.remote(3))
        except ray.exceptions.RayActorError:
            ray.get(remote(programs.square).remote(0.0))

    found = compare_ranks(*record_twice(tmp_path, collect))

    with RunRecord.open(tmp_path / "1" / "driver.Collector-0.twice") as record:
        assert (record.complete, record.ticks) == (False, 4)
    assert (found.result, found.origins) == ("unknown", [])
    assert "driver.Collector-0.twice: torn" in " ".join(found.reasons)


def test_outside_of_a_block_nothing_is_recorded(tmp_path: Path) -> None:
    assert ray.get(remote(programs.square).remote(3.0)) == 9.0
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError, match="No rank is recorded"):
        current_run()


def test_what_cannot_be_recorded_is_refused(tmp_path: Path) -> None:
    async def wait() -> None: ...

    with pytest.raises(UsageError, match="cannot be recorded"):
        remote(wait)
    with pytest.raises(UsageError, match="max_concurrency"):
        remote(Dice, max_concurrency=2)
    (tmp_path / "there").touch()
    with pytest.raises(OutputExists), record_ranks(tmp_path, seed=1):
        time.sleep(0)
