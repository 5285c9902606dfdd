"""The order of asyncio's tasks, varied in a simulated loop: FIFO order beside several others.

Not for: programs that no simulation can repeat. The order of a loop of the program's own is varied as other factors are.

Invariant: an order is blamed only if its run came out the same twice.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.vary.report import FactorResult
from twice.diagnosis.vary.trial_run import TrialRun
from twice.errors import TwiceError
from twice.foundation.next_step import NextStep
from twice.recorder.setup import Setup
from twice.simulation.order import Order
from twice.worker.concurrency import run_concurrently

FACTOR: Final = "task order"
_ORDERS: Final = 6
_VALUE: Final = f"{_ORDERS} orders of a simulated loop"


def try_orders(
    setup: Setup,
    record: Callable[[Setup, Path], TrialRun],
    paths: Iterator[Path],
    progress: Callable[[str], None],
) -> FactorResult | None:
    """Run a program with tasks in several orders of them.

    Args:
        setup: of the run that is not varied.
        record: records the program under a setup, and names what went wrong.
        paths: for records.
        progress: called with what is being done.

    Returns:
        None where the program runs in no simulated loop.
    """
    progress(f"varying {FACTOR}: {_VALUE}")
    orders = [Order("fifo"), *(Order("random", number) for number in range(_ORDERS))]
    setups = [replace(setup, order=order) for order in orders]
    fifo, *others = run_concurrently([partial(record, own, next(paths)) for own in setups])
    if fifo.failed:
        return None
    for own, run in zip(setups[1:], others, strict=True):
        if fifo.is_same(run):
            continue
        again = record(own, next(paths))
        if again.failed != run.failed or not (run.failed or run.is_same(again)):
            reason = "an order gave another run once and not again: something else moves it"
            return FactorResult(FACTOR, _VALUE, "could-not-tell", reason)
        return _report(setup, fifo, run, progress)
    return FactorResult(FACTOR, _VALUE, "same")


def _report(
    setup: Setup, fifo: TrialRun, run: TrialRun, progress: Callable[[str], None]
) -> FactorResult:
    progress(f"diagnosing {FACTOR}")
    words = ["twice", "explore", str(setup.program), "--seed", str(setup.seed.value)]
    step = NextStep("search for an order that fails", shlex.join(words))
    try:
        divergence = replace(
            diagnose(fifo.path, run.path, progress=progress),
            a="FIFO order",
            b="another order of tasks",
            next=[step],
        )
    except TwiceError:
        return FactorResult(FACTOR, _VALUE, "failed" if run.failed else "differs", run.failed)
    reason = run.failed or divergence.headline()
    return FactorResult(FACTOR, _VALUE, "failed" if run.failed else "differs", reason, divergence)
