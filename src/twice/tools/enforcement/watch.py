"""A watch over one tool while it runs: refuses what it does not declare, on the line that does it.

Calls are seen by a profiling function, which Python tells of every function that is called, and by
an audit hook, of which a process has one for ever and which does nothing between watches. A tool
may swallow the exception that a refusal raises; the refusal stands all the same.

Innocent is what nobody's result depends on: the runtime's and the recorder's own work, a module
while it is imported, the time in a log line, whoever listens to the garbage collector, what an event
loop or a pool of threads asks for itself, and whatever the backend does in its own methods, which is
its business.

Invariant: watches nest; taking one down puts the outer one, or whoever profiled before, back.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from twice.foundation.source_files import is_user_file
from twice.recorder.streams.governed import Governed, GovernedRandom
from twice.recorder.streams.numpy_streams import GovernedRandomState
from twice.tools.declaration import Tool
from twice.tools.determinism import Determinism
from twice.tools.enforcement.reads import (
    EVENTS,
    PYTHON_SUSPECTS,
    SUSPECTS,
    Read,
    c_read,
    global_random,
    python_reads,
)
from twice.tools.errors import CallRefused
from twice.tools.needs import WORLD

_PACKAGE = str(Path(__file__).parents[2]) + os.sep
_RUNTIME = str(Path(__file__).parents[1]) + os.sep
_SCENES = str(Path(__file__).parents[1] / "scenes") + os.sep
_STANDARD = str(Path(os.__file__).parent) + os.sep
_INSTALLED = f"{os.sep}site-packages{os.sep}"
_SCHEDULERS = tuple(
    _STANDARD + each
    for each in (
        "threading.py",
        "queue.py",
        "selectors.py",
        "asyncio" + os.sep,
        "concurrent" + os.sep,
    )
)
_TIMED = frozenset({"wait_for", "_wait", "timeout", "timeout_at", "reschedule"})
"""Functions of asyncio that end by a clock, so that results may depend on it."""


@contextmanager
def watch_tool(tool: Tool, path: tuple[str, ...], backend: object) -> Iterator[None]:
    """Watch a tool while it runs inside, but for the methods of the backend.

    Raises:
        CallRefused: when it did what it does not declare, whatever became of it otherwise.
    """
    forbidden = find_forbidden(tool)
    if not forbidden:  # It promises nothing, and declares what leaves the process.
        yield
        return
    watch = Watch(tool, path, backend, forbidden)
    found = _find_generators() if "entropy" in forbidden else ()
    stood = [(name, each, each.position()) for name, each in found]
    states = [_read_state(each, position) for _, each, position in stood]
    if not _is_hooked:
        _is_hooked.append(True)
        sys.addaudithook(_hook)
    try:
        with _in_force(watch):
            yield
    finally:
        for (name, generator, position), state in zip(stood, states, strict=True):
            if generator.position() != position:
                generator.write(state)
                if watch.refusal is None:
                    # It is seen only after the tool has run, so its head is the line to blame.
                    code = getattr(tool.function, "__code__", None)
                    head = code and f"{_shorten(code.co_filename)}:{code.co_firstlineno}"
                    watch.refuse(Read("entropy", name), head or "")
        if watch.refusal is not None:
            raise watch.refusal


@contextmanager
def pause_watch() -> Iterator[None]:
    """Let the runtime do something of its own, unseen by the watch that is in force."""
    with _in_force(None):
        yield


def find_forbidden(tool: Tool) -> frozenset[str]:
    """Return the needs that a tool may not use while it runs.

    A tool that promises a result may not list a folder in the system's order even if it declares
    the need: ``Context.listing`` sorts. A tool that promises nothing must declare the operations
    that leave the process.
    """
    if tool.determinism is not Determinism.NONDETERMINISTIC:
        return frozenset(WORLD)
    return frozenset(need for need in ("network", "processes") if not getattr(tool.needs, need))


def is_twice_at_work(frame: FrameType | None) -> bool:
    """Whether a frame is of twice or runs for it, and not of a tool; scenes count as a user's code."""
    while frame is not None and _is_standard(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or _is_own(frame.f_code.co_filename):
        return frame is not None
    while frame is not None and frame.f_code.co_filename != __file__:
        frame = frame.f_back
    return frame is not None  # Somebody else's audit hook, below the watch.


class Watch:
    """What one tool may not do, and what it did all the same."""

    def __init__(
        self, tool: Tool, path: tuple[str, ...], backend: object, forbidden: frozenset[str]
    ) -> None:
        self.refusal: CallRefused | None = None
        self._tool, self._path, self._backend = tool, path, backend
        self._forbidden = forbidden
        self._readers = python_reads()

    def check(self, read: Read | None, frame: FrameType | None) -> None:
        """Refuse an operation before it happens, if the tool does not declare it."""
        if read is None or read.need not in self._forbidden:
            return
        line = _find_blamed_line(frame, self._backend)
        if line is not None:
            raise self.refuse(read, line)

    def refuse(self, read: Read, line: str) -> CallRefused:
        """Make the refusal of an operation, and keep the first one."""
        tool = self._tool
        promises = tool.determinism is not Determinism.NONDETERMINISTIC
        refusal = CallRefused(
            "nondeterministic_refused" if promises else "capability_missing",
            f"{tool.name} is declared {tool.determinism.value} without the need of {read.need},"
            f" and uses {read.words}{f' at {line}' if line else ''}.",
            "Expected it to do what it declares; the state is as it was before.",
            f"Take it from the context or the arguments, or declare needs=Needs({read.need}=True)"
            f"{' and determinism=nondeterministic' if promises and read.need != 'listing' else ''}.",
            tool=tool.name,
            need=read.need,
            operation=read.words,
            place=line,
            path=list(self._path),
        )
        self.refusal = self.refusal or refusal
        return refusal

    def profile(self, frame: FrameType, event: str, arg: Any) -> None:
        """See a call that the tool makes; what is not suspicious leaves at once."""
        if event == "c_call":
            # The recorder's own calls are none of the tool's: those that it serves are seen by their code below.
            if arg.__name__ in SUSPECTS and not _is_own(frame.f_code.co_filename):
                self.check(c_read(arg, frame), frame)
        elif event == "call" and frame.f_code.co_name in PYTHON_SUSPECTS:
            reader = self._readers.get(id(frame.f_code))
            if reader is not None:
                self.check(reader(frame), frame.f_back)
            elif frame.f_code.co_name == "run":
                _now.watch = self  # The first call on a thread that the tool has started.


class _Now(threading.local):
    """The watch of each thread."""

    watch: Watch | None = None


_now = _Now()
_is_hooked: list[bool] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    look = EVENTS.get(event)
    if look is None:
        return
    watch = _now.watch
    if watch is not None:
        watch.check(look(args), sys._getframe(1))


@contextmanager
def _in_force(watch: Watch | None) -> Iterator[None]:
    before, profiled = _now.watch, sys.getprofile()
    threads = threading.getprofile()
    # Whoever profiles besides watches goes on outside of them; the runtime's work for a tool is nobody's.
    outside: Any = None if before is not None else profiled
    profile: Any = outside if watch is None else watch.profile
    _now.watch = watch
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(profiled)
        threading.setprofile(threads)
        _now.watch = before


def _find_generators() -> Iterator[tuple[str, Governed]]:
    """Yield the global generators; one of a library that is not loaded cannot have been drawn from."""
    python = global_random()
    if python is not None:
        yield "the global generator of random", _govern(GovernedRandom, python)
    numpy = getattr(getattr(sys.modules.get("numpy.random"), "mtrand", None), "_rand", None)
    if numpy is not None:
        yield "the global generator of numpy.random", _govern(GovernedRandomState, numpy)
    if hasattr(sys.modules.get("torch"), "set_rng_state"):
        from twice.recorder.streams.torch_streams import GovernedTorchDefaults

        yield "the global generator of torch", GovernedTorchDefaults()


# Looking into a generator's memory takes longer than a call: each is looked into once.
@lru_cache(maxsize=2)
def _govern(kind: Callable[[Any], Governed], generator: Any) -> Governed:
    return kind(generator)


# A state takes longer to read than most tools take to run: at the position of the last call it is the one of the last call.
@lru_cache(maxsize=3)
def _read_state(generator: Governed, position: bytes) -> Mapping[str, object]:
    del position
    return generator.read()


def _find_blamed_line(frame: FrameType | None, backend: object) -> str | None:
    """Return the line to blame for an operation under a frame; None if nothing is to blame.

    It never names more of this machine than a path below the current folder, or a file and its folder.
    """
    users, others, turns = "", "", 0
    collecting = {id(code) for each in gc.callbacks if (code := getattr(each, "__code__", None))}
    while frame is not None:
        name = frame.f_code.co_filename
        if id(frame.f_code) in collecting:
            return None
        if backend is not None and frame.f_locals.get("self") is backend:
            return None
        if not users:
            if name.startswith("<frozen importlib") or name == logging.__file__:
                return None
            if _is_runtime(name):
                return None
            if name.startswith(_SCHEDULERS):
                turns += 1 if frame.f_code.co_name not in _TIMED else -len(_TIMED)
            elif turns > 1 and not others and not _is_standard(name):
                return None  # A scheduler asked for itself; one frame is a tool's own question.
            if is_user_file(name) or name.startswith(_SCENES):
                users = f"{_shorten(name)}:{frame.f_lineno}"
            elif not others and not (_is_standard(name) or name.startswith(("<", _PACKAGE))):
                others = f"{_shorten(name)}:{frame.f_lineno}"
        if frame.f_back is not None and _is_runtime(frame.f_back.f_code.co_filename):
            break  # The tool's outermost frame: what lies further out is not of the tool.
        frame = frame.f_back
    return users or others


def _is_own(name: str) -> bool:
    return name.startswith(_PACKAGE) and not name.startswith(_SCENES)


def _is_runtime(name: str) -> bool:
    return name.startswith(_RUNTIME) and not name.startswith(_SCENES)


def _is_standard(name: str) -> bool:
    return name.startswith(("<frozen", _STANDARD)) and _INSTALLED not in name


def _shorten(name: str) -> str:
    path = Path(name)
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return "/".join(path.parts[-2:])
