"""The loops of other libraries, which a simulated run refuses by their names: trio's and uvloop's.

Neither is built on the loop of ``asyncio``, so they would run beside the simulation, in real time.

Invariant: nothing is imported here, and after the block both libraries are as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from sys import _getframe
from types import ModuleType
from typing import NoReturn

from twice.recorder.imports import ImportWatch
from twice.simulation.boundary import make_refusal
from twice.simulation.installation import simulate_loops
from twice.simulation.trace import Schedule

_QUESTIONS = {"in_trio_run", "in_trio_task"}
"""Functions of trio by which libraries for both ask whose task they are in."""


@contextmanager
def simulate_all_loops(schedule: Schedule) -> Iterator[None]:
    """Give each new event loop of this process the schedule; refuse (E-SCHEDULE-001) every other one."""
    with simulate_loops(schedule), ExitStack() as undo:

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
                replace(context, name, property(_refuse_trio, _refuse_trio))

        watch = ImportWatch(
            {
                "trio._core._run": begin_trio,
                "trio._core._traps": lambda traps: replace(traps, "_async_yield", _refuse_trio),
                "uvloop": lambda uvloop: replace(uvloop.Loop, "__init__", _refuse_uvloop),
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
