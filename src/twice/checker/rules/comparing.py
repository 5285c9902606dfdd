"""What rules about determinism tests share: whether a function claims determinism, and how it compares.

Invariant: a claim is the words deterministic, reproducible and the like; "seed" alone is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name, parts

CLAIMS: Final = frozenset(
    [
        "determinism",
        "deterministic",
        "reproducible",
        "reproducibility",
        "reproduce",
        "reproduces",
        "reproduction",
        "repeatable",
        "repeatability",
        "seeding",
    ]
)
_DENIES: Final = frozenset(
    {"non", "not", "nondeterministic", "nondeterminism", "stochastic", "no", "without"}
)
TESTS: Final = frozenset(
    ["test", "tests", "check", "checks", "verify", "assert", "validate", "ensure"]
)
_ZERO: Final = ("rtol", "atol", "rel", "abs", "rel_tol", "abs_tol", "delta", "tolerance")

CLAIMING: Final = CLAIMS | {"same"}
"""Words one of which stands in every name that ``claims``."""


def claims(name: str) -> bool:
    """Whether a test or a check of this name is one of determinism."""
    if about(name, _DENIES):
        return False
    return about(name, CLAIMS) or {"same", "seed"} <= parts(name)


def tests_something(name: str) -> bool:
    """Whether a function of this name is a test or a check, and not what is tested."""
    return about(name, TESTS)


def inner_scope(site: Site) -> Scope:
    """Give the scope that the function at this site opens."""
    return next(each for each in site.scope.inner if each.node is site.node)


def is_tolerant(site: Site, call: ast.Call, scope: Scope) -> str:
    """Give the name of what a call compares with, when it has a tolerance; "" otherwise."""
    called = site.module.names.qualified(call.func, scope)
    known = site.catalogue.has("tolerant", called)
    method = isinstance(call.func, ast.Attribute) and site.catalogue.has_method(
        "tolerant", call.func.attr
    )
    if (
        not known
        and not (method and (called is None or called.startswith(".")))
        and not _is_tolerant_here(site, called)
    ):
        return ""
    keywords = {each.arg: each.value for each in call.keywords}
    exact = keywords.get("exact")
    if isinstance(exact, ast.Constant) and exact.value is True:
        return ""
    said = [value for name, value in keywords.items() if name in _ZERO]
    if said and all(isinstance(each, ast.Constant) and each.value == 0 for each in said):
        return ""
    return last_name(call)


def _is_tolerant_here(site: Site, called: str | None) -> bool:
    """Whether it is a function of the file that is tolerant unless it is told to be exact."""
    function = site.module.loads.function(called)
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return False
    arguments = function.node.args
    named = {each.arg for each in [*arguments.args, *arguments.kwonlyargs]}
    if named.isdisjoint({"exact", *_ZERO}):
        return False
    return any(
        isinstance(each, ast.Call)
        and site.catalogue.has("tolerant", site.module.names.qualified(each.func, function))
        for each in ast.walk(function.node)
    )


def comparisons(node: ast.AST) -> Iterator[ast.expr]:
    """Yield a function's assertions: the tests of ``assert`` and the calls named ``assert…``."""
    for each in ast.walk(node):
        if isinstance(each, ast.Assert):
            yield each.test
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            func = each.value.func
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if "assert" in name.lower():
                yield each.value
