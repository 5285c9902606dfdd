"""The process that searches: it executes a program under one schedule after the other.

An async function without arguments is loaded once and executed again and again, if a second execution in FIFO order
does as the first did. Any other program is executed in a fork for each schedule, from before it was loaded.

Invariant: how a program is executed changes nothing in what it does under a schedule.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from twice.recorder.execution import call_program, govern
from twice.recorder.program import load, takes_run
from twice.recorder.session import Session
from twice.recorder.setup import Setup
from twice.schedules.search import Findings, Run, Trace, search
from twice.schedules.simulate import make_session
from twice.schedules.trial import (
    WAYS_TO_FAIL,
    ScheduleTrial,
    TrialFailure,
    describe_outcome,
    find_failure,
    running_trials,
)
from twice.simulation.loop import SimulatedLoop
from twice.simulation.strategies import Fifo
from twice.simulation.trace import Schedule, TracedStep, TracingLoop
from twice.simulation.waits import SourceLine
from twice.worker.channel import Channel
from twice.worker.fork_server import call_in_fork

_REPORT_EVERY = 100
_FORK_LIMIT_S = 60
"""Wall time of one execution in a fork: a step there cannot be told from the next."""


def explore_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Search for failing schedules of a job's program, and send the findings."""
    setup = Setup.from_json(job["setup"])

    def report(done: int) -> None:
        if done % _REPORT_EVERY == 0:
            channel.send({"kind": "searching", "done": done})

    def look(run: Run, trace: Trace) -> Findings:
        assert setup.order is not None, "the parent gives the strategy"
        return search(
            run, trace, setup.order, setup.seed, job["schedules"],
            goes_on=job["goes_on"], progress=report,
        )  # fmt: skip

    found: Any = None
    if not setup.program.whole:
        found = call_in_fork(lambda: _search_loaded(setup, look))
    if found is None:
        found = look(
            lambda strategy: _run_fork(setup, Schedule(strategy)),
            lambda schedule: _run_fork(setup, schedule),
        ).to_json()
    channel.send({"kind": "searched", **found})


def _search_loaded(setup: Setup, look: Callable[[Run, Trace], Findings]) -> object:
    """Load the program and search in this process; None if its executions would not be alike here."""
    session = make_session(setup)
    with govern(session):
        main: Any = load(setup.program, is_async=True)
        if not iscoroutinefunction(main) or takes_run(main):
            return None
        begin, entropy = session.wiring.streams.snapshot(), session.wiring.layer.entropy
        assert entropy is not None, "a simulated run has its own"
        read = dict(entropy.position)
        with running_trials() as trials:

            def run(make_loop: Callable[[], SimulatedLoop]) -> ScheduleTrial:
                session.wiring.streams.restore(begin)
                entropy.position = dict(read)
                return trials.run(main, make_loop)

            first, second = Schedule(Fifo()), Schedule(Fifo())
            one, other = run(lambda: TracingLoop(first)), run(lambda: TracingLoop(second))
            if one != other or first.digest() != second.digest():
                return None
            return look(
                lambda strategy: run(lambda: SimulatedLoop(strategy)),
                lambda schedule: run(lambda: TracingLoop(schedule)),
            ).to_json()


def _run_fork(setup: Setup, schedule: Schedule) -> ScheduleTrial:
    """Execute the program once in a fork; the schedule's steps are those made there."""

    def execute() -> object:
        trial = _execute(make_session(setup, schedule), schedule)
        steps = [(*step[:-1], step.place and tuple(step.place)) for step in schedule.steps]
        failure = trial.failure
        told = failure and (
            failure.type,
            failure.message,
            failure.place and tuple(failure.place),
            failure.waits,
            failure.ends,
        )
        return told, trial.outcome, trial.steps, dict(trial.reached), steps

    answer: Any = call_in_fork(execute, _FORK_LIMIT_S)
    if answer is None:
        error = f"the execution did not end within {_FORK_LIMIT_S} s, or its process died"
        return ScheduleTrial(TrialFailure("died", error, None), "died", 0, {})
    told, outcome, count, reached, steps = answer
    schedule.steps = [
        TracedStep(key, at, ns, place and SourceLine(*place)) for key, at, ns, place in steps
    ]
    failure = None
    if told is not None:
        kind, message, place, waits, ends = told
        failure = TrialFailure(kind, message, place and SourceLine(*place), tuple(waits), ends)
    return ScheduleTrial(failure, outcome, count, reached)


def _execute(session: Session, schedule: Schedule) -> ScheduleTrial:
    failure, value = None, None
    with govern(session) as run:
        try:
            value = call_program(session, run)
        except WAYS_TO_FAIL as error:
            failure = find_failure(error)
        gc.collect()  # tasks that failed unheard say so when they are collected
    if failure is None and schedule.unheard:
        failure = TrialFailure.from_error(schedule.unheard[0], is_heard=False)
    return ScheduleTrial(
        failure, describe_outcome(failure, value), schedule.count, schedule.reached
    )
