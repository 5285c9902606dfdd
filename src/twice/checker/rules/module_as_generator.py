"""The module of the process-wide stream is passed off as a generator."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import GENERATOR, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "module-as-generator"
_FORMS: Final = frozenset({ast.Name, ast.Attribute, ast.BoolOp, ast.IfExp})
_MODULES: Final = frozenset({"numpy.random", "random", "numpy.random.mtrand"})
_LAST: Final = frozenset({"random", "mtrand"})


def look(site: Site) -> Iterator[Violation]:
    """Look at an assignment, a choice, a call's keyword, or a function's defaults."""
    node = site.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        defaults = [*node.args.defaults, *node.args.kw_defaults]
        for each in defaults:
            if each is not None and _is_module(site, each):
                yield _found(site, each, Reach.UNSEEN)
                return
        return
    for each in _given(node):
        if _is_module(site, each):
            yield _found(site, each, Reach.LOUD)


def _given(node: ast.AST) -> list[ast.expr]:
    """List the values that become a generator by the name of their target."""
    name = ""
    if isinstance(node, ast.Assign):
        name = last_name(node.targets[0])
    elif isinstance(node, ast.keyword):
        name = node.arg or ""
    assert isinstance(node, (ast.Assign, ast.keyword)), "no others are asked for"
    return _choices(node.value) if about(name, GENERATOR) else []


def _choices(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return [node]


def _is_module(site: Site, node: ast.expr) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute)) or last_name(node) not in _LAST:
        return False
    return site.qualified(node) in _MODULES


def _found(site: Site, node: ast.expr, reach: Reach) -> Violation:
    return site.found(
        NAME,
        f"{site.module.shown(node)} is the process-wide stream, and is given as a generator.",
        "Whoever else draws from that stream, in any library, shifts every number that comes after.",
        node=node,
        reach=reach,
    )


def _suits(node: ast.AST, scope: Scope) -> bool:
    """Whether a name, or a choice of names, is given; or a function has defaults."""
    del scope
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return bool(node.args.defaults or node.args.kw_defaults)
    return getattr(node, "value", None).__class__ in _FORMS


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Require a generator, or make one from a seed: np.random.default_rng(seed).",
        __doc__ or "",
    ),
    nodes=(ast.Assign, ast.keyword, ast.FunctionDef, ast.AsyncFunctionDef),
    look=look,
    suits=_suits,
    applies=mentions("random"),
)
