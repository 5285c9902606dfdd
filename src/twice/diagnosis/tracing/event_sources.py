"""Events of user code, from the interpreter to a collector: ``sys.settrace`` in Python 3.11, ``sys.monitoring`` later.

Monitoring sees all threads. Code that is not the user's costs it one event per place and is then switched off: for
all threads or for none, so events stay on until no lane needs them. The trace functions see the threads that start
inside the window, and the frames of the calling thread that stand already; each thread has functions of its own, which
know its lane, and a thread whose lane is done is not traced any more.

Invariant: after ``stop`` the hooks of the interpreter are as they were before ``start``.
"""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from twice.diagnosis.tracing.collector import (
    GENERATORS,
    NO_VALUE,
    Collector,
    UserCode,
    do_nothing,
)
from twice.diagnosis.tracing.flow_collector import FlowCollector, FlowLane
from twice.diagnosis.tracing.sample_collector import SampleLane
from twice.errors import TraceRefused

_TOOLS = (4, 3, 5, 2)
_RESUME = dis.opmap["RESUME"]

TraceFunction = Callable[[FrameType, str, Any], Any]


class SetTrace:
    """Feeds a collector from ``sys.settrace``."""

    def __init__(self, collector: Collector[Any]) -> None:
        self._collector = collector
        self._standing: list[tuple[FrameType, Any]] = []
        self._before: tuple[Any, Any] = (None, None)

    def start(self, standing: list[FrameType]) -> None:
        """Begins; ``standing`` are user frames that are on the stack already."""
        self._before = (sys.gettrace(), threading.gettrace())
        self._standing = [(frame, frame.f_trace) for frame in standing]
        self._collector.on_lane_done = self._leave_thread
        threading.settrace(self._start_thread)
        if self._collector.here.lane.done:
            self._leave_thread()
            return
        call, local = self._trace_functions()
        for frame in standing:
            frame.f_trace = local
        sys.settrace(call)

    def stop(self) -> None:
        """Stop tracing and restore the earlier trace functions."""
        self._collector.on_lane_done = do_nothing
        sys.settrace(self._before[0])
        threading.settrace(self._before[1])
        for frame, before in self._standing:
            frame.f_trace = before

    def _start_thread(self, frame: FrameType, event: str, value: Any) -> Any:
        """Trace a new thread, from its first user frame on."""
        if event != "call" or not self._collector.user.owns(frame.f_code):
            return None
        call, _ = self._trace_functions()
        sys.settrace(call)
        return call(frame, event, value)

    def _trace_functions(self) -> tuple[TraceFunction, TraceFunction]:
        """Return the running thread's functions for calls and for everything inside of a frame."""
        lane = self._collector.here.lane
        if isinstance(lane, FlowLane):
            return _recording(lane, self._collector.user)
        return _counting(lane, self._collector.user)

    def _leave_thread(self) -> None:
        sys.settrace(None)
        if self._collector.done:
            threading.settrace(None)


def _recording(lane: FlowLane, user: UserCode) -> tuple[TraceFunction, TraceFunction]:
    """Return trace functions that write every event down."""
    files, owns, take_line = user.files, user.owns, lane.line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if event != "call" or (code.co_filename not in files and not owns(code)):
            return None
        lane.enter(frame, "resume" if _goes_on(frame) else "call")
        return local

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            take_line(frame, frame.f_lineno)
        elif event == "return":
            lane.leave(frame)
        return local

    return call, local


def _counting(lane: SampleLane, user: UserCode) -> tuple[TraceFunction, TraceFunction]:
    """Return trace functions that count events up to the wanted ones."""
    files, owns = user.files, user.owns
    raised: tuple[FrameType, BaseException] | None = None

    def call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if event != "call" or (code.co_filename not in files and not owns(code)):
            return None
        index = lane.count
        lane.count = index + 1
        if index == lane.due:
            lane.take(frame, frame.f_lineno, "resume" if _goes_on(frame) else "call")
        return local

    def local(frame: FrameType, event: str, value: Any) -> Any:
        nonlocal raised
        index = lane.count
        if event == "line" or event == "return":  # noqa: PLR1714 - half the time of a membership test
            lane.count = index + 1
            if index == lane.due:
                if event == "line":
                    lane.take(frame, frame.f_lineno, event)
                else:
                    if value is None and raised is not None and raised[0] is frame:
                        value = raised[1]
                    lane.take(frame, frame.f_lineno, event, value)
                raised = None
        elif event == "exception" and index == lane.due:
            raised = (frame, value[1])
        return local

    return call, local


