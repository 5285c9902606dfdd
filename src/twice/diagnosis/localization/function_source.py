"""Which lines a function has, which functions it calls, and what stands under a condition or in a loop.

Not for: what a single statement does (``source_facts``).

Invariant: source is parsed, never imported or executed.
"""

from __future__ import annotations

import ast

from twice.diagnosis.localization.source_facts import parse_file, read_dotted


def function_lines(file: str, first: int) -> range:
    """Lines of the function that begins at a line, decorators included; empty when there is none."""
    module = parse_file(file)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if start == first:
                return range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    return range(0)


def lines_called(file: str, first: int) -> list[int]:
    """Lines of what the function at a line calls: methods of its class and functions of its module."""
    module = parse_file(file)
    if module is None:
        return []
    lines = function_lines(file, first)
    around: list[ast.AST] = [module, *(node for node in module.body if _holds(node, first))]
    named = {
        node.name: node
        for scope in around
        for node in ast.iter_child_nodes(scope)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    called = {
        name.rpartition(".")[2]
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and node.lineno in lines
        if (name := read_dotted(node.func)) is not None
        and name.count(".") <= name.startswith("self.")
    }
    inside = [node for name, node in named.items() if name in called and node.lineno not in lines]
    return [line for node in inside for line in range(node.lineno, (node.end_lineno or 0) + 1)]


def is_under(file: str, condition: int, line: int) -> bool:
    """Whether a line stands in the body of the ``if`` that begins at another, ``else`` included."""
    module = parse_file(file)
    return any(
        node.body[0].lineno <= line <= (node.end_lineno or 0)
        for node in (ast.walk(module) if module is not None else ())
        if isinstance(node, ast.If) and node.lineno == condition
    )


def share_loop(file: str, one: int, other: int) -> bool:
    """Whether two lines stand in the body of the same loop."""
    module = parse_file(file)
    return any(
        node.body[0].lineno <= min(one, other) and max(one, other) <= (node.end_lineno or 0)
        for node in (ast.walk(module) if module is not None else ())
        if isinstance(node, ast.For | ast.AsyncFor | ast.While)
    )


def _holds(node: ast.stmt, line: int) -> bool:
    return isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
