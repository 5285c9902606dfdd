"""The time that a diagnosis may take: when it is over, executions end, and what was found by then is told.

Invariant: nothing is started after the end, and whoever waits for an execution is woken.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from twice.errors import TimeLimitReached
from twice.foundation.with_blocks import Closing


class TimeLimit(Closing):
    """Begins to count when it is made; a context manager.

    Args:
        seconds: how long, or None for no limit.
        on_end: called on a thread of its own when the time is over.
    """

    def __init__(self, seconds: float | None, on_end: Callable[[], object]) -> None:
        self._seconds, self._on_end, self._is_over = seconds, on_end, False
        self._timer = None if seconds is None else threading.Timer(seconds, self._end)
        if self._timer is not None:
            self._timer.daemon = True  # a diagnosis that ended early does not wait for it
            self._timer.start()

    def check(self) -> None:
        """Do nothing while there is time.

        Raises:
            TimeLimitReached: E-DIAGNOSE-001, when there is none left.
        """
        if self._is_over:
            raise TimeLimitReached(
                f"The time limit of {self._seconds:g} s was reached before the line was found.",
                "What is told was found by then.",
                "Give it more: --time-limit, or trace a shorter part: record with more compare-points.",
            )

    def close(self) -> None:
        """Count no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self._is_over = True
        self._on_end()
