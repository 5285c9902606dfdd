"""What is said while work goes on, on standard error: nothing in a pipe.

Rich draws it and is imported on a terminal alone. It draws when it is told something, not from a thread: the commands
that show progress start processes.

Invariant: nothing of it is left on the screen.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

from twice.foundation.with_blocks import Closing

_COLOURS = {"PASS": "32", "FAIL": "31", "UNKNOWN": "33", "PARTIAL": "33", "BLOCKED": "33"}


def has_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal that shows colours, and nobody asked for none."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def colour_verdict(line: str) -> str:
    """Give a line whose first word is a verdict the verdict's colour, where standard output has some."""
    word = line.partition(":")[0].partition(" ")[0]
    if word not in _COLOURS or not has_colour(sys.stdout):
        return line
    return f"\033[1;{_COLOURS[word]}m{word}\033[0m{line[len(word) :]}"


class Status(Closing):
    """What is being done, in place of what was said before."""

    def __init__(self) -> None:
        self._shown = ""
        self._on = sys.stderr.isatty()

    def __call__(self, what: str) -> None:
        """Say it."""
        if self._on:
            self.close()
            self._shown = f"{what} ..."[: _columns() - 1]
            sys.stderr.write(self._shown)
            sys.stderr.flush()

    def close(self) -> None:
        """Leave nothing of it on the screen."""
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            sys.stderr.flush()
            self._shown = ""


class Progress(Closing):
    """How far work is, and how long it will still take.

    Args:
        what: is done, one word.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._on = sys.stderr.isatty()
        self._bar: Any = None

    def __call__(self, done: int, of: int) -> None:
        """Show how far the work is."""
        if not self._on:
            return
        if self._bar is None:
            self._bar = self._start()
            self._task = self._bar.add_task(self._what, total=of)
        self._bar.update(self._task, completed=done, total=of, refresh=True)

    def _start(self) -> Any:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(stderr=True, legacy_windows=False),
            auto_refresh=False,
            transient=True,
        )
        bar.start()
        return bar

    def close(self) -> None:
        """Leave nothing of it on the screen."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
