"""Where tasks go on and where they wait, in the program's source, and who waits for whom when nothing goes on.

Invariant: nothing here runs code of the program.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from asyncio import locks, queues, tasks
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dis import get_instructions
from inspect import CORO_CREATED, getcoroutinestate
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from twice.errors import Deadlock
from twice.foundation.printable import pluralize
from twice.foundation.source_files import is_user_file
from twice.simulation.boundary import BEGIN_OF_STEP

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_TASKS_SHOWN_MAX = 20
_HOLDINGS: Final = "_holdings_of_the_run"
_PUTS: Final = "_puts_of_the_run"
_GETS: Final = "_gets_of_the_run"
_DEEDS_MAX = 3
_UNNAMED = re.compile(r"Task-\d+")


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


def list_places(waiting: Iterable[tasks.Task[Any]]) -> list[SourceLine]:
    """Return the program's lines at which tasks wait, where they have any."""
    places = map(_find_user_place, waiting)
    return [place for place in places if place is not None]


def find_asking_line() -> SourceLine | None:
    """Return the program's line that is being executed; None for no user's code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    return SourceLine(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)


def name_wait(task: tasks.Task[Any]) -> str | None:
    """Name the place at which a task waits so that lines may shift; None for a task that has not begun, and for no user's code.

    The name is the function, and the names and constants of the expression that is awaited, as they were compiled.
    """
    frame = _find_user_frame(task)
    if frame is None or getcoroutinestate(task.get_coro()) == CORO_CREATED:  # type: ignore[arg-type]
        return None
    return _name_expression(frame.f_code, frame.f_lasti)


@functools.cache
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


class Deed(NamedTuple):
    """A task that took or gave something, and the line of the program at which it did.

    Not the task itself: it could not be collected, which is when a task says that it failed unheard.
    """

    actor: Any
    name: str
    code: CodeType | None
    line: int

    def tell(self, verb: str) -> str:
        """Say it: ``main/take (acquired at pool.py:9)``."""
        name = _name_actor(self.actor, self.name)
        if self.code is None:
            return name
        return f"{name} ({verb} at {SourceLine(self.code.co_filename, self.line, '')})"


_is_user = functools.cache(is_user_file)  # asked at each use of a lock or a queue


def _make_deed() -> Deed:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not _is_user(frame.f_code.co_filename):
        # Below it is the line that runs the loop, which says nothing.
        frame = None if frame.f_code is BEGIN_OF_STEP else frame.f_back
    code, line = (None, 0) if frame is None else (frame.f_code, frame.f_lineno)
    task = tasks.current_task()
    return Deed(getattr(task, "actor", None), task.get_name() if task else "", code, line)


def _make_acquire(real: Callable[[Any], Awaitable[Literal[True]]]) -> Any:
    @functools.wraps(real)  # a task of it bears its name
    async def acquire(self: Any) -> Literal[True]:
        await real(self)
        vars(self).setdefault(_HOLDINGS, []).append(_make_deed())
        return True

    return acquire


def _make_release(real: Callable[[Any], None]) -> Any:
    @functools.wraps(real)
    def release(self: Any) -> None:
        real(self)
        held: list[Deed] = vars(self).get(_HOLDINGS, [])
        if held:  # another task may give back what the first one took
            actor = getattr(tasks.current_task(), "actor", None)
            del held[next((n for n, deed in enumerate(held) if deed.actor is actor), 0)]

    return release


def _make_exchange(real: Callable[..., Any], name: str) -> Any:
    @functools.wraps(real)
    def exchange(self: Any, *args: Any) -> Any:
        value, deed = real(self, *args), _make_deed()
        deeds: dict[object, Deed] = vars(self).setdefault(name, {})
        deeds.pop(deed.actor, None)  # the last one comes last
        deeds[deed.actor] = deed
        if len(deeds) > _DEEDS_MAX:
            del deeds[next(iter(deeds))]
        return value

    return exchange


@contextmanager
def noting_deeds() -> Iterator[None]:
    """Let locks and semaphores know who holds them, and queues who put and got, for the report of a deadlock."""
    rows: list[tuple[Any, str, Any]] = [
        *((each, "acquire", _make_acquire(each.acquire)) for each in (locks.Lock, locks.Semaphore)),
        *((each, "release", _make_release(each.release)) for each in (locks.Lock, locks.Semaphore)),
        (queues.Queue, "put_nowait", _make_exchange(queues.Queue.put_nowait, _PUTS)),
        (queues.Queue, "get_nowait", _make_exchange(queues.Queue.get_nowait, _GETS)),
    ]
    before = [(holder, name, getattr(holder, name)) for holder, name, _ in rows]
    for holder, name, value in rows:
        setattr(holder, name, value)
    try:
        yield
    finally:
        for holder, name, value in before:
            setattr(holder, name, value)


class Wait(NamedTuple):
    """A task that waits.

    Attributes:
        task: its lineage or, if it was given one, its name; its coroutine's beside a name.
        place: in the program's source.
        within: the function of the library in which it waits (``Lock.acquire``); empty if it is none.
        waits_for: the task that has to end before it goes on, or those that hold what it needs; None for none that
            is known.
        lacks: what nobody does, and who did it last; empty if that is not known.
    """

    task: str
    place: SourceLine | None
    within: str
    waits_for: str | None
    lacks: str = ""

    def __str__(self) -> str:
        text = f"{self.task} waits" + (f" at {self.place}" if self.place else "")
        text += f" in {self.within}" if self.within else ""
        text += f" for {self.waits_for}" if self.waits_for else ""
        return text + (f": {self.lacks}" if self.lacks else "")


def list_waits(loop: AbstractEventLoop) -> list[Wait]:
    """Return the tasks of a loop that have not ended, in the order of their start."""
    pending = [task for task in tasks.all_tasks(loop) if not task.done()]
    return [_describe_wait(task) for task in sorted(pending, key=_find_place_in_line)]


def _find_place_in_line(task: tasks.Task[Any]) -> tuple[int, str]:
    return getattr(task, "number", 0), str(getattr(getattr(task, "actor", None), "key", ""))


def _describe_wait(task: tasks.Task[Any]) -> Wait:
    within, waits_for, lacks = "", "", ""
    for frame in reversed(list(_list_frames(task.get_coro()))):
        if is_user_file(frame.f_code.co_filename):
            break
        name = frame.f_code.co_qualname
        within = within or name
        is_of_asyncio = str(frame.f_globals.get("__name__")).startswith("asyncio.")
        if (
            is_of_asyncio and name in _LACKS
        ):  # the outermost says most: Queue.join waits for an event
            within = name
            lacks, asked, verb = _LACKS[name]
            told = _tell_deeds(frame.f_locals.get("self"), asked, verb)
            if told and asked == _HOLDINGS:
                waits_for, lacks = told, ""
            elif told:
                lacks = f"{lacks} after {told}"
    awaited = getattr(task, "_fut_waiter", None)
    if isinstance(awaited, tasks.Task):
        waits_for = _name_task(awaited)
    return Wait(_name_task(task), _find_user_place(task), within, waits_for or None, lacks)


def _tell_deeds(target: object, asked: str, verb: str) -> str:
    noted: dict[object, Deed] | list[Deed] = {} if target is None else vars(target).get(asked, {})
    deeds = list(noted.values() if isinstance(noted, dict) else noted)
    told = [each.tell(verb) for each in deeds[:_DEEDS_MAX]]
    if len(deeds) > len(told):
        told.append(f"{len(deeds) - len(told)} more")
    return ", ".join(told)


_LACKS: Final = {
    "Lock.acquire": ("nobody releases it", _HOLDINGS, "acquired"),
    "Semaphore.acquire": ("nobody releases it", _HOLDINGS, "acquired"),
    "Condition.wait": ("nobody notifies it", "", ""),
    "Event.wait": ("nobody sets it", "", ""),
    "Barrier.wait": ("nobody else comes to it", "", ""),
    "Queue.get": ("nobody puts", _PUTS, "put"),
    "Queue.put": ("nobody gets", _GETS, "got"),
    "Queue.join": ("nobody calls task_done()", _GETS, "got"),
}
"""Of each function of ``asyncio`` that waits: what has to be done, and what is known of who did something about it."""


def _name_task(task: tasks.Task[Any]) -> str:
    actor = getattr(task, "actor", None)
    if actor is not None:
        return _name_actor(actor, task.get_name())
    name = getattr(task.get_coro(), "__qualname__", "?").rpartition("<locals>.")[2]
    return f"{name} ({task.get_name()})"


def _name_actor(actor: Any, name: str) -> str:
    """Name a task by its lineage, or by its function and the name that it was given."""
    if actor is None:
        return name or "the program"
    key = str(actor.key)
    return key if _UNNAMED.fullmatch(name) else f"{key.rpartition('/')[2]} ({name})"


def make_deadlock(loop: AbstractEventLoop) -> Deadlock:
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
