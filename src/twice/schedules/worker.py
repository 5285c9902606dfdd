"""The process that searches: it executes a program under one schedule after the other.

An async function without arguments is loaded once. It is executed again and again if a second execution in FIFO order
does as the first did, else in a fork for each schedule. Any other program is executed in such a fork from its beginning.

Invariant: how a program is executed changes nothing in what it does under a schedule.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from twice.errors import ProgramFailed
from twice.recorder.execution import call_program, govern
from twice.recorder.foreign_loops import simulate_all_loops
from twice.recorder.program import load, takes_run
from twice.recorder.run import Run
from twice.recorder.session import Session
from twice.recorder.setup import Setup
from twice.schedules.search import Findings, Trace, search
from twice.schedules.search import Run as Execute
from twice.schedules.simulate import make_session
from twice.schedules.trial import (
    WAYS_TO_FAIL,
    Main,
    ScheduleTrial,
    TrialFailure,
    describe_outcome,
    find_failure,
    limiting_steps,
    running_trials,
)
from twice.simulation.faults import StruckFault
from twice.simulation.loop import SimulatedLoop
from twice.simulation.strategies import Fifo
from twice.simulation.trace import Schedule, TracedStep, TracingLoop
from twice.simulation.waits import SourceLine
from twice.worker.channel import Channel
from twice.worker.fork_server import call_in_fork

Look = Callable[[Execute, Trace], Findings]
Call = Callable[[Session, Run], object]
_REPORT_EVERY = 100
_FORK_LIMIT_S = 60
"""Wall time of one execution in a fork, for calls outside of the loop, or below Python, that never return."""


def explore_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Search for failing schedules of a job's program, and send the findings."""
    setup = Setup.from_json(job["setup"])

    def report(done: int) -> None:
        if done % _REPORT_EVERY == 0:
            channel.send({"kind": "searching", "done": done})

    def look(run: Execute, trace: Trace) -> Findings:
        assert setup.order is not None, "the parent gives the strategy"
        return search(
            run, trace, setup.order, setup.seed, job["schedules"],
            kinds=job["kinds"], goes_on=job["goes_on"], progress=report,
        )  # fmt: skip

    def load_main() -> Main | None:
        main: Any = None if setup.program.whole else load(setup.program, is_async=True)
        return main if iscoroutinefunction(main) and not takes_run(main) else None

    found = search_program(setup, look, load_main, call_program)
    channel.send({"kind": "searched", **found})


def search_program(
    setup: Setup, look: Look, load_main: Callable[[], Main | None], call: Call
) -> Mapping[str, Any]:
    """Search among the orders of a program, and leave nothing of it in this process.

    Args:
        setup: with the strategy and the seed.
        look: searches, given two ways to execute the program; called in a fork or here.
        load_main: loads the async function that the program is; None if it is something else.
        call: executes the program whole, from its beginning.

    Returns:
        The findings as plain values.

    Raises:
        ProgramFailed: E-PROGRAM-003, when the process that searched died.
    """
    found: Any = call_in_fork(lambda: _search_loaded(setup, look, load_main))
    if found is None:
        found = call_in_fork(lambda: _search_whole(setup, look, call))
    if found is None:
        raise ProgramFailed(
            "The process that searched died.",
            "Expected it to say what it found.",
            "Run the program by itself, without twice, to see what ends it.",
        )
    return found  # type: ignore[no-any-return]


def _search_loaded(setup: Setup, look: Look, load_main: Callable[[], Main | None]) -> object:
    """Load the program and search with it; None if it is not an async function without arguments."""
    session = make_session(setup)
    with govern(session):
        main = load_main()
        if main is None:
            return None
        begin, entropy = session.wiring.streams.snapshot(), session.wiring.layer.entropy
        assert entropy is not None, "a simulated run has its own"
        read = dict(entropy.position)
        with running_trials() as trials:

            def run(make_loop: Callable[[], SimulatedLoop]) -> ScheduleTrial:
                session.wiring.streams.restore(begin)
                entropy.position = dict(read)
                return trials.run(main, make_loop)

            def trace(schedule: Schedule) -> ScheduleTrial:
                return run(lambda: TracingLoop(schedule))

            def is_alike() -> bool:
                first, second = Schedule(Fifo()), Schedule(Fifo())
                with limiting_steps():  # a fork inherits no timer
                    is_one = trace(first) == trace(second)
                return is_one and first.digest() == second.digest()

            if call_in_fork(is_alike):
                return look(
                    lambda strategy, faults: run(lambda: SimulatedLoop(strategy, faults)), trace
                ).to_json()
            return _search_in_forks(trace, look)


def _search_whole(setup: Setup, look: Look, call: Call) -> object:
    """Search with a program that is executed from its beginning each time."""
    session = make_session(setup)
    gc.freeze()  # each fork collects its own garbage alone
    with govern(session) as run:
        return _search_in_forks(
            lambda schedule: _execute(session, schedule, lambda: call(session, run)), look
        )


def _search_in_forks(execute: Trace, look: Look) -> object:
    """Search with one fork of this process for each execution."""

    def trace(schedule: Schedule) -> ScheduleTrial:
        return _run_fork(execute, schedule)

    return look(lambda strategy, faults: trace(Schedule(strategy, faults=faults)), trace).to_json()


def _run_fork(execute: Trace, schedule: Schedule) -> ScheduleTrial:
    """Execute the program once in a fork; the schedule's steps are those made there."""

    def tell() -> object:
        with limiting_steps():  # a fork inherits no timer
            trial = execute(schedule)
        steps = [(*step[:-1], step.place and tuple(step.place)) for step in schedule.steps]
        struck = [each.pack() for each in schedule.struck]
        failure = trial.failure
        told = failure and (
            failure.type,
            failure.message,
            failure.place and tuple(failure.place),
            failure.waits,
            failure.ends,
        )
        return told, trial.outcome, trial.steps, dict(trial.reached), steps, struck

    answer: Any = call_in_fork(tell, _FORK_LIMIT_S)
    if answer is None:
        error = f"the execution did not end within {_FORK_LIMIT_S} s, or its process died"
        return ScheduleTrial(TrialFailure("died", error, None), "died", 0, {})
    told, outcome, count, reached, steps, struck = answer
    schedule.struck = [*map(StruckFault.unpack, struck)]
    schedule.steps = [
        TracedStep(key, place_key, at, ns, place and SourceLine(*place))
        for key, place_key, at, ns, place in steps
    ]
    failure = None
    if told is not None:
        kind, message, place, waits, ends = told
        failure = TrialFailure(kind, message, place and SourceLine(*place), tuple(waits), ends)
    return ScheduleTrial(failure, outcome, count, reached)


def _execute(session: Session, schedule: Schedule, call: Callable[[], object]) -> ScheduleTrial:
    """Execute the program once in this process, which is a fork of the session's."""
    failure, value = None, None
    session.follow(schedule)
    with simulate_all_loops(schedule):
        try:
            value = call()
        except WAYS_TO_FAIL as error:
            failure = find_failure(error)
        gc.collect()  # tasks that failed unheard say so when they are collected
    if failure is None and schedule.unheard:
        failure = TrialFailure.from_error(schedule.unheard[0], is_heard=False)
    return ScheduleTrial(
        failure, describe_outcome(failure, value), schedule.count, schedule.reached
    )
