"""Entropy of a simulated run follows from its seed, so that a failure that needs it is found, kept and replayed."""

from __future__ import annotations

import os
import random
import secrets
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twice
from programs import write
from twice.schedules.explore import explore

SOURCES: dict[str, Callable[[], Any]] = {
    "urandom": lambda: os.urandom(8),
    "getrandom": lambda: os.getrandom(8),
    "secrets": lambda: secrets.token_hex(8),
    "uuid4": uuid.uuid4,
    "uuid1": lambda: uuid.uuid1(),
    "Random": lambda: random.Random().random(),
    "SystemRandom": lambda: random.SystemRandom().random(),
    "numpy": lambda: np.random.default_rng().random(),
    "legacy numpy": lambda: np.random.RandomState().rand(),
}
NEEDS_ENTROPY = """
import asyncio, secrets, uuid

async def main():
    drawn = []

    async def draw():
        await asyncio.sleep(1)
        drawn.append(secrets.randbelow(4))

    async def check():
        await asyncio.sleep(1)
        assert not drawn or drawn[0] != 3, uuid.uuid4()

    await asyncio.gather({tasks})

{ends}
"""


@pytest.mark.parametrize("name", SOURCES)
def test_a_draw_follows_from_the_seed(name: str):
    draw = SOURCES[name]

    async def main() -> list[Any]:
        return [draw(), draw()]

    first, other = twice.simulate(main, seed=1), twice.simulate(main, seed=2)

    assert twice.simulate(main, seed=1) == first != other
    assert first[0] != first[1]
    assert draw() not in first


def test_the_number_of_the_schedule_changes_no_draw():
    async def main() -> bytes:
        return os.urandom(8)

    drawn = {twice.simulate(main, seed=1, strategy=name) for name in ("fifo", "random", "pct")}

    assert len(drawn) == 1


def test_a_uuid_of_the_clock_has_the_virtual_time():
    async def main() -> uuid.UUID:
        return uuid.uuid1()

    made = twice.simulate(main, seed=1)

    assert made.version == 1
    assert (made.time - 0x01B21DD213814000) // 10**7 == 1_704_067_200
    assert made.node >> 40 & 1


@pytest.mark.integration
@pytest.mark.parametrize("whole", [False, True])
def test_a_failure_that_needs_entropy_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
):
    monkeypatch.chdir(tmp_path)
    found = None
    for seed in range(1, 12):
        ends = "import asyncio\nasyncio.run(main())" if whole else ""
        program = write(tmp_path, NEEDS_ENTROPY.format(tasks="check(), draw()", ends=ends))
        name = program.partition(":")[0] if whole else program
        found = explore(name, seed=seed, schedules=20, out=tmp_path / f"found-{seed}")
        assert not found.unshrunk
        if found.failures:
            break

    assert found is not None
    (failure,) = found.failures
    assert failure.record is not None
    assert len(failure.constraints) == 1
    assert [twice.verify(failure.record).result for _ in range(2)] == ["PASS", "PASS"]
    with twice.rerun(failure.record, out=tmp_path / "again.twice") as again:
        assert again.ending is not None
        assert again.ending["exception"]["message"] == failure.error["message"]
