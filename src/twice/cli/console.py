"""Colours, and the state of long work on standard error: on a terminal only, never in a pipe.

A line is drawn when there is news, not from a thread: the commands that show progress start processes.

Invariant: nothing of it stays on the screen.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from twice.foundation.printable import printable
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
        self._shown, self._columns = "", 80
        self._on = sys.stderr.isatty()

    def __call__(self, what: str) -> None:
        """Say it."""
        if self._on:
            self.close()
            with suppress(OSError):
                self._columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            self._shown = f"{printable(what)} ..."[: self._columns - 1]
            sys.stderr.write(self._shown)
            sys.stderr.flush()

    def close(self) -> None:
        """Leave nothing of it on the screen."""
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            sys.stderr.flush()
            self._shown = ""


@contextmanager
def show_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far work is, and how long it will still take."""
    began_s = time.monotonic()

    def show(done: int, of: int) -> None:
        left_s = (time.monotonic() - began_s) * (of - done) / max(done, 1)
        status(f"{what} {done:,} of {of:,}, {left_s:,.0f} s left")

    with Status() as status:
        yield show
