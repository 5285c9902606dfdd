"""Reads of the world that raise no event and leave no trace, found where they are written.

``numpy.datetime64("now")`` reads the clock in C, through a type that cannot be replaced. So the user's own
source is searched for it, once, when a run ends.

What it misses: the same call with a text that is put together, and in packages that are installed.

Invariant: no source is executed or imported for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

_NAME = "datetime64"
_NOW = frozenset({"now", "today"})


def numpy_clocks(paths: Iterable[Path]) -> Iterator[str]:
    """Yield ``file:line`` of every ``datetime64("now")`` and ``datetime64("today")`` in some files."""
    for path in paths:
        try:
            source = path.read_bytes()
            if _NAME.encode() not in source:
                continue
            tree = ast.parse(source)
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _named(node.func) == _NAME and _asks(node):
                yield f"{path}:{node.lineno}"


def _named(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _asks(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value in _NOW
