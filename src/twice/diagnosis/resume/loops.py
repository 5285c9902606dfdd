"""The loop of the user's code in which a checkpoint is written: each of its rounds is a moment.

A run that was resumed enters the same loop in its middle. Where the first statement of its body is executed, a trace
function can read the variables of the function, and put others in their place.

Not for: loops within a library; its own moments are told by the integrations.

Invariant: only the loop's own function is traced line by line.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from twice.foundation.dataclass import dataclass
from twice.foundation.source_files import is_user_file

ROUND: Final = "round"
"""Begins the kinds of these moments."""
Told = Callable[[str, FrameType], object]
"""Takes the kind of a round, and the frame of the loop's function."""


@dataclass(frozen=True)
class Loop:
    """The first statement of a loop's body: a file relative to the program's folder where it is below it, function and line."""

    file: str
    function: str
    line: int

    @property
    def kind(self) -> str:
        """The kind of the moments that its rounds are."""
        return f"{ROUND} {self.file}:{self.line}"


def find_loop(frame: FrameType | None, folder: Path) -> Loop | None:
    """Return the innermost loop of the user's code that is being executed; None where there is none."""
    while frame is not None:
        code = frame.f_code
        if is_user_file(code.co_filename):
            line = _find_body(code.co_filename, frame.f_lineno, code.co_firstlineno)
            if line and any(each == line for _, _, each in code.co_lines()):
                return Loop(_name_file(code, folder), code.co_qualname, line)
        frame = frame.f_back
    return None


class LoopWatch:
    """Tells of each round of some loops, on the thread that starts it."""

    def __init__(self, folder: Path, told: Told) -> None:
        self._folder, self._told = folder, told
        self._loops: set[Loop] = set()
        self._functions: set[str] = set()

    def start(self, loop: Loop, frame: FrameType | None = None) -> None:
        """Begin to watch a loop, also in the callers of ``frame`` that are executing it."""
        if loop in self._loops:
            return
        self._loops.add(loop)
        self._functions.add(loop.function)
        sys.settrace(self._trace)
        while frame is not None:
            if frame.f_code.co_qualname == loop.function:
                frame.f_trace = self._trace_line
            frame = frame.f_back

    def stop(self) -> None:
        """Watch no longer."""
        self._loops.clear()
        sys.settrace(None)

    def _trace(self, frame: FrameType, _event: str, _argument: object) -> Any:
        # Every call of the program comes here.
        return self._trace_line if frame.f_code.co_qualname in self._functions else None

    def _trace_line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            code = frame.f_code
            loop = Loop(_name_file(code, self._folder), code.co_qualname, frame.f_lineno)
            if loop in self._loops:
                self._told(loop.kind, frame)
        return self._trace_line


def _name_file(code: CodeType, folder: Path) -> str:
    return code.co_filename.removeprefix(f"{folder}/")


@cache
def _find_body(path: str, line: int, first: int) -> int:
    """Return the line of the first statement in the innermost loop around a line; 0 where none is in its function."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return 0
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.For | ast.While | ast.AsyncFor)
        and node.body[0].lineno <= line <= (node.end_lineno or 0)
        and node.lineno >= first
    ]
    return max(node.body[0].lineno for node in around) if around else 0
