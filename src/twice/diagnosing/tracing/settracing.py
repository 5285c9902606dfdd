"""Line events by ``sys.settrace``: Python 3.11, and wherever monitoring is not to be had.

For: all threads that start inside the window, and the frames of the calling thread that stand
already. Threads that were running before the window began are not seen.

Invariant: ``stop`` puts back the trace functions that were set before ``start``.
"""

from __future__ import annotations

import dis
import sys
import threading
from types import FrameType
from typing import Any

from twice.diagnosing.tracing.collecting import GENERATORS, Collector

_RESUME = dis.opmap["RESUME"]


class SetTrace:
    """Feeds a collector from ``sys.settrace``."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._standing: list[tuple[FrameType, Any]] = []
        self._raised = threading.local()
        self._before: tuple[Any, Any] = (None, None)

    def start(self, standing: list[FrameType]) -> None:
        """Begins; ``standing`` are user frames that are on the stack already."""
        self._before = (sys.gettrace(), threading.gettrace())
        self._standing = [(frame, frame.f_trace) for frame in standing]
        for frame in standing:
            frame.f_trace = self._local
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> None:
        """Ends and puts back what was set before."""
        sys.settrace(self._before[0])
        threading.settrace(self._before[1])
        for frame, before in self._standing:
            frame.f_trace = before

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "call" or not self._collector.is_user(frame.f_code):
            return None
        self._collector.enter(frame, "resume" if _goes_on(frame) else "call")
        return self._local

    def _local(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "line":
            self._raised.thrown = None
            self._collector.line(frame, frame.f_lineno)
        elif event == "exception":
            self._raised.thrown = (frame, value[1])
        elif event == "return":
            thrown = getattr(self._raised, "thrown", None)
            if value is None and thrown is not None and thrown[0] is frame:
                value = thrown[1]
            self._raised.thrown = None
            self._collector.leave(frame, value)
        return self._local


def _goes_on(frame: FrameType) -> bool:
    """Whether a frame that reports a call is a generator that is being resumed."""
    if not frame.f_code.co_flags & GENERATORS:
        return False
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at] == _RESUME and code[at + 1] & 3 != 0