def _goes_on(frame: FrameType) -> bool:
    """Whether a frame that reports a call is a generator that is being resumed."""
    if not frame.f_code.co_flags & GENERATORS:
        return False
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at] == _RESUME and code[at + 1] & 3 != 0


class Monitoring:
    """Feeds a collector from ``sys.monitoring``."""

    def __init__(self, collector: Collector[Any]) -> None:
        self._collector = collector
        self._api: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._tool = -1
        events, off = self._api.events, self._api.DISABLE
        self._entries = events.PY_START | events.PY_RESUME | events.PY_THROW
        make: Any = _recorder if isinstance(collector, FlowCollector) else _counter
        self._callbacks = {
            event: make(collector, name, refusal)
            for event, name, refusal in (
                (events.PY_START, "call", off),
                (events.PY_RESUME, "resume", off),
                (events.PY_THROW, "resume", None),  # this one and PY_UNWIND cannot be switched off
                (events.LINE, "line", off),
                (events.PY_RETURN, "return", off),
                (events.PY_YIELD, "return", off),
                (events.PY_UNWIND, "return", None),
            )
        }

    def start(self, standing: list[FrameType]) -> None:  # noqa: ARG002 - settrace needs them
        """Begins.

        Raises:
            TraceRefused: E-TRACE-001, every tool number is taken.
        """
        api = self._api
        for tool in _TOOLS:
            if api.get_tool(tool) is None:
                self._tool = tool
                break
        else:
            raise TraceRefused(
                "Every tool number of sys.monitoring is taken.",
                "One free number was expected.",
                "Stop the debugger, profiler or coverage tool that runs in this process.",
            )
        api.use_tool_id(self._tool, "twice")
        for event, callback in self._callbacks.items():
            api.register_callback(self._tool, event, callback)
        api.restart_events()
        self._collector.on_lane_done = self._switch_off
        api.set_events(self._tool, 0 if self._collector.done else sum(self._callbacks))

    def stop(self) -> None:
        """Stop monitoring and release the tool number."""
        self._collector.on_lane_done = do_nothing
        api = self._api
        api.set_events(self._tool, 0)
        for event in self._callbacks:
            api.register_callback(self._tool, event, None)
        api.free_tool_id(self._tool)
        self._tool = -1

    def _switch_off(self) -> None:
        if self._collector.done:
            self._api.set_events(self._tool, 0)
        elif isinstance(self._collector, FlowCollector):  # a new thread still gets its lane
            self._api.set_events(self._tool, self._entries)


def _recorder(collector: FlowCollector, event: str, refusal: object) -> Callable[..., object]:
    """Return a callback that writes an event down."""
    files, owns, here, find_frame = (
        collector.user.files, collector.user.owns, collector.here, sys._getframe,
    )  # fmt: skip

    def enter(code: CodeType, _: int, __: object = None) -> object:
        if code.co_filename not in files and not owns(code):
            return refusal
        here.lane.enter(find_frame(1), event)
        return None

    def line(code: CodeType, line: int) -> object:
        if code.co_filename not in files and not owns(code):
            return refusal
        here.lane.line(find_frame(1), line)
        return None

    def leave(code: CodeType, _: int, __: object) -> object:
        if code.co_filename not in files and not owns(code):
            return refusal
        here.lane.leave(find_frame(1))
        return None

    if event == "line":
        return line
    return leave if event == "return" else enter


def _counter(
    collector: Collector[SampleLane], event: str, refusal: object
) -> Callable[..., object]:
    """Return a callback that counts an event and has it sampled when it is wanted."""
    files, owns, here = collector.user.files, collector.user.owns, collector.here

    def count(code: CodeType, line: int, value: object = None) -> object:
        if code.co_filename not in files and not owns(code):
            return refusal
        lane = here.lane
        index = lane.count
        lane.count = index + 1
        if index == lane.due:
            frame = sys._getframe(1)
            at = line if event == "line" else frame.f_lineno
            lane.take(frame, at, event, value if event == "return" else NO_VALUE)
        return None

    return count
