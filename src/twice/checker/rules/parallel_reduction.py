"""Threads add up parts of a sum, and the number of threads decides which parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.switches import is_true
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "parallel-reduction"


def look(site: Site) -> Iterator[Violation]:
    """Look at a loop."""
    loop = site.node
    assert isinstance(loop, ast.For), "asked for"
    if not isinstance(loop.iter, ast.Call) or "numba" not in site.module.imported:
        return
    if site.qualified(loop.iter.func) not in {"numba.prange", "numba.misc.special.prange"}:
        return
    if not _is_parallel(site):
        return
    for each in loop.body:
        name = _reduced(each)
        if name is not None:
            yield site.found(
                NAME,
                f"{name} is summed by threads, each its own share.",
                "The number of threads decides which terms are added first.",
                node=each,
            )


def _is_parallel(site: Site) -> bool:
    method = site.scope.node
    if not isinstance(method, ast.FunctionDef):
        return False
    for each in method.decorator_list:
        if isinstance(each, ast.Call) and site.catalogue.has(
            "compiling", site.module.names.qualified(each.func, site.module.survey.root)
        ):
            return any(one.arg == "parallel" and is_true(one.value) for one in each.keywords)
    return False


def _reduced(statement: ast.stmt) -> str | None:
    """Return the name that a statement adds to."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        plain = isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, int)
        return None if plain else statement.target.id
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        target = statement.targets[0]
        left = statement.value.left
        if isinstance(target, ast.Name) and isinstance(left, ast.Name) and left.id == target.id:
            return target.id
    return None


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.FLOATING_POINT,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Sum in one thread, or into one cell for each of a fixed number of chunks, added in order.",
        __doc__ or "",
    ),
    nodes=(ast.For,),
    look=look,
    applies=mentions("prange"),
)
