"""What is patched while a session runs is, afterwards, the very object it was."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

import twice
from twice.recording.effects.layer import EffectLayer
from twice.recording.effects.sources import LiveSource
from twice.recording.interception import Interception


def patched() -> list[object]:
    clocks = [getattr(time, name) for name in CLOCKS]
    return [*clocks, os.urandom, random._urandom, random.Random.seed, random.seed]  # type: ignore[attr-defined]


CLOCKS = [
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
    "process_time", "process_time_ns", "sleep",
]  # fmt: skip


def test_every_target_is_replaced_and_put_back() -> None:
    before = patched()
    with Interception(EffectLayer(LiveSource(), None), None, lambda: 0):
        assert all(now is not was for now, was in zip(patched(), before, strict=True))
    assert all(now is was for now, was in zip(patched(), before, strict=True))


def test_an_inline_run_leaves_the_process_as_it_found_it(tmp_path: Path) -> None:
    before, state = patched(), random.getstate()
    with pytest.raises(LookupError), twice.recording(tmp_path / "a.twice", seed=1):
        raise LookupError
    assert all(now is was for now, was in zip(patched(), before, strict=True))
    assert random.getstate() == state


def test_a_recorded_value_is_what_the_real_source_gave(tmp_path: Path) -> None:
    early = time.time()
    with twice.recording(tmp_path / "a.twice", seed=1):
        inside = time.time()
        drawn = os.urandom(8)
    assert early <= inside <= time.time()
    with twice.open(tmp_path / "a.twice") as record:
        values = [value for _, value in record.strict_reads()]
        assert values == [inside, (8, drawn)]
