"""A test in many orders of its tasks: the search, and the failing order once more in pytest's own process.

The test is executed in forks, after its fixtures were set up, so that each order finds them as they were. The failing
order runs again here, so that pytest reports it as it reports any failure, with the orders that it needs as a note.

Not for: what a test leaves on disk, which the next order finds; asynchronous fixtures, which have a loop of their own.

Invariant: a test that failed in some order never passes, and no other plugin executes the test as well.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from twice.errors import UsageError
from twice.foundation.printable import pluralize
from twice.recorder.execution import govern
from twice.recorder.program import Program
from twice.recorder.recorder import choose_master_seed
from twice.recorder.setup import Setup
from twice.schedules.search import Findings, Run, Trace, search
from twice.schedules.simulate import make_session
from twice.schedules.trial import Main
from twice.schedules.worker import search_program
from twice.simulation.faults import DECLARED, parse_kinds
from twice.simulation.order import Order
from twice.simulation.trace import Schedule

OPTION: Final = "--twice-order"
_FIFO: Final = "fifo"
_BEFORE: Final = " before "
_FAULT: Final = "fault "


class LeftByPytest(Exception):
    """A test ended by ``pytest.fail``, ``skip`` or ``xfail``, which are no exceptions that a program may catch."""


def run_in_orders(item: pytest.Function, given: Mapping[str, Any], order: str | None) -> None:
    """Run a marked test in many orders, or in one.

    Args:
        item: the test, set up.
        given: the keywords of its marker.
        order: the one order as ``--twice-order`` gives it; None to search.

    Raises:
        UsageError: E-USE-001, for keywords that the marker does not have. SeedMissing: E-SEED-001. ScheduleRefused:
            E-SCHEDULE-004. What the test raises in the failing order.
    """
    __tracebackhide__ = True
    test, arguments = item.obj, {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
    schedules, strategy, seed, kinds = _read_marker(**given)
    is_async = iscoroutinefunction(test)
    setup = Setup(
        Program("inline", item.nodeid),
        choose_master_seed(seed),
        order=Order.from_json(Order(strategy).to_json()),
    )

    def run() -> object:
        __tracebackhide__ = True
        return asyncio.run(test(**arguments)) if is_async else test(**arguments)

    if order is None:
        # Without fixtures and an instance there is nothing that one order could leave to the next one.
        is_alone = is_async and not item.fixturenames and item.cls is None
        found = _search(setup, schedules, kinds, _catch_outcomes(test) if is_alone else None, run)
        for name in found["unreached"]:
            tried = pluralize(found["schedules"], "order")
            item.warn(pytest.PytestWarning(f"sometimes {name!r} never held in {tried}"))
        if not found["found"]:
            if found["unshrunk"]:
                _fail_unsteady(found["unshrunk"][0])
            return
        failure = found["found"][0]
        followed = Order.from_json(failure["order"])
    else:
        failure, followed = None, _parse_order(order)
    try:
        schedule = _run_order(replace(setup, order=followed), run)
    except BaseException as error:
        if failure is not None:
            error.add_note(_describe(item, failure, followed))
        raise
    if failure is not None:
        _fail_unsteady(failure["error"])
    for each in schedule.list_unmet():
        item.warn(pytest.PytestWarning(f"this order of {OPTION} never came about: {each}"))


def _run_order(setup: Setup, run: Callable[[], object]) -> Schedule:
    """Run a test in one order; raise its error, also one that nobody waited for."""
    __tracebackhide__ = True
    session = make_session(setup)
    schedule = session.schedule
    assert schedule is not None, "the setup has an order"
    with govern(session):
        run()
        gc.collect()  # tasks that failed unheard say so when they are collected
    if schedule.unheard:
        raise schedule.unheard[0]
    return schedule


def refuse_async_fixtures(item: pytest.Function) -> None:
    """Refuse a test with asynchronous fixtures: other plugins run those in a loop that is not simulated.

    Raises:
        UsageError: E-USE-001.
    """
    for name in item.fixturenames:
        for fixture in item._fixtureinfo.name2fixturedefs.get(name, ())[-1:]:
            if iscoroutinefunction(fixture.func) or isasyncgenfunction(fixture.func):
                raise UsageError(
                    f"The fixture {name!r} of {item.nodeid} is asynchronous.",
                    "Expected fixtures that need no loop: each order of the test has a simulated one of its own.",
                    "Make it within the test, for example by an asynchronous context manager.",
                    fixture=name,
                )


def _read_marker(
    n: int = 200,
    strategy: str = "portfolio",
    seed: int | None = None,
    faults: str = ",".join(DECLARED),
    **others: object,
) -> tuple[int, str, int | None, tuple[str, ...]]:
    if others or n < 1:
        wrong = ", ".join(sorted(others)) or f"n={n!r}"
        raise UsageError(
            f"The marker twice_schedules was given {wrong}.",
            "Expected n (how many orders, from 1), strategy, seed and faults.",
            "For example: @pytest.mark.twice_schedules(n=200, seed=1)",
        )
    return n, strategy, seed, parse_kinds(faults)


def _search(
    setup: Setup,
    schedules: int,
    kinds: Collection[str],
    main: Main | None,
    run: Callable[[], object],
) -> Mapping[str, Any]:
    def look(execute: Run, trace: Trace) -> Findings:
        assert setup.order is not None, "it has the strategy"
        return search(execute, trace, setup.order, setup.seed, schedules, kinds=kinds)

    def load_main() -> Main | None:
        _silence()
        return main

    def call(_session: object, _run: object) -> object:
        _silence()
        with _outcomes_as_errors():
            return run()

    with warnings.catch_warnings():  # of a fork beside the threads of xdist
        warnings.simplefilter("ignore", DeprecationWarning)
        return search_program(setup, look, load_main, call)


def _silence() -> None:
    """Print nothing more in this fork: pytest keeps the output of its own run of the failing order."""
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for descriptor in (1, 2):
        os.dup2(sys.stdout.fileno(), descriptor)


def _catch_outcomes(test: Main) -> Main:
    @wraps(test)  # the keys of its steps begin with its name
    async def main() -> object:
        with _outcomes_as_errors():
            return await test()

    return main


@contextmanager
def _outcomes_as_errors() -> Iterator[None]:
    try:
        yield
    except (pytest.fail.Exception, pytest.skip.Exception) as left:
        raise LeftByPytest(str(left)).with_traceback(left.__traceback__) from None


def _describe(item: pytest.Function, failure: Mapping[str, Any], order: Order) -> str:
    words = [f"{earlier}{_BEFORE}{later}" for later, earlier in order.after.items()]
    words += [f"{_FAULT}{key}" for key in order.faults]
    lines = [f"twice: in schedule {failure['schedule']}"]
    lines += [f"  {each}" for each in failure["sentences"]]
    if not order.after:
        lines.append("  it fails in FIFO order too: no other order is needed")
    replay = ["pytest", item.nodeid, OPTION, ", ".join(words) or _FIFO]
    return "\n".join([*lines, f"replay: {shlex.join(replay)}"])


def _parse_order(text: str) -> Order:
    words = [] if text == _FIFO else text.split(", ")
    faults = [each.removeprefix(_FAULT) for each in words if each.startswith(_FAULT)]
    pairs = [each.split(_BEFORE) for each in words if not each.startswith(_FAULT)]
    if any(len(pair) != 2 for pair in pairs):
        raise UsageError(
            f"{OPTION} {text!r} is no order.",
            f"Expected {_FIFO}, or pairs of steps and faults: A{_BEFORE}B, {_FAULT}C.",
            "Copy it from the report of a test that failed.",
        )
    after = {later: earlier for earlier, later in pairs}
    return Order(_FIFO, after=after, faults=tuple(faults))


def _fail_unsteady(error: Mapping[str, Any]) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(
        f"twice: {error['type']}: {error['message']}\nIt did not fail again under the same order: the test reads "
        "something that changes.",
        pytrace=False,
    )
