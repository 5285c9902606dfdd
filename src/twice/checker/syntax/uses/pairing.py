"""Whether elements are paired by their place with numbers or with others: ``enumerate``, ``zip``.

What is paired with itself, or with what one loop filled beside it, stays together in any order.

Invariant: a pairing that is not understood is one by chance.
"""

from __future__ import annotations

import ast

from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.following import At, Reading
from twice.checker.syntax.uses.loads import spelled

_ZIPS = {"builtins.zip", "itertools.zip_longest"}
_LISTS = {"builtins.list", "builtins.tuple"}


def numbered(reading: Reading, node: ast.AST, scope: Scope) -> bool:
    """Say whether elements are paired by their place with numbers or with others."""
    call = _bare(reading, node, scope)
    if not isinstance(call, ast.Call):
        return False
    called = reading.names.qualified(call.func, scope)
    if called == "builtins.enumerate":
        return True
    return called in _ZIPS and len(call.args) > 1 and not is_with_itself(reading, call, scope)


def is_with_itself(reading: Reading, node: ast.AST, scope: Scope) -> bool:
    """Say whether it is ``zip(s, map(f, s))``: each element with something of its own."""
    call = _bare(reading, node, scope)
    if not isinstance(call, ast.Call) or reading.names.qualified(call.func, scope) not in _ZIPS:
        return False
    sources = set()
    for each in call.args:
        source = _bare(reading, each, scope)
        if isinstance(source, ast.Call):
            if reading.names.qualified(source.func, scope) == "builtins.map" and source.args[1:]:
                source = source.args[1]
            elif isinstance(source.func, ast.Attribute) and source.func.attr in {"keys", "values"}:
                source = source.func.value
        sources.add(spelled(source))
    return len(sources) == 1


def in_step(reading: Reading, at: At) -> bool:
    """Say whether all that is paired was filled by one loop, side by side: partners stay partners."""
    puts = [each for each in at.way if isinstance(each, ast.Call)]
    call = at.node
    if not puts or not isinstance(call, ast.Call):
        return False
    parents, survey = reading.survey.parents, reading.survey
    block = parents.get(survey.statement(puts[-1]))
    filled = {
        each.func.value.id
        for each in (() if block is None else ast.walk(block))
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == "append"
        and isinstance(each.func.value, ast.Name)
        and parents.get(survey.statement(each)) is block
    }
    return all(isinstance(each, ast.Name) and each.id in filled for each in call.args)


def _bare(reading: Reading, node: ast.AST, scope: Scope) -> ast.AST:
    """Unwrap ``list(…)``."""
    while (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and reading.names.qualified(node.func, scope) in _LISTS
    ):
        node = node.args[0]
    return node
