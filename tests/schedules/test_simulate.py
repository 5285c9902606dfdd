"""An async function in virtual time, in this process."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import random
import secrets
import ssl
import time
import uuid
from pathlib import Path

import numpy as np
import pytest

import twice
from twice.errors import Deadlock, ScheduleRefused, SeedMissing


async def draw() -> tuple[list[tuple[int, float]], str]:
    told: list[tuple[int, float]] = []

    async def wait(name: int) -> None:
        await asyncio.sleep(random.random())
        told.append((name, time.monotonic()))

    await asyncio.gather(*(wait(n) for n in range(5)))
    return told, dt.datetime.now(tz=dt.UTC).isoformat()


def test_a_seed_has_one_value():
    first, other = twice.simulate(draw, seed=1), twice.simulate(draw, seed=2)

    assert twice.simulate(draw, seed=1) == first != other
    assert first[1].startswith("2024-01-01T00:00:00.")


async def ask_for_entropy() -> list[object]:
    return [
        os.urandom(3), os.getrandom(40), secrets.token_hex(), uuid.uuid4(), uuid.uuid1(), ssl.RAND_bytes(4),
        random.Random().random(), np.random.default_rng().random(),
    ]  # fmt: skip


def test_entropy_comes_from_the_seed():
    first = twice.simulate(ask_for_entropy, seed=1)

    assert twice.simulate(ask_for_entropy, seed=1) == first
    assert len(set(first)) == 8
    assert set(first).isdisjoint(twice.simulate(ask_for_entropy, seed=2))


def test_after_it_the_clocks_are_those_of_the_world():
    twice.simulate(draw, seed=1)

    assert dt.datetime.now(tz=dt.UTC).year > 2024
    assert type(asyncio.get_event_loop_policy()).__name__ != "Policy"
    assert asyncio.run(draw())[0] != twice.simulate(draw, seed=1)[0]


def test_within_a_run_it_is_a_part_of_the_run(tmp_path: Path):
    with twice.recording(tmp_path / "a.twice", seed=1) as run:
        told, _ = twice.simulate(draw, seed=5)
        run.compare("drawn", len(told))

    assert len(told) == 5


def test_errors_of_the_function_and_of_the_loop_are_raised():
    async def fail() -> None:
        raise ZeroDivisionError

    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(ZeroDivisionError):
        twice.simulate(fail, seed=1)
    with pytest.raises(Deadlock, match=r"wait waits at .*: nobody sets it"):
        twice.simulate(wait, seed=1)


def test_a_seed_and_a_known_strategy_are_needed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TWICE_SEED", raising=False)

    with pytest.raises(SeedMissing):
        twice.simulate(draw)
    with pytest.raises(ScheduleRefused, match="sometimes"):
        twice.simulate(draw, seed=1, strategy="sometimes")
    with pytest.raises(ScheduleRefused, match="delay-bounded is a strategy of a search"):
        twice.simulate(draw, seed=1, strategy="delay-bounded")
