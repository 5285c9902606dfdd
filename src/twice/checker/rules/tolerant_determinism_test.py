"""A test of determinism compares with a tolerance."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.comparing import claims, inner_scope, is_tolerant, tests_something
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.printable import pluralize
from twice.foundation.severity import Severity

NAME = "tolerant-determinism-test"
_SWITCH: Final = "use_deterministic_algorithms"
_SAME: Final = frozenset({"same", "equal", "identical"})


def look(site: Site) -> Iterator[Violation]:
    """Look at a function that is called a test of determinism."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    switched = site.module.speaks_of(_SWITCH) and _switches(node)
    if not switched and not tests_something(node.name):
        return
    named = claims(node.name) and tests_something(node.name)
    if not named and not (_speaks(site.module.text) and _speaks(_text(site, node))):
        return
    found: list[tuple[ast.Call, str]] = []
    for one in ast.walk(node):
        if isinstance(one, ast.Expr) and (named or (switched and _says_same(one.value))):
            found.extend(_tolerant(site, one.value))
        elif isinstance(one, ast.Assert) and (named or _says(one.msg)):
            found.extend(_tolerant(site, one.test))
    if not found:
        return
    call, name = min(found, key=lambda each: (each[0].lineno, each[0].col_offset))
    more = "" if len(found) == 1 else f" (and {pluralize(len(found) - 1, 'more time')})"
    yield site.found(
        NAME,
        f"{node.name}() compares by {name}{more}, which has a tolerance.",
        "Runs that differ in last bits pass, and such differences grow with every step.",
        node=call,
        confidence=0.85,
    )


def _text(site: Site, node: ast.FunctionDef) -> str:
    """Give the lines of a whole function."""
    return "\n".join(site.module.lines[node.lineno - 1 : node.end_lineno])


@lru_cache(maxsize=4)
def _speaks(text: str) -> bool:
    """Whether a file speaks of determinism at all; asked for each function of a file in turn."""
    lower = text.lower()
    return "determinis" in lower or "reproducib" in lower or ("same seed" in lower)


def _tolerant(site: Site, node: ast.expr) -> Iterator[tuple[ast.Call, str]]:
    """Give the tolerant comparisons in what is asserted; that two things differ needs none."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return
    function = inner_scope(site)
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            name = is_tolerant(site, each, function)
            if name:
                yield each, name


def _says(message: ast.expr | None) -> bool:
    """Whether a message speaks of determinism."""
    return message is not None and any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and _speaks(each.value)
        for each in ast.walk(message)
    )


def _switches(node: ast.FunctionDef) -> bool:
    """Whether a function asks for deterministic algorithms itself."""
    return any(
        isinstance(each, ast.Call)
        and last_name(each) == _SWITCH
        and bool(each.args)
        and isinstance(each.args[0], ast.Constant)
        and each.args[0].value is True
        for each in ast.walk(node)
    )


def _says_same(node: ast.expr) -> bool:
    """Whether a comparison says that it is one of sameness: ``msg="… should be the same"``."""
    return isinstance(node, ast.Call) and any(
        isinstance(each.value, ast.Constant)
        and isinstance(each.value.value, str)
        and about(each.value.value, _SAME)
        for each in node.keywords
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.DIVERGENCE,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Compare exactly: ==, numpy.array_equal, torch.equal, or digests of the state.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    applies=mentions("close", "Close", "lmost", "approx", "equivalence"),
)
