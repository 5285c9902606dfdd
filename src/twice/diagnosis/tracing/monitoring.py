"""Line events by ``sys.monitoring``: Python 3.12 and later, all threads.

For: code that is not the user's costs one event per place and is then switched off. Events are switched
off for all threads or for none, so they stay on until no lane needs them.

Invariant: the tool number is given back by ``stop``, and taken only if nobody holds it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from twice.diagnosis.tracing.collecting import NO_VALUE, Collector, do_nothing
from twice.diagnosis.tracing.flow_collector import FlowCollector
from twice.diagnosis.tracing.sample_collector import SampleLane
from twice.errors import TraceRefused

_TOOLS = (4, 3, 5, 2)


class Monitoring:
    """Feeds a collector from ``sys.monitoring``."""

    def __init__(self, collector: Collector[Any]) -> None:
        self._collector = collector
        self._api: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._tool = -1
        events, off = self._api.events, self._api.DISABLE
        self._entries = events.PY_START | events.PY_RESUME | events.PY_THROW
        self._callbacks = {
            event: _callback(collector, name, refusal)
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
        """Ends and gives the tool number back."""
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


def _callback(collector: Collector[Any], event: str, refusal: object) -> Callable[..., object]:
    if isinstance(collector, FlowCollector):
        return _recorder(collector, event, refusal)
    return _counter(collector, event, refusal)


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
