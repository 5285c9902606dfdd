"""Traces one window of a running program: start, stop, and the trace in between.

For: the process that executes the program. ``start`` is called where a compare-point agrees and
``stop`` where the next one is taken, both from the same place in the engine, so that both see the
user's frames that stand there.

Not for: choosing what to trace (``localization``) or running the program (the session does).

Invariant: after ``stop`` the interpreter's hooks are as they were before ``start``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from twice.diagnosis.tracing.collector import Collector, UserCode, do_nothing
from twice.diagnosis.tracing.event_sources import Monitoring, SetTrace
from twice.diagnosis.tracing.flow_collector import FlowCollector
from twice.diagnosis.tracing.sample_collector import SampleCollector
from twice.diagnosis.tracing.trace import FlowPlan, Plan, SamplePlan, Trace


class Tracer:
    """Collects what a plan asks for between ``start`` and ``stop``. Make and start it in one thread.

    Args:
        plan: a ``FlowPlan`` or a ``SamplePlan``.
        is_user_code: whether a source file belongs to the user; asked once per file.
        roots: the reachable state by name, asked at each sampled event. Components and streams by
            their names, a global of a user's module as ``module:name``.
        positions: digest of all stream positions, asked at every event of a flow; ``bytes`` when that
            is not cheap.
        own_modules: the user's modules, whose class attributes are state, asked at each sampled event.
        drawn: parts of the names of temporary files, and what stands for each in a digest; asked likewise.
        on_done: called in the event after which no sample is wanted; it need not return.
        on_first: called before the first sample is taken; returns what is sampled from there on instead, and
            whether to call it again before the first of those.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        is_user_code: Callable[[str], bool],
        roots: Callable[[], Mapping[str, object]],
        positions: Callable[[], bytes],
        own_modules: Callable[[], tuple[str, ...]] = tuple,
        drawn: Callable[[], Mapping[str, str]] = dict,
        on_done: Callable[[], None] = do_nothing,
        on_first: Callable[[], tuple[SamplePlan, bool]] | None = None,
    ) -> None:
        user = UserCode(is_user_code)
        self._collector: Collector[Any]
        if isinstance(plan, FlowPlan):
            self._collector = FlowCollector(plan, user, positions)
        else:
            sampled = SampleCollector(plan, user, roots, positions, own_modules, drawn)
            sampled.on_done = on_done
            if on_first is not None:
                sampled.ask_before_first(on_first)
            self._collector = sampled
        make: Any = Monitoring if sys.version_info >= (3, 12) else SetTrace
        self._source: SetTrace = make(self._collector)

    def start(self) -> None:
        """Begins the window. The caller's frames are skipped unless they are user code.

        Raises:
            TraceRefused: E-TRACE-001, another tool holds the interpreter's hooks.
        """
        standing = self._collector.begin(sys._getframe(1))
        self._source.start(standing)

    def trace(self) -> Trace:
        """Return the data collected so far."""
        return self._collector.trace()

    def seconds(self) -> list[tuple[str, int, float]]:
        """When each sample was taken, by lane and index: seconds after the begin, or after ``on_first``."""
        held = self._collector
        if not isinstance(held, SampleCollector):
            return []
        return [(lane, index, after) for (lane, index), after in held.seconds.items()]

    def stop(self) -> Trace:
        """Stop tracing and return the collected data."""
        self._source.stop()
        self._collector.end(sys._getframe(1))
        return self._collector.trace()
