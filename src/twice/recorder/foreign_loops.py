"""The loops of other libraries, which a simulated or recorded loop refuses by their names: trio's and uvloop's.

Neither is built on the loop of ``asyncio``, so they would run beside it, in real time and in no recorded order.

Invariant: nothing is imported here, and after the block both libraries are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from sys import _getframe
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from twice.errors import SimulationRefused
from twice.recorder.imports import ImportWatch
from twice.simulation.boundary import make_refusal
from twice.simulation.installation import simulate_loops
from twice.simulation.trace import Schedule

if TYPE_CHECKING:
    from twice.recorder.session import Session

_QUESTIONS = {"in_trio_run", "in_trio_task"}
"""Functions of trio by which libraries for both ask whose task they are in."""


@contextmanager
def simulate_all_loops(schedule: Schedule) -> Iterator[None]:
    """Give each new event loop of this process the schedule; refuse (E-SCHEDULE-001) every other one."""
    with simulate_loops(schedule), _refusing(_refuse_trio, _refuse_uvloop):
        yield


def govern_all_loops(session: Session) -> AbstractContextManager[None]:
    """Record the loops of a session, or give them its schedule."""
    if session.schedule is not None:
        return simulate_all_loops(session.schedule)
    return _record_all_loops(session)


@contextmanager
def _record_all_loops(session: Session) -> Iterator[None]:
    """Record each event loop of this process; refuse (E-SCHEDULE-001) every other kind."""
    # Loaded by now, where real functions were there to be bound; a simulated run does not load it.
    from twice.recorder.effects.loops.recorded_loops import RecordedLoops, record_loops

    layer = session.wiring.layer
    loops = RecordedLoops(layer, session.clock, lambda: session.tick)
    layer.find_tape, layer.flush_loops = loops.find_tape, loops.flush
    layer.loops_listen_at = loops.listen_at
    refusals = (_refuse_by_name("trio"), _refuse_by_name("uvloop"))
    with record_loops(loops), _refusing(*refusals):
        yield


@contextmanager
def _refusing(
    refuse_trio: Callable[..., NoReturn], refuse_uvloop: Callable[..., NoReturn]
) -> Iterator[None]:
    with ExitStack() as undo:

        def replace(owner: type | ModuleType, name: str, value: object) -> None:
            # Of its own alone: what a class inherits comes back when the new one goes.
            if name in vars(owner):
                undo.callback(setattr, owner, name, vars(owner)[name])
            else:
                undo.callback(delattr, owner, name)
            setattr(owner, name, value)

        def begin_trio(module: ModuleType) -> None:
            for name in ("runner", "task"):
                context = type(module.GLOBAL_RUN_CONTEXT)
                replace(context, name, property(refuse_trio, refuse_trio))

        watch = ImportWatch(
            {
                "trio._core._run": begin_trio,
                "trio._core._traps": lambda traps: replace(traps, "_async_yield", refuse_trio),
                "uvloop": lambda uvloop: replace(uvloop.Loop, "__init__", refuse_uvloop),
            }
        )
        watch.install()
        undo.callback(watch.remove)
        yield


def _refuse_trio(*_arguments: object) -> NoReturn:
    """Refuse what reads or sets trio's loop or task, or yields to it."""
    if _getframe(1).f_code.co_name in _QUESTIONS:
        raise AttributeError  # the answer is no
    raise make_refusal("trio")


def _refuse_uvloop(*_arguments: object) -> NoReturn:
    raise make_refusal("uvloop")


def _refuse_by_name(name: str) -> Callable[..., NoReturn]:
    def refuse(*_arguments: object) -> NoReturn:
        if _getframe(1).f_code.co_name in _QUESTIONS:
            raise AttributeError  # the answer is no
        raise SimulationRefused(
            f"The program runs the loop of {name} in a run whose loop is recorded.",
            "Expected the loop that asyncio.run and asyncio.new_event_loop give.",
            f"Run the program without {name}, or record with --loop own.",
            loop=name,
        )

    return refuse
