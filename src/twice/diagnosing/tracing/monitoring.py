"""Line events by ``sys.monitoring``: Python 3.12 and later, all threads.

For: code that is not the user's costs one event per place and is then switched off.

Invariant: the tool number is given back by ``stop``, and taken only if nobody holds it.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any

from twice.diagnosing.tracing.collecting import Collector
from twice.errors import TraceRefused

_TOOLS = (4, 3, 5, 2)


class Monitoring:
    """Feeds a collector from ``sys.monitoring``."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._is_user = collector.is_user
        self._api: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._tool = -1

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
        events = api.events
        for event, callback in (
            (events.PY_START, self._enter),
            (events.PY_RESUME, self._resume),
            (events.PY_THROW, self._throw),
            (events.LINE, self._line),
            (events.PY_RETURN, self._leave),
            (events.PY_YIELD, self._leave),
            (events.PY_UNWIND, self._unwind),
        ):
            api.register_callback(self._tool, event, callback)
            self._wanted = getattr(self, "_wanted", 0) | event
        api.restart_events()
        api.set_events(self._tool, self._wanted)

    def stop(self) -> None:
        """Ends and gives the tool number back."""
        api = self._api
        api.set_events(self._tool, 0)
        for bit in range(self._wanted.bit_length()):
            if self._wanted >> bit & 1:
                api.register_callback(self._tool, 1 << bit, None)
        api.free_tool_id(self._tool)
        self._tool = -1

    def _enter(self, code: CodeType, _: int) -> Any:
        if not self._is_user(code):
            return self._api.DISABLE
        self._collector.enter(sys._getframe(1), "call")
        return None

    def _resume(self, code: CodeType, _: int) -> Any:
        if not self._is_user(code):
            return self._api.DISABLE
        self._collector.enter(sys._getframe(1), "resume")
        return None

    def _throw(self, code: CodeType, _: int, __: BaseException) -> None:
        if self._is_user(code):
            self._collector.enter(sys._getframe(1), "resume")

    def _line(self, code: CodeType, line: int) -> Any:
        if not self._is_user(code):
            return self._api.DISABLE
        self._collector.line(sys._getframe(1), line)
        return None

    def _leave(self, code: CodeType, _: int, value: object) -> Any:
        if not self._is_user(code):
            return self._api.DISABLE
        self._collector.leave(sys._getframe(1), value)
        return None

    def _unwind(self, code: CodeType, _: int, raised: BaseException) -> None:
        if self._is_user(code):
            self._collector.leave(sys._getframe(1), raised)
