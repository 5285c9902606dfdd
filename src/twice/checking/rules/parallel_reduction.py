"""Threads add up parts of a sum, and the number of threads decides which parts.

In a numba function with ``parallel=True``, a variable that is added to inside of ``prange`` is reduced by threads:
each sums its share, and the shares are added. Another number of threads cuts other shares, and the sum is rounded
another way.

Bad:
    from numba import njit, prange

    @njit(parallel=True)
    def total(values):
        found = 0.0
        for index in prange(len(values)):
            found += values[index]
        return found

or:
    import numba

    @numba.jit(nopython=True, parallel=True)
    def total(values, weights):
        found = 0.0
        for index in numba.prange(len(values)):
            found = found + values[index] * weights[index]
        return found

Good:
    from numba import njit, prange

    @njit(parallel=True)
    def scaled(values, out):
        for index in prange(len(values)):
            out[index] = values[index] * 2.0

or:
    from numba import njit, prange

    @njit
    def total(values):
        found = 0.0
        for index in prange(len(values)):
            found += values[index]
        return found
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule, mentions
from twice.checking.rules.switches import is_true
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "parallel-reduction"


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.FLOATING_POINT,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Sum in one thread, or into one cell for each of a fixed number of chunks, added in order.",
    nodes=(ast.For,),
    look=look,
    applies=mentions("prange"),
)
