"""A watch over one tool while it runs: refuses what it does not declare, on the line that does it.

Calls are seen by a profiling function, which Python tells of every function that is called, and by
an audit hook, of which a process has one for ever and which does nothing between watches. A tool
may swallow the exception that a refusal raises; the refusal stands all the same.

Invariant: watches nest; taking one down puts the outer one, or whoever profiled before, back.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from twice.tools.declaration import Tool
from twice.tools.determinism import Determinism
from twice.tools.enforcement.generators import Generators
from twice.tools.enforcement.places import place_of, shown_file
from twice.tools.enforcement.reads import (
    EVENTS,
    PYTHON_SUSPECTS,
    SUSPECTS,
    Read,
    c_read,
    python_reads,
)
from twice.tools.errors import CallRefused
from twice.tools.needs import WORLD

Profile = Callable[[FrameType, str, Any], object]


class Watch:
    """What one tool may not do, and what it did all the same.

    Args:
        tool: whose needs count.
        path: the steps that led to it.
        backend: whose own methods are not looked into.
    """

    def __init__(self, tool: Tool, path: tuple[str, ...], backend: object) -> None:
        self.tool = tool
        self.refusal: CallRefused | None = None
        self.forbidden = forbidden(tool)
        self._path = path
        self._backend = backend
        self.profile: Profile = _profile(self)

    def met(self, read: Read | None, frame: FrameType | None) -> None:
        """Refuse an undeclared operation before it happens.

        Raises:
            CallRefused: when the tool does not declare it.
        """
        if read is None or read.need not in self.forbidden:
            return
        place = place_of(frame, self._backend)
        if place is not None:
            raise self.refuse(read, place)

    def refuse(self, read: Read, place: str) -> CallRefused:
        """Write the first refusal down."""
        tool = self.tool
        promises = tool.determinism is not Determinism.NONDETERMINISTIC
        refusal = CallRefused(
            "nondeterministic_refused" if promises else "capability_missing",
            f"{tool.name} is declared {tool.determinism.value} without the need of {read.need},"
            f" and uses {read.words}{f' at {place}' if place else ''}.",
            "Expected it to do what it declares; the state is as it was before.",
            f"Take it from the context or the arguments, or declare needs=Needs({read.need}=True)"
            f"{' and determinism=nondeterministic' if promises and read.need != 'listing' else ''}.",
            tool=tool.name,
            need=read.need,
            operation=read.words,
            place=place,
            path=list(self._path),
        )
        self.refusal = self.refusal or refusal
        return refusal


def forbidden(tool: Tool) -> frozenset[str]:
    """Return the needs that a tool may not use while it runs.

    A tool that promises a result may not list a folder in the system's order even if it declares
    the need: ``Context.listing`` sorts. A tool that promises nothing must declare the operations
    that leave the process.
    """
    if tool.determinism is not Determinism.NONDETERMINISTIC:
        return frozenset(WORLD)
    return frozenset(need for need in ("network", "processes") if not getattr(tool.needs, need))


def _profile(watch: Watch) -> Profile:
    codes = python_reads()

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        # Called for every call that the tool makes: what is not suspicious leaves at once.
        if event == "c_call":
            if arg.__name__ in SUSPECTS:
                watch.met(c_read(arg, frame), frame)
        elif event == "call" and frame.f_code.co_name in PYTHON_SUSPECTS:
            reader = codes.get(id(frame.f_code))
            if reader is not None:
                watch.met(reader(frame), frame.f_back)
            elif frame.f_code.co_name == "run":
                _now.watch = watch  # The first call on a thread that the tool has started.

    return profile


class _Now(threading.local):
    """The watch of each thread."""

    watch: Watch | None = None


_now = _Now()
_placed: list[bool] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    look = EVENTS.get(event)
    if look is None:
        return
    watch = _now.watch
    if watch is not None:
        watch.met(look(args), sys._getframe(1))


@contextmanager
def watching(tool: Tool, path: tuple[str, ...], backend: object) -> Iterator[None]:
    """Watch a tool while it runs inside.

    Raises:
        CallRefused: when it did what it does not declare, whatever became of it otherwise.
    """
    if not forbidden(tool):  # It promises nothing, and declares what leaves the process.
        yield
        return
    watch = Watch(tool, path, backend)
    generators = Generators() if "entropy" in watch.forbidden else None
    if not _placed:
        _placed.append(True)
        sys.addaudithook(_hook)
    try:
        with _in_force(watch):
            yield
    finally:
        _conclude(watch, generators)


def _conclude(watch: Watch, generators: Generators | None) -> None:
    moved = [] if generators is None else generators.moved()
    if moved and generators is not None:
        generators.restore()
        if watch.refusal is None:
            watch.refuse(Read("entropy", moved[0]), _whole(watch.tool))
    if watch.refusal is not None:
        raise watch.refusal


def _whole(tool: Tool) -> str:
    """Where a tool begins, for what is found only after it has run."""
    code = getattr(tool.function, "__code__", None)
    return "" if code is None else f"{shown_file(code.co_filename)}:{code.co_firstlineno}"


@contextmanager
def unwatched() -> Iterator[None]:
    """Let the runtime do something of its own, unseen by the watch that is in force."""
    with _in_force(None):
        yield


@contextmanager
def _in_force(watch: Watch | None) -> Iterator[None]:
    before, profiled = _now.watch, sys.getprofile()
    threads = threading.getprofile()
    profile: Any = _outside(profiled) if watch is None else watch.profile
    _now.watch = watch
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(profiled)
        threading.setprofile(threads)
        _now.watch = before


def _outside(profiled: Any) -> Any:
    """Whoever profiles besides watches; nobody while the runtime works for a watched tool."""
    return None if _now.watch is not None else profiled
