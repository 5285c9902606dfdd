"""Which lines a function has, which functions it calls, and what stands under a condition, in a loop or in a ``with``.

Not for: what a single statement does (``source_facts``).

Invariant: source is parsed, never imported or executed.
"""

from __future__ import annotations

import ast
from itertools import pairwise

from twice.diagnosis.localization.source_facts import parse_file, read_dotted

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_STATES = frozenset({"seed", "manual_seed", "setstate", "set_state"})


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


def is_coroutine(file: str, function: str) -> bool:
    """Whether a function of a file, by its qualified name, is an ``async def``."""
    module, name = parse_file(file), function.rpartition(".")[2]
    return any(
        isinstance(node, ast.AsyncFunctionDef) and node.name == name
        for node in (ast.walk(module) if module is not None else ())
    )


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


def find_line_that_fills(file: str, line: int) -> int:
    """Line of the one statement in a ``with`` block that uses what the block opened; 0 where several do, or none.

    What is written reaches the file when the block closes it.
    """
    module = parse_file(file)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.With | ast.AsyncWith) and node.lineno == line:
            opened = {
                item.optional_vars.id
                for item in node.items
                if isinstance(item.optional_vars, ast.Name)
            }
            using = [
                each.lineno
                for each in ast.walk(node)
                if isinstance(each, ast.Expr)
                and any(isinstance(one, ast.Name) and one.id in opened for one in ast.walk(each))
            ]
            return using[0] if len(using) == 1 else 0
    return 0


def find_iterated_line(file: str, line: int) -> int:
    """Line of what the one comprehension of a statement iterates first; 0 where there are several, or none."""
    module = parse_file(file)
    lines = [
        node.generators[0].iter.lineno
        for statement in (ast.walk(module) if module is not None else ())
        if isinstance(statement, _SIMPLE) and statement.lineno == line
        for node in ast.walk(statement)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
    ]
    return lines[0] if len(lines) == 1 else 0


def find_reseeding_line(file: str, line: int) -> int:
    """Line of the statement behind an assignment that seeds what it made, or gives it a state; 0 without such."""
    module = parse_file(file)
    for node in ast.walk(module) if module is not None else ():
        body = getattr(node, "body", None)
        for one, following in pairwise(body) if isinstance(body, list) else ():
            if one.lineno != line or not isinstance(one, ast.Assign):
                continue
            call = following.value if isinstance(following, ast.Expr) else None
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            targets = {read_dotted(each) for each in one.targets}
            if call.func.attr in _STATES and read_dotted(call.func.value) in targets:
                return int(following.lineno)
    return 0


def _holds(node: ast.stmt, line: int) -> bool:
    return isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
