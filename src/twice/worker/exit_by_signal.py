"""Turn a signal that ends a command into an exit, so that its cleanup runs.

Invariant: a handler that is already set, or an ignored signal (``nohup``), stays as it is.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Final, NoReturn

ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
"""Signals by which others ask a process to end."""
PASSED_ON: Final = (*ENDING, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that a command passes on to its worker."""
KEEPER_PASSED_ON: Final = (*PASSED_ON, signal.SIGINT, signal.SIGQUIT)
"""Signals that a keeper passes on to its program. A command handles an interrupt by itself."""


def exit_by_signals() -> None:
    """Let SIGTERM and SIGHUP end this process by ``SystemExit``: folders removed, children ended."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _exit)


def would_end(number: int) -> bool:
    """Return whether a signal would end this process, because the program has set no handler."""
    return signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, _exit)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    raise SystemExit(128 + number)
