"""One execution: what it leaves behind, and steps that do not end."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from explored_programs import one_trial

from programs import write
from twice.foundation.seeds import Seed
from twice.recorder.execution import call_program
from twice.recorder.recorder import to_program
from twice.recorder.setup import Setup
from twice.schedules import trial as trial_module
from twice.schedules.search import Run, Trace
from twice.schedules.worker import search_program
from twice.simulation.order import Order
from twice.simulation.trace import Schedule


def test_a_trial_leaves_nothing_behind():
    held = asyncio.Event

    async def main() -> None:
        asyncio.create_task(held().wait())  # noqa: RUF006
        await asyncio.sleep(0)

    before = (
        gc.isenabled(),
        logging.getLogger("asyncio").level,
        signal.getsignal(signal.SIGVTALRM),
    )
    with one_trial(main) as trial:
        assert trial.failure is None
        assert not gc.isenabled()

    assert (
        gc.isenabled(),
        logging.getLogger("asyncio").level,
        signal.getsignal(signal.SIGVTALRM),
    ) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_a_step_that_does_not_end_is_left_by_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial_module, "_STEP_LIMIT_S", 0.05)

    async def main() -> None:
        await asyncio.sleep(0)
        while True:
            pass

    with one_trial(main) as trial:
        pass

    assert trial.failure is not None
    assert trial.failure.type == "twice.errors.Livelock"
    assert "has not ended" in trial.failure.message
    assert trial.failure.place is not None
    assert trial.failure.place.function == "main"


def test_many_short_steps_are_no_long_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial_module, "_STEP_LIMIT_S", 0.05)

    async def main() -> int:
        for n in range(20_000):
            await asyncio.sleep(0)
        return n

    with one_trial(main) as trial:
        pass

    assert (trial.failure, trial.outcome) == (None, "19999")


def test_a_step_that_does_not_end_is_left_in_a_fork_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(trial_module, "_STEP_LIMIT_S", 0.05)
    source = (
        "import asyncio\nasync def main():\n    while True:\n        pass\nasyncio.run(main())\n"
    )
    program = to_program(write(tmp_path, source).partition(":")[0])

    def look(_run: Run, trace: Trace) -> Any:
        failure = trace(Schedule()).failure
        return SimpleNamespace(to_json=lambda: failure and failure.to_json())

    setup = Setup(program, Seed(1), order=Order("fifo"))
    found = search_program(setup, look, lambda: None, call_program)

    assert found["type"] == "twice.errors.Livelock"
    assert found["line"] in {3, 4}
