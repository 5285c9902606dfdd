"""Traces one window of a running program: start, stop, and the trace in between.

For: the process that executes the program. ``start`` is called where a compare-point agrees and
``stop`` where the next one is taken, both from the same place in the engine, so that both see the
user's frames that stand there.

Not for: choosing what to trace (``locating``) or running the program (the session does).

Invariant: after ``stop`` the interpreter's hooks are as they were before ``start``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from twice.diagnosing.tracing.collecting import Collector
from twice.diagnosing.tracing.settracing import SetTrace
from twice.diagnosing.tracing.trace import Plan, Trace


class Tracer:
    """Collects what a plan asks for between ``start`` and ``stop``.

    Args:
        plan: a ``FlowPlan`` or a ``SamplePlan``.
        is_user_code: whether a source file belongs to the user; asked once per code object.
        roots: the reachable state by name, asked at each sampled event. Components and streams by
            their names, a global of a user's module as ``module:name``.
        positions: digest of all stream positions, asked at every event of a flow; ``bytes`` when that
            is not cheap.
        own_modules: the user's modules, whose class attributes are state.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        is_user_code: Callable[[str], bool],
        roots: Callable[[], Mapping[str, object]],
        positions: Callable[[], bytes],
        own_modules: tuple[str, ...] = (),
    ) -> None:
        self._collector = Collector(plan, is_user_code, roots, positions, own_modules)
        self._source = _event_source(self._collector)

    def start(self) -> None:
        """Begins the window. The caller's frames are skipped unless they are user code.

        Raises:
            TraceRefused: E-TRACE-001, another tool holds the interpreter's hooks.
        """
        standing = self._collector.begin(sys._getframe(1))
        self._source.start(standing)

    def stop(self) -> Trace:
        """Ends the window and returns what was collected."""
        self._source.stop()
        self._collector.end(sys._getframe(1))
        return self._collector.trace()


def _event_source(collector: Collector) -> SetTrace:
    if sys.version_info >= (3, 12):
        from twice.diagnosing.tracing.monitoring import Monitoring

        return Monitoring(collector)  # type: ignore[return-value,unused-ignore]
    return SetTrace(collector)
