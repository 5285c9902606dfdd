"""What both kinds of trace share: whose code it is, and which thread an event belongs to.

For: the events of one thread go to its *lane*. ``FlowCollector`` writes every event down,
``SampleCollector`` counts events and digests the state at the chosen ones. ``event_sources`` finds the lane of an event and reports the event to it.

Not for: patching the interpreter (``event_sources``) or deciding what to sample.

Invariant: the same window under two plans gives every event the same lane and index.
"""

from __future__ import annotations

import inspect
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Generic, TypeVar

from twice.diagnosis.tracing.trace import Trace

NO_VALUE = object()
GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

Roots = Callable[[], Mapping[str, object]]
LaneT = TypeVar("LaneT")


class UserCode:
    """Tells the user's code from other code.

    Args:
        is_user_code: whether a source file belongs to the user; asked once per file.

    Attributes:
        files: the user's files met so far. Callbacks look here before they call ``owns``, which costs
            three times as much.
    """

    def __init__(self, is_user_code: Callable[[str], bool]) -> None:
        self._is_user_code = is_user_code
        self._foreign: set[str] = set()
        self.files: set[str] = set()

    def owns(self, code: CodeType) -> bool:
        """Return whether events of this code are wanted."""
        file = code.co_filename
        if file not in self.files and file not in self._foreign:
            (self.files if self._is_user_code(file) else self._foreign).add(file)
        return file in self.files

    def find_caller(self, frame: FrameType) -> FrameType | None:
        """Return the innermost user frame below the given one."""
        back = frame.f_back
        while back is not None and not self.owns(back.f_code):
            back = back.f_back
        return back

    def find_frames(self, frame: FrameType | None) -> list[FrameType]:
        """Return the user frames from the outermost to the given one."""
        found: list[FrameType] = []
        while frame is not None:
            if self.owns(frame.f_code):
                found.append(frame)
            frame = frame.f_back
        found.reverse()
        return found


class Here(threading.local, Generic[LaneT]):
    """The lane of the running thread, made when the thread first asks.

    A thread's identifier would not do as a key: a later thread may get it again.
    """

    def __init__(self, make: Callable[[], LaneT]) -> None:
        self.lane = make()


class Collector(ABC, Generic[LaneT]):
    """Keeps the lanes of a window. Make it in the thread that begins the window: it has the first lane.

    Args:
        user: the user's code.

    Attributes:
        here: the lane of the running thread.
        lanes: by name.
        on_lane_done: called in the thread of a lane that wants no more events.
    """

    def __init__(self, user: UserCode) -> None:
        self.user = user
        self.lanes: dict[str, LaneT] = {}
        self.caveats: dict[str, None] = {}
        self.lock = threading.RLock()
        self.on_lane_done: Callable[[], None] = do_nothing
        self.here = Here(self._new_lane)

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether no thread's events are wanted any more, those of new threads included."""

    @abstractmethod
    def begin(self, frame: FrameType) -> list[FrameType]:
        """Take the first event of the window and return the user frames that stand already."""

    @abstractmethod
    def end(self, frame: FrameType) -> None:
        """Take the last event of the window."""

    @abstractmethod
    def trace(self) -> Trace:
        """Return what was kept."""

    @abstractmethod
    def _make_lane(self, name: str) -> LaneT:
        """Return an empty lane."""

    def _new_lane(self) -> LaneT:
        with self.lock:
            base = name = threading.current_thread().name
            number = 1
            while name in self.lanes:
                number += 1
                name = f"{base}#{number}"
            lane = self.lanes[name] = self._make_lane(name)
            return lane


def name_entry(code: CodeType, event: str) -> str:
    """Return ``begin`` for the call of a generator: its arguments were bound when it was made."""
    return "begin" if event == "call" and code.co_flags & GENERATORS else event


def do_nothing() -> None:
    """Be nobody's callback."""
