"""Time limits: a call that takes too long is interrupted where Python can be.

On the main thread a timer's signal interrupts the tool between two instructions of Python. On other
threads nobody can: there the limit is looked at whenever the tool uses its context, and once more
when it returns. C code that does not come back is interrupted by neither; whoever must be sure runs
the session in a process that can be killed.

Invariant: a timer that somebody else had set goes on after the call, less the time that it took.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from twice.recorder.effects import ops
from twice.recorder.effects.clock import REAL
from twice.tools.enforcement.watch import is_twice_at_work

_AGAIN_S: Final = 0.001


class OutOfTime(BaseException):
    """The time of a call is over; no ``except Exception`` of a tool holds it up."""


def now_s() -> float:
    """Return seconds on the real clock, whether or not a run governs the program's."""
    return float(REAL[ops.MONOTONIC]())  # type: ignore[arg-type]


class Deadline:
    """The moment at which a call's time is over.

    Args:
        seconds: from now; None for never.
        outer: the deadline of the call that this is a part of; the earlier one counts.
    """

    def __init__(self, seconds: float | None, outer: Deadline | None = None) -> None:
        ends = [] if seconds is None else [now_s() + seconds]
        if outer is not None and outer.ends_s is not None:
            ends.append(outer.ends_s)
        self.ends_s: float | None = min(ends, default=None)

    def left_s(self) -> float | None:
        """Return the seconds until then, 0 when it has passed; None for never."""
        return None if self.ends_s is None else max(self.ends_s - now_s(), 0.0)

    def check(self) -> None:
        """Raise ``OutOfTime`` when it has passed."""
        if self.ends_s is not None and now_s() >= self.ends_s:
            raise OutOfTime

    @contextmanager
    def interrupt(self) -> Iterator[None]:
        """Interrupt what runs inside by ``OutOfTime`` when the time is over, as far as this thread can be."""
        if self.ends_s is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        armed = True

        def ring(number: int, frame: FrameType | None) -> None:
            del number
            # Twice is not interrupted, for it may be putting a watch up or down: the timer rings again until it is done.
            if armed and is_twice_at_work(frame):
                signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
            elif armed:
                raise OutOfTime

        began_s = now_s()
        handler: Any = signal.signal(signal.SIGALRM, ring)
        waiting_s, interval_s = signal.setitimer(
            signal.ITIMER_REAL, max(self.ends_s - began_s, 1e-6)
        )
        try:
            yield
        finally:
            armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)
            if waiting_s:
                left_s = max(waiting_s - (now_s() - began_s), 1e-6)
                signal.setitimer(signal.ITIMER_REAL, left_s, interval_s)
