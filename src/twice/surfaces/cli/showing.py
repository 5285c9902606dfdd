"""How commands print: JSON or text on standard output, progress on a terminal only.

Invariant: what ``--json`` prints is one document and nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence

from twice.foundation.with_blocks import Closing

_BAR_WIDTH = 30


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``, the same for every command."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document, in ASCII: any terminal, pipe and half of a surrogate can take it."""
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


def aligned(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> list[str]:
    """Rows as lines whose columns stand below each other; the last column is not padded."""
    columns = max(map(len, rows), default=0)
    widths = [
        max((len(row[at]) for row in rows if at < len(row)), default=0) for at in range(columns)
    ]
    return [
        (indent + "  ".join(f"{cell:<{widths[at]}}" for at, cell in enumerate(row))).rstrip()
        for row in rows
    ]


class Doing(Closing):
    """What is being done, on standard error; silent in a pipe."""

    def __init__(self) -> None:
        self._shown = ""
        self._on = sys.stderr.isatty()

    def __call__(self, what: str) -> None:
        """Say it, in place of what was said before."""
        if self._on:
            self.close()
            self._shown = f"{what} ..."
            sys.stderr.write(self._shown)
            sys.stderr.flush()

    def close(self) -> None:
        """Leave nothing of it on the screen."""
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            sys.stderr.flush()
            self._shown = ""


class Progress(Closing):
    """A line on standard error that grows while work goes on; silent in a pipe."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = ""
        self._on = sys.stderr.isatty()

    def __call__(self, done: int, of: int) -> None:
        """Show how far the work is."""
        if not self._on:
            return
        filled = _BAR_WIDTH * done // max(of, 1)
        text = f"\r{self._what} [{'=' * filled}{' ' * (_BAR_WIDTH - filled)}] {done}/{of}"
        if text != self._shown:
            self._shown = text
            sys.stderr.write(text)
            sys.stderr.flush()

    def close(self) -> None:
        """Leave nothing of it on the screen."""
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            sys.stderr.flush()
