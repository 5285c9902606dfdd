"""Where tasks go on and where they wait, in the program's source, and who waits for whom when nothing goes on.

Invariant: nothing here runs code of the program.
"""

from __future__ import annotations

import os
from asyncio import locks, tasks
from collections.abc import Iterator
from contextlib import contextmanager
from dis import get_instructions
from functools import cache
from inspect import CORO_CREATED, getcoroutinestate
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from twice.errors import Deadlock
from twice.foundation.printable import pluralize
from twice.foundation.source_files import is_user_file

if TYPE_CHECKING:
    from twice.simulation.loop import SimulatedLoop

_TASKS_SHOWN_MAX = 20
_HOLDER = "_holder_of_the_run"


class SourceLine(NamedTuple):
    """A place in the program's source."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"  # noqa: PTH119


def find_place(handle: Any) -> SourceLine | None:
    """Return where a step begins: where its task goes on, or the function that is called; None for no user's code."""
    task = getattr(handle._callback, "__self__", None)
    if isinstance(task, tasks.Task):
        return _find_user_place(task)
    code = getattr(handle._callback, "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return None
    return SourceLine(code.co_filename, code.co_firstlineno, code.co_qualname)


def name_wait(task: tasks.Task[Any]) -> str | None:
    """Name the place at which a task waits so that lines may shift; None for a task that has not begun, and for no user's code.

    The name is the function, and the names and constants of the expression that is awaited, as they were compiled.
    """
    frame = _find_user_frame(task)
    if frame is None or getcoroutinestate(task.get_coro()) == CORO_CREATED:  # type: ignore[arg-type]
        return None
    return _name_expression(frame.f_code, frame.f_lasti)


@cache
def _name_expression(code: CodeType, offset: int) -> str:
    instructions = list(get_instructions(code))
    awaits: Any = [each for each in instructions if each.offset <= offset][-1].positions
    names = []
    for each in instructions:
        at: Any = each.positions
        if each.opname.startswith("LOAD_") and None not in (*at, *awaits):
            begin, end = (at.lineno, at.col_offset), (at.end_lineno, at.end_col_offset)
            is_within = begin >= (awaits.lineno, awaits.col_offset) and end <= (
                awaits.end_lineno, awaits.end_col_offset,
            )  # fmt: skip
            if is_within and each.argval is not None:  # each await loads a None itself
                is_plain = isinstance(each.argval, str | bytes | int | float | tuple)
                names.append(str(each.argval) if is_plain else type(each.argval).__name__)
    return f"{code.co_qualname}: {' '.join(names)}"


def _find_user_frame(task: tasks.Task[Any]) -> FrameType | None:
    """Return the innermost frame of the program in which a task waits."""
    found = None
    for frame in _list_frames(task.get_coro()):
        if is_user_file(frame.f_code.co_filename):
            found = frame
    return found


def _find_user_place(task: tasks.Task[Any]) -> SourceLine | None:
    """Return the innermost line of the program at which a task waits."""
    found = _find_user_frame(task)
    if found is None:
        return None
    return SourceLine(found.f_code.co_filename, found.f_lineno, found.f_code.co_qualname)


def _list_frames(waiting: Any) -> Iterator[FrameType]:
    """Yield the frames of a coroutine and of what it waits for, outermost first."""
    while waiting is not None:
        for kind in ("cr", "gi", "ag"):
            frame = getattr(waiting, f"{kind}_frame", None)
            if frame is not None:
                yield frame
                waiting = getattr(waiting, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")
                break
        else:
            return


@contextmanager
def noting_holders() -> Iterator[None]:
    """Let each lock know the task that holds it, for the report of a deadlock."""
    acquire, release = locks.Lock.acquire, locks.Lock.release

    async def acquire_noted(self: Any) -> Literal[True]:
        await acquire(self)
        setattr(self, _HOLDER, tasks.current_task())
        return True

    def release_noted(self: Any) -> None:
        release(self)
        setattr(self, _HOLDER, None)

    locks.Lock.acquire, locks.Lock.release = acquire_noted, release_noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        locks.Lock.acquire, locks.Lock.release = acquire, release  # type: ignore[method-assign]


class Wait(NamedTuple):
    """A task that waits.

    Attributes:
        task: its name and its coroutine's.
        place: in the program's source.
        within: the function of the library in which it waits (``Lock.acquire``); empty if it is none.
        waits_for: the task that has to end before it goes on, or that holds the lock; None if no task is known.
    """

    task: str
    place: SourceLine | None
    within: str
    waits_for: str | None

    def __str__(self) -> str:
        text = f"{self.task} waits" + (f" at {self.place}" if self.place else "")
        text += f" in {self.within}" if self.within else ""
        return text + (f" for {self.waits_for}" if self.waits_for else "")


def list_waits(loop: SimulatedLoop) -> list[Wait]:
    """Return the tasks of a loop that have not ended, in the order of their start."""
    pending = [task for task in tasks.all_tasks(loop) if not task.done()]
    return [
        _describe_wait(task)
        for task in sorted(pending, key=lambda task: getattr(task, "number", 0))
    ]


def _describe_wait(task: tasks.Task[Any]) -> Wait:
    frames = list(_list_frames(task.get_coro()))
    within, waits_for = "", None
    if frames and not is_user_file(frames[-1].f_code.co_filename):
        within = frames[-1].f_code.co_qualname
        holder = getattr(frames[-1].f_locals.get("self"), _HOLDER, None)
        waits_for = _name_task(holder) if isinstance(holder, tasks.Task) else None
    awaited = getattr(task, "_fut_waiter", None)
    if isinstance(awaited, tasks.Task):
        waits_for = _name_task(awaited)
    return Wait(_name_task(task), _find_user_place(task), within, waits_for)


def _name_task(task: tasks.Task[Any]) -> str:
    name = getattr(task.get_coro(), "__qualname__", "?").rpartition("<locals>.")[2]
    return f"{name} ({task.get_name()})"


def make_deadlock(loop: SimulatedLoop) -> Deadlock:
    """Build the error for a loop in which nothing is ready and no timer is set."""
    waits = list_waits(loop)
    shown = [str(each) for each in waits[:_TASKS_SHOWN_MAX]]
    if len(waits) > len(shown):
        shown.append(f"and {pluralize(len(waits) - len(shown), 'task')} more")
    return Deadlock(
        f"Nothing can go on: {pluralize(len(waits), 'task')} and no timer.\n" + "\n".join(shown),
        "Expected a step that is ready, or a timer.",
        "Follow the tasks above from one to the next: each waits for what another one has to do first.",
        waits=[each._asdict() for each in waits],
    )
