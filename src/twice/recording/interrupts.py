"""Interrupts from the terminal: one keystroke is one KeyboardInterrupt, and an ending survives it.

A terminal sends SIGINT to the whole process group, and the parent passes on what only it received;
so the process that executes a program may get the same interrupt twice, the second one while its
record is being closed. Where the first one struck is kept: the state from there on depends on a
moment that no replay can repeat.

Invariant: a program sees one KeyboardInterrupt for one keystroke, and none once it has ended.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from time import perf_counter  # The real one: bound before anything is patched.
from types import FrameType

_SAME_KEYSTROKE_S = 1.0


class Keystrokes:
    """Tells the second interrupt of one keystroke from the next keystroke."""

    def __init__(self) -> None:
        self._last_s = float("-inf")

    def is_new(self) -> bool:
        """Note an interrupt; whether it is a keystroke of its own."""
        now = perf_counter()
        same, self._last_s = now - self._last_s < _SAME_KEYSTROKE_S, now
        return not same


class Interrupts:
    """Takes SIGINT over from Python's own handler; leaves any other handler alone.

    Args:
        position: how many compare-points were taken so far.

    Attributes:
        first_at: the position at which the first interrupt came, or None.
    """

    def __init__(self, position: Callable[[], int]) -> None:
        self.first_at: int | None = None
        self._position = position
        self._keystrokes = Keystrokes()
        self._ended = False

    def install(self) -> None:
        """Handle SIGINT from here on; restore the old handler with ``signal`` when reused."""
        on_main = threading.current_thread() is threading.main_thread()
        if on_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)

    def end(self) -> None:
        """The program is over: what comes now would only damage its ending."""
        self._ended = True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self._keystrokes.is_new() or self._ended:
            return
        if self.first_at is None:
            self.first_at = self._position()
        raise KeyboardInterrupt


def ignore() -> None:
    """Leave interrupts to the parent, which ends this process when it is told to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
