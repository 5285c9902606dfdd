"""What a tool's source shows that has no place in one: rules about tools, on the syntax tree alone.

Rules about programs at large (iteration over sets, clocks, global generators, listings) are the checker's, which
whoever calls verification hands in. These are the ones that only tools have.

Invariant: nothing is executed, and a source that cannot be parsed shows nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from twice.tools.verification.report import StaticReading, Suspicion, ToolDescription

_CONTEXT: Final = frozenset(
    {"active_object", "selected_objects", "selected_ids", "view_layer", "active", "mode_set"}
)
_OWNERS: Final = frozenset({"context", "view_layer", "objects"})

Checker = Callable[[str, int, int], Sequence[Suspicion]]
"""Finds suspicious places in a file: its path, and the first and last line that count."""


def read_source(tool: ToolDescription, checker: Checker | None) -> StaticReading:
    """Read the source of a tool by the rules about tools and by those of a checker."""
    if tool.source is None or checker is None:
        return StaticReading(False, ())
    path, first, last = tool.source
    try:
        nodes = [*ast.walk(ast.parse(Path(path).read_text(encoding="utf-8")))]
    except (OSError, ValueError):
        return StaticReading(False, ())
    except (SyntaxError, RecursionError, MemoryError):
        nodes = []
    own = [
        Suspicion(rule, f"{Path(path).name}:{line}", message)
        for node in nodes
        if first <= getattr(node, "lineno", 0) <= last
        for rule, line, message in _apply_rules(node)
    ]
    return StaticReading(True, (*own, *checker(path, first, last)))


def _apply_rules(node: ast.AST) -> Iterator[tuple[str, int, str]]:
    match node:
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield (
                "state-outside",
                node.lineno,
                f"{', '.join(names)} outlives the call and is in no state",
            )
        case ast.While(test=test) if any(
            isinstance(each, ast.Call) and getattr(each.func, "attr", "") == "holds"
            for each in ast.walk(test)
        ):
            yield "counter-name", node.lineno, "a name is counted up until it is free"
        case ast.Attribute(attr=name, value=ast.Attribute(attr=owner)) if (
            name in _CONTEXT and owner in _OWNERS
        ):
            yield "context-use", node.lineno, f"{name} is what a person selected"
        case ast.Call(
            func=ast.Attribute(attr="datetime64") | ast.Name(id="datetime64"),
            args=[ast.Constant(value="now" | "today"), *_],
        ):
            yield "clock", node.lineno, "datetime64 reads the clock"
