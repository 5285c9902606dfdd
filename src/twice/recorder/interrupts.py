"""Signals: one keystroke is one interrupt, the program's own handlers run, and an ending survives.

A terminal sends SIGINT to the whole process group, and the parent passes on what only it received;
so the process that executes a program may get the same signal twice, the second one while its
record is being closed. SIGTERM and SIGHUP end a recorded program as an interrupt does, so that its
record is closed. Where the first signal from outside struck is kept: the state from there on
depends on a moment that no replay can repeat. What the program sends itself is its own doing.

Rejected: a process group for the program, which would make the guess by time needless. A group must be given the
terminal for its input, and then Ctrl-Z, ``fg`` and an end of the parent are for the parent to pass on as well; without
the terminal the program stops at its first read.

Not covered: handlers set from C, ``sigwait`` and its kin, ``set_wakeup_fd`` without a handler.

Invariant: a program sees one signal for one keystroke, and none once it has ended.
"""

from __future__ import annotations

import os
import signal
import threading
import weakref
from collections.abc import Callable
from time import perf_counter  # The real one: bound before anything is patched.
from types import FrameType
from typing import Any

from twice.recorder.kernel.confinement import current
from twice.worker.exit_by_signal import ENDING

_SAME_KEYSTROKE_S = 1.0
_TWICE_SENT = frozenset({signal.SIGINT, *ENDING})
_left_to_the_parent: list[bool] = []
_Act = Callable[[int, FrameType | None], object]


class Terminated(BaseException):
    """A signal that ends a program arrived."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def _terminate(number: int, frame: FrameType | None) -> None:
    del frame
    raise Terminated(number)


class Orderly:
    """A handler that only asks the program to end where it does so anyway: what comes of it is recorded."""

    def __init__(self, asked: Callable[[], object]) -> None:
        self._asked = asked

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Ask it."""
        del number, frame
        self._asked()


