"""One execution of a program under one schedule, and how it failed.

Invariant: a trial leaves no task, no loop and no setting of ``asyncio`` behind.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import traceback
import weakref
from asyncio import events
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from twice.errors import Deadlock, Livelock
from twice.foundation.source_files import is_user_file
from twice.recorder.execution import name_type
from twice.simulation.hosts import count_gone
from twice.simulation.identity import stable_orders
from twice.simulation.loop import SimulatedLoop
from twice.simulation.waits import SourceLine

Main = Callable[[], Coroutine[Any, Any, Any]]
MakeLoop = Callable[[], SimulatedLoop]
WAYS_TO_FAIL = (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError)
UNHEARD = "unheard"
_OUTCOME_CHARACTERS_MAX = 200
ENDLESS_STEP = "A step has taken"
_STEP_LIMIT_S = 10
"""CPU time of one step, after which it counts as one that never ends."""


@dataclass(frozen=True, slots=True)
class TrialFailure:
    """Why an execution failed.

    Attributes:
        type: the full name of the exception's class.
        message: its text.
        place: the innermost line of the program that raised it; None for none.
        waits: of a deadlock, where the tasks wait.
        ends: the full name of the class with which the program ends, which may be a group's; ``unheard`` if the
            program goes on.
    """

    type: str
    message: str
    place: SourceLine | None
    waits: tuple[str, ...] = ()
    ends: str = ""

    def is_like(self, other: TrialFailure | None) -> bool:
        """Return whether another execution failed in the same way: of one type, at one place."""
        return other is not None and (self.type, self.place, self.waits) == (
            other.type, other.place, other.waits,
        )  # fmt: skip

    def to_json(self) -> dict[str, object]:
        """Return it as a report shows it."""
        place = self.place
        return {
            "type": self.type,
            "message": self.message,
            "file": None if place is None else place.file,
            "line": None if place is None else place.line,
        }

    @classmethod
    def from_error(cls, error: BaseException, *, is_heard: bool = True) -> TrialFailure:
        """Describe an exception; of a group, the first within it."""
        ends = name_type(error) if is_heard else UNHEARD
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if is_user_file(frame.filename)
        ]
        place = (
            SourceLine(frames[-1].filename, frames[-1].lineno or 0, frames[-1].name)
            if frames
            else None
        )
        waits: Any = error.fields["waits"] if isinstance(error, Deadlock) else ()
        places = tuple(str(wait["place"]) for wait in waits)
        return cls(name_type(error), str(error), place, places, ends)


class _SignalInterrupt(KeyboardInterrupt):
    """An interrupt from outside, which ends the search and is no failure of the program."""


def find_failure(error: BaseException) -> TrialFailure | None:
    """Describe what a program raised; None if it left by ``sys.exit(0)``. An interrupt from outside is raised on."""
    if isinstance(error, _SignalInterrupt):
        raise error
    if isinstance(error, SystemExit) and error.code in {0, None}:
        return None
    return TrialFailure.from_error(error)


@dataclass(frozen=True, slots=True)
class ScheduleTrial:
    """What one execution gave.

    Attributes:
        failure: why it failed; None if it did not.
        outcome: its value in short, or the type of its failure.
        steps: how many steps it made.
        reached: of each name that ``sometimes`` was called with, whether it held.
    """

    failure: TrialFailure | None
    outcome: str
    steps: int
    reached: Mapping[str, bool]


def describe_outcome(failure: TrialFailure | None, value: object) -> str:
    """Return what an execution gave, in short."""
    return repr(value)[:_OUTCOME_CHARACTERS_MAX] if failure is None else failure.type


class TrialRunner:
    """Executes a program again and again, in a block of ``running_trials``."""

    def __init__(self) -> None:
        self._gone = count_gone()

    def run(self, main: Main, make_loop: MakeLoop) -> ScheduleTrial:
        """Execute a program once; its exceptions are failures, and so are those that nobody waits for."""
        unhandled: list[Exception] = []
        loop = make_loop()
        loop.set_exception_handler(partial(_note_unhandled, unhandled))
        failure, value = None, None
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                value = runner.run(main())
        except WAYS_TO_FAIL as error:
            failure = find_failure(error)
        gc.collect()  # tasks that failed unheard say so when they are collected
        if (gone := count_gone()) != self._gone:
            self._gone = gone
            gc.freeze()  # they are kept for good, and every later collection would walk them
        if failure is None and unhandled:
            failure = TrialFailure.from_error(unhandled[0], is_heard=False)
        return ScheduleTrial(failure, describe_outcome(failure, value), loop.steps, loop.reached)


def _note_unhandled(unhandled: list[Exception], _loop: object, context: Mapping[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, Exception):
        unhandled.append(error)


def _interrupt(_number: int, _frame: object) -> None:
    raise _SignalInterrupt


@contextmanager
def limiting_steps() -> Iterator[None]:
    """Leave a step of a simulated loop that takes too long by an error.

    It is measured in CPU time, so that a busy machine changes nothing.
    """
    seen: tuple[weakref.ref[SimulatedLoop] | None, int] = (None, 0)

    def look(_number: int, _frame: object) -> None:
        nonlocal seen
        loop = events._get_running_loop()
        if not isinstance(loop, SimulatedLoop):
            seen = (None, 0)
            return
        if seen[0] is not None and seen[0]() is loop and seen[1] == loop.steps:
            raise Livelock(
                f"{ENDLESS_STEP} {_STEP_LIMIT_S} s of CPU time and has not ended.",
                "Expected each task to wait now and then, so that the others go on.",
                "Look at the line that the error came from: a loop there does not end, or work belongs in a job.",
            )
        seen = (weakref.ref(loop), loop.steps)

    handler = signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, _STEP_LIMIT_S, _STEP_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)


@contextmanager
def running_trials() -> Iterator[TrialRunner]:
    """Prepare this process for trials.

    Garbage is collected only between them: where finalisers run must not follow from how much was allocated before. A
    step that takes too long is left by an error.
    """
    logger = logging.getLogger("asyncio")
    was_enabled, level = gc.isenabled(), logger.level
    interrupt = signal.getsignal(signal.SIGINT)
    if interrupt is signal.default_int_handler:
        # With Python's own handler, each asyncio.Runner sets one and puts it back, a third of a short trial.
        signal.signal(signal.SIGINT, _interrupt)
    gc.collect()
    gc.freeze()
    gc.disable()
    logger.setLevel(logging.CRITICAL)
    try:
        with stable_orders(), limiting_steps():
            yield TrialRunner()
    finally:
        signal.signal(signal.SIGINT, interrupt)
        logger.setLevel(level)
        gc.unfreeze()
        if was_enabled:
            gc.enable()
