"""What a program may call inside a simulated loop, and what is refused by its name.

``boundary.toml`` has one row for each function: ``simulated`` or ``refused``, and what to call instead. Methods of the
loop that are refused raise by themselves (``RefusingLoop``). Functions of the standard library that would hold up
the loop, start a thread or a process, or reach a real network are noticed by the events that the interpreter audits,
however the program got hold of them. What a library calls while it is being imported passes: it happens once in a
process, and does not depend on the order of tasks.

Invariant: a call of the program that leaves the simulation never happens; it raises.
"""

from __future__ import annotations

import asyncio
import sys
import tomllib
from _thread import get_ident
from asyncio import events
from functools import cache
from importlib import resources
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from twice.errors import SimulationRefused
from twice.foundation.source_files import is_user_file

if TYPE_CHECKING:
    _BaseEventLoop = Any  # half of what is used of it has no types
else:
    from asyncio.base_events import BaseEventLoop as _BaseEventLoop


BEGIN_OF_STEP = events.Handle._run.__code__
"""The lowest frame of a step; below it is whoever runs the loop, which may be an import too."""


@cache
def read_table() -> dict[str, dict[str, str]]:
    """Return the rows of ``boundary.toml`` by the name of the function."""
    text = resources.files(__package__).joinpath("boundary.toml").read_text(encoding="utf-8")
    return {row["name"]: row for row in tomllib.loads(text)["function"]}


def make_refusal(name: str) -> SimulationRefused:
    """Build the error for a function of the table that is refused, with the line of the program that called it."""
    row = read_table()[name]
    return SimulationRefused(
        f"{name} was called in a simulated run{_find_caller()}: {row['why']}.",
        "Expected calls that a simulation can repeat: tasks, timers, queues, locks and streams of asyncio.",
        f"{row['instead']}.",
        function=name,
    )


def _find_caller() -> str:
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            return f", at {Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _is_importing() -> bool:
    """Return whether a library calls while the running step imports it: no code of the program is between."""
    frame: FrameType | None = _getframe(2)
    while (
        frame is not None
        and frame.f_code is not BEGIN_OF_STEP
        and not is_user_file(frame.f_code.co_filename)
    ):
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def require_thread(own: int) -> None:
    """Refuse a call from another thread than the loop's."""
    if get_ident() != own:
        raise make_refusal("loop.call_soon_threadsafe")


@cache
def begin() -> None:
    """Begin to watch this process. An audit hook stays for ever, and does nothing where no simulated loop runs."""
    refused = {
        event: name
        for name, row in read_table().items()
        if row["status"] == "refused"
        for event in row.get("events", ())
    }
    running = events._get_running_loop

    def watch(event: str, args: tuple[Any, ...]) -> None:
        del args
        if event in refused and isinstance(running(), RefusingLoop) and not _is_importing():
            raise make_refusal(refused[event])

    sys.addaudithook(watch)


class RefusingLoop(_BaseEventLoop):  # type: ignore[misc]
    """A loop whose methods raise where the table says so."""


def _refuse(name: str) -> Any:
    def method(self: RefusingLoop, *args: object, **options: object) -> NoReturn:
        del self, args, options
        raise make_refusal(name)

    async def coroutine(self: RefusingLoop, *args: object, **options: object) -> NoReturn:
        del self, args, options
        raise make_refusal(name)

    real = getattr(asyncio.AbstractEventLoop, name.partition(".")[2])
    return coroutine if asyncio.iscoroutinefunction(real) else method


for _name, _row in read_table().items():
    if _name.startswith("loop.") and _row["status"] == "refused":
        _method = _name.partition(".")[2]
        if _row.get("part") is None:
            setattr(RefusingLoop, _method, _refuse(_name))
