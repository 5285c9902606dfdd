"""Line events by ``sys.settrace``: Python 3.11, and wherever monitoring is not to be had.

For: all threads that start inside the window, and the frames of the calling thread that stand
already. Threads that were running before the window began are not seen.

Each thread has trace functions of its own, which know the lane of the thread. A thread whose lane is done
is not traced any more.

Invariant: ``stop`` puts back the trace functions that were set before ``start``.
"""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from twice.diagnosis.tracing.collecting import GENERATORS, Collector, UserCode, do_nothing
from twice.diagnosis.tracing.flow_collector import FlowLane
from twice.diagnosis.tracing.sample_collector import SampleLane

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
        """Ends and puts back what was set before."""
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
