"""What a tool's source shows that has no place in one: rules about tools, on the syntax tree alone.

Rules about programs at large (iteration over sets, clocks, global generators, listings) are the
checker's, which whoever calls verification hands in. These are the ones that only tools have.

Invariant: nothing is executed, and a source that cannot be parsed shows nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from twice.tools.verification.describing import Described
from twice.tools.verification.result import Suspicion

_CONTEXT: Final = frozenset(
    {"active_object", "selected_objects", "selected_ids", "view_layer", "active", "mode_set"}
)
_NOW: Final = frozenset({"now", "today"})


def read_source(path: Path) -> str | None:
    """Read the text of a tool's file; return None if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def suspicions_in(tool: Described, text: str) -> list[Suspicion]:
    """Places in a tool's function that rules about tools find."""
    assert tool.source is not None, "a tool without a source has nothing to be read"
    path, first, last = tool.source
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        Suspicion(rule, f"{Path(path).name}:{line}", message)
        for node in ast.walk(tree)
        if first <= getattr(node, "lineno", 0) <= last
        for rule, line, message in _found(node)
    ]


def _found(node: ast.AST) -> Iterator[tuple[str, int, str]]:
    if isinstance(node, ast.Global | ast.Nonlocal):
        names = ", ".join(node.names)
        yield "state-outside", node.lineno, f"{names} outlives the call and is in no state"
    elif isinstance(node, ast.While) and _asks_for_a_name(node.test):
        yield "counter-name", node.lineno, "a name is counted up until it is free"
    elif isinstance(node, ast.Attribute) and node.attr in _CONTEXT and _is_context(node.value):
        yield "context-use", node.lineno, f"{node.attr} is what a person selected"
    elif isinstance(node, ast.Call) and _reads_c_clock(node):
        yield "clock", node.lineno, "datetime64 reads the clock"


def _asks_for_a_name(test: ast.expr) -> bool:
    calls = (node for node in ast.walk(test) if isinstance(node, ast.Call))
    return any(isinstance(each.func, ast.Attribute) and each.func.attr == "holds" for each in calls)


def _is_context(value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and value.attr in ("context", "view_layer", "objects")


def _reads_c_clock(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = call.args[0] if call.args else None
    return name == "datetime64" and isinstance(given, ast.Constant) and given.value in _NOW