class Interrupts:
    """Takes over the signals that Python and the system handle by default; wraps other handlers.

    Args:
        position: how many compare-points were taken so far.

    Attributes:
        first_at: the position at which the first signal from outside came, or None.
    """

    def __init__(self, position: Callable[[], int]) -> None:
        self.first_at: int | None = None
        self._position = position
        self._last_s: dict[int, float] = {}  # by number: when it came last
        self._ended = False
        self._own: list[int] = []  # signals that the program is sending itself
        self._held_back: set[int] = set()  # of these, those that it blocks, and lets through later
        self._set: set[int] = set()  # those whose handler the program has set
        self._ends: tuple[signal.Signals, ...] = ()
        self._terminate = self._wrap(signal.SIG_DFL, _terminate)
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        self._real_get, self._real_set = signal.getsignal, signal.signal

    def install(self, *, ends: bool = False) -> None:
        """Handle signals from here on, up to ``remove``.

        Args:
            ends: whether SIGTERM and SIGHUP end the program and not the process.
        """
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._wrap(signal.default_int_handler))
        if ends:
            self._ends = tuple(n for n in ENDING if signal.getsignal(n) is signal.SIG_DFL)
        for number in self._ends:
            signal.signal(number, self._terminate)
        if self._ends:
            self._hold_while_forking()
        real_raise, real_kill = signal.raise_signal, os.kill

        def set_handler(signalnum: int, handler: Any) -> Any:
            ours = self._wrap(handler) if callable(handler) else handler
            if handler == signal.SIG_DFL and signalnum in self._ends:
                ours = self._terminate
            before = self._find_shown(signalnum, self._real_set(signalnum, ours))
            self._set.add(signalnum)
            return before

        def getsignal(signalnum: int) -> Any:
            return self._find_shown(signalnum, self._real_get(signalnum))

        def raise_signal(signum: int, /) -> None:
            self._send_itself(signum, lambda: real_raise(signum))

        def kill(pid: int, number: int, /) -> None:
            if pid == os.getpid():
                self._send_itself(number, lambda: real_kill(pid, number))
            else:
                real_kill(pid, number)

        self._replace(signal, "signal", set_handler)
        self._replace(signal, "getsignal", getsignal)
        self._replace(signal, "raise_signal", raise_signal)
        self._replace(os, "kill", kill)

    def end(self) -> None:
        """Note that the program is over: a signal from now on would only damage its ending."""
        self._ended = True

    def remove(self) -> None:
        """Remove the replacements; the handlers stay, and do nothing any more."""
        while self._replaced:
            holder, name, replacement, original = self._replaced.pop()
            if getattr(holder, name) is replacement:  # else the program has put its own there
                setattr(holder, name, original)

    def _replace(self, holder: Any, name: str, replacement: Any) -> None:
        self._replaced.append((holder, name, replacement, getattr(holder, name)))
        setattr(holder, name, replacement)

    def _counts(self, number: int, *, is_orderly: bool = False) -> bool:
        """Return whether a signal is new, and not the same keystroke again; note where the first one came."""
        if number in self._own:
            return True
        if number in self._held_back:
            self._held_back.discard(number)
            return True
        now = perf_counter()
        is_new = now - self._last_s.get(number, float("-inf")) >= _SAME_KEYSTROKE_S
        self._last_s[number] = now
        if self._ended or (number in _TWICE_SENT and not is_new):
            return False
        if number == signal.SIGCHLD and current().covers_processes and not current().has_served:
            return True  # a process of the run ended, as it will in a replay
        if self.first_at is None and not is_orderly:
            self.first_at = self._position()
        return True

    def _wrap(self, shown: Any, act: _Act | None = None) -> _Act:
        """Return a handler that acts on signals that count; the program sees another one in its place."""

        def handle(number: int, frame: FrameType | None) -> None:
            if self._counts(number, is_orderly=isinstance(shown, Orderly)):
                (act or shown)(number, frame)

        handle.shown = shown  # type: ignore[attr-defined]
        return handle

    def _hold_while_forking(self) -> None:
        """Let a signal that ends programs wait while a child is forked, and end the child by it afterwards."""
        # Python forgets signals that come in between. It also has no way to take a hook back: this one must
        # not keep a session alive.
        own = weakref.ref(self)
        masks: dict[int, set[int]] = {}

        def hold() -> None:
            masks[threading.get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)

        def release() -> None:
            mask = masks.pop(threading.get_ident(), None)
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)

        def release_child() -> None:
            if (inherited := own()) is not None:
                inherited._leave_to_child()
            release()

        os.register_at_fork(before=hold, after_in_parent=release, after_in_child=release_child)

    def _leave_to_child(self) -> None:
        """Restore default signals in a forked child: it has no record to close.

        A handler in the child would not do: Python runs one when it comes back from C, and a signal that
        strikes right before it waits there is not seen until the waiting is over.
        """
        for number in self._ends:
            if self._real_get(number) is self._terminate:
                self._real_set(number, signal.SIG_DFL)
        self._ends = ()

    def _find_shown(self, number: int, handler: Any) -> Any:
        """Return a handler as the program may see it."""
        is_left = (
            handler is signal.SIG_IGN and number not in self._set and bool(_left_to_the_parent)
        )
        if number == signal.SIGINT and is_left:
            return signal.default_int_handler
        return getattr(handler, "shown", handler)

    def _send_itself(self, number: int, send: Callable[[], object]) -> None:
        """Send a signal to this very process: its handler runs before this returns."""
        if threading.current_thread() is threading.main_thread():
            # A process that replays ignores SIGINT, and dies by SIGTERM, since its parent ends it. What the
            # program sends itself means there what it meant when it was recorded.
            stands = self._real_get(number)
            if number in ENDING and stands is signal.SIG_DFL:
                raise Terminated(number)
            shown = self._find_shown(number, stands)
            if stands is signal.SIG_IGN and shown is signal.default_int_handler:
                raise KeyboardInterrupt
        if number in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
            self._held_back.add(number)
        self._own.append(number)
        try:
            send()
        finally:
            self._own.remove(number)


def ignore() -> None:
    """Leave interrupts to the parent, which ends this process on a stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _left_to_the_parent.append(True)
