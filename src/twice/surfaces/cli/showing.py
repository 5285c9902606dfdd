"""How commands print: JSON or text on standard output, progress on a terminal only.

Invariant: what ``--json`` prints is one document and nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Self

_BAR_WIDTH = 30


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``, the same for every command."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document."""
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


class Progress:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            sys.stderr.flush()
